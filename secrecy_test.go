package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// A witness is a network that notes everything secret that passes through it.
type witness struct {
	network
	seen map[string]string // where, by the text
}

func (w *witness) note(where, text string) {
	// Short words are found in a log by chance, and "credentials" is also the
	// code of an error.
	if len(text) >= 8 && text != "credentials" {
		w.seen[text] = where
	}
}

func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, c := range r.Cookies() {
		w.cookie(c)
	}
	w.note("the Authorization header", strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
	w.note("the Authorization header", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	w.parameters(r.URL.Query())
	resp, err := w.network.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for _, c := range resp.Cookies() {
		w.cookie(c)
	}
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil {
		w.parameters(u.Query())
	}
	return resp, nil
}

func (w *witness) cookie(c *http.Cookie) {
	if !strings.HasSuffix(c.Name, callbackURLCookie) {
		w.note("the cookie "+c.Name, c.Value)
	}
}

func (w *witness) parameters(q url.Values) {
	for _, name := range []string{"code", "state", "nonce", "code_challenge", "token", "csrfToken", "oauth_token", "oauth_verifier"} {
		for _, value := range q[name] {
			w.note("the parameter "+name, value)
		}
	}
}

// SH-13, W-44, ASVS-16.2.5: with everything switched on, the log of all flows,
// those that fail above all, holds nothing that lets its reader take part.
func TestTheLogTellsNoSecret(t *testing.T) {
	faults := [][]authtest.Fault{
		nil,
		{authtest.ResponseWrongState},
		{authtest.ResponseHostileError},
		{authtest.ResponseUnknownCode},
		{authtest.TokenInvalidGrant},
		{authtest.TokenHostileError},
		{authtest.TokenTypeOdd},
		{authtest.AccessTokenObject},
		{authtest.ExpiresInNonsense},
		{authtest.IDTokenWrongSignature},
		{authtest.IDTokenGarbage},
		{authtest.IDTokenWrongNonce},
		{authtest.IDTokenWrongIssuer},
		{authtest.IDTokenExpired},
		{authtest.ProfileError},
		{authtest.ProfileObjectID},
		{authtest.OAuth1WrongToken},
		{authtest.OAuth1WithoutVerifier},
		{authtest.At(authtest.TokenEndpoint, authtest.HTMLBody)},
		{authtest.At(authtest.TokenEndpoint, authtest.Redirects)},
		{authtest.At(authtest.TokenEndpoint, authtest.Drops)},
		{authtest.At(authtest.UserEndpoint, authtest.ServerError)},
		{authtest.At(authtest.OAuth1AccessTokenEndpoint, authtest.Drops)},
		{authtest.At(authtest.OAuth1RequestTokenEndpoint, authtest.ServerError)},
	}
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
		for _, broken := range faults {
			t.Run(fmt.Sprint(strategy, broken), func(t *testing.T) {
				w := &witness{seen: map[string]string{}}
				s := newSite(t, threeProviders, func(s *site) {
					w.network = s.net
					s.HTTPClient = &http.Client{Transport: w}
					s.Session.Strategy = strategy
					s.Providers = append(s.Providers, s.mailProvider(), &pintle.Credentials{Authorize: checkPassword})
					s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) {
						for _, name := range []string{"access_token", "refresh_token", "id_token"} {
							if text, ok := body[name].(string); ok {
								w.note(name, text)
							}
						}
					}})
				})
				s.idp.Break(broken...)
				b := s.browser()
				b.client.Transport = w
				for _, provider := range []string{"acme", "hub", "old"} {
					b.attempt(provider)
					b.get("/auth/session")
					b.get("/members")
				}
				b.post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password)
				b.post("/auth/callback/credentials", "username", "ada", "password", "a wrong password")
				b.postJSON("/auth/callback/credentials", map[string]any{"csrfToken": "a wrong form token", "password": "another password"})
				b.post("/auth/signin/email", "email", "ada@example.com")
				mail := s.lastMail()
				b.get(mail.URL)
				b.get(mail.URL) // which is used up
				b.plant(sessionCookie, "a session that is none")
				b.get("/auth/session")
				b.get("/")
				b.post("/auth/signout")
				b.do("POST", "/auth/signout", strings.NewReader(`{"password":"a password in broken JSON`), "Content-Type", "application/json")

				secrets := map[string]string{
					secret: "the secret", people["ada"].password: "a password", "a wrong password": "a password", "another password": "a password",
					"a wrong form token": "a form token", "a password in broken JSON": "a password", "a session that is none": "a session",
					mail.Token: "the token of a mail", mail.URL: "the link of a mail",
					b.csrf(): "the form token",
				}
				for _, id := range []string{"acme", "hub", "old"} {
					secrets[id+" client secret :%+/"] = "a client secret"
				}
				for _, r := range s.idp.Requests() {
					for _, name := range []string{"code", "code_verifier", "client_secret", "refresh_token", "client_assertion", "oauth_signature"} {
						if value := r.Form.Get(name); len(value) >= 8 {
							secrets[value] = name
						}
					}
				}
				maps.Copy(secrets, w.seen)
				log := s.log.String()
				if len(secrets) < 30 {
					t.Errorf("only %d secrets were seen", len(secrets))
				}
				for text, where := range secrets {
					for _, form := range []string{text, url.QueryEscape(text)} {
						if i := strings.Index(log, form); i >= 0 {
							t.Errorf("the log tells %s: …%s", where, log[max(0, i-200):min(len(log), i+80)])
						}
					}
				}
			})
		}
	}
}

