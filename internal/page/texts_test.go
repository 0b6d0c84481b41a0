package page_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/pages/translation"
)

// A label that the host has worded is the host's.
func TestThePasswordIsAWordOfTheSentence(t *testing.T) {
	for _, tt := range []struct {
		texts page.Texts
		name  string
		want  string
	}{
		{page.Texts{}, "Password", "Sign in with password"},
		{page.Texts{}, "Passkey", "Sign in with a passkey"},
		{page.Texts{Words: map[string]string{"Passkey": "Key"}}, "Passkey", "Sign in with Key"},
		{page.Texts{}, "Credentials", "Sign in with Credentials"},
		{page.Texts{SignInWith: "Continue with %s"}, "Password", "Continue with Password"},
		{page.Texts{Words: map[string]string{"Password": "Passphrase"}}, "Password", "Sign in with Passphrase"},
		{page.Texts(translation.French()), "Password", "Se connecter avec un mot de passe"},
		{page.Texts(translation.French()), "GitHub", "Se connecter avec GitHub"},
	} {
		provider := password
		provider.Name = tt.name
		body := string(newPages(t, page.Theme{}, tt.texts).SignIn(page.SignInData{Site: site, Providers: []page.Provider{provider}}).Body)
		if !strings.Contains(body, ">"+tt.want+"</button>") {
			t.Errorf("the button of %q does not say %q", tt.name, tt.want)
		}
	}
}

// translated returns texts whose every string differs from the English one.
func translated() page.Texts {
	texts := page.English()
	testsite.Number(&texts)
	texts.Lang, texts.Dir = "xx", "rtl"
	return texts
}

// A word that does not come from the texts is a letter that is left when the
// marks of the texts and the data of the page are taken away.
func TestEveryTextCanBeReplaced(t *testing.T) {
	p := newPages(t, page.Theme{Logo: "/logo.svg"}, translated())
	all := everyPage(p)
	ada := page.SignInData{
		Site: site, Providers: []page.Provider{github, mail, password, passkey},
		ForgotPasswordURL: "https://app.example/forgot", SignUpURL: "https://app.example/new",
	}
	all["sign-in links"] = p.SignIn(ada)
	all["sign-in error"] = p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{mail}, Error: "x"})
	all["sign-in empty"] = p.SignIn(page.SignInData{Site: site})
	for code := range page.English().SignInErrors {
		all["sign-in "+code] = p.SignIn(page.SignInData{Site: site, Error: code})
		all["sign-in detail "+code] = p.SignIn(page.SignInData{Site: site, Error: "CredentialsSignin", Detail: code})
	}
	for code := range page.English().Errors {
		all["error "+code] = p.Error(site, code)
	}
	all["error other"] = p.Error(site, "x")
	all["mail not sent"] = p.MailNotSent(site)
	all["unavailable"] = p.Unavailable(site)
	for _, status := range []int{400, 401, 403, 404, 405, 408, 413, 500, 503} {
		all[fmt.Sprint("refusal ", status)] = p.Refusal(site, status)
	}
	for _, d := range []time.Duration{time.Minute, 2 * time.Minute, time.Hour, 2 * time.Hour, 24 * time.Hour, 48 * time.Hour, 8 * 24 * time.Hour} {
		all["verify "+d.String()] = p.VerifyRequest(page.VerifyRequestData{
			Site: site, Address: "alice@example.test", Lifetime: d, Action: "/x", SentAgain: true,
		})
	}
	all["sign-in again"] = p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{password, github}, LastUsed: "github"})
	all["confirm"] = p.ConfirmLink(page.ConfirmLinkData{Site: site, Email: "alice@example.test"})
	all["native"] = p.Native(page.NativeData{Site: site, Application: "alice@example.test", User: "alice@example.test"})
	all["address taken"] = p.AddressTaken(page.AddressTakenData{Site: site, Email: "alice@example.test", OtherSignInURL: "/auth/signin"})
	all["replace"] = p.Replace(page.ReplaceData{Site: site, User: "alice@example.test", Provider: "GitHub"})
	named := password
	named.Name = "Password"
	all["sign-in with a password"] = p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{named}})
	labelled := password
	labelled.Fields = []page.Field{{Name: "key", Label: "Passkey"}} // package account has the word as the name of a provider
	all["a word of the configuration"] = p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{labelled}})
	all["sign-in by an address"] = p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{{ID: "sso", Name: "SSO", Kind: page.Email, Action: "/x"}}})

	subject, plain, body, err := p.SignInMail("https://app.example/x", 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	all["mail"] = page.Page{Body: []byte(body)}

	shown := subject
	for name, got := range all {
		body := string(got.Body)
		shown += body
		if !strings.Contains(body, `<html lang="xx" dir="rtl">`) {
			t.Errorf("%s: language or direction is missing", name)
		}
		if word := leftOver(visible(body)); word != "" {
			t.Errorf("%s: says %q, which is in no text", name, word)
		}
	}
	for _, part := range []string{subject, plain} {
		if word := leftOver(part); word != "" {
			t.Errorf("the mail says %q, which is in no text", word)
		}
	}
	texts := translated()
	texts.Account = pages.AccountTexts{} // package account shows them
	for _, text := range collect(reflect.ValueOf(texts)) {
		if text = strings.TrimSuffix(text, "%s"); !strings.Contains(shown, text) && text != "xx" && text != "rtl" {
			t.Errorf("text %s is on no page", text)
		}
	}
}

