package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/page"
)

func everyPage(p *page.Pages) map[string]page.Page {
	return map[string]page.Page{
		"sign-in":       p.SignIn(page.SignInData{Site: site, CSRFToken: csrf, Providers: []page.Provider{github, mail, password, passkey}}),
		"sign-in plain": p.SignIn(page.SignInData{Site: site, CSRFToken: csrf, Providers: []page.Provider{mail}}),
		"sign-out":      p.SignOut(page.SignOutData{Site: site, CSRFToken: csrf, Action: "/auth/signout"}),
		"confirm link":  p.ConfirmLink(page.ConfirmLinkData{Site: site, CSRFToken: csrf, Action: "/auth/callback/email?token=x"}),
		"continue": p.Continue(page.ContinueData{
			Site: site, Action: "https://app.example/auth/callback/apple",
			Fields: []page.HiddenField{{Name: "code", Value: `a"b<c>`}, {Name: "state", Value: "x"}},
		}),
		"address taken": p.AddressTaken(page.AddressTakenData{Site: site, CSRFToken: csrf, Action: "/auth/callback/email", Email: "a@b.example", Providers: []page.Provider{github}}),
		"native":        p.Native(page.NativeData{Site: site, CSRFToken: csrf, Application: "alice@example.test", User: "alice@example.test", Action: "/auth/native/authorize", Fields: []page.HiddenField{{Name: "client_id", Value: "desktop"}}}),
		"form":          p.Form(page.FormPage{Site: site, Name: "sign-up", CSRFToken: csrf, Forms: []page.Form{{Action: "/auth/account/sign-up", Button: "→"}}}),
		"form password": p.Form(page.FormPage{Site: site, Name: "password", CSRFToken: csrf, Forms: []page.Form{{
			Action: "/auth/account/password", Button: "→", Inputs: []page.Input{{Name: "password", Label: "⚿", Type: "password", Show: "👁"}},
		}}}),
		"form both": p.Form(page.FormPage{Site: site, Name: "sign-up-finish", CSRFToken: csrf, Forms: []page.Form{
			{Action: "/auth/account/sign-up-finish", Button: "→", Inputs: []page.Input{{Name: "password", Label: "⚿", Type: "password", Show: "👁"}}},
			{Action: "/auth/account/sign-up-finish", Button: "⚷", PasskeyOptionsURL: "/auth/account/sign-up-options"},
		}}),
		"settings":       p.Form(quietSettings),
		"replace":        p.Replace(page.ReplaceData{Site: site, CSRFToken: csrf, Action: "/auth/initiate/acme", Target: "/", User: "Alice", Provider: "Acme"}),
		"form codes":     p.Form(page.FormPage{Site: site, Name: "recovery-codes", Codes: []string{"0000-0000-0000-0000"}, Save: page.Link{URL: "/codes", Text: "⤓"}, Print: "⎙"}),
		"verify-request": p.VerifyRequest(page.VerifyRequestData{Site: site}),
		"error":          p.Error(site, "Configuration"),
		"forbidden":      p.Refusal(site, 403),
	}
}

// directive returns the sources of a directive, and whether it is there.
func directive(p page.Page, name string) ([]string, bool) {
	for part := range strings.SplitSeq(p.Header.Get("Content-Security-Policy"), ";") {
		if fields := strings.Fields(part); len(fields) > 0 && fields[0] == name {
			return fields[1:], true
		}
	}
	return nil, false
}

func TestEveryPageHasTheHeadersThatProtectIt(t *testing.T) {
	for name, p := range everyPage(newPages(t, page.Theme{}, page.Texts{})) {
		for header, want := range map[string]string{ // W-35, BCP-13
			"Content-Type":           "text/html; charset=utf-8",
			"X-Content-Type-Options": "nosniff",
			"X-Frame-Options":        "DENY",
			"Cache-Control":          "private, no-cache, no-store",
			"Expires":                "0",
			"Pragma":                 "no-cache",

			"Cross-Origin-Opener-Policy": "same-origin", // W-54, SA-H2
		} {
			if got := p.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
		for name, want := range map[string]string{"default-src": "'none'", "base-uri": "'none'", "frame-ancestors": "'none'"} {
			if got, _ := directive(p, name); strings.Join(got, " ") != want {
				t.Errorf("%s: %s is %q, want %q", name, name, got, want)
			}
		}
		if csp := p.Header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: policy %q allows too much", name, csp)
		}
	}
}

