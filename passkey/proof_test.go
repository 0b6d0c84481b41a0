package passkey_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

// proof is that of a user, for what a name means.
func (b *browser) proof(email, of string) pintle.PasskeyProof {
	return pintle.PasskeyProof{Provider: "passkey", UserID: b.s.user(email).ID, Purpose: of}
}

// provable begins a ceremony for what a name means, without a session or a sign-in.
func (b *browser) provable(email, of string) json.RawMessage {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	o := pintle.SignInOptions{RequireUserVerification: true}
	options, err := b.s.auth.BeginPasskeyProof(w, b.request(), b.proof(email, of), o)
	if err != nil {
		b.s.t.Fatal(err)
	}
	b.takes(w)
	return options
}

func (b *browser) proves(email, of string, answer []byte) (*pintle.Passkey, error) {
	b.s.t.Helper()
	w := httptest.NewRecorder()
	key, err := b.s.auth.FinishPasskeyProof(w, b.request(), b.proof(email, of), answer)
	if set := w.Header()["Set-Cookie"]; err != nil && len(set) > 0 {
		b.s.t.Errorf("a call that fails sets %q", set)
	}
	b.takes(w)
	return key, err
}

// AT-57: an answer is for the name, the user, the browser and the one time for which its challenge
// was made, and signs no user in.
func TestAnAnswerIsForTheProofItWasMadeFor(t *testing.T) {
	const ada, bob = "ada@example.com", "bob@example.com"
	for _, strategy := range bothStrategies {
		s := heldAfterPasswords(t, strategy)
		key, other := newKeys(t, s)
		b := s.half(ada)
		var answer []byte
		for name, refused := range map[string]func() error{
			"another name": func() error { _, err := b.proves(ada, "link 2", answer); return err },
			"another user": func() error { _, err := b.proves(bob, "link 1", answer); return err },
			"another browser": func() error {
				elsewhere := s.half(ada)
				elsewhere.provable(ada, "link 1") // this browser gets another challenge
				_, err := elsewhere.proves(ada, "link 1", answer)
				return err
			},
			"a sign-in that waits": func() error { _, err := b.completes(answer); return err },
			"no answer":            func() error { _, err := b.proves(ada, "link 1", []byte("{}")); return err },
			"the passkey of another user": func() error {
				var options map[string]any
				if err := json.Unmarshal(b.provable(ada, "link 1"), &options); err != nil {
					t.Fatal(err)
				}
				delete(options, "allowCredentials")
				text, _ := json.Marshal(options)
				_, err := b.proves(ada, "link 1", b.sign(other, text))
				return err
			},
		} {
			answer = b.sign(key, b.provable(ada, "link 1"))
			if err := refused(); err == nil {
				t.Errorf("%s: the answer is accepted", name)
			}
		}
		if code := b.send("authenticate", b.sign(key, b.provable(ada, "link 1"))); code == "" || b.signedInAs() != "" {
			t.Errorf("the answer signs in: %q", code)
		}
		answer = b.sign(key, b.provable(ada, "link 1"))
		cookie := b.cookie(challengeCookie)
		signed, err := b.proves(ada, "link 1", answer)
		if err != nil || !signed.UserVerified || signed.UserID != s.user(ada).ID || b.signedInAs() != "" {
			t.Errorf("the passkey is %+v, %v, and %q is signed in", signed, err, b.signedInAs())
		}
		key.Credentials[0].Counter += 10 // the counter would stop the same answer
		b.setCookie(challengeCookie, cookie)
		if _, err := b.proves(ada, "link 1", answer); err == nil {
			t.Error("an answer is accepted twice")
		}
		key.Flags = passkeytest.UserPresent
		if _, err := b.proves(ada, "link 1", b.sign(key, b.provable(ada, "link 1"))); err == nil {
			t.Error("an authenticator that does not verify its user is accepted")
		}
		w, r := httptest.NewRecorder(), b.request()
		proof := b.proof(ada, "link")
		if _, err := s.auth.BeginPasskeyProof(w, r, pintle.PasskeyProof{Provider: "passkey", UserID: "nobody", Purpose: "link"}, pintle.SignInOptions{}); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("without a user: %v", err)
		}
		if _, err := s.auth.BeginPasskeyProof(w, r, proof, pintle.SignInOptions{Prompt: "login"}); !errors.Is(err, pintle.CodeConfiguration) {
			t.Errorf("with a prompt: %v", err)
		}
		for name, wrong := range map[string]pintle.PasskeyProof{
			"another provider": {Provider: "credentials", UserID: proof.UserID, Purpose: "link"},
			"no purpose":       {Provider: "passkey", UserID: proof.UserID},
		} {
			if _, err := s.auth.BeginPasskeyProof(w, r, wrong, pintle.SignInOptions{}); !errors.Is(err, pintle.CodeConfiguration) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.auth.FinishPasskeyProof(w, r, wrong, answer); !errors.Is(err, pintle.CodeConfiguration) {
				t.Errorf("the answer for %s: %v", name, err)
			}
		}
	}
}
