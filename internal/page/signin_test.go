package page_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/page"
)

// form is what a browser would post, apart from what is typed.
type form struct {
	Action, Method string
	Inputs         []string // "name=value", "name" for inputs without one
	Button         string
}

var (
	formPattern   = regexp.MustCompile(`(?s)<form ([^>]*)>(.*?)</form>`)
	inputPattern  = regexp.MustCompile(`<input ([^>]*)>`)
	buttonPattern = regexp.MustCompile(`(?s)<button [^>]*>(.*?)</button>`)
)

func attribute(attributes, name string) string {
	m := regexp.MustCompile(`(?:^| )` + name + `="([^"]*)"`).FindStringSubmatch(attributes)
	if m == nil {
		return ""
	}
	return m[1]
}

func forms(p page.Page) (all []form) {
	for _, m := range formPattern.FindAllStringSubmatch(string(p.Body), -1) {
		f := form{Action: attribute(m[1], "action"), Method: attribute(m[1], "method")}
		for _, input := range inputPattern.FindAllStringSubmatch(m[2], -1) {
			entry := attribute(input[1], "name")
			if strings.Contains(input[1], ` value="`) {
				entry += "=" + attribute(input[1], "value")
			}
			if attribute(input[1], "type") == "hidden" {
				entry = "(" + entry + ")"
			}
			f.Inputs = append(f.Inputs, entry)
		}
		f.Button = strings.TrimSpace(visible(buttonPattern.FindString(m[2])))
		all = append(all, f)
	}
	return all
}

