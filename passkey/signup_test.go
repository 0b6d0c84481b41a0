package passkey_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/store/memstore"
)

// signInOnly is a site on which no client signs up by itself, as with package account.
func signInOnly(t *testing.T, strategy pintle.SessionStrategy) *site {
	t.Helper()
	return newSite(t, func(s *site) {
		s.UserVerification, s.keys.SignInOnly, s.keys.DisableAutofill = "preferred", true, true
		s.Session.RecordAuthentication, s.Session.Strategy = true, strategy
		s.Session.Revocation = &memstore.Revocations{}
	})
}

// newUser is a user whose address the application has proven.
func newUser(id, email string) *pintle.User {
	return &pintle.User{ID: id, Email: email, EmailVerified: time.Now().UTC().Truncate(time.Second)}
}

const (
	adasID    = "0b6c9d34-3a8e-4b6f-9a43-4c6f1a2f4a01"
	anotherID = "0b6c9d34-3a8e-4b6f-9a43-4c6f1a2f4a02"
)

// begin begins the sign-up of a user.
func (b *browser) begin(u *pintle.User) json.RawMessage {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	options, err := b.s.auth.BeginPasskeySignUp(w, b.request(), "passkey", u)
	if err != nil {
		b.s.t.Fatal(err)
	}
	b.takes(w)
	return options
}

// create is the answer of an authenticator.
func (b *browser) create(key *passkeytest.Authenticator, options json.RawMessage) []byte {
	b.s.t.Helper()
	answer, err := key.Create(origin, options)
	if err != nil {
		b.s.t.Fatal(err)
	}
	return answer
}

// finishes finishes the sign-up of a user.
func (b *browser) finishes(u *pintle.User, answer []byte) (next string, err error) {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	next, err = b.s.auth.FinishPasskeySignUp(w, b.request(), "passkey", u, answer, pintle.SignInOptions{RedirectTo: "/welcome"})
	if set := w.Header()["Set-Cookie"]; err != nil && len(set) > 0 {
		b.s.t.Errorf("a call that fails sets %q", set)
	}
	b.takes(w)
	return next, err
}

func TestAUserWithAProvenAddressSignsUpWithAPasskey(t *testing.T) {
	for _, strategy := range bothStrategies {
		s := signInOnly(t, strategy)
		b, key := s.browser(), passkeytest.New()
		options := b.begin(newUser(adasID, "ada@example.com"))
		var asked struct {
			User                   struct{ ID, Name string }
			AuthenticatorSelection struct{ UserVerification string }
		}
		if err := json.Unmarshal(options, &asked); err != nil {
			t.Fatal(err)
		}
		if asked.AuthenticatorSelection.UserVerification != "required" || asked.User.Name != "ada@example.com" || len(asked.User.ID) != 64 {
			t.Errorf("the options are %s", options)
		}
		u := newUser(adasID, "ada@example.com")
		u.Name = "Ada"
		next, err := b.finishes(u, b.create(key, options))
		if err != nil || next != origin+"/welcome" {
			t.Fatalf("the browser goes to %q, %v", next, err)
		}
		if who := b.signedInAs(); who != "ada@example.com" {
			t.Errorf("the browser is signed in as %q", who)
		}
		stored := s.user("ada@example.com")
		if !stored.EmailVerified.Equal(u.EmailVerified) || stored.Name != "Ada" || stored.ID != adasID || len(s.passkeys("ada@example.com")) != 1 {
			t.Errorf("the user is %+v", stored)
		}
		if got := b.recorded(); got.Provider != "passkey" || !slices.Equal(got.Methods, []string{"pop", "user", "mfa"}) {
			t.Errorf("the session records %+v", got)
		}
		if b.cookie(challengeCookie) != "" {
			t.Error("the challenge is left in the browser")
		}
		want := []string{"createUser ada@example.com", "linkAccount ada@example.com", "signIn ada@example.com"}
		if !slices.Equal(s.events, want) {
			t.Errorf("the events are %q, want %q", s.events, want)
		}
		other := s.browser()
		other.signIn(key)
		if who := other.signedInAs(); who != "ada@example.com" {
			t.Errorf("the passkey signs in as %q", who)
		}
	}
}

