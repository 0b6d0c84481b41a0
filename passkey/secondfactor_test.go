package passkey_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/store/memstore"
)

// heldAfterPasswords is a site on which a password needs a passkey beside it. Every address has
// one.
func heldAfterPasswords(t *testing.T, strategy pintle.SessionStrategy) *site {
	t.Helper()
	return newSite(t, func(s *site) {
		s.UserVerification = "preferred"
		s.Session.RecordAuthentication, s.Session.Strategy = true, strategy
		s.Session.Revocation = &memstore.Revocations{}
		s.Providers = []pintle.Provider{s.keys, &pintle.Credentials{
			Authorize: func(_ context.Context, typed *pintle.Submission) (*pintle.User, error) {
				return s.user(typed.Text("email")), nil
			},
		}}
		s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
			if slices.Contains(p.Authentication.Methods, "pop") {
				return "", nil
			}
			return "/second-factor", nil
		}
	})
}

// half is a browser whose user has typed the password.
func (s *site) half(email string) *browser {
	s.t.Helper()
	b, w := s.browser(), httptest.NewRecorder()
	r := b.request()
	if _, err := s.auth.CSRFToken(w, r); err != nil {
		s.t.Fatal(err)
	}
	b.takes(w)
	return b.password(email)
}

func (b *browser) password(email string) *browser {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	next, err := b.s.auth.SignIn(w, b.request(), "credentials", pintle.SignInOptions{Fields: map[string]any{"email": email}})
	if err != nil || next != origin+"/second-factor" {
		b.s.t.Fatalf("the sign-in is not held: %q, %v", next, err)
	}
	return b.takes(w)
}

// secondChallenge begins the ceremony of the sign-in that waits.
func (b *browser) secondChallenge(verified bool) json.RawMessage {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	options, err := b.s.auth.BeginPasskeySecondFactor(w, b.request(), "passkey", pintle.SignInOptions{RequireUserVerification: verified})
	if err != nil {
		b.s.t.Fatal(err)
	}
	b.takes(w)
	return options
}

// completes answers the challenge, and completes the sign-in with what that proves.
func (b *browser) completes(answer []byte) (methods []string, err error) {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	if methods, err = b.s.auth.FinishPasskeySecondFactor(w, b.request(), "passkey", answer); err != nil {
		if set := w.Header()["Set-Cookie"]; len(set) > 0 {
			b.s.t.Errorf("a call that fails sets %q", set)
		}
		return nil, err
	}
	_, err = b.s.auth.CompleteSignIn(w, b.request(), pintle.CompleteOptions{Methods: methods})
	b.takes(w)
	return methods, err
}

func TestAPasskeyCompletesASignInThatWaits(t *testing.T) {
	for _, strategy := range bothStrategies {
		for _, tt := range []struct {
			flags    byte
			required bool
			want     []string
		}{
			{passkeytest.UserPresent, false, []string{"pop", "user"}},
			{passkeytest.UserPresent | passkeytest.UserVerified, false, []string{"pop", "user", "mfa"}},
			{passkeytest.UserPresent | passkeytest.UserVerified, true, []string{"pop", "user", "mfa"}},
			{passkeytest.UserPresent, true, nil},
		} {
			s := heldAfterPasswords(t, strategy)
			key, _ := newKeys(t, s)
			key.Flags = tt.flags
			b := s.half("ada@example.com")
			options := b.secondChallenge(tt.required)
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
			methods, err := b.completes(b.sign(key, options))
			if (err == nil) != (tt.want != nil) || !slices.Equal(methods, tt.want) {
				t.Errorf("WA-11 flags %x, required %t: the answer proves %q, %v, want %q", tt.flags, tt.required, methods, err, tt.want)
			}
			if who := b.signedInAs(); (who == "ada@example.com") != (tt.want != nil) {
				t.Errorf("flags %x, required %t: %q is signed in", tt.flags, tt.required, who)
			}
			if tt.want != nil && b.cookie(challengeCookie) != "" {
				t.Error("the challenge is left in the browser")
			}
		}
	}
}

