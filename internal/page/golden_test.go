package page_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/page"
)

var update = flag.Bool("update", false, "rewrite the pages in testdata")

const csrf = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

var site = page.Site{Origin: "https://app.example", SignInURL: "https://app.example/auth/signin"}

func oauth(id, name string, style page.Style) page.Provider {
	return page.Provider{ID: id, Name: name, Kind: page.OAuth, Action: "https://app.example/auth/signin/" + id, Style: style}
}

var (
	github   = oauth("github", "GitHub", page.Style{BrandColor: "#24292f"})
	google   = oauth("google", "Google", page.Style{BrandColor: "#1a73e8"})
	gitlab   = oauth("gitlab", "GitLab", page.Style{BrandColor: "#FC6D26"})
	entra    = oauth("microsoft-entra-id", "Microsoft Entra ID", page.Style{BrandColor: "#0072c6"})
	company  = oauth("company", "Company Login", page.Style{})
	mail     = page.Provider{ID: "email", Name: "Email", Kind: page.Email, Action: "https://app.example/auth/signin/email"}
	password = page.Provider{
		ID: "credentials", Name: "Credentials", Kind: page.Credentials, Action: "https://app.example/auth/callback/credentials",
		Fields: []page.Field{
			{Name: "username", Label: "Username"},
			{Name: "password", Label: "Password", Attributes: map[string]string{"type": "password"}},
		},
	}
	fields = page.Provider{
		ID: "card", Name: "Staff card", Kind: page.Credentials, Action: "https://app.example/auth/callback/card",
		Fields: []page.Field{
			{Name: "card", Label: "Card number", Attributes: map[string]string{"placeholder": "0000 0000", "required": "true", "inputmode": "numeric"}},
			{Name: "pin", Label: "PIN <4 digits>", Attributes: map[string]string{"type": "password", "maxlength": "4"}},
			{Name: "otp"},
			{Name: "remember", Label: "Stay signed in on this device", Attributes: map[string]string{"type": "checkbox", "value": "yes"}},
			{Name: "tenant", Attributes: map[string]string{"type": "hidden", "value": "north"}},
		},
	}
	passkey = page.Provider{
		ID: "passkey", Name: "Passkey", Kind: page.WebAuthn, Action: "https://app.example/auth/callback/passkey",
		OptionsURL: "/auth/webauthn-options/passkey", ConditionalUI: true, Borrows: true,
		Fields: []page.Field{{Name: "email", Label: "Email", Attributes: map[string]string{"required": "true", "autocomplete": "username webauthn"}}},
	}
)