func TestFormsAreThoseOfTheContract(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	unlisted := page.Provider{ID: "api", Name: "API", Kind: page.Credentials, Action: "/x"}
	tests := []struct {
		name string
		page page.Page
		want []form
	}{
		{"sign-in", p.SignIn(page.SignInData{
			Site: site, CSRFToken: "abc", CallbackURL: `https://app.example/after?a=1&b="2"`, Email: "bob@example.test",
			Providers: []page.Provider{password, github, unlisted, mail, passkey},
		}), []form{
			{"https://app.example/auth/callback/credentials", "post", []string{"(csrfToken=abc)", "username", "password"}, "Sign in with Credentials"},
			{"https://app.example/auth/signin/github", "post", []string{"(csrfToken=abc)", "(callbackUrl=https://app.example/after?a=1&amp;b=&#34;2&#34;)"}, "Sign in with GitHub"},
			{"https://app.example/auth/signin/email", "post", []string{"(csrfToken=abc)", "email=bob@example.test"}, "Sign in with Email"},
			{"https://app.example/auth/callback/passkey", "post", []string{"(csrfToken=abc)", "email"}, "Sign in with Passkey"},
		}},
		{"sign-in without a callback URL or CSRF token", p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{github}}), []form{
			{"https://app.example/auth/signin/github", "post", []string{"(csrfToken=)"}, "Sign in with GitHub"},
		}},
		{"sign-in with an absurd address", p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{mail}, Email: strings.Repeat("a", 1<<20)}), []form{
			{"https://app.example/auth/signin/email", "post", []string{"(csrfToken=)", "email="}, "Sign in with Email"},
		}},
		{"sign-out", p.SignOut(page.SignOutData{Site: site, CSRFToken: "abc", Action: "https://app.example/auth/signout?callbackUrl=%2Fbye&x=1"}), []form{
			{"https://app.example/auth/signout?callbackUrl=%2Fbye&amp;x=1", "post", []string{"(csrfToken=abc)"}, "Sign out"},
		}},
		{"confirm link", p.ConfirmLink(page.ConfirmLinkData{Site: site, CSRFToken: "abc", Action: "https://app.example/auth/callback/email?token=1&email=a%40b"}), []form{
			{"https://app.example/auth/callback/email?token=1&amp;email=a%40b", "post", []string{"(csrfToken=abc)"}, "Sign in"},
		}},
		{"confirm link without a CSRF token", p.ConfirmLink(page.ConfirmLinkData{Site: site, Action: "/x"}), []form{{"/x", "post", nil, "Sign in"}}},
		{"address taken", p.AddressTaken(page.AddressTakenData{
			Site: site, CSRFToken: "abc", CallbackURL: "/after", Email: "a@b.example", Action: "https://app.example/auth/callback/email",
			Providers: []page.Provider{github, password, passkey, mail}, OtherSignInURL: "/auth/signin",
		}), []form{
			{"https://app.example/auth/signin/github", "post", []string{"(csrfToken=abc)", "(callbackUrl=/after)"}, "Sign in with GitHub"},
			{"https://app.example/auth/callback/email", "post", []string{"(csrfToken=abc)", "(choice=new)", "(callbackUrl=/after)"}, "Make a new account"},
		}},
		{"replace", p.Replace(page.ReplaceData{Site: site, CSRFToken: "abc", Action: "https://app.example/auth/initiate/acme", Target: "/home"}), []form{
			{"https://app.example/auth/initiate/acme", "post", []string{"(csrfToken=abc)", "(replace=1)", "(target_link_uri=/home)"}, "Continue"},
		}},
		{"verify request", p.VerifyRequest(site), nil},
		{"error", p.Error(site, "AccessDenied"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, forms(tt.page)); diff != "" {
				t.Errorf("forms differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIDsAreUnique(t *testing.T) {
	second, third := password, mail
	second.ID, third.ID = "second", "third"
	p := newPages(t, page.Theme{}, page.Texts{}).SignIn(page.SignInData{
		Site: site, Error: "Signin", Providers: []page.Provider{password, second, mail, third, passkey, github},
	})
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(string(p.Body), -1) {
		if seen[m[1]] {
			t.Errorf("id %s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, id := range []string{
		"submitButton", "submitButton-second", "submitButton-email", "submitButton-third", "submitButton-passkey", "passkey-form",
		"input-email-for-email-provider", "input-username-for-credentials-provider", "input-email-for-passkey-provider",
	} {
		if !seen[id] {
			t.Errorf("no element has the id %s", id)
		}
	}
}

func TestKindsOfSigningInAreSetApart(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	tests := []struct {
		name      string
		providers []page.Provider
		want      int
	}{
		{"buttons stay together", []page.Provider{github, google, gitlab}, 0},
		{"form alone", []page.Provider{mail}, 0},
		{"form between buttons", []page.Provider{github, mail, google}, 2},
		{"two forms", []page.Provider{password, mail}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := p.SignIn(page.SignInData{Site: site, Providers: tt.providers})
			if n := strings.Count(string(got.Body), `<div class="separator">or</div>`); n != tt.want {
				t.Errorf("%d separators, want %d", n, tt.want)
			}
		})
	}
}

func TestOnlyAFirstEmailFieldTakesTheFocus(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	for want, providers := range map[int][]page.Provider{0: {github, mail}, 1: {mail, github, mail}} {
		got := string(p.SignIn(page.SignInData{Site: site, Providers: providers}).Body)
		if n := strings.Count(got, " autofocus"); n != want {
			t.Errorf("%d fields take the focus, want %d", n, want)
		}
	}
}

func TestPasskeyForm(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	quiet, broken, elsewhere := passkey, passkey, passkey
	quiet.ConditionalUI, broken.OptionsURL, elsewhere.Fields = false, "", nil
	body := func(provider page.Provider) string {
		return string(p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{provider}}).Body)
	}
	for _, want := range []string{
		`<form id="passkey-form" action="https://app.example/auth/callback/passkey" method="post" data-passkey-options="/auth/webauthn-options/passkey" data-passkey-autofill>`,
		`<input id="input-email-for-passkey-provider" name="email" autocomplete="username webauthn" required type="text" data-form-field="true">`,
		`<button class="primary" id="submitButton-passkey" type="submit">Sign in with Passkey</button>`,
		`<noscript>`,
	} {
		if !strings.Contains(body(passkey), want) {
			t.Errorf("no %s in %s", want, body(passkey))
		}
	}
	if got := body(quiet); strings.Contains(got, " data-passkey-autofill>") || !strings.Contains(got, "<script>") {
		t.Error("without conditional UI, the form offers autofill or lacks its script")
	}
	for name, provider := range map[string]page.Provider{"no options URL": broken, "no fields": elsewhere} {
		if got := body(provider); strings.Contains(got, "<form") || strings.Contains(got, "<script") {
			t.Errorf("a passkey provider with %s is on the page", name)
		}
	}
}

func TestInitialsAreNotPartOfALabel(t *testing.T) {
	got := string(newPages(t, page.Theme{}, page.Texts{}).SignIn(page.SignInData{Site: site, Providers: []page.Provider{company}}).Body)
	if want := `<span class="mark" aria-hidden="true" data-letters="CL"></span><span class="label">Sign in with Company Login</span>`; !strings.Contains(got, want) {
		t.Errorf("no %s in %s", want, got)
	}
}

// Headings in order, one main landmark, no field without a label.
func TestPagesCanBeReadAloud(t *testing.T) {
	for name, p := range everyPage(newPages(t, page.Theme{}, page.Texts{})) {
		body := string(p.Body)
		if strings.Count(body, "<h1>") != 1 || regexp.MustCompile(`<h[2-6]`).MatchString(body) || strings.Count(body, "<main") != 1 {
			t.Errorf("%s: wants one h1 and one main", name)
		}
		if !strings.Contains(body, "· app.example</title>") {
			t.Errorf("%s: the title does not name the site", name)
		}
		for _, input := range inputPattern.FindAllStringSubmatch(body, -1) {
			id := attribute(input[1], "id")
			if attribute(input[1], "type") != "hidden" && !strings.Contains(body, `for="`+id+`"`) {
				t.Errorf("%s: input %s has no label", name, input[0])
			}
		}
	}
}

func TestPagesOfAnUnknownSiteDoNotNameIt(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	for name, got := range map[string]page.Page{
		"sign-in": p.SignIn(page.SignInData{}), "sign-out": p.SignOut(page.SignOutData{}), "error": p.Error(page.Site{}, "Verification"),
	} {
		for _, dangling := range []string{"<a ", "to continue to", " · "} {
			if strings.Contains(string(got.Body), dangling) {
				t.Errorf("%s page has %q", name, dangling)
			}
		}
	}
}

func TestPagesMayBeUsedConcurrently(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	want := string(p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{github, google}}).Body)
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 20 {
				if got := p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{github, google}}); string(got.Body) != want {
					t.Fatal("pages differ")
				}
			}
		})
	}
}

func BenchmarkSignIn(b *testing.B) {
	p := newPages(b, page.Theme{}, page.Texts{})
	data := page.SignInData{
		Site: site, CSRFToken: csrf, CallbackURL: "https://app.example/after",
		Providers: []page.Provider{github, google, gitlab, entra, mail, password},
	}
	b.ReportAllocs()
	for b.Loop() {
		p.SignIn(data)
	}
}

func BenchmarkError(b *testing.B) {
	p := newPages(b, page.Theme{}, page.Texts{})
	b.ReportAllocs()
	for b.Loop() {
		p.Error(site, "Verification")
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := page.New(page.Theme{}, page.Texts{}); err != nil {
			b.Fatal(err)
		}
	}
}
