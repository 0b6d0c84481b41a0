package page_test

import (
	"crypto/sha256"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// hostile is text that does something in one of the places a value can stand.
var hostile = []string{
	`<script>alert(1)</script>`,
	`"><script>alert(1)</script>`,
	`'><img src=x onerror=alert(1)>`,
	`" onmouseover="alert(1)" x="`,
	`' onfocus='alert(1)' autofocus='`,
	"` onload=alert(1) `",
	`</style><script>alert(1)</script>`,
	`</title><script>alert(1)</script>`,
	`</textarea></noscript><svg onload=alert(1)>`,
	`<!--`,
	`--><script>alert(1)</script>`,
	`]]><script>alert(1)</script>`,
	`javascript:alert(1)`,
	"java\tscript:alert(1)",
	" JaVaScRiPt:alert(1)",
	`vbscript:msgbox(1)`,
	`data:text/html,<script>alert(1)</script>`,
	`//evil.example/`,
	`red}body{background:url(//evil.example)}`,
	`expression(alert(1))`,
	`url(javascript:alert(1))`,
	`{{.Site}}{{"<b>"}}`,
	`%s%s%d%!(EXTRA)`,
	"a\x00b<script>",
	"\xff\xfe<script>",
	"\u2028<script>\u2029",
	"\r\nSet-Cookie: a=b\r\n\r\n<script>",
	`&lt;script&gt;alert(1)&lt;/script&gt;`,
	`&#34;&#62;`,
	`; script-src *`,
	strings.Repeat("<", 5000),
}

var attributePattern = regexp.MustCompile(`([^\s=/"]+)(?:="([^"]*)")?`)

// skeleton lists the elements of a page with the names of their attributes:
// what no value may change. The contents of style and script elements count.
func skeleton(t testing.TB, body string) []string {
	t.Helper()
	var all []string
	for {
		_, rest, found := strings.Cut(body, "<")
		if !found {
			return all
		}
		end := endOfTag(rest)
		tag := rest[:end]
		body = rest[min(end+1, len(rest)):]
		name, _, _ := strings.Cut(tag, " ")
		element := name
		for _, attribute := range attributePattern.FindAllStringSubmatch(tag[len(name):], -1) {
			// A name without letters has no initials to show.
			if attribute[1] != "data-letters" {
				element += " " + attribute[1]
			}
			checkURL(t, attribute[1], html.UnescapeString(attribute[2]))
		}
		if name == "style" || name == "script" {
			var raw string
			raw, body, _ = strings.Cut(body, "</"+name)
			body = "</" + name + body
			element += fmt.Sprintf(" %x", sha256.Sum256([]byte(raw)))
			if len(raw) < 1000 {
				element += " " + raw
			}
		}
		all = append(all, element)
	}
}

// endOfTag returns where the ">" of a tag is, past quoted values.
func endOfTag(s string) int {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '>' && !quoted:
			return i
		}
	}
	return len(s)
}

func checkURL(t testing.TB, attribute, value string) {
	t.Helper()
	switch attribute {
	case "href", "src", "action":
		scheme := strings.ToLower(strings.Map(func(r rune) rune {
			if r <= ' ' {
				return -1 // browsers drop these
			}
			return r
		}, value))
		for _, bad := range []string{"javascript:", "vbscript:", "data:text"} {
			if strings.HasPrefix(scheme, bad) {
				t.Errorf("%s=%.80q runs a script", attribute, value)
			}
		}
	}
}

// pagesWith renders every page with s in the place that has the name, or
// everywhere.
func pagesWith(t testing.TB, place, s string) map[string]page.Page {
	t.Helper()
	at := func(name, harmless string) string {
		if name == place || place == everywhere {
			return s
		}
		return harmless
	}
	site := page.Site{Origin: at("origin", "https://app.example"), SignInURL: at("sign-in URL", "https://app.example/auth/signin")}
	texts := page.English()
	texts.Lang = at("language", "en")
	texts.SignInHeading = at("heading", "Heading")
	texts.SignInWith = strings.ReplaceAll(at("button text", "Sign in with"), "%s", "") + " %s"
	texts.SignInErrors["CredentialsSignin"] = at("error text", "Wrong")
	texts.Errors["AccessDenied"] = pages.ErrorText{Heading: at("error heading", "No"), Text: []string{at("error text", "No")}}
	texts.LogoAlt = at("logo text", "Logo")
	texts.EmailPlaceholder = at("placeholder", "you@example.com")
	texts.Words = map[string]string{"Username": at("word", "Name"), "Own": at("word", "Ours")}
	texts.Forbidden = pages.ErrorText{Heading: at("error heading", "No"), Text: []string{at("error text", "No")}}
	texts.ForgotPassword, texts.SignUp = at("link text", "Forgot?"), at("link text", "New?")
	p := newPages(t, page.Theme{Logo: "https://img.example/logo.png"}, texts)

	github := oauth("github", at("provider name", "GitHub"), page.Style{
		BrandColor: at("brand colour", "#24292f"), Logo: at("provider logo", ""),
	})
	github.Action = at("action", "https://app.example/auth/signin/github")
	own := page.Provider{
		ID: at("provider id", "own"), Name: "Own", Kind: page.Credentials, Action: at("action", "/auth/callback/own"),
		Fields: []page.Field{{
			Name: at("field name", "user"), Label: at("field label", "User"),
			Attributes: map[string]string{
				"placeholder": at("attribute value", "user"), "type": at("field type", "text"), "aria-label": at("aria value", "x"),
				"data-x": at("data value", "x"),
			},
		}},
	}
	key := passkey
	key.OptionsURL = at("options URL", "/auth/webauthn-options/passkey")

	return map[string]page.Page{
		"sign-in": p.SignIn(page.SignInData{
			Site: site, Providers: []page.Provider{github, own, mail, key}, CSRFToken: at("csrf token", "abc"),
			CallbackURL: at("callback URL", "https://app.example/"), Email: at("email", "a@b.example"), Error: "CredentialsSignin",
			ForgotPasswordURL: at("link", "/forgot"), SignUpURL: at("link", "/new"),
		}),
		"forbidden":     p.Refusal(site, 403),
		"sign-in error": p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{mail}, Error: at("error code", "x")}),
		"sign-out":      p.SignOut(page.SignOutData{Site: site, Action: at("action", "/auth/signout"), CSRFToken: at("csrf token", "abc")}),
		"confirm": p.ConfirmLink(page.ConfirmLinkData{
			Site: site, Action: at("action", "/auth/callback/email"), CSRFToken: at("csrf token", "abc"), Email: at("email", "a@b.example"),
		}),
		"native": p.Native(page.NativeData{
			Site: site, Action: at("action", "/auth/native/authorize"), CSRFToken: at("csrf token", "abc"),
			Application: at("application", "Desktop"), User: at("user", "Alice"),
			Fields: []page.HiddenField{{Name: at("field name", "state"), Value: at("state", "x")}},
		}),
		"address taken": p.AddressTaken(page.AddressTakenData{
			Site: site, Providers: []page.Provider{github, own, mail, key}, CSRFToken: at("csrf token", "abc"), Email: at("email", "a@b.example"),
			CallbackURL: at("callback URL", "https://app.example/"), Action: at("action", "/auth/callback/email"), OtherSignInURL: at("sign-in URL", "/auth/signin"),
		}),
		"replace": p.Replace(page.ReplaceData{
			Site: site, Action: at("action", "/auth/initiate/acme"), Target: at("target", "https://app.example/"), CSRFToken: at("csrf token", "abc"),
			User: at("user", "Alice"), Provider: at("provider name", "Acme"),
		}),
		"verify-request": p.VerifyRequest(page.VerifyRequestData{Site: site}),
		"error":          p.Error(site, at("error code", "x")),
		"denied":         p.Error(site, "AccessDenied"),
	}
}