func newPages(t testing.TB, theme page.Theme, texts page.Texts) *page.Pages {
	t.Helper()
	p, err := page.New(theme, texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The pages as files, to be looked at in a browser and reviewed as a diff.
func TestPagesLookAsTheyDid(t *testing.T) {
	logo := "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 120 32'%3E%3Crect width='32' height='32' rx='9' fill='%237c3aed'/%3E%3Ccircle cx='16' cy='16' r='6' fill='white'/%3E%3Crect x='44' y='11' width='76' height='10' rx='5' fill='%237c3aed'/%3E%3C/svg%3E"
	plain := newPages(t, page.Theme{}, page.Texts{})
	light := newPages(t, page.Theme{ColorScheme: "light"}, page.Texts{})
	dark := newPages(t, page.Theme{ColorScheme: "dark"}, page.Texts{})
	themed := newPages(t, page.Theme{ColorScheme: "light", Logo: logo, BrandColor: "#7c3aed"}, page.Texts{})
	arabic := newPages(t, page.Theme{ColorScheme: "dark", BrandColor: "#ffb000"}, page.Texts{
		Lang: "ar", Dir: "rtl",
		SignInHeading: "تسجيل الدخول", SignInLead: "للمتابعة إلى %s", SignInWith: "الدخول عبر %s", Or: "أو", EmailLabel: "البريد الإلكتروني",
		SignInErrors: map[string]string{"CredentialsSignin": "تعذر تسجيل الدخول. تحقق من البيانات."},
	})
	full := page.SignInData{
		Site: site, CSRFToken: csrf, CallbackURL: "https://app.example/after",
		Providers: []page.Provider{github, google, gitlab, entra, company, mail, password, passkey},
	}
	links := page.SignInData{
		Site: site, CSRFToken: csrf, Providers: []page.Provider{password, github},
		ForgotPasswordURL: "https://app.example/forgot?a=1&b=2", SignUpURL: "https://app.example/new",
	}
	failed := page.SignInData{Site: site, CSRFToken: csrf, Providers: []page.Provider{password, github}, Error: "CredentialsSignin"}
	link := page.ConfirmLinkData{
		Site: site, CSRFToken: csrf, Email: "alice@example.test",
		Action: "https://app.example/auth/callback/email?callbackUrl=https%3A%2F%2Fapp.example&token=0123&email=alice%40example.test",
	}
	taken := page.AddressTakenData{
		Site: site, CSRFToken: csrf, CallbackURL: "https://app.example/after", Email: "alice@example.test",
		Action: "https://app.example/auth/callback/email", Providers: []page.Provider{github, company}, OtherSignInURL: "https://app.example/auth/signin",
	}
	signOut := page.SignOutData{Site: site, CSRFToken: csrf, Action: "https://app.example/auth/signout?callbackUrl=%2Fbye"}

	for name, got := range map[string]page.Page{
		"signin":        plain.SignIn(full),
		"signin-themed": themed.SignIn(page.SignInData{Site: site, CSRFToken: csrf, Providers: []page.Provider{mail, github, google}, Email: "bob@example.test"}),
		"signin-failed": light.SignIn(failed),
		"signin-narrow": light.SignIn(page.SignInData{
			Site: page.Site{Origin: "https://a-rather-long-name.of-a-department.example.org"}, CSRFToken: csrf, Error: "OAuthAccountNotLinked",
			Providers: []page.Provider{oauth("azure-ad", "Azure Active Directory", page.Style{BrandColor: "#0072c6"}), fields, passkey},
		}),
		"signin-rtl": arabic.SignIn(page.SignInData{Site: site, CSRFToken: csrf, Providers: []page.Provider{github, company, mail, password}, Error: "CredentialsSignin"}),
		"signin-used": light.SignIn(page.SignInData{
			Site: site, CSRFToken: csrf, Providers: []page.Provider{mail, github, google}, LastUsed: "google", Typed: page.Typed{Provider: "email", Value: "bob@example.test"},
		}),
		"verify-again": dark.VerifyRequest(page.VerifyRequestData{
			Site: site, CSRFToken: csrf, Address: "alice@example.test", Lifetime: 24 * time.Hour,
			Action: "https://app.example/auth/signin/email", CallbackURL: "https://app.example/after", SentAgain: true,
		}),
		"signout":  light.SignOut(signOut),
		"verify":   light.VerifyRequest(page.VerifyRequestData{Site: site}),
		"confirm":  dark.ConfirmLink(link),
		"continue": light.Continue(page.ContinueData{Site: site, Action: "https://app.example/auth/callback/apple", Fields: []page.HiddenField{{Name: "code", Value: "0123"}}}),
		"native": light.Native(page.NativeData{
			Site: site, CSRFToken: csrf, Application: "Desktop", User: "Alice", Action: "https://app.example/auth/native/authorize",
			Fields: []page.HiddenField{{Name: "client_id", Value: "desktop"}, {Name: "redirect_uri", Value: "http://127.0.0.1:50000/in"}},
		}),
		"taken":          light.AddressTaken(taken),
		"taken-no-way":   dark.AddressTaken(page.AddressTakenData{Site: site, CSRFToken: csrf, Email: taken.Email, Action: taken.Action}),
		"replace":        dark.Replace(page.ReplaceData{Site: site, CSRFToken: csrf, Action: "https://app.example/auth/initiate/acme", Target: "/home", User: "Alice", Provider: "Acme"}),
		"signin-links":   light.SignIn(links),
		"forbidden":      light.Refusal(site, 403),
		"error-config":   light.Error(site, "Configuration"),
		"error-mail":     light.MailNotSent(site),
		"error-denied":   dark.Error(site, "AccessDenied"),
		"error-unknown":  light.Error(site, "no such error"),
		"error-no-links": dark.Error(page.Site{}, "Verification"),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "golden", name+".html")
			if *update {
				if err := os.WriteFile(file, got.Body, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got.Body)); diff != "" {
				t.Errorf("%s changed; look at it and run with -update (-want +got):\n%s", file, diff)
			}
		})
	}
}
