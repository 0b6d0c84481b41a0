package pintle_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/pages/translation"
	"github.com/pintleauth/pintle/store/memstore"
)

// inLanguages gives a site English, German and Brazilian Portuguese.
func inLanguages(s *site) {
	s.Languages = []pages.Texts{
		{Lang: "de", SignInHeading: "Anmelden", MailSubject: "Anmelden bei %s"},
		{Lang: "pt-BR", SignInHeading: "Entrar"},
	}
}

func TestPagesAreInTheLanguageThatTheBrowserPrefers(t *testing.T) {
	s := newSite(t, inLanguages)
	for header, want := range map[string]string{
		"":                               "en",
		"de":                             "de",
		"DE-at":                          "de",
		"de-Latn-DE-1996":                "de",
		"pt":                             "pt-BR",
		"pt-BR, en;q=0.5":                "pt-BR",
		"pt-PT, de;q=0.9":                "de",
		"fr":                             "en",
		"fr, de;q=0.8, en;q=0.5":         "de",
		"en;q=0.5, de;q=0.8":             "de",
		"de;q=0.5, en-US":                "en",
		"de;q=0, en;q=0.1":               "en",
		"de ; q=0.9 , en ; q=1.0":        "en",
		"*, de;q=0.5":                    "de",
		"de;q=NaN, pt;q=x, en;q=-1":      "en",
		"d, den, deu, -, ;q=1, de-":      "de",
		strings.Repeat("xx,", 99) + "de": "en",
	} {
		r := s.browser().get("/auth/signin", "Accept-Language", header).want(http.StatusOK)
		if !strings.Contains(r.body, `<html lang="`+want+`" dir="ltr">`) {
			t.Errorf("Accept-Language %.60q: no page in %s", header, want)
		}
	}
	if s := newSite(t).browser().get("/auth/signin", "Accept-Language", "de"); !strings.Contains(s.body, `lang="en"`) {
		t.Error("a site in one language answers in another")
	}
}

// Browsers name the region of a reader of Chinese, and texts name the script.
func TestReadersOfChineseFindTheScriptOfTheirRegion(t *testing.T) {
	for texts, wanted := range map[string]map[string]string{
		"zh-Hans":    {"zh-CN": "zh-Hans", "zh-SG": "zh-Hans", "zh-Hans-CN": "zh-Hans", "zh": "zh-Hans", "zh-TW": "en", "zh-HK, en": "en"},
		"zh-Hant":    {"zh-TW": "zh-Hant", "zh-MO": "zh-Hant", "zh-CN": "en"},
		"zh-Hant-HK": {"zh-HK": "zh-Hant-HK", "zh-CN": "en"},
		"zh-CN":      {"zh-CN": "zh-CN", "zh-TW": "en"},
		"zh":         {"zh-TW": "zh"},
	} {
		s := newSite(t, func(s *site) { s.Languages = []pages.Texts{{Lang: texts}} })
		for header, want := range wanted {
			r := s.browser().get("/auth/signin", "Accept-Language", header)
			if !strings.Contains(r.body, `<html lang="`+want+`"`) {
				t.Errorf("with texts in %s, %q finds no page in %s", texts, header, want)
			}
		}
	}
}

// A cache that keeps an answer in spite of no-store does not hand it to a reader of another
// language.
func TestARefusalVariesWithTheLanguage(t *testing.T) {
	refusing := func(s *site) {
		s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }
	}
	for want, sites := range map[string][]func(*site){"Cookie": {refusing}, "Cookie, Accept-Language": {refusing, inLanguages}} {
		b := newSite(t, sites...).browser()
		b.signIn("ada")
		r := b.get("/members", "Accept", "text/html").want(http.StatusForbidden)
		if got := strings.Join(r.header["Vary"], ", "); got != want {
			t.Errorf("Vary is %q, want %q", got, want)
		}
	}
	page := withAccounts(func(http.ResponseWriter, *http.Request) {}, inLanguages)(t).browser().get("/auth/account")
	if got := strings.Join(page.header["Vary"], ", "); got != "Cookie, Accept, Accept-Language" {
		t.Errorf("on a page of an account Vary is %q", got)
	}
}

