package pintle_test

import (
	"context"
	"fmt"
	"go/ast"
	"html"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/store/memstore"
)

// markedTexts returns texts of which every one is a mark without letters, for
// every code and word that there is.
func markedTexts() pages.Texts {
	english := page.English()
	var texts pages.Texts
	number := 0
	mark := func(english string) string {
		number++
		text := fmt.Sprintf("‹%d›", number)
		if strings.Contains(english, "%s") {
			text += "%s"
		}
		return text
	}
	to, from := reflect.ValueOf(&texts).Elem(), reflect.ValueOf(english)
	for i := range to.NumField() {
		switch value := from.Field(i).Interface().(type) {
		case string:
			to.Field(i).SetString(mark(value))
		case []string:
			to.Field(i).Set(reflect.ValueOf([]string{mark(""), mark("")}))
		case map[string]string:
			marked := map[string]string{}
			for _, key := range slices.Sorted(maps.Keys(value)) {
				marked[key] = mark(value[key])
			}
			to.Field(i).Set(reflect.ValueOf(marked))
		case pages.ErrorText:
			to.Field(i).Set(reflect.ValueOf(pages.ErrorText{Heading: mark(""), Text: []string{mark("")}}))
		case map[string]pages.ErrorText:
			marked := map[string]pages.ErrorText{}
			for _, key := range slices.Sorted(maps.Keys(value)) {
				marked[key] = pages.ErrorText{Heading: mark(""), Text: []string{mark("")}}
			}
			to.Field(i).Set(reflect.ValueOf(marked))
		case pages.AccountTexts: // TestNoPageOfAccountsHasAWordThatCannotBeReplaced, in package account
		default:
			panic("no such text: " + to.Type().Field(i).Name)
		}
	}
	texts.Lang, texts.Dir = "xx", "rtl"
	return texts
}

var (
	silentElement = regexp.MustCompile(`(?s)<(script|style)>.*?</(?:script|style)>`)
	spokenText    = regexp.MustCompile(`(?: alt| placeholder| title| aria-label)="([^"]*)"`)
	anyTag        = regexp.MustCompile(`(?s)<[^>]*>`)
	word          = regexp.MustCompile(`\pL[\pL '’.,?!-]*`)
)

// fixedWord returns a word that people read in an answer and that is neither a
// mark nor data: a URL, the host, an address.
func fixedWord(body string) string {
	text := silentElement.ReplaceAllString(body, "")
	for _, match := range spokenText.FindAllStringSubmatch(text, -1) {
		text += " " + match[1]
	}
	text = html.UnescapeString(anyTag.ReplaceAllString(text, " "))
	text = regexp.MustCompile(`https?://\S*`).ReplaceAllString(text, "")
	for _, data := range []string{"\u200b", "localhost:3000", "app.localhost", "app.example", victimAddress} {
		text = strings.ReplaceAll(text, data, "")
	}
	return word.FindString(text)
}