// No template has a word in it, also not in a branch that no test renders.
func TestTemplatesHoldNoWords(t *testing.T) {
	files, err := filepath.Glob("html/*.html")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	action := regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	for _, file := range append(files, "../mail/mail.html") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if word := letters.FindString(visible(action.ReplaceAllString(string(text), ""))); word != "" {
			t.Errorf("%s says %q", file, word)
		}
	}
}

func TestTheCheckForWordsFindsThem(t *testing.T) {
	for _, html := range []string{
		"<p>Hi</p>", `<img alt="Photo">`, `<input placeholder="Name">`, `<button title="Go">‹1›</button>`, `<p aria-label="Note">‹1›</p>`,
		"<title>‹1› · Page</title>", "<p>‹1› you</p>", "<p>für</p>", `<noscript>No</noscript>`, `<input type="submit" value="Send">`,
	} {
		if leftOver(visible(html)) == "" {
			t.Errorf("no word is found in %s", html)
		}
	}
}

var (
	letters = regexp.MustCompile(`\pL[\pL '’.,?!-]*`)
	// data removes the values of the tests from a page: the site, the providers,
	// their fields that the texts do not name, the address.
	data = strings.NewReplacer("https://app.example/x", "", "\u200b", "", "app.example", "", "GitHub", "", "alice@example.test", "", "a@b.example", "")
)

// leftOver returns a word of text that is not of the data of the tests.
func leftOver(text string) string { return letters.FindString(data.Replace(html.UnescapeString(text))) }

var (
	silent = regexp.MustCompile(`(?s)<(script|style)>.*?</(?:script|style)>`)
	spoken = regexp.MustCompile(`(?: alt| placeholder| title| aria-label| aria-description| aria-roledescription| aria-valuetext| label)="([^"]*)"`)
	button = regexp.MustCompile(`<input[^>]* type="(?:submit|button|reset)"[^>]* value="([^"]*)"`)
	tags   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// visible drops tags and scripts, and keeps the attributes that are read out.
func visible(body string) string {
	body = silent.ReplaceAllString(body, "")
	var b strings.Builder
	for _, attributes := range []*regexp.Regexp{spoken, button} {
		for _, match := range attributes.FindAllStringSubmatch(body, -1) {
			b.WriteString(" " + match[1])
		}
	}
	return b.String() + " " + tags.ReplaceAllString(body, " ")
}

func collect(v reflect.Value) (texts []string) {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Struct:
		for _, field := range v.Fields() {
			texts = append(texts, collect(field)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts = append(texts, collect(v.Index(i))...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			texts = append(texts, collect(v.MapIndex(key))...)
		}
	default:
		panic("no such text: " + v.Kind().String())
	}
	return texts
}

func TestMissingTextsAreEnglish(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{
		SignInHeading: "Anmelden",
		SignInErrors:  map[string]string{"CredentialsSignin": "Falsch", "Locked": "Gesperrt"},
		ErrorOther:    pages.ErrorText{Text: []string{"Leider nein."}},
	})
	for _, tt := range []struct {
		name string
		page page.Page
		want string
	}{
		{"replaced heading", p.SignIn(page.SignInData{Site: site}), "<h1>Anmelden</h1>"},
		{"other text", p.SignOut(page.SignOutData{Site: site}), "<h1>Sign out</h1>"},
		{"replaced error", p.SignIn(page.SignInData{Site: site, Error: "CredentialsSignin"}), "<p>Falsch</p>"},
		{"error of the host's own", p.SignIn(page.SignInData{Site: site, Error: "Locked"}), "<p>Gesperrt</p>"},
		{"other error", p.SignIn(page.SignInData{Site: site, Error: "SessionRequired"}), "<p>Sign in to see this page.</p>"},
		{"half an error text", p.Error(site, "x"), "<h1>Something went wrong</h1>"},
		{"the other half", p.Error(site, "x"), "<p>Leider nein.</p>"},
	} {
		if !strings.Contains(string(tt.page.Body), tt.want) {
			t.Errorf("%s: no %s", tt.name, tt.want)
		}
	}
}

func TestNewRefusesTextsThatLoseAName(t *testing.T) {
	for name, texts := range map[string]page.Texts{
		"SignInWith": {SignInWith: "Weiter"},
		"SignInLead": {SignInLead: "%s und %s"},
		"BackTo":     {BackTo: "Zurück zu %v"},
		"direction":  {Dir: "down"},
		"Subject":    {MailSubject: "Hallo"},
		"Heading":    {MailHeading: "Hallo"},
		"Site":       {Site: "App\r\nBcc: all@example.test"},
	} {
		if _, err := page.New(page.Theme{}, texts); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New gave error %v, want one about %s", err, name)
		}
	}
}