// AT-57: an answer is for the purpose, the user, the sign-in, the browser and the one time for
// which its challenge was made.
func TestAnAnswerIsForTheSignInItWasMadeFor(t *testing.T) {
	for _, strategy := range bothStrategies {
		refused := func(t *testing.T, b *browser, answer []byte) {
			t.Helper()
			if methods, err := b.completes(answer); err == nil {
				t.Errorf("the answer proves %q", methods)
			}
			if who := b.signedInAs(); who != "" {
				t.Errorf("%s is signed in", who)
			}
		}
		for name, test := range map[string]func(t *testing.T, s *site, b *browser, ada, bob *passkeytest.Authenticator){
			"an answer for a sign-in": func(t *testing.T, _ *site, b *browser, ada, _ *passkeytest.Authenticator) {
				_, answer := b.answering(ada, "action", "authenticate")
				refused(t, b, answer)
			},
			"an answer for a session": func(t *testing.T, s *site, b *browser, ada, _ *passkeytest.Authenticator) {
				other := s.browser().begins("ada@example.com")
				answer := b.sign(ada, other.challenge(true))
				b.setCookie(challengeCookie, other.cookie(challengeCookie))
				refused(t, b, answer)
			},
			"no sign-in by itself": func(t *testing.T, _ *site, b *browser, ada, _ *passkeytest.Authenticator) {
				if code := b.send("authenticate", b.sign(ada, b.secondChallenge(true))); code == "" || b.signedInAs() != "" {
					t.Errorf("the answer signs in: %q", code)
				}
			},
			"no confirmation of a session": func(t *testing.T, _ *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				b.begins("ada@example.com")
				if _, err := b.answer(answer); err == nil {
					t.Error("the answer confirms a session")
				}
			},
			"another sign-in of the user in this browser": func(t *testing.T, _ *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				refused(t, b.password("ada@example.com"), answer)
			},
			"a sign-in of another user in this browser": func(t *testing.T, _ *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				refused(t, b.password("bob@example.com"), answer)
			},
			"by a passkey of another user": func(t *testing.T, s *site, b *browser, _, bob *passkeytest.Authenticator) {
				var options map[string]any
				if err := json.Unmarshal(b.secondChallenge(true), &options); err != nil {
					t.Fatal(err)
				}
				delete(options, "allowCredentials")
				text, err := json.Marshal(options)
				if err != nil {
					t.Fatal(err)
				}
				counter := s.passkeys("bob@example.com")[0].Counter
				refused(t, b, b.sign(bob, text))
				if got := s.passkeys("bob@example.com")[0].Counter; got != counter {
					t.Error("the passkey of the other user was used")
				}
			},
			"twice": func(t *testing.T, s *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				cookie := b.cookie(challengeCookie)
				if _, err := s.auth.FinishPasskeySecondFactor(httptest.NewRecorder(), b.request(), "passkey", answer); err != nil {
					t.Fatal(err)
				}
				ada.Credentials[0].Counter += 10 // the counter would stop the same answer
				b.setCookie(challengeCookie, cookie)
				refused(t, b, answer)
			},
			"without the challenge": func(t *testing.T, _ *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				b.setCookie(challengeCookie, "")
				refused(t, b, answer)
			},
			"no answer": func(t *testing.T, _ *site, b *browser, _, _ *passkeytest.Authenticator) {
				for _, answer := range []string{"", "null", "{}", `{"id":"AAAA"}`, `[]`} {
					b.secondChallenge(false)
					refused(t, b, []byte(answer))
				}
			},
			"no sign-in waits": func(t *testing.T, s *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				if err := s.auth.SignOutEverywhere(t.Context(), s.user("ada@example.com").ID); err != nil {
					t.Fatal(err)
				}
				if _, err := b.completes(answer); !errors.Is(err, pintle.CodeInvalidCheck) {
					t.Errorf("the error is %v", err)
				}
				_, err := s.auth.BeginPasskeySecondFactor(httptest.NewRecorder(), b.request(), "passkey", pintle.SignInOptions{})
				if !errors.Is(err, pintle.CodeInvalidCheck) {
					t.Errorf("a ceremony begins: %v", err)
				}
			},
			"a removed passkey": func(t *testing.T, s *site, b *browser, ada, _ *passkeytest.Authenticator) {
				answer := b.sign(ada, b.secondChallenge(true))
				key := s.passkeys("ada@example.com")[0]
				if err := s.store.DeletePasskey(t.Context(), key.UserID, key.CredentialID); err != nil {
					t.Fatal(err)
				}
				refused(t, b, answer)
				if _, err := s.auth.BeginPasskeySecondFactor(httptest.NewRecorder(), b.request(), "passkey", pintle.SignInOptions{}); err == nil {
					t.Error("a ceremony begins for a user without a passkey")
				}
			},
			"options that do not belong there": func(t *testing.T, s *site, b *browser, _, _ *passkeytest.Authenticator) {
				for provider, o := range map[string]pintle.SignInOptions{"passkey": {Prompt: "login"}, "credentials": {}, "unknown": {}} {
					_, err := s.auth.BeginPasskeySecondFactor(httptest.NewRecorder(), b.request(), provider, o)
					if !errors.Is(err, pintle.CodeConfiguration) {
						t.Errorf("%s, %+v: %v", provider, o, err)
					}
				}
			},
		} {
			t.Run(name+", sessions as "+string(strategy), func(t *testing.T) {
				s := heldAfterPasswords(t, strategy)
				ada, bob := newKeys(t, s)
				test(t, s, s.half("ada@example.com"), ada, bob)
			})
		}
	}
}