// ASVS-16.3.1 to ASVS-16.3.4, ASVS-16.5.1: failures are in the log under their
// codes, and the browser is told no more than the code that it may see.
func TestFailuresAreInTheLogAndNotInTheBrowser(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
			return nil, fmt.Errorf("the directory at ldap://10.0.0.7: %w", errBroken)
		}}}
	})
	b := s.browser()
	r := b.post("/auth/callback/credentials").fails("/auth/error", operator)
	page := b.get(r.location())
	for _, answer := range []string{r.location(), page.body, fmt.Sprint(page.header)} {
		if strings.Contains(answer, "ldap") || strings.Contains(answer, "broken") {
			t.Errorf("the browser is told %s", answer)
		}
	}
	if !s.log.has("CallbackRouteError") || !strings.Contains(s.log.String(), "ldap://10.0.0.7: broken on purpose") || !strings.Contains(s.log.String(), `"provider":"credentials"`) {
		t.Errorf("the log says %s", s.log)
	}
}

// An event handler that fails changes nothing: what it is told has happened.
func TestAFailingEventHandlerChangesNothing(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Store = memstore.New()
		s.Events = pintle.Events{
			SignIn:      func(context.Context, *pintle.SignInEvent) error { return errBroken },
			SignOut:     func(context.Context, *pintle.SignOutEvent) error { return errBroken },
			CreateUser:  func(context.Context, *pintle.User) error { return errBroken },
			LinkAccount: func(context.Context, *pintle.LinkAccountEvent) error { return errBroken },
			Session:     func(context.Context, *pintle.SessionEvent) error { return errBroken },
		}
	})
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	if session := b.session(); session == nil {
		t.Error("nobody is signed in")
	}
	if r := b.post("/auth/signout").goesTo(s.url); !r.clears(sessionCookie) {
		t.Error("the sign-out leaves the cookie")
	}
	for _, name := range []string{"signIn", "signOut", "createUser", "linkAccount", "session"} {
		if !strings.Contains(s.log.String(), fmt.Sprintf(`"code":"EventError","event":%q`, name)) {
			t.Errorf("the log does not say that the handler of %s failed", name)
		}
	}
}

