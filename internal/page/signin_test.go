package page_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

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
			if entry == "" {
				continue // the box that shows a password, which no form sends
			}
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
			{"https://app.example/auth/callback/passkey", "post", []string{"(csrfToken=abc)"}, "Sign in with a passkey"},
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
		{"verify request", p.VerifyRequest(page.VerifyRequestData{Site: site}), nil},
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
		"input-email-for-email-provider", "input-username-for-credentials-provider",
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

// The focus is where the user goes on typing: in the first form if it is the first thing on the
// page, or in the one that was refused, after what is typed already.
func TestTheFocusIsWhereTheUserGoesOnTyping(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	chosen := password
	chosen.Fields = []page.Field{{Name: "username"}, {Name: "pin", Attributes: map[string]string{"type": "password", "AutoFocus": ""}}}
	tick := password
	tick.Fields = append([]page.Field{{Name: "north", Attributes: map[string]string{"type": "checkbox"}}}, password.Fields...)
	for name, tt := range map[string]struct {
		data page.SignInData
		want string // the id of the field
	}{
		"a mail first":                       {page.SignInData{Providers: []page.Provider{mail, github, mail}}, "input-email-for-email-provider"},
		"a mail below a button":              {page.SignInData{Providers: []page.Provider{github, mail}}, ""},
		"a password first":                   {page.SignInData{Providers: []page.Provider{password, mail}}, "input-username-for-credentials-provider"},
		"a box before the password":          {page.SignInData{Providers: []page.Provider{tick}}, "input-username-for-credentials-provider"},
		"a wrong password":                   {page.SignInData{Providers: []page.Provider{password}, Error: "CredentialsSignin", Typed: page.Typed{Provider: "credentials", Value: "ada"}}, "input-password-for-credentials-provider"},
		"a wrong password below a button":    {page.SignInData{Providers: []page.Provider{github, password}, Error: "CredentialsSignin", Typed: page.Typed{Provider: "credentials", Value: "ada"}}, "input-password-for-credentials-provider"},
		"a wrong address":                    {page.SignInData{Providers: []page.Provider{github, mail}, Error: "EmailSignin", Typed: page.Typed{Provider: "email", Value: "ada"}}, "input-email-for-email-provider"},
		"another provider was used last":     {page.SignInData{Providers: []page.Provider{password, github}, LastUsed: "github"}, ""},
		"the first provider was used last":   {page.SignInData{Providers: []page.Provider{mail, github}, LastUsed: "email"}, "input-email-for-email-provider"},
		"a provider that is gone was used":   {page.SignInData{Providers: []page.Provider{mail, github}, LastUsed: "gone"}, "input-email-for-email-provider"},
		"the host has put it somewhere":      {page.SignInData{Providers: []page.Provider{mail, chosen}}, "input-pin-for-credentials-provider"},
		"what was typed was for another one": {page.SignInData{Providers: []page.Provider{github, mail}, Typed: page.Typed{Provider: "gone", Value: "ada"}}, ""},
		"a passkey before a mail":            {page.SignInData{Providers: []page.Provider{passkey, mail}}, "input-email-for-email-provider"},
		"no provider":                        {page.SignInData{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, input := range inputPattern.FindAllStringSubmatch(string(p.SignIn(tt.data).Body), -1) {
				if strings.Contains(input[1]+" ", " autofocus ") {
					got = append(got, attribute(input[1], "id"))
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("the focus is in %q, want %q", got, tt.want)
			}
		})
	}
}

// A page asks for one thing: of several buttons one stands out.
func TestOneButtonStandsOut(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	stands := regexp.MustCompile(`(?s)<button class="[^"]*\bprimary\b[^"]*"[^>]*>(.*?)</button>`)
	all := []page.Provider{github, mail, password, passkey, google}
	for name, tt := range map[string]struct {
		data page.SignInData
		want string
	}{
		"the first form":          {page.SignInData{Providers: all}, "Sign in with Email"},
		"the one used last":       {page.SignInData{Providers: all, LastUsed: "google"}, "Sign in with Google"},
		"the form used last":      {page.SignInData{Providers: all, LastUsed: "passkey"}, "Sign in with a passkey"},
		"the one used last, gone": {page.SignInData{Providers: all, LastUsed: "gone"}, "Sign in with Email"},
		"the form just refused":   {page.SignInData{Providers: all, LastUsed: "google", Typed: page.Typed{Provider: "credentials", Value: "ada"}}, "Sign in with Credentials"},
		"buttons alone":           {page.SignInData{Providers: []page.Provider{github, google}}, "Sign in with GitHub"},
		"one button":              {page.SignInData{Providers: []page.Provider{google}}, "Sign in with Google"},
	} {
		var got []string
		for _, match := range stands.FindAllStringSubmatch(string(p.SignIn(tt.data).Body), -1) {
			got = append(got, strings.TrimSpace(visible(match[1])))
		}
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %q stands out, want %q", name, got, tt.want)
		}
	}
	for name, shown := range everyPage(p) {
		if n := len(stands.FindAllString(string(shown.Body), -1)); n > 1 {
			t.Errorf("%s: %d buttons stand out", name, n)
		}
	}
}