// The texts of package translation and a browser that asks for them as browsers do.
func TestAPageIsInEachLanguageOfPackageTranslation(t *testing.T) {
	all := translation.All()
	s := newSite(t, func(s *site) { s.Languages = all })
	for _, texts := range all {
		header := texts.Lang + ",en;q=0.5"
		if texts.Lang == "zh-Hans" {
			header = "zh-CN,en;q=0.5"
		}
		r := s.browser().get("/auth/signin", "Accept-Language", header).want(http.StatusOK)
		for _, want := range []string{`<html lang="` + texts.Lang + `" dir="` + texts.Dir + `">`, "<h1>" + texts.SignInHeading + "</h1>"} {
			if !strings.Contains(r.body, want) {
				t.Errorf("%s: the page lacks %s", header, want)
			}
		}
	}
}

// The choice of the user goes before the preference of the browser.
func TestTheHostKnowsTheLanguage(t *testing.T) {
	s := newSite(t, inLanguages, func(s *site) {
		s.Language = func(r *http.Request) string {
			c, err := r.Cookie("language")
			if err != nil {
				return ""
			}
			return c.Value
		}
	})
	for _, tt := range []struct{ chosen, accepted, want string }{
		{"", "de", "de"},
		{"de-CH", "pt-BR", "de"},
		{"en", "de", "en"},
		{"fr", "de", "de"},
		{"fr", "fr", "en"},
	} {
		b := s.browser()
		b.plant("language", tt.chosen)
		if r := b.get("/auth/signin", "Accept-Language", tt.accepted); !strings.Contains(r.body, `<html lang="`+tt.want+`"`) {
			t.Errorf("chosen %q, accepted %q: no page in %s", tt.chosen, tt.accepted, tt.want)
		}
	}
}

func TestMailsAndRefusalsAreInTheLanguageOfTheRequest(t *testing.T) {
	s := newSite(t, inLanguages, func(s *site) {
		s.Providers, s.Store, s.Session.Strategy = append(s.Providers, s.mailProvider()), memstore.New(), pintle.StrategyJWT
		s.Languages[0].Forbidden.Heading = "Gesperrt"
		s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }
	})
	b := s.browser()
	b.signIn("ada")
	if r := b.get("/members", "Accept-Language", "de").want(http.StatusForbidden); !strings.Contains(r.body, "<h1>Gesperrt</h1>") {
		t.Errorf("the refusal says %s", r.body)
	}
	anonymous := s.browser()
	form := map[string]string{"de": "Anmelden bei localhost:3000", "en": "Sign in to localhost:3000"}
	for language, subject := range form {
		fields := anonymous.get("/auth/signin").hidden()
		fields.Set("email", language+"@example.com")
		anonymous.postForm("/auth/signin/email", fields, "Accept-Language", language).want(http.StatusFound)
		if m := s.lastMail(); m.Subject != subject || m.Lang != language || !strings.Contains(m.HTML, `<html lang="`+language+`"`) {
			t.Errorf("asked in %s, the mail is in %s: %s", language, m.Lang, m.Subject)
		}
	}
}

// A site has one name in all languages, unless a language has another.
func TestTheNameOfTheSiteIsThatOfAllLanguages(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Texts.Site = "Bird Shop"
		s.Languages = []pages.Texts{{Lang: "de"}, {Lang: "fr", Site: "Boutique"}}
	})
	for language, want := range map[string]string{"en": "Bird Shop", "de": "Bird Shop", "fr": "Boutique"} {
		if page := s.browser().get("/auth/signin", "Accept-Language", language); !strings.Contains(page.body, want) {
			t.Errorf("the page in %s does not name %s", language, want)
		}
	}
}

func TestNewRefusesLanguagesThatNoRequestFinds(t *testing.T) {
	for name, tt := range map[string]struct {
		config pintle.Config
		want   string
	}{
		"no language":      {pintle.Config{Languages: []pages.Texts{{Lang: "de"}, {SignInHeading: "Entrar"}}}, "Config.Languages[1] has no Lang"},
		"one twice":        {pintle.Config{Languages: []pages.Texts{{Lang: "de"}, {Lang: "DE"}}}, `"de" twice`},
		"the first again":  {pintle.Config{Languages: []pages.Texts{{Lang: "en"}}}, `"en" twice`},
		"a name is lost":   {pintle.Config{Languages: []pages.Texts{{Lang: "de", BackTo: "Zurück"}}}, "Config.Languages[0]: page: texts: BackTo"},
		"of the first too": {pintle.Config{Texts: pages.Texts{BackTo: "Zurück"}, Languages: []pages.Texts{{Lang: "de"}}}, "Config.Theme and Config.Texts: page: texts: BackTo"},
	} {
		c := tt.config
		c.Providers, c.Secrets, c.Getenv = []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, []string{secret}, func(string) string { return "" }
		if _, err := pintle.New(c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New returns %v, want %q", name, err, tt.want)
		}
	}
}
