package page_test

import (
	"html"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/page"
)

const generic = "You could not be signed in. Try again."

func TestSignInErrors(t *testing.T) {
	const other = "That did not work. Try again, or sign in with a different account."
	tests := []struct{ code, detail, want string }{
		{"", "", ""},
		{"Signin", "", other},
		{"OAuthSignin", "", other},
		{"OAuthCallbackError", "", other},
		{"OAuthCreateAccount", "", other},
		{"EmailCreateAccount", "", other},
		{"Callback", "", other},
		{"OAuthAccountNotLinked", "", "You already have an account here. Sign in the way you did the first time."},
		{"AccountNotLinked", "", "This passkey belongs to another account. Sign in the way you did the first time."},
		{"EmailSignin", "", "The email could not be sent. Check the address and try again."},
		{"CredentialsSignin", "", "Sign-in failed. Check what you entered and try again."},
		{"CredentialsSignin", "credentials", "Sign-in failed. Check what you entered and try again."},
		{"CredentialsSignin", "too_many_attempts", "Too many attempts. Wait a few minutes and try again."},
		{"CredentialsSignin", "locked", "Ask at the desk."},
		{"CredentialsSignin", "<img src=x onerror=alert(1)>", "Sign-in failed. Check what you entered and try again."},
		{"OAuthCallbackError", "too_many_attempts", other}, // a code of a provider
		{"", "too_many_attempts", ""},
		{"SessionRequired", "", "Sign in to see this page."},
		{"MissingCSRF", "", "Your browser did not send what belongs to this form. Allow cookies for this site and try again."},
		{"Configuration", "", generic},
		{"default", "", generic},
		{"SomethingElse", "", generic},
		{"credentialssignin", "", generic},
		// W-5: names that objects of a scripting language have.
		{"constructor", "", generic},
		{"__proto__", "", generic},
		{"toString", "", generic},
		{"<img src=x onerror=alert(1)>", "", generic},
	}
	p := newPages(t, page.Theme{}, page.Texts{SignInErrors: map[string]string{"locked": "Ask at the desk."}})
	for _, tt := range tests {
		t.Run(tt.code+" "+tt.detail, func(t *testing.T) {
			body := string(p.SignIn(page.SignInData{Site: site, Providers: []page.Provider{password}, Error: tt.code, Detail: tt.detail}).Body)
			_, box, shown := strings.Cut(body, `<div class="error" id="signin-error" role="alert">`)
			_, text, _ := strings.Cut(box, "<p>")
			text, _, _ = strings.Cut(text, "</p>")
			if shown != (tt.want != "") || tt.want != "" && html.UnescapeString(text) != tt.want {
				t.Errorf("error %q shows %q, want %q", tt.code, text, tt.want)
			}
			if described := strings.Contains(body, `aria-describedby="signin-error"`); described != shown {
				t.Errorf("fields refer to the error: %t, error shown: %t", described, shown)
			}
			if strings.Contains(body, "onerror") {
				t.Error("the code is on the page")
			}
		})
	}
}

// The codes of the wire are answered with status 200; what they add has its own.
func TestTheStatusOfTheSignInPageIsThatOfTheMistake(t *testing.T) {
	p := newPages(t, page.Theme{}, page.Texts{})
	for _, tt := range []struct {
		code, detail string
		want         int
	}{
		{"CredentialsSignin", "credentials", 200},
		{"CredentialsSignin", "too_many_attempts", 429},
		{"ConnectionNotFound", "too_many_attempts", 429},
		{"EmailSignin", "too_many_mails", 429},
		{"OAuthCallbackError", "too_many_attempts", 200}, // a code of a provider
		{"CredentialsSignin", "flow_used", 200},          // a code of the application
		{"InvalidCheck", "flow_used", 409},
		{"", "too_many_attempts", 200},
	} {
		if got := p.SignIn(page.SignInData{Site: site, Error: tt.code, Detail: tt.detail}).Status; got != tt.want {
			t.Errorf("%s and %s have status %d, want %d", tt.code, tt.detail, got, tt.want)
		}
	}
}

func TestErrorPages(t *testing.T) {
	tests := []struct {
		code    string
		status  int
		heading string
		signIn  bool
	}{
		{"Configuration", 500, "Something is wrong on our side", true},
		{"AccessDenied", 403, "Access denied", true},
		{"Verification", 403, "This link no longer works", true},
		{"WebAuthnVerificationError", 200, "Your passkey was not accepted", true},
		{"Default", 200, "Something went wrong", false},
		{"default", 200, "Something went wrong", false},
		{"OAuthAccountNotLinked", 200, "Something went wrong", false},
		{"", 200, "Something went wrong", false},
		{"accessdenied", 200, "Something went wrong", false},
		{"constructor", 200, "Something went wrong", false}, // W-5
		{`"><script>alert(1)</script>`, 200, "Something went wrong", false},
	}
	p := newPages(t, page.Theme{}, page.Texts{})
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			got := p.Error(site, tt.code)
			body := string(got.Body)
			if got.Status != tt.status || !strings.Contains(body, "<h1>"+tt.heading+"</h1>") {
				t.Errorf("status %d, want %d with heading %q", got.Status, tt.status, tt.heading)
			}
			// W-1: to the sign-in page, not below the error page.
			if link := strings.Contains(body, `href="https://app.example/auth/signin"`); link != tt.signIn {
				t.Errorf("link to the sign-in page: %t, want %t", link, tt.signIn)
			}
			if !strings.Contains(body, `<a class="site" href="https://app.example">Go to app.example</a>`) {
				t.Error("no link to the site")
			}
			if strings.Contains(body, "alert(1)") {
				t.Error("the code is on the page")
			}
		})
	}
}
