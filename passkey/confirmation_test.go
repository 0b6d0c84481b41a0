package passkey_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/store/memstore"
)

// confirmable is a site whose sessions record how they began.
func confirmable(t *testing.T, strategy pintle.SessionStrategy) *site {
	t.Helper()
	return newSite(t, func(s *site) {
		s.UserVerification = "preferred"
		s.Session.RecordAuthentication, s.Session.Strategy = true, strategy
		s.Session.Revocation = &memstore.Revocations{}
	})
}

var bothStrategies = []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT}

// begins gives the browser a session of a user that a password began an hour ago.
func (b *browser) begins(email string) *browser {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	how := pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: "credentials", Methods: []string{"pwd"}}
	if _, _, err := b.s.auth.StartSession(w, b.request(), b.s.user(email), pintle.StartOptions{Authentication: how}); err != nil {
		b.s.t.Fatal(err)
	}
	return b.takes(w)
}

// request is one that the browser sends to a handler of the application.
func (b *browser) request() *http.Request {
	r := httptest.NewRequest(http.MethodPost, origin+"/confirm", nil)
	for _, c := range b.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	return r
}

// takes keeps the cookies of an answer.
func (b *browser) takes(w *httptest.ResponseRecorder) *browser {
	here, _ := url.Parse(origin)
	b.Jar.SetCookies(here, w.Result().Cookies())
	return b
}

// challenge begins a confirmation.
func (b *browser) challenge(verified bool) json.RawMessage {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	options, err := b.s.auth.BeginPasskeyConfirmation(w, b.request(), "passkey", pintle.SignInOptions{RequireUserVerification: verified})
	if err != nil {
		b.s.t.Fatal(err)
	}
	b.takes(w)
	return options
}

// sign is the answer of an authenticator.
func (b *browser) sign(key *passkeytest.Authenticator, options json.RawMessage) []byte {
	b.s.t.Helper()
	answer, err := key.Get(origin, options)
	if err != nil {
		b.s.t.Fatal(err)
	}
	return answer
}

// answer finishes a confirmation.
func (b *browser) answer(answer []byte) (*pintle.Session, error) {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	session, err := b.s.auth.FinishPasskeyConfirmation(w, b.request(), "passkey", answer)
	if set := w.Header()["Set-Cookie"]; err != nil && len(set) > 0 {
		b.s.t.Errorf("a call that fails sets %q", set)
	}
	b.takes(w)
	return session, err
}

// recorded is what the session of the browser records.
func (b *browser) recorded() pintle.Authentication {
	b.s.t.Helper()
	session, err := b.s.auth.Session(b.request())
	if err != nil || session == nil {
		b.s.t.Fatalf("there is no session: %v", err)
	}
	return session.Authentication
}

// newKeys gives Ada and Bob a passkey each.
func newKeys(t *testing.T, s *site) (ada, bob *passkeytest.Authenticator) {
	t.Helper()
	ada, bob = passkeytest.New(), passkeytest.New()
	s.browser().signIn(ada, "email", "ada@example.com")
	s.browser().signIn(bob, "email", "bob@example.com")
	return ada, bob
}