func TestNewRefusesTextsOfAccountsThatFitNoPage(t *testing.T) {
	for want, texts := range map[string]pages.AccountTexts{
		`Account.Pages has "signup"`: {Pages: map[string]pages.PageText{"signup": {Heading: "Konto anlegen"}}},
		`the names are account, acc`: {Pages: map[string]pages.PageText{"signup": {Heading: "Konto anlegen"}}},
		`Account.Words has "mail"`:   {Words: map[string]string{"mail": "E-Mail"}},
		`Account.Notices has "done"`: {Notices: map[string]string{"done": "Fertig"}},
		`Account.Mails has "resets"`: {Mails: map[string]pages.MailText{"resets": {Subject: "Passwort"}}},

		`Account.Pages["sign-up-finish"] must have %s once`:   {Pages: map[string]pages.PageText{"sign-up-finish": {Text: []string{"Passwort wählen."}}}},
		`Account.Pages["sign-up"] has a %s`:                   {Pages: map[string]pages.PageText{"sign-up": {Text: []string{"Hallo %s"}}}},
		`Account.Pages["reset"] has a %s`:                     {Pages: map[string]pages.PageText{"reset": {Heading: "Für %s"}}},
		`Account.Words["totp_key"] must have %s once`:         {Words: map[string]string{"totp_key": "Schlüssel"}},
		`Account.Words["email"] has a %s`:                     {Words: map[string]string{"email": "E-Mail an %s"}},
		`Account.Words["time_utc"] must have 15:04 once`:      {Words: map[string]string{"time_utc": "%s UTC"}},
		`Account.Problems["password_too_short"] must have %s`: {Problems: map[string]string{"password_too_short": "Zu kurz"}},
		`Account.Problems["company_only"] has a %s`:           {Problems: map[string]string{"company_only": "Nicht %s"}},
		`Account.Notices["mail_sent"] has a %s`:               {Notices: map[string]string{"mail_sent": "An %s"}},
		`Account.Activity has "signed"`:                       {Activity: map[string]string{"signed": "Angemeldet"}},
		`Account.Activity["sign_in"] has a %s`:                {Activity: map[string]string{"sign_in": "Angemeldet als %s"}},
		`Account.Mails["recovery-used"] must have %s once`:    {Mails: map[string]pages.MailText{"recovery-used": {Text: []string{"Noch %s von %s"}}}},
		`Account.Mails["reset"] has a %s`:                     {Mails: map[string]pages.MailText{"reset": {Button: "Zu %s"}}},
		`Account.Mails["code"] must have %s once`:             {Mails: map[string]pages.MailText{"code": {Subject: "%s und %s"}}},
		`the Subject of Account.Mails["code"] must be one`:    {Mails: map[string]pages.MailText{"code": {Subject: "Code\r\nBcc: all@example.test"}}},
	} {
		if _, err := page.New(page.Theme{}, page.Texts{Account: texts}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New gave error %v, want one with %s", err, want)
		}
	}
	_, err := page.New(page.Theme{}, page.Texts{Account: pages.AccountTexts{
		Problems: map[string]string{"company_only": "Nur Adressen der Firma."},
		Mails:    map[string]pages.MailText{"code": {Subject: "Ihr Code"}},
	}})
	if err != nil {
		t.Errorf("New refuses a code of the application, or a subject without the site: %v", err)
	}
}