// AT-57: an answer is for the user, the browser, the purpose and the one time for which its
// challenge was made.
func TestAnAnswerMakesTheUserItWasMadeFor(t *testing.T) {
	ada := newUser(adasID, "ada@example.com")
	for name, try := range map[string]func(t *testing.T, s *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte){
		"for a sign-up with another id": func(_ *testing.T, _ *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte) {
			return b, b.create(key, b.begin(newUser(anotherID, "ada@example.com")))
		},
		"for a sign-up with another address": func(_ *testing.T, _ *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte) {
			return b, b.create(key, b.begin(newUser(adasID, "eve@example.com")))
		},
		"to a challenge before": func(_ *testing.T, _ *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte) {
			answer := b.create(key, b.begin(ada))
			b.begin(ada)
			return b, answer
		},
		"without the challenge": func(_ *testing.T, s *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte) {
			return s.browser(), b.create(key, b.begin(ada))
		},
		"of an authenticator that has not verified its user": func(_ *testing.T, _ *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte) {
			key.Flags = passkeytest.UserPresent
			return b, b.create(key, b.begin(ada))
		},
		"for a sign-in": func(_ *testing.T, s *site, b *browser, key *passkeytest.Authenticator) (*browser, []byte) {
			b.create(key, b.begin(newUser(anotherID, "bob@example.com")))
			_, answer := b.answering(key, "action", "authenticate")
			return b, answer
		},
		"that is no JSON": func(_ *testing.T, _ *site, b *browser, _ *passkeytest.Authenticator) (*browser, []byte) {
			b.begin(ada)
			return b, []byte("no JSON")
		},
	} {
		for _, strategy := range bothStrategies {
			t.Run(name+", sessions as "+string(strategy), func(t *testing.T) {
				s := signInOnly(t, strategy)
				b, answer := try(t, s, s.browser(), passkeytest.New())
				if _, err := b.finishes(ada, answer); err == nil {
					t.Error("the answer is accepted")
				}
				if u, err := s.store.UserByEmail(t.Context(), "ada@example.com"); err == nil || b.signedInAs() != "" {
					t.Errorf("there is the user %+v, and the browser is signed in as %q", u, b.signedInAs())
				}
			})
		}
	}
}