func TestAPasskeyConfirmsItsUser(t *testing.T) {
	for _, strategy := range bothStrategies {
		for _, tt := range []struct {
			flags    byte
			required bool
			want     []string
		}{
			{passkeytest.UserPresent, false, []string{"pwd", "pop", "user"}},
			{passkeytest.UserPresent | passkeytest.UserVerified, false, []string{"pwd", "pop", "user", "mfa"}},
			{passkeytest.UserPresent | passkeytest.UserVerified, true, []string{"pwd", "pop", "user", "mfa"}},
			{passkeytest.UserPresent, true, nil},
		} {
			s := confirmable(t, strategy)
			key, _ := newKeys(t, s)
			key.Flags = tt.flags
			b := s.browser().begins("ada@example.com")
			before := b.recorded()
			options := b.challenge(tt.required)
			var asked struct {
				UserVerification string           `json:"userVerification"`
				AllowCredentials []map[string]any `json:"allowCredentials"`
			}
			if err := json.Unmarshal(options, &asked); err != nil {
				t.Fatal(err)
			}
			if (asked.UserVerification == "required") != tt.required || len(asked.AllowCredentials) != 1 {
				t.Errorf("required %t: the options are %s", tt.required, options)
			}
			session, err := b.answer(b.sign(key, options))
			if tt.want == nil {
				if err == nil || !slices.Equal(b.recorded().Methods, before.Methods) {
					t.Errorf("WA-11 a user who was not verified confirms: %v, %+v", err, b.recorded())
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got := b.recorded()
			if !slices.Equal(got.Methods, tt.want) || !slices.Equal(session.Authentication.Methods, tt.want) || got.Started.Unix() != before.Started.Unix() ||
				got.Proofs["pwd"].Unix() != before.Time.Unix() || time.Since(got.Proofs["pop"]) > time.Minute {
				t.Errorf("the session records %+v, want the methods %q", got, tt.want)
			}
			if b.cookie(challengeCookie) != "" {
				t.Error("the challenge is left in the browser")
			}
		}
	}
}

// AT-57: an answer is for the purpose, the user, the session, the browser and the one time
// for which its challenge was made.
func TestAnAnswerConfirmsWhatItWasMadeFor(t *testing.T) {
	for _, strategy := range bothStrategies {
		confirms := func(t *testing.T, b *browser, answer []byte) {
			t.Helper()
			before := b.recorded()
			if _, err := b.answer(answer); err == nil {
				t.Error("the answer confirms the session")
			}
			if got := b.recorded(); !slices.Equal(got.Methods, before.Methods) || got.Time.Unix() != before.Time.Unix() {
				t.Errorf("the session records %+v", got)
			}
		}
		site := func(t *testing.T) (s *site, b *browser, ada, bob *passkeytest.Authenticator) {
			s = confirmable(t, strategy)
			ada, bob = newKeys(t, s)
			return s, s.browser().begins("ada@example.com"), ada, bob
		}
		t.Run("an answer for a sign-in, sessions as "+string(strategy), func(t *testing.T) {
			_, b, ada, _ := site(t)
			_, answer := b.answering(ada, "action", "authenticate")
			confirms(t, b, answer)
		})
		t.Run("an answer for a confirmation does not sign in, sessions as "+string(strategy), func(t *testing.T) {
			s, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			other := s.browser()
			other.setCookie(challengeCookie, b.cookie(challengeCookie))
			for _, b := range []*browser{other, b} {
				if code := b.send("authenticate", answer); code == "" {
					t.Error("the answer signs in")
				}
			}
			if who := other.signedInAs(); who != "" {
				t.Errorf("%s is signed in", who)
			}
		})
		t.Run("twice, sessions as "+string(strategy), func(t *testing.T) {
			_, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			cookie := b.cookie(challengeCookie)
			if _, err := b.answer(answer); err != nil {
				t.Fatal(err)
			}
			b.setCookie(challengeCookie, cookie)
			confirms(t, b, answer)
			// The counter would stop the same answer. A new one has another.
			ada.Credentials[0].Counter += 10
			if _, err := b.answer(b.sign(ada, b.challenge(true))); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("to another challenge, sessions as "+string(strategy), func(t *testing.T) {
			_, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			b.challenge(true)
			confirms(t, b, answer)
		})
		t.Run("by a passkey of another user, sessions as "+string(strategy), func(t *testing.T) {
			s, b, _, bob := site(t)
			var options map[string]any
			if err := json.Unmarshal(b.challenge(true), &options); err != nil {
				t.Fatal(err)
			}
			delete(options, "allowCredentials")
			text, err := json.Marshal(options)
			if err != nil {
				t.Fatal(err)
			}
			counter := s.passkeys("bob@example.com")[0].Counter
			confirms(t, b, b.sign(bob, text))
			if got := s.passkeys("bob@example.com")[0].Counter; got != counter {
				t.Error("the passkey of the other user was used")
			}
		})
		t.Run("in a session of another user, sessions as "+string(strategy), func(t *testing.T) {
			_, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			confirms(t, b.begins("bob@example.com"), answer)
		})
		t.Run("in a later session of the user, sessions as "+string(strategy), func(t *testing.T) {
			s, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			w := httptest.NewRecorder()
			if _, _, err := s.auth.StartSession(w, b.request(), s.user("ada@example.com"), pintle.StartOptions{}); err != nil {
				t.Fatal(err)
			}
			confirms(t, b.takes(w), answer)
		})
		t.Run("without the challenge, sessions as "+string(strategy), func(t *testing.T) {
			_, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			b.setCookie(challengeCookie, "")
			if _, err := b.answer(answer); !errors.Is(err, pintle.CodeInvalidCheck) {
				t.Errorf("the error is %v", err)
			}
		})
		t.Run("signed out, sessions as "+string(strategy), func(t *testing.T) {
			s, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			other := s.browser()
			other.setCookie(challengeCookie, b.cookie(challengeCookie))
			if _, err := other.answer(answer); !errors.Is(err, pintle.CodeAccessDenied) {
				t.Errorf("the error is %v", err)
			}
		})
		t.Run("a removed passkey, sessions as "+string(strategy), func(t *testing.T) {
			s, b, ada, _ := site(t)
			answer := b.sign(ada, b.challenge(true))
			key := s.passkeys("ada@example.com")[0]
			if err := s.store.DeletePasskey(t.Context(), key.UserID, key.CredentialID); err != nil {
				t.Fatal(err)
			}
			confirms(t, b, answer)
			if _, err := s.auth.BeginPasskeyConfirmation(httptest.NewRecorder(), b.request(), "passkey", pintle.SignInOptions{}); err == nil {
				t.Error("a ceremony begins for a user without a passkey")
			}
		})
		t.Run("no answer, sessions as "+string(strategy), func(t *testing.T) {
			_, b, _, _ := site(t)
			for _, answer := range []string{"", "null", "{}", `{"id":"AAAA"}`, `[]`} {
				b.challenge(false)
				confirms(t, b, []byte(answer))
			}
		})
	}
}