const everywhere = "any place"

// places are those of pagesWith.
var places = []string{
	"application", "user", "state",
	"origin", "sign-in URL", "language", "heading", "button text", "error text", "error heading", "logo text", "placeholder",
	"provider name", "brand colour", "background", "text colour", "provider logo", "action", "provider id", "field name", "field label",
	"attribute value", "field type", "aria value", "data value", "options URL", "csrf token", "callback URL", "email", "error code",
	"word", "link text", "link",
}

var tileStyle = regexp.MustCompile(`^style [0-9a-f]{64} (\.brand-\d+\{--provider-brand-color:#[0-9a-f]{6};--provider-color:#[0-9a-f]{6}\})+$`)

// SH-90: no value that reaches a page, from a request or from the
// configuration, adds an element, an attribute, a rule or a script to it.
func TestNoValueChangesTheStructureOfAPage(t *testing.T) {
	want := map[string][]string{}
	for name, p := range pagesWith(t, "nowhere", "") {
		want[name] = skeleton(t, string(p.Body))
	}
	// A colour that cannot be used gives way to another one of the provider.
	ignore := cmp.FilterValues(func(a, b string) bool {
		return tileStyle.MatchString(a) && tileStyle.MatchString(b)
	}, cmp.Ignore())
	check := func(t *testing.T, place, s string) {
		for name, p := range pagesWith(t, place, s) {
			if diff := cmp.Diff(want[name], skeleton(t, string(p.Body)), ignore); diff != "" {
				t.Errorf("%s page with %.60q as %s has another structure (-want +got):\n%s", name, s, place, diff)
			}
			for header, values := range p.Header {
				if value := strings.Join(values, ""); strings.ContainsAny(value, "\r\n") || strings.Contains(value, "evil") {
					t.Errorf("%s page with %.60q as %s has the header %s: %q", name, s, place, header, values)
				}
			}
		}
	}
	for _, s := range hostile {
		t.Run(fmt.Sprintf("%.30q", s), func(t *testing.T) {
			check(t, everywhere, s)
			if t.Failed() {
				for _, place := range places {
					check(t, place, s)
				}
			}
		})
	}
}

// The test above is worth nothing if the skeleton does not see what was added.
func TestSkeletonNoticesMarkup(t *testing.T) {
	body := string(newPages(t, page.Theme{}, page.Texts{}).VerifyRequest(page.VerifyRequestData{Site: site}).Body)
	clean := skeleton(t, body)
	for _, added := range []string{`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<p onclick="x">`, `<style>p{}</style>`} {
		if slices.Equal(skeleton(t, strings.Replace(body, "<h1>", added+"<h1>", 1)), clean) {
			t.Errorf("%s goes unnoticed", added)
		}
	}
}

func FuzzSignInStructure(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s, s)
	}
	p := newPages(f, page.Theme{}, page.Texts{})
	render := func(email, code, name string) page.Page {
		return p.SignIn(page.SignInData{
			Site: site, CSRFToken: csrf, CallbackURL: "/" + name, Email: email, Error: "x" + code,
			Providers: []page.Provider{oauth("own", name, page.Style{}), mail, password},
		})
	}
	want := skeleton(f, string(render("a", "b", "c").Body))
	f.Fuzz(func(t *testing.T, email, code, name string) {
		if diff := cmp.Diff(want, skeleton(t, string(render(email, code, name).Body))); diff != "" {
			t.Errorf("structure changed with email %q, code %q, name %q (-want +got):\n%s", email, code, name, diff)
		}
	})
}