// The note is the description of the button, whose name stays as it is.
func TestTheProviderUsedLastIsMarked(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	all := []page.Provider{github, mail, password, passkey}
	for _, last := range all {
		body := string(p.SignIn(page.SignInData{Site: site, Providers: all, LastUsed: last.ID}).Body)
		const note = `<p class="hint last-used" id="last-used">You signed in this way last time.</p>`
		_, after, _ := strings.Cut(body, "action=\""+last.Action+"\"")
		form, below, _ := strings.Cut(after, "</form>")
		if below, _, _ = strings.Cut(below, "<form"); !strings.Contains(below, note) || !strings.Contains(form, ` aria-describedby="last-used">`) {
			t.Errorf("%s is not marked in %s", last.ID, body)
		}
		if strings.Count(body, "last-used\"") != 3 {
			t.Errorf("%s: not one provider is marked in %s", last.ID, body)
		}
	}
	for _, none := range []string{"", "gone", "GITHUB", `"><script>`} {
		if body := string(p.SignIn(page.SignInData{Providers: all, LastUsed: none}).Body); strings.Contains(body, `id="last-used"`) {
			t.Errorf("with %q a provider is marked", none)
		}
	}
}

// What was typed comes back into the field that names the user, and into no other.
func TestWhatWasTypedComesBackIntoTheFieldThatNamesTheUser(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	custom := func(fields ...page.Field) page.Provider {
		return page.Provider{ID: "own", Kind: page.Credentials, Action: "/own", Fields: fields}
	}
	field := func(name string, pairs ...string) page.Field {
		f := page.Field{Name: name, Attributes: map[string]string{}}
		for i := 0; i+1 < len(pairs); i += 2 {
			f.Attributes[pairs[i]] = pairs[i+1]
		}
		return f
	}
	for name, tt := range map[string]struct {
		provider page.Provider
		want     string // the name of the field
	}{
		"the address of a mail":    {mail, "email"},
		"a name of a user":         {password, "username"},
		"an address":               {custom(field("otp"), field("login", "type", "email")), "login"},
		"by what it completes":     {custom(field("card", "autocomplete", "section-a Username webauthn")), "card"},
		"a field the host fills":   {custom(field("username", "value", "guest")), ""},
		"another kind of text":     {custom(field("otp", "autocomplete", "one-time-code")), ""},
		"a hidden field":           {custom(field("username", "type", "hidden")), ""},
		"a password named so":      {custom(field("username", "type", "PASSWORD"), field("email", "type", "password")), ""},
		"one that cannot change":   {custom(field("username", "ReadOnly", "")), ""},
		"one that completes none":  {custom(field("username", "autocomplete", "off")), ""},
		"a provider that leads on": {github, ""},
		"a passkey":                {passkey, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.provider.UserField(); got != tt.want {
				t.Errorf("the field is %q, want %q", got, tt.want)
			}
			typed := page.Typed{Provider: tt.provider.ID, Value: `ada" autofocus onfocus="x`}
			body := string(p.SignIn(page.SignInData{Providers: []page.Provider{tt.provider}, Typed: typed}).Body)
			var filled []string
			for _, input := range inputPattern.FindAllStringSubmatch(body, -1) {
				if attribute(input[1], "value") == `ada&#34; autofocus onfocus=&#34;x` {
					filled = append(filled, attribute(input[1], "name"))
				}
			}
			if strings.Join(filled, " ") != tt.want {
				t.Errorf("the fields %q are filled, want %q, in %s", filled, tt.want, body)
			}
		})
	}
	long := page.Typed{Provider: "email", Value: strings.Repeat("a", page.MaxTyped+1)}
	if body := string(p.SignIn(page.SignInData{Providers: []page.Provider{mail}, Typed: long}).Body); strings.Contains(body, "aaa") {
		t.Error("a value without end is shown")
	}
	both := page.SignInData{Providers: []page.Provider{mail}, Email: "query@example.test", Typed: page.Typed{Provider: "email", Value: "typed@example.test"}}
	if body := string(p.SignIn(both).Body); !strings.Contains(body, `value="typed@example.test"`) || strings.Contains(body, "query@") {
		t.Error("the address in the link takes the place of what was typed")
	}
}