// AT-57
func TestAnAnswerToASignUpIsOfNoUseElsewhere(t *testing.T) {
	s := newSite(t, func(s *site) { s.Session.RecordAuthentication = true })
	b, key := s.browser(), passkeytest.New()
	answer := b.create(key, b.begin(newUser(adasID, "ada@example.com")))
	for _, action := range []string{"register", "authenticate"} {
		b.send(action, answer)
	}
	if _, err := s.store.UserByEmail(t.Context(), "ada@example.com"); err == nil || b.signedInAs() != "" {
		t.Errorf("the answer signs up at the callback: %v", err)
	}
	// A signed-in user whose id is that of the sign-up gets no passkey by it.
	cat, err := s.store.CreateUser(t.Context(), newUser("0b6c9d34-3a8e-4b6f-9a43-4c6f1a2f4a04", "cat@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	there := s.browser().begins(cat.Email)
	if code := there.send("register", there.create(key, there.begin(newUser(cat.ID, "ada@example.com")))); code == "" || len(s.passkeys(cat.Email)) != 0 {
		t.Errorf("the signed-in user has %d passkeys, code %q", len(s.passkeys(cat.Email)), code)
	}
	// An answer of a client that signs up by itself, whose address is not proven.
	action, answer := b.answering(passkeytest.New(), "email", "eve@example.com", "action", "register")
	if action != "register" {
		t.Fatal(action)
	}
	if _, err := b.finishes(newUser("", "eve@example.com"), answer); err == nil {
		t.Error("a user without an id is made")
	}
	if _, err := b.finishes(newUser(anotherID, "eve@example.com"), answer); !errors.Is(err, pintle.CodeInvalidCheck) {
		t.Errorf("the answer to another ceremony: %v", err)
	}
	// The same answer twice.
	u := newUser(adasID, "ada@example.com")
	answer = b.create(key, b.begin(u))
	cookie := b.cookie(challengeCookie)
	if _, err := b.finishes(u, answer); err != nil {
		t.Fatal(err)
	}
	if err := s.store.DeleteUser(t.Context(), s.user(u.Email).ID); err != nil {
		t.Fatal(err)
	}
	b.setCookie(challengeCookie, cookie)
	if _, err := b.finishes(u, answer); !errors.Is(err, pintle.CodeInvalidCheck) {
		t.Errorf("the answer twice: %v", err)
	}
}

func TestASignUpWithAPasskeyLeavesOtherUsersAlone(t *testing.T) {
	for _, strategy := range bothStrategies {
		s := signInOnly(t, strategy)
		bob, err := s.store.CreateUser(t.Context(), newUser(anotherID, "bob@example.com"))
		if err != nil {
			t.Fatal(err)
		}
		// The browser is signed in as another user, who gets no passkey.
		b := s.browser().begins("bob@example.com")
		u := newUser(adasID, "ada@example.com")
		if _, err := b.finishes(u, b.create(passkeytest.New(), b.begin(u))); err != nil {
			t.Fatal(err)
		}
		if who := b.signedInAs(); who != "ada@example.com" || len(s.passkeys("bob@example.com")) != 0 {
			t.Errorf("the browser is signed in as %q, and bob has %d passkeys", who, len(s.passkeys("bob@example.com")))
		}
		// A user has the address by now, proven or not.
		for _, proven := range []time.Time{{}, time.Now()} {
			if _, err := s.store.UpdateUser(t.Context(), bob.ID, pintle.UserUpdate{EmailVerified: &proven}); err != nil {
				t.Fatal(err)
			}
			other := s.browser()
			u := newUser("0b6c9d34-3a8e-4b6f-9a43-4c6f1a2f4a03", "bob@example.com")
			if _, err := other.finishes(u, other.create(passkeytest.New(), other.begin(u))); err == nil || other.signedInAs() != "" {
				t.Errorf("the browser is signed in as %q, %v", other.signedInAs(), err)
			}
			if len(s.passkeys("bob@example.com")) != 0 {
				t.Error("bob has a passkey of another client")
			}
		}
	}
}

func TestASignUpWithAPasskeyNeedsAProvenAddress(t *testing.T) {
	s := signInOnly(t, pintle.StrategyDatabase)
	unproven := newUser(adasID, "ada@example.com")
	unproven.EmailVerified = time.Time{}
	for name, u := range map[string]*pintle.User{
		"no user": nil, "no id": newUser("", "ada@example.com"), "unproven": unproven, "no address": newUser(adasID, ""),
		"not in normal form": newUser(adasID, "Ada@Example.com"),
	} {
		w := httptest.NewRecorder()
		_, err := s.auth.BeginPasskeySignUp(w, s.browser().request(), "passkey", u)
		if !errors.Is(err, pintle.CodeConfiguration) || len(w.Header()["Set-Cookie"]) != 0 {
			t.Errorf("%s: %v, cookies %q", name, err, w.Header()["Set-Cookie"])
		}
		if _, err := s.browser().finishes(u, nil); !errors.Is(err, pintle.CodeConfiguration) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.auth.BeginPasskeySignUp(httptest.NewRecorder(), s.browser().request(), "github", newUser(adasID, "ada@example.com"))
	if !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(s.log.String(), "BeginPasskeySignUp") {
		t.Errorf("another provider: %v; log %s", err, &s.log)
	}
	_, err = s.auth.FinishPasskeySignUp(httptest.NewRecorder(), s.browser().request(), "passkey", newUser(adasID, "ada@example.com"), nil,
		pintle.SignInOptions{Confirm: true})
	if !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("with an option that has no effect: %v", err)
	}
}

// A ceremony honours RequireUserVerification by itself.
func TestARegistrationCanRequireThatTheUserIsVerified(t *testing.T) {
	ceremony := passkey.New(passkey.Options{UserVerification: passkey.VerificationPreferred}).Ceremony
	for _, required := range []bool{false, true} {
		request := &pintle.CeremonyRequest{
			Origin: origin, Challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", User: newUser(adasID, "ada@example.com"),
			UserHandle: strings.Repeat("a", 64), RequireUserVerification: required,
		}
		options, err := ceremony.RegistrationOptions(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		key := passkeytest.New()
		key.Flags = passkeytest.UserPresent
		if request.Answer, err = key.Create(origin, options); err != nil {
			t.Fatal(err)
		}
		if _, err := ceremony.VerifyRegistration(t.Context(), request); (err != nil) != required {
			t.Errorf("required %t: %v", required, err)
		}
	}
}