// Every error of a callback that is a code keeps it; the page that shows it, its
// status and what the address says are a table.
func TestEachCodeLeadsToItsPage(t *testing.T) {
	tests := []struct {
		err    error
		page   string
		shown  string
		status int
	}{
		{pintle.ErrAccessDenied, "/auth/error", "AccessDenied", 403},
		{pintle.ErrVerification, "/auth/error", "Verification", 403},
		{pintle.ErrWebAuthn, "/auth/error", "WebAuthnVerificationError", 200},
		{pintle.ErrCredentials, "/auth/signin", "CredentialsSignin", 200},
		{pintle.ErrMissingCSRF, "/auth/signin", "MissingCSRF", 200},
		{pintle.ErrOAuthCallback, "/auth/signin", "OAuthCallbackError", 200},
		{pintle.ErrOAuthAccountNotLinked, "/auth/signin", "OAuthAccountNotLinked", 200},
		{pintle.ErrAccountNotLinked, "/auth/signin", "AccountNotLinked", 200},
		{pintle.ErrConfiguration, "/auth/error", "Configuration", 500},
		{pintle.ErrStore, "/auth/error", "Configuration", 500},
		{pintle.ErrInvalidCheck, "/auth/error", "Configuration", 500},
		{pintle.ErrEmailSignIn, "/auth/error", "Configuration", 500},
		{pintle.ErrEvent, "/auth/error", "Configuration", 500},
		{pintle.Code("<script>"), "/auth/error", "Configuration", 500},
		{&pintle.Error{Code: pintle.ErrVerification, Err: errBroken}, "/auth/error", "Verification", 403},
		{fmt.Errorf("the host says: %w", pintle.ErrVerification), "/auth/error", "Verification", 403},
		{errBroken, "/auth/error", "AccessDenied", 403},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			s := newSite(t, func(s *site) {
				s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", tt.err }
			})
			b := s.browser()
			r := b.signInWith("acme").fails(tt.page, tt.shown)
			b.get(r.location()).want(tt.status)
			if who := b.who(); who != "stranger" {
				t.Errorf("SH-63 %s is signed in", who)
			}
			if events := s.eventNames(); len(events) > 0 {
				t.Errorf("there are events: %q", events)
			}
		})
	}
}

func TestErrorsCanBeAskedFor(t *testing.T) {
	err := error(&pintle.Error{Code: pintle.ErrCredentials, Provider: "credentials", Err: errBroken})
	if !errors.Is(err, pintle.ErrCredentials) || !errors.Is(err, errBroken) || errors.Is(err, pintle.ErrStore) {
		t.Errorf("errors.Is finds the wrong things in %v", err)
	}
	if got, want := err.Error(), "pintle: CredentialsSignin (provider credentials): broken on purpose"; got != want {
		t.Errorf("the error reads %q, want %q", got, want)
	}
	if got, want := pintle.ErrStore.Error(), "pintle: AdapterError"; got != want {
		t.Errorf("the code reads %q, want %q", got, want)
	}
}

// A host tells the sign-in page which of its own reasons it had.
func TestTheHostChoosesTheCodeOfWrongCredentials(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
			if c.Text("username") == "" {
				return nil, &pintle.Error{Code: pintle.ErrCredentials, Detail: "no name & more"}
			}
			return nil, nil
		}}}
	})
	b := s.browser()
	b.post("/auth/callback/credentials").goesTo(s.url + "/auth/signin?error=CredentialsSignin&code=no+name+%26+more")
	b.post("/auth/callback/credentials", "username", "ada").goesTo(s.url + "/auth/signin?error=CredentialsSignin&code=credentials")
}

// What a form sends reaches the host as it was sent, numbers of JSON included.
func TestAuthorizeIsGivenTheSubmission(t *testing.T) {
	var got *pintle.Submission
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
			got = c
			return &pintle.User{Name: "Somebody"}, nil
		}}}
	})
	b := s.browser()
	b.postJSON("/auth/callback/credentials", map[string]any{"csrfToken": b.csrf(), "pin": 12345, "list": []any{"a", true}}, "X-Device", "7")
	if fmt.Sprint(got.Fields["pin"]) != "12345" || fmt.Sprint(got.Fields["list"]) != "[a true]" || got.Text("pin") != "" || got.Request.Header.Get("X-Device") != "7" {
		t.Errorf("Authorize is given %v", got.Fields)
	}
	claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	if id, _ := claims["sub"].(string); len(id) != 36 {
		t.Errorf("a user without an id has the subject %v", claims["sub"])
	}
	if _, known := claims["email"]; known {
		t.Errorf("the claims are %v", claims)
	}
	e := lastEvent[*pintle.SignInEvent](s, "signIn")
	if e.NewUser != nil || e.Profile != nil || e.Account.Type != pintle.TypeCredentials || e.Account.ProviderAccountID != claims["sub"] {
		t.Errorf("the event has %+v", e)
	}
	if names := s.eventNames(); !slices.Equal(names, []string{"signIn"}) {
		t.Errorf("the events are %q", names)
	}
}