// Every page a browser is shown, and the mail, by the routes that lead there.
func TestNoPageAndNoMailHasAWordThatCannotBeReplaced(t *testing.T) {
	marked := func(s *site) {
		s.Texts, s.Theme = markedTexts(), pages.Theme{Logo: "/logo.svg"}
		s.Texts.Site = ""
		s.Texts.Account = pages.AccountTexts{
			Words:    map[string]string{"show_password": "№ 2", "again": "№ 3"},
			Pages:    map[string]pages.PageText{"problem": {Heading: "№ 4"}},
			Problems: map[string]string{"too_large": "№ 5"},
		}
		s.Texts.Words["Test identity provider"] = "№ 1" // as authtest calls it
		s.Pages.SignUp, s.Pages.ForgotPassword = "/join", "/forgot"
	}
	shown := map[string]*reply{}
	see := func(name string, r *reply) {
		t.Helper()
		if r.header.Get("Content-Type") != htmlType {
			t.Errorf("%s: no page but %q: %.200s", name, r.header.Get("Content-Type"), r.body)
		}
		shown[name] = r
	}
	navigating := []string{"Sec-Fetch-Mode", "navigate"}

	// All kinds of providers, whose question about an address has every part.
	s, _, victim, _ := askedSite(t, pintle.StrategyDatabase, marked)
	b := s.browser()
	see("the sign-in page", b.get("/auth/signin"))
	see("the sign-out page", b.get("/auth/signout"))
	see("the page after a mail was sent", b.get("/auth/verify-request"))
	see("the question about an address", victim.get(addressPage+"?error=OAuthAccountNotLinked"))
	english := page.English()
	for code := range english.SignInErrors {
		see("the sign-in page with "+code, b.get("/auth/signin?error="+code))
		see("the sign-in page with the code "+code, b.get("/auth/signin?error=CredentialsSignin&code="+code))
	}
	see("the sign-in page with another error", b.get("/auth/signin?error=x"))
	for code := range english.Errors {
		see("the error page for "+code, b.get("/auth/error?error="+code))
	}
	see("the error page for anything else", b.get("/auth/error?error=x"))
	see("an address without a route", b.get("/auth/nothing", navigating...))
	see("a method without a route", b.do(http.MethodPut, "/auth/signin", nil, navigating...))
	see("a form that is too large", b.postForm("/auth/signin/acme", url.Values{"x": {strings.Repeat("x", 4<<20)}}, navigating...))
	forbidding := newSite(t, marked, func(s *site) {
		s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }
	}).browser()
	forbidding.signIn("ada")
	see("a page that is forbidden", forbidding.get("/members").want(http.StatusForbidden))

	// The page behind a link, and the mail.
	asking := newSite(t, marked, withMailThatAsks).browser()
	mail := asking.mailTo(victimAddress)
	see("the page behind a link", asking.get(mail.URL))
	for part, text := range map[string]string{"subject": mail.Subject, "text": mail.Text, "HTML": mail.HTML} {
		if word := fixedWord(text); word != "" {
			t.Errorf("the %s of the mail says %q, which is in no text", part, word)
		}
	}
	if mail.Lang != "xx" {
		t.Errorf("the mail is in the language %q", mail.Lang)
	}

	// The page that a provider's form passes through.
	posting := newSite(t, marked, withFormPost, func(s *site) { s.Store = memstore.New() })
	poster := posting.browser()
	poster.signInByForm()
	action, fields := poster.leaveFor("/")
	see("the page that posts a form again", poster.postFromElsewhere(action, fields))

	// Faults of the server.
	down := newSite(t, marked, func(s *site) { s.Session.Revocation = brokenList{} }).browser()
	down.plantSession("ada")
	see("a page while the revocation list is down", down.get("/members").want(http.StatusServiceUnavailable))
	guarded := newSite(t, marked, func(s *site) { s.Pages.SignIn = "/members/signin" }).browser()
	see("a sign-in page behind the guard", guarded.get("/members/signin").want(http.StatusForbidden))
	untrusted := newSite(t, marked)
	untrusted.net["app.example"] = untrusted.net["localhost:3000"]
	for _, path := range []string{"/auth/signin", "/auth/callback/acme"} {
		see("a host that is not trusted, "+path, untrusted.browser().get("http://app.example"+path, navigating...))
	}
	see("a form for a host that is not trusted", untrusted.browser().postForm("http://app.example/auth/signin/acme", url.Values{}, navigating...))

	for name, r := range shown {
		if word := fixedWord(r.body); word != "" {
			t.Errorf("%s says %q, which is in no text", name, word)
		}
		if !strings.Contains(r.body, `<html lang="xx" dir="rtl">`) {
			t.Errorf("%s lacks the language or the direction", name)
		}
	}
}

// withMailThatAsks gives a site mails whose links show a page first.
func withMailThatAsks(s *site) {
	mail := s.mailProvider()
	mail.Confirm = true
	s.Providers, s.Store, s.Session.Strategy = []pintle.Provider{mail}, memstore.New(), pintle.StrategyJWT
}