func TestPolicyAllowsTheStylesAndScriptsOfThePageAndNoOthers(t *testing.T) {
	elements := regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`)
	for name, p := range everyPage(newPages(t, page.Theme{BrandColor: "#123456", CSS: "p{}\r\nh1 > b {color: red}\r"}, page.Texts{})) {
		want := map[string][]string{}
		for _, element := range elements.FindAllStringSubmatch(string(p.Body), -1) {
			sum := sha256.Sum256([]byte(element[2]))
			want[element[1]+"-src"] = append(want[element[1]+"-src"], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		for _, kind := range []string{"style-src", "script-src"} {
			if got, _ := directive(p, kind); strings.Join(got, " ") != strings.Join(want[kind], " ") {
				t.Errorf("%s: %s is %q, want %q", name, kind, got, want[kind])
			}
		}
		if strings.Contains(string(p.Body), " style=") || regexp.MustCompile(`<[^>]* on[a-z]+=`).Match(p.Body) {
			t.Errorf("%s: has a style or handler attribute, which the policy forbids", name)
		}
	}
}

// W-43: scripts come with the page, and only where there is a passkey, a form that is posted
// by itself, codes to print, or a password to show. Only the one for passkeys may send requests.
func TestOnlySomePagesBringAScript(t *testing.T) {
	all := everyPage(newPages(t, page.Theme{}, page.Texts{}))
	for name, p := range all {
		_, hasScript := directive(p, "script-src")
		_, connects := directive(p, "connect-src")
		want := slices.Contains([]string{"sign-in", "continue", "form codes", "form password", "form both", "settings"}, name)
		if hasScript != want || connects != (name == "sign-in" || name == "form both" || name == "settings") || strings.Contains(string(p.Body), "<script") != want {
			t.Errorf("%s: script %t, connect %t, want a script: %t", name, hasScript, connects, want)
		}
	}
}

// A form-action directive would also stop the redirects to the provider and
// back, see the comment at the policy. Origin must survive a form post.
func TestPagesWithoutAFormForbidForms(t *testing.T) {
	for name, p := range everyPage(newPages(t, page.Theme{}, page.Texts{})) {
		sources, forbids := directive(p, "form-action")
		hasForm := strings.Contains(string(p.Body), "<form")
		wantReferrer := "no-referrer"
		if hasForm {
			wantReferrer = "strict-origin"
		}
		if name == "settings" { // a user who has to confirm a form comes back to it
			wantReferrer = "same-origin"
		}
		if hasForm == forbids || forbids && strings.Join(sources, " ") != "'none'" {
			t.Errorf("%s: has a form: %t, form-action %q", name, hasForm, sources)
		}
		if got := p.Header.Get("Referrer-Policy"); got != wantReferrer {
			t.Errorf("%s: Referrer-Policy %q, want %q", name, got, wantReferrer)
		}
	}
}

func TestPolicyAllowsTheOriginsOfLogos(t *testing.T) {
	tests := []struct{ name, themeLogo, providerLogo, want string }{
		{"no logo", "", "", "'self'"},
		{"logo of the site", "/logo.svg?v=2", "", "'self'"},
		{"logo elsewhere", "https://IMG.example:8443/logo.svg?a=1&b=2", "", "'self' https://img.example:8443"},
		{"logo in the configuration", "data:image/png;base64,AA==", "", "'self' data:"},
		{"logo of a provider", "", "https://cdn.example/p.svg", "'self' https://cdn.example"},
		{"both from one place", "https://cdn.example/l.svg", "https://cdn.example/p.svg", "'self' https://cdn.example"},
		{"unusable logo of a provider", "", "javascript:alert(1)", "'self'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPages(t, page.Theme{Logo: tt.themeLogo}, page.Texts{})
			got := p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{oauth("own", "Own", page.Style{Logo: tt.providerLogo})}})
			if sources, _ := directive(got, "img-src"); strings.Join(sources, " ") != tt.want {
				t.Errorf("img-src is %q, want %q", sources, tt.want)
			}
			// Initials stand in for a logo, not beside it.
			if initials := strings.Contains(string(got.Body), `data-letters="`); initials != !strings.HasPrefix(tt.providerLogo, "https:") {
				t.Errorf("initials shown: %t", initials)
			}
			body := html.UnescapeString(string(got.Body))
			for _, logo := range []string{tt.themeLogo, tt.providerLogo} {
				if shown := strings.Contains(body, `src="`+logo+`"`); logo != "" && shown != !strings.HasPrefix(logo, "javascript:") {
					t.Errorf("logo %s shown: %t", logo, shown)
				}
			}
		})
	}
}