func TestMailHasTheThemeAndLanguageOfThePages(t *testing.T) {
	p := newPages(t, page.Theme{ColorScheme: "dark", BrandColor: "#FFD21E"}, page.Texts{
		Lang: "de", SignInHeading: "Anmelden", MailButton: "Anmelden",
	})
	subject, text, body, err := p.SignInMail("https://app.example/auth/callback/email?token=1", time.Hour)
	if err != nil || subject != "Sign in to app.example" || text != "Sign in to app.example\nhttps://app.example/auth/callback/email?token=1\n\n" {
		t.Errorf("subject %q, text %q, error %v", subject, text, err)
	}
	for _, want := range []string{`<html lang="de" dir="ltr">`, "background:#ffd21e", "color:#000000", ">Anmelden</a>", `content="dark"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// Names of providers and labels of fields come from the configuration, which has
// one language.
func TestWordsOfTheConfigurationAreTranslated(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{Words: map[string]string{"Staff card": "Ausweis", "Card number": "Kartennummer", "0000 0000": "ohne Leerzeichen", "otp": "Code", "Email": "E-Mail"}})
	body := string(p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{fields, mail, github}}).Body)
	for _, want := range []string{
		">Sign in with Ausweis<", ">Kartennummer</label>", `placeholder="ohne Leerzeichen"`, ">Code</label>", ">Sign in with E-Mail<",
		`name="otp"`, `value="yes"`, ">Sign in with GitHub<", ">Stay signed in on this device</label>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestTheSiteHasTheNameOfTheTexts(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{Site: "Bird Shop"})
	subject, _, body, err := p.SignInMail("https://app.example/x", 24*time.Hour)
	if err != nil || subject != "Sign in to Bird Shop" || !strings.Contains(body, ">Sign in to Bird Shop</h1>") {
		t.Errorf("subject %q, error %v, body %s", subject, err, body)
	}
	for name, got := range everyPage(p) {
		_, title, _ := strings.Cut(string(got.Body), "<title>")
		title, _, _ = strings.Cut(title, "</title>")
		if !strings.HasSuffix(title, " · Bird Shop") || strings.Contains(visible(string(got.Body)), "app.example") {
			t.Errorf("%s: title %q, text %q", name, title, visible(string(got.Body)))
		}
	}
}

// The links to pages of the host are where people look for them, once.
func TestTheSignInPageLinksToPagesOfTheHost(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	data := page.SignInData{Site: site, Providers: []page.Provider{github, password, fields}, ForgotPasswordURL: "/forgot?a=1&b=2", SignUpURL: "/new"}
	body := string(p.SignIn(data).Body)
	forgot, signUp := `<a class="site" href="/forgot?a=1&amp;b=2">Forgot your password?</a>`, `<a class="site" href="/new">Create an account</a>`
	if strings.Count(body, forgot) != 1 || strings.Count(body, signUp) != 1 {
		t.Fatalf("the links are not there once: %s", body)
	}
	if at := strings.Index(body, forgot); at < strings.Index(body, "Sign in with Credentials") || at > strings.Index(body, "Card number") {
		t.Error("the link for a forgotten password is not below the first form for one")
	}
	if strings.Index(body, signUp) < strings.LastIndex(body, "</form>") {
		t.Error("the link for new people is not the last on the page")
	}
	data.Providers = []page.Provider{github, mail}
	if body := string(p.SignIn(data).Body); strings.Contains(body, "Forgot") || !strings.Contains(body, signUp) {
		t.Error("a page without passwords has a link for a forgotten one, or none for new people")
	}
	data.ForgotPasswordURL, data.SignUpURL = "", ""
	if body := string(p.SignIn(data).Body); strings.Contains(body, "site-link\"") {
		t.Error("there is a link to no page")
	}
}

// A host may go on changing the texts it passed.
func TestTextsAreCopied(t *testing.T) {
	texts := page.English()
	p := newPages(t, page.Theme{}, texts)
	texts.SignInErrors["CredentialsSignin"] = "changed"
	if strings.Contains(string(p.SignIn(page.SignInData{Site: site, Error: "CredentialsSignin"}).Body), "changed") {
		t.Error("a change after New reached the page")
	}
}