// signInByForm signs a browser in by the provider "acme", which answers with a form.
func (b *browser) signInByForm() {
	b.t.Helper()
	action, fields := b.leaveFor("/")
	b.postFromElsewhere(action, fields).want(http.StatusFound)
	if b.who() == "anonymous" {
		b.t.Fatal("the browser is signed out")
	}
}

func TestTheCheckForFixedWordsFindsThem(t *testing.T) {
	for _, body := range []string{
		"Forbidden\n", "<p>‹1› Hello</p>", `<img alt="Photo">`, `<input placeholder="you">`, "<title>‹1› · Page</title>", "<noscript>No</noscript>",
	} {
		if fixedWord(body) == "" {
			t.Errorf("no word is found in %q", body)
		}
	}
}

// A translator finds what a text replaces in the comment of its field.
func TestTheEnglishWordsAreInTheDocumentation(t *testing.T) {
	comments := map[string]string{}
	for _, s := range sources(t) {
		if s.name != "pages/texts.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Doc != nil {
				for _, name := range field.Names {
					comments[name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
			return true
		})
	}
	english := reflect.ValueOf(page.English())
	seen := 0
	for i := range english.NumField() {
		name := english.Type().Field(i).Name
		if name == "Account" {
			continue // the guide lists the names of these texts
		}
		for _, text := range englishIn(english.Field(i)) {
			seen++
			if !strings.Contains(comments[name], text) {
				t.Errorf("the comment of Texts.%s lacks %s", name, text)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d texts were compared", seen)
	}
}

// englishIn returns the texts of a field in quotation marks, and the codes that
// they belong to.
func englishIn(v reflect.Value) (all []string) {
	switch value := v.Interface().(type) {
	case string:
		if value != "" {
			all = append(all, `"`+value+`"`)
		}
	case []string:
		for _, text := range value {
			all = append(all, `"`+text+`"`)
		}
	case pages.ErrorText:
		all = append(all, `"`+value.Heading+`"`)
		all = append(all, englishIn(reflect.ValueOf(value.Text))...)
	default:
		for _, key := range v.MapKeys() {
			all = append(append(all, key.String()), englishIn(v.MapIndex(key))...)
		}
	}
	return all
}

// The pages of the host to which the sign-in page links receive the way back.
func TestLinksToPagesOfTheHostKnowTheWayBack(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Pages = pintle.Pages{SignUp: "/join?a=1", ForgotPassword: "https://help.example/forgot"}
	})
	r := s.browser().get("/auth/signin?callbackUrl=/next").want(http.StatusOK)
	for _, want := range []string{
		`href="http://localhost:3000/join?a=1&amp;callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Fnext"`,
		`href="https://help.example/forgot?callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Fnext"`,
	} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, pages := range []pintle.Pages{{SignUp: "javascript:alert(1)"}, {ForgotPassword: "forgot"}} {
		_, err := pintle.New(pintle.Config{Providers: s.Providers, Secrets: s.Secrets, Getenv: s.Getenv, Pages: pages})
		if err == nil || !strings.Contains(err.Error(), "Config.Pages.") {
			t.Errorf("New with %+v returns %v", pages, err)
		}
	}
}

// Scripts receive the texts of Auth.js, whatever Config.Texts says.
func TestScriptsAreAnsweredInTheWordsOfTheWire(t *testing.T) {
	s := newSite(t, func(s *site) { s.Texts = markedTexts() })
	b := s.browser()
	if r := b.get("/auth/nothing"); r.status != http.StatusBadRequest || r.body != `"Bad request."` {
		t.Errorf("status %d, body %s", r.status, r.body)
	}
	if r := b.do(http.MethodPost, "/members", nil); r.status != http.StatusUnauthorized || r.body != "Unauthorized\n" {
		t.Errorf("status %d, body %s", r.status, r.body)
	}
	if w := get(s.auth, "http://untrusted.example/auth/session"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "Check the server logs") {
		t.Errorf("status %d, body %s", w.Code, w.Body)
	}
}