// The page that a mail is on its way says where it goes only if it is told.
func TestThePageAfterAMailSaysWhereItGoesAndSendsItAgain(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	full := page.VerifyRequestData{
		Site: site, Address: `a"b@example.test`, Lifetime: time.Hour, Action: "https://app.example/auth/signin/email", CSRFToken: "abc", CallbackURL: "/after", SentAgain: true,
	}
	got := p.VerifyRequest(full)
	for _, want := range []string{
		`Your address: <bdi>a&#34;b@example.test</bdi>`, "<p>The link works for 1 hour.</p>", `<p class="message" role="status">We sent the mail again.</p>`,
		`<a class="site" href="https://app.example/auth/signin">Sign in another way</a>`,
	} {
		if !strings.Contains(string(got.Body), want) {
			t.Errorf("no %s in %s", want, got.Body)
		}
	}
	want := []form{{"https://app.example/auth/signin/email", "post", []string{"(csrfToken=abc)", "(email=a&#34;b@example.test)", "(again=1)", "(callbackUrl=/after)"}, "Send the mail again"}}
	if diff := cmp.Diff(want, forms(got)); diff != "" {
		t.Errorf("forms differ (-want +got):\n%s", diff)
	}
	for name, without := range map[string]page.VerifyRequestData{
		"no address": {Site: site, Action: full.Action}, "no action": {Site: site, Address: full.Address},
	} {
		if got := forms(p.VerifyRequest(without)); got != nil {
			t.Errorf("with %s the forms are %v", name, got)
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
		`<form id="passkey-form" action="https://app.example/auth/callback/passkey" method="post" data-passkey-options="/auth/webauthn-options/passkey" data-passkey-autofill hidden>`,
		`<input id="input-email-for-passkey-provider" name="email" autocomplete="username webauthn" required type="text" data-form-field="true">`,
		`<button class="primary" id="submitButton-passkey" type="submit">Sign in with a passkey</button>`,
		`<noscript>`,
	} {
		if !strings.Contains(body(passkey), want) {
			t.Errorf("no %s in %s", want, body(passkey))
		}
	}
	if got := body(quiet); strings.Contains(got, " data-passkey-autofill") || !strings.Contains(got, "<script>") {
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

// Users type the address into the first field that they see. The form that a password or a mail
// needs comes first, and the passkey is a button below it.
func TestAPageHasOneFieldForTheAddress(t *testing.T) {
	field := func(name, autocomplete string) page.Field {
		return page.Field{Name: name, Attributes: map[string]string{"type": "email", "autocomplete": autocomplete}}
	}
	byPassword := func(f page.Field) page.Provider {
		return page.Provider{ID: "credentials", Name: "Password", Kind: page.Credentials, Action: "/c", Fields: []page.Field{f}}
	}
	signInOnly, quiet, own := passkey, passkey, passkey
	signInOnly.IgnoresAddress, quiet.IgnoresAddress, quiet.ConditionalUI, own.Borrows = true, true, false, false
	for name, tt := range map[string]struct {
		passkey, other page.Provider
		fields         int    // of addresses
		autocomplete   string // of the other form
		address        string // the field whose value the script sends
	}{
		"a password":                     {passkey, byPassword(field("email", "username")), 1, "username webauthn", "input-email-for-credentials-provider"},
		"a password, sign-in only":       {signInOnly, byPassword(field("email", "username")), 1, "username webauthn", ""},
		"a password, a login name":       {passkey, byPassword(field("login", "username")), 2, "username", ""},
		"a login name, sign-in only":     {signInOnly, byPassword(field("login", "username")), 1, "username webauthn", ""},
		"a field that lists passkeys":    {signInOnly, byPassword(field("pin", "webauthn")), 1, "webauthn", ""},
		"a password, without autofill":   {quiet, byPassword(field("email", "username")), 1, "username", ""},
		"a mail":                         {passkey, mail, 1, "email webauthn", "input-email-for-email-provider"},
		"fields of the configuration":    {own, byPassword(field("email", "username")), 2, "username", ""},
		"no other field":                 {signInOnly, github, 1, "", ""},
		"no other field and no autofill": {quiet, github, 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := string(newPages(t, page.Theme{}, page.Texts{}).SignIn(page.SignInData{Site: site, Providers: []page.Provider{tt.passkey, tt.other}}).Body)
			_, body, _ = strings.Cut(body, "<body")
			body, _, _ = strings.Cut(body, "<script")
			if got := strings.Count(body, `class="section-header"`); got != tt.fields {
				t.Errorf("there are %d fields, want %d", got, tt.fields)
			}
			if tt.autocomplete != "" && !strings.Contains(body, `autocomplete="`+tt.autocomplete+`"`) {
				t.Errorf("no field has autocomplete %q", tt.autocomplete)
			}
			if got := strings.Contains(body, `data-passkey-address="`+tt.address+`"`); got != (tt.address != "") || tt.address == "" && strings.Contains(body, "data-passkey-address") {
				t.Errorf("the address is not taken from %q", tt.address)
			}
			form, key := strings.Index(body, `action="`+tt.other.Action+`"`), strings.Index(body, `id="passkey-form"`)
			primary := `<button class="primary" id="submitButton"`
			if tt.fields == 1 && tt.autocomplete != "" && (form > key || !strings.Contains(body, primary) || !strings.Contains(body, `<button class="secondary" id="submitButton-passkey"`)) {
				t.Errorf("the button of the first form does not stand out before that of the passkey: %s", body)
			}
		})
	}
}

// Two forms with the same label have headings, which name them for screen readers as well.
func TestFormsWithTheSameLabelAreToldApart(t *testing.T) {
	withAddress := page.Provider{
		ID: "credentials", Name: "Password", Kind: page.Credentials, Action: "/c",
		Fields: []page.Field{{Name: "email", Label: "Email", Attributes: map[string]string{"type": "email"}}, {Name: "password", Label: "Password", Attributes: map[string]string{"type": "password"}}},
	}
	own := passkey
	own.Borrows = false
	form := regexp.MustCompile(`<form [^>]*aria-labelledby="title-([a-z]+)"[^>]*>`)
	for name, tt := range map[string]struct {
		providers []page.Provider
		want      map[string]string
	}{
		"a mail and a password":       {[]page.Provider{mail, withAddress, github}, map[string]string{"email": "Sign in with Email", "credentials": "Sign in with password"}},
		"a mail and a login name":     {[]page.Provider{mail, password, github}, nil},
		"a mail alone":                {[]page.Provider{mail}, nil},
		"a password and a passkey":    {[]page.Provider{withAddress, passkey}, nil}, // which has no field of its own
		"a passkey with its own":      {[]page.Provider{password, mail, own}, map[string]string{"email": "Sign in with Email", "passkey": "Sign in with a passkey"}},
		"two forms with a card":       {[]page.Provider{fields, mail}, nil},
		"hidden fields are not shown": {[]page.Provider{hiddenField("a"), hiddenField("b")}, nil},
	} {
		body := string(newPages(t, page.Theme{}, page.Texts{}).SignIn(page.SignInData{Site: site, Providers: tt.providers}).Body)
		_, body, _ = strings.Cut(body, "<body")
		if n := strings.Count(body, "<h2"); n != len(tt.want) {
			t.Errorf("%s: the page has %d headings of forms, want %d", name, n, len(tt.want))
		}
		named := 0
		for _, m := range form.FindAllStringSubmatch(body, -1) {
			if named++; !strings.Contains(body, `<h2 id="title-`+m[1]+`">`+tt.want[m[1]]+`</h2>`) {
				t.Errorf("%s: the form %s lacks its heading %q", name, m[1], tt.want[m[1]])
			}
		}
		if named != len(tt.want) {
			t.Errorf("%s: %d forms have names, want %d", name, named, len(tt.want))
		}
	}
}

// hiddenField is a form with a hidden field.
func hiddenField(id string) page.Provider {
	return page.Provider{ID: id, Name: id, Kind: page.Credentials, Action: "/" + id, Fields: []page.Field{{Name: "tenant", Attributes: map[string]string{"type": "hidden"}}}}
}