// A configuration that cannot work still answers with its pages: one page that is
// wrong does not leave the others without words.
func TestAFaultyPageLeavesTheOthersTheirWords(t *testing.T) {
	auth := pintle.NewFunc(func(*http.Request) string { return "x" }, func(context.Context, string) (pintle.Config, error) {
		return pintle.Config{
			Secrets: []string{secret}, Getenv: func(string) string { return "" }, Pages: pintle.Pages{Account: "account"},
			Texts: pages.Texts{Errors: map[string]pages.ErrorText{"Configuration": {Heading: "Kaputt"}}},
		}, nil
	})
	if w := get(auth, "http://localhost:3000/auth/signin"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "Kaputt") {
		t.Errorf("status %d, body %s", w.Code, w.Body)
	}
	lost := pintle.NewFunc(func(*http.Request) string { return "x" }, func(context.Context, string) (pintle.Config, error) {
		return pintle.Config{Secrets: []string{secret}, Getenv: func(string) string { return "" }, Texts: pages.Texts{BackTo: "Zurück"}}, nil
	})
	if w := get(lost, "http://localhost:3000/auth/signin"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "Something is wrong on our side") {
		t.Errorf("texts that cannot be used: status %d, body %s", w.Code, w.Body)
	}
}

// A browser sees why a guard rejects it, in the texts of the site.
func TestAGuardTellsABrowserWhatIsWrong(t *testing.T) {
	refusing := func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }
	tests := []struct {
		name   string
		change func(*site)
		path   string
		status int
		want   string
	}{
		{"a user who may not", func(s *site) { s.Callbacks.Authorized = refusing }, "/members", 403, "Not for this account"},
		{"a store that is down", func(s *site) { s.Session.Revocation = brokenList{} }, "/members", 503, "Try again in a moment"},
	}
	for _, tt := range tests {
		s := newSite(t, tt.change)
		b := s.browser()
		b.plantSession("ada")
		r := b.get(tt.path).want(tt.status)
		if !strings.Contains(r.body, "<h1>"+tt.want+"</h1>") || !strings.Contains(r.body, `href="http://localhost:3000"`) {
			t.Errorf("%s: the page says %s", tt.name, tail(r.body))
		}
		if r.header.Get("Cache-Control") != "private, no-cache, no-store" || r.header.Get("Content-Security-Policy") == "" || r.header.Get("Vary") != "Cookie" {
			t.Errorf("%s: the headers are %q", tt.name, r.header)
		}
	}
	const ours = "<h1>Something is wrong on our side</h1>"
	guarded := newSite(t, func(s *site) { s.Pages.SignIn = "/members/signin" }).browser()
	if r := guarded.get("/members/signin").want(http.StatusForbidden); !strings.Contains(r.body, ours) {
		t.Errorf("a sign-in page behind the guard: the page says %s", tail(r.body))
	}
	faulty := pintle.NewFunc(func(r *http.Request) string { return r.URL.Path }, func(_ context.Context, path string) (pintle.Config, error) {
		if path == "/unknown" {
			return pintle.Config{}, pintle.ErrNotFound
		}
		return pintle.Config{Getenv: func(string) string { return "" }}, nil // without a secret
	}).Require(http.HandlerFunc(sayWho))
	if w, _ := ask(faulty, "GET", "http://localhost:3000/", nil, "Accept", "text/html"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), ours) {
		t.Errorf("a faulty configuration: status %d, %s", w.Code, w.Body)
	}
	if w, _ := ask(faulty, "GET", "http://localhost:3000/", nil); w.Body.String() != "Internal Server Error\n" {
		t.Errorf("a script is told %s", w.Body)
	}
	if w, _ := ask(faulty, "GET", "http://localhost:3000/unknown", nil, "Accept", "text/html"); w.Code != http.StatusNotFound || w.Body.String() != "Not Found\n" {
		t.Errorf("an unknown tenant: status %d, %s", w.Code, w.Body)
	}
}
