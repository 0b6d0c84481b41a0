package passkey_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

// strategies runs a test with sessions of both kinds.
func strategies(t *testing.T, test func(t *testing.T, s *site)) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			test(t, newSite(t, func(s *site) { s.Session.Strategy = strategy }))
		})
	}
}

func TestSignUpAndSignInWithAPasskey(t *testing.T) {
	strategies(t, func(t *testing.T, s *site) {
		key := passkeytest.New()
		s.browser().signIn(key, "email", "ada@example.com")
		if want := []string{"createUser ada@example.com", "linkAccount ada@example.com", "signIn ada@example.com"}; !slices.Equal(s.events, want) {
			t.Errorf("events %q, want %q", s.events, want)
		}
		user, err := s.store.UserByEmail(t.Context(), "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if !user.EmailVerified.IsZero() {
			t.Error("the address counts as verified without a proof")
		}

		b := s.browser()
		b.signIn(key)
		if who := b.signedInAs(); who != "ada@example.com" {
			t.Errorf("%q is signed in, want Ada", who)
		}
	})
}

func TestAPasskeyIsFoundByTheAddress(t *testing.T) {
	s := newSite(t)
	key := passkeytest.New()
	s.browser().signIn(key, "email", "ada@example.com")
	// W-36: the address is normalised.
	s.browser().signIn(key, "email", " Ada@Example.COM ")
	_, begun := s.browser().options("email", "ada@example.com")
	if begun["action"] != "authenticate" {
		t.Errorf("the action for an existing user is %v", begun["action"])
	}
}

func TestASignedInUserAddsPasskeys(t *testing.T) {
	strategies(t, func(t *testing.T, s *site) {
		first, second := passkeytest.New(), passkeytest.New()
		b := s.browser()
		b.signIn(first, "email", "ada@example.com")
		b.signIn(second, "action", "register")
		if n := len(s.passkeys("ada@example.com")); n != 2 {
			t.Fatalf("Ada has %d passkeys, want 2", n)
		}
		for _, key := range []*passkeytest.Authenticator{first, second} {
			b := s.browser()
			b.signIn(key)
			if who := b.signedInAs(); who != "ada@example.com" {
				t.Errorf("%q is signed in, want Ada", who)
			}
		}
		if _, err := second.SignIn(t.Context(), b.Client, callback, fields([]string{"action", "register"})); err == nil {
			t.Error("an authenticator made a second passkey for the same user: the first is not excluded")
		}
	})
}

// WA-16: user handles reveal nothing, are the same for one user and never for two.
func TestUserHandles(t *testing.T) {
	s := newSite(t)
	ada, bob := s.browser(), s.browser()
	ada.signIn(passkeytest.New(), "email", "ada@example.com")
	bob.signIn(passkeytest.New(), "email", "bob@example.com")
	handle := func(b *browser, typed ...string) string {
		_, begun := b.options(typed...)
		options, _ := begun["options"].(map[string]any)
		user, _ := options["user"].(map[string]any)
		id, _ := user["id"].(string)
		if len(id) != 64 {
			t.Fatalf("WA-16: user handle %q has %d characters, want 64", id, len(id))
		}
		return id
	}
	adas := handle(ada, "action", "register")
	if again := handle(ada, "action", "register"); again != adas {
		t.Errorf("a user has the handles %q and %q", adas, again)
	}
	if handle(bob, "action", "register") == adas {
		t.Error("two users have one handle")
	}
	anonymous := s.browser()
	eves := handle(anonymous, "email", "eve@example.com")
	if again := handle(anonymous, "email", "eve@example.com"); again == eves {
		t.Error("a handle follows from the address")
	}
}

// W-21, Q7: a text from the callback stops the sign-in.
func TestTheSignInCallbackDecides(t *testing.T) {
	goTo, refusal := "", error(nil)
	s := newSite(t, func(s *site) {
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			if a.Account.Type != pintle.TypeWebAuthn || a.User.Email == "" {
				t.Errorf("the callback received %s with an account of type %s", a.User.Email, a.Account.Type)
			}
			return goTo, refusal
		}
	})
	key := passkeytest.New()
	s.browser().signIn(key, "email", "ada@example.com")

	t.Run("W-21 a URL redirects the browser there and does not sign in", func(t *testing.T) {
		goTo = "/terms"
		b := s.browser()
		resp, err := key.SignIn(t.Context(), b.Client, callback, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if to := resp.Header.Get("Location"); to != origin+"/terms" {
			t.Errorf("the browser is sent to %q", to)
		}
		if who := b.signedInAs(); who != "" {
			t.Errorf("%s is signed in", who)
		}
	})
	t.Run("an error denies access", func(t *testing.T) {
		goTo, refusal = "", errors.New("not today")
		if code := s.browser().try(key); code != "AccessDenied" {
			t.Errorf("error %q, want AccessDenied", code)
		}
	})
	t.Run("a denied registration stores nothing", func(t *testing.T) {
		before := len(s.events)
		if code := s.browser().try(passkeytest.New(), "email", "eve@example.com"); code != "AccessDenied" {
			t.Errorf("error %q, want AccessDenied", code)
		}
		if _, err := s.store.UserByEmail(t.Context(), "eve@example.com"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("the user Eve: %v", err)
		}
		if len(s.events) != before {
			t.Errorf("events %q", s.events[before:])
		}
	})
}

func TestRegistrationIsBoundToTheUser(t *testing.T) {
	newUsers := func(t *testing.T) (s *site, ada, bob *browser, adaKey, bobKey *passkeytest.Authenticator) {
		s = newSite(t)
		ada, bob = s.browser(), s.browser()
		adaKey, bobKey = passkeytest.New(), passkeytest.New()
		ada.signIn(adaKey, "email", "ada@example.com")
		bob.signIn(bobKey, "email", "bob@example.com")
		return s, ada, bob, adaKey, bobKey
	}
	t.Run("WA-10 a credential of another user is rejected", func(t *testing.T) {
		s, _, bob, adaKey, bobKey := newUsers(t)
		// An authenticator under Bob's control claims Ada's credential id.
		bobKey.Credentials = nil
		stolen := adaKey.Credentials[0].ID
		claim(bobKey, stolen)
		if code := bob.try(bobKey, "action", "register"); code != "AccountNotLinked" {
			t.Errorf("Bob registers it: %q", code)
		}
		if code := s.browser().try(bobKey, "email", "eve@example.com"); code != "AccountNotLinked" {
			t.Errorf("a new user registers it: %q", code)
		}
		if n := len(s.passkeys("ada@example.com")); n != 1 {
			t.Errorf("Ada has %d passkeys", n)
		}
		b := s.browser()
		if b.signIn(adaKey); b.signedInAs() != "ada@example.com" {
			t.Error("Ada's passkey is not hers any more")
		}
	})
	t.Run("WA-10 the user's own credential is rejected too, and stays as it is", func(t *testing.T) {
		s, ada, _, adaKey, _ := newUsers(t)
		forged := passkeytest.New()
		claim(forged, adaKey.Credentials[0].ID)
		if code := ada.try(forged, "action", "register"); code != "AccountNotLinked" {
			t.Errorf("error %q", code)
		}
		s.browser().signIn(adaKey)
	})
	t.Run("W-22 a registration that Ada began is not completed as Bob", func(t *testing.T) {
		s, ada, bob, _, _ := newUsers(t)
		action, answer := ada.answering(passkeytest.New(), "action", "register")
		bob.setCookie(challengeCookie, ada.cookie(challengeCookie))
		if code := bob.send(action, answer); code != "AccountNotLinked" {
			t.Errorf("error %q", code)
		}
		if n := len(s.passkeys("bob@example.com")); n != 1 {
			t.Errorf("Bob has %d passkeys", n)
		}
	})
	t.Run("a registration is not completed after the user signed out", func(t *testing.T) {
		s, ada, _, _, _ := newUsers(t)
		action, answer := ada.answering(passkeytest.New(), "action", "register")
		anonymous := s.browser()
		anonymous.setCookie(challengeCookie, ada.cookie(challengeCookie))
		if code := anonymous.send(action, answer); code != "AccountNotLinked" {
			t.Errorf("error %q", code)
		}
	})
	t.Run("a registration is not completed after the user's address changed", func(t *testing.T) {
		s, ada, _, _, _ := newUsers(t)
		action, answer := ada.answering(passkeytest.New(), "action", "register")
		if _, err := s.store.UpdateUser(t.Context(), s.user("ada@example.com").ID, pintle.UserUpdate{Email: new("ada@example.org")}); err != nil {
			t.Fatal(err)
		}
		anonymous := s.browser()
		anonymous.setCookie(challengeCookie, ada.cookie(challengeCookie))
		if code := anonymous.send(action, answer); code != "AccountNotLinked" {
			t.Errorf("error %q, signed in as %q", code, anonymous.signedInAs())
		}
	})
	t.Run("WA-10 an account without its passkey does not sign in", func(t *testing.T) {
		s, _, _, _, _ := newUsers(t)
		id := bytes.Repeat([]byte{7}, 32)
		account := &pintle.Account{
			UserID: s.user("ada@example.com").ID, Type: pintle.TypeWebAuthn, Provider: "passkey",
			ProviderAccountID: base64.StdEncoding.EncodeToString(id),
		}
		if err := s.store.LinkAccount(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		key := passkeytest.New()
		claim(key, id)
		b := s.browser()
		if code := b.try(key, "email", "eve@example.com"); code != "AccountNotLinked" || b.signedInAs() != "" {
			t.Errorf("error %q, signed in as %q", code, b.signedInAs())
		}
	})
	t.Run("a registration of an anonymous client is not linked to a signed-in user", func(t *testing.T) {
		s, _, bob, _, _ := newUsers(t)
		anonymous := s.browser()
		action, answer := anonymous.answering(passkeytest.New(), "email", "eve@example.com")
		bob.setCookie(challengeCookie, anonymous.cookie(challengeCookie))
		if code := bob.send(action, answer); code != "" {
			t.Errorf("error %q", code)
		}
		if n := len(s.passkeys("bob@example.com")); n != 1 {
			t.Errorf("Bob has %d passkeys: Eve's was planted", n)
		}
	})
	t.Run("an address that was registered meanwhile", func(t *testing.T) {
		s, _, _, _, _ := newUsers(t)
		late := s.browser()
		action, answer := late.answering(passkeytest.New(), "email", "eve@example.com")
		s.browser().signIn(passkeytest.New(), "email", "eve@example.com")
		if code := late.send(action, answer); code != "AccountNotLinked" {
			t.Errorf("error %q", code)
		}
	})
	t.Run("a passkey of another user than the signed-in one", func(t *testing.T) {
		s, _, bob, adaKey, _ := newUsers(t)
		anonymous := s.browser()
		action, answer := anonymous.answering(adaKey)
		bob.setCookie(challengeCookie, anonymous.cookie(challengeCookie))
		if code := bob.send(action, answer); code != "AccountNotLinked" {
			t.Errorf("error %q", code)
		}
		if who := bob.signedInAs(); who != "bob@example.com" {
			t.Errorf("%q is signed in, want still Bob", who)
		}
	})
}

// claim makes an authenticator give its next credential an id of its choice.
func claim(key *passkeytest.Authenticator, id []byte) {
	key.AuthenticatorData = func(data []byte) []byte {
		if data[32]&(1<<6) == 0 {
			return data
		}
		return slices.Replace(data, 55, 55+len(id), id...)
	}
	key.Answer = func(answer map[string]any) { answer["id"], answer["rawId"] = b64(id), b64(id) }
}

// of is a session of a user.
func of(userID string) *pintle.Session { return &pintle.Session{User: pintle.User{ID: userID}} }

// SH-21, SH-31, ASVS-6.5.6: users can remove their own passkeys only.
func TestRemovingPasskeys(t *testing.T) {
	s := newSite(t)
	ada, bob := s.browser(), s.browser()
	first, second, bobs := passkeytest.New(), passkeytest.New(), passkeytest.New()
	ada.signIn(first, "email", "ada@example.com")
	ada.signIn(second, "action", "register")
	bob.signIn(bobs, "email", "bob@example.com")
	id := func(key *passkeytest.Authenticator) string {
		return base64.StdEncoding.EncodeToString(key.Credentials[0].ID)
	}
	adaID, bobID := s.user("ada@example.com").ID, s.user("bob@example.com").ID

	t.Run("SH-21 another user's is not found and stays", func(t *testing.T) {
		for _, tt := range []struct{ user, credential string }{
			{bobID, id(first)}, {adaID, id(bobs)}, {adaID, ""}, {adaID, "AAAA"},
		} {
			if err := s.auth.Unlink(t.Context(), of(tt.user), "passkey", tt.credential); !errors.Is(err, pintle.ErrNotFound) {
				t.Errorf("Unlink(%q, %q): %v, want ErrNotFound", tt.user, tt.credential, err)
			}
		}
		for _, key := range []*passkeytest.Authenticator{first, second, bobs} {
			s.browser().signIn(key)
		}
	})
	t.Run("ASVS-6.5.6 the user's own does not sign in any more", func(t *testing.T) {
		if err := s.auth.Unlink(t.Context(), of(adaID), "passkey", id(first)); err != nil {
			t.Fatal(err)
		}
		if code := s.browser().try(first); code != "WebAuthnVerificationError" {
			t.Errorf("error %q", code)
		}
		if _, err := s.store.Account(t.Context(), "passkey", id(first)); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("its account: %v", err)
		}
		s.browser().signIn(second)
		s.browser().signIn(bobs)
	})
	t.Run("the last one stays", func(t *testing.T) {
		if err := s.auth.Unlink(t.Context(), of(bobID), "passkey", id(bobs)); !errors.Is(err, pintle.CodeLastSignIn) {
			t.Errorf("Unlink: %v, want CodeLastSignIn", err)
		}
		s.browser().signIn(bobs)
	})
	t.Run("and can be registered again", func(t *testing.T) {
		first.Credentials = nil
		ada.signIn(first, "action", "register")
		s.browser().signIn(first)
	})
}

// SH-21: users see their own passkeys only.
func TestListingPasskeys(t *testing.T) {
	s := newSite(t)
	ada, bob := s.browser(), s.browser()
	bob.signIn(passkeytest.New(), "email", "bob@example.com")
	ada.signIn(passkeytest.New(), "email", "ada@example.com")
	var want []string
	for i := range 3 {
		if i > 0 {
			time.Sleep(2 * time.Millisecond) // what is stored is as exact as that
			ada.signIn(passkeytest.New(), "action", "register")
		}
		for _, a := range s.passkeys("ada@example.com") {
			if !slices.Contains(want, a.CredentialID) {
				want = append(want, a.CredentialID)
			}
		}
	}
	listed, err := s.auth.Passkeys(t.Context(), of(s.user("ada@example.com").ID))
	var got []string
	for _, a := range listed {
		got = append(got, a.CredentialID)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Passkeys: %q, %v, want %q, the newest last", got, err, want)
	}
	if listed, err := s.auth.Passkeys(t.Context(), of("unknown")); err != nil || len(listed) != 0 {
		t.Errorf("Passkeys of an unknown user: %v, %v", listed, err)
	}
}

// SH-21: users can rename their own passkeys only.
func TestRenamingPasskeys(t *testing.T) {
	s := newSite(t)
	ada, bob := s.browser(), s.browser()
	ada.signIn(passkeytest.New(), "email", "ada@example.com")
	bob.signIn(passkeytest.New(), "email", "bob@example.com")
	adaID, bobID := s.user("ada@example.com").ID, s.user("bob@example.com").ID
	name := func() string { return s.passkeys("ada@example.com")[0].Name }
	id := s.passkeys("ada@example.com")[0].CredentialID

	t.Run("SH-21 another user's is not found and keeps its name", func(t *testing.T) {
		for _, tt := range []struct{ user, credential string }{{bobID, id}, {adaID, ""}, {adaID, "AAAA"}} {
			if err := s.auth.RenamePasskey(t.Context(), of(tt.user), tt.credential, "Mine now"); !errors.Is(err, pintle.ErrNotFound) {
				t.Errorf("RenamePasskey(%q, %q): %v, want ErrNotFound", tt.user, tt.credential, err)
			}
		}
		if name() != "" {
			t.Errorf("it is called %q", name())
		}
	})
	t.Run("the user's own has the new name, or no name", func(t *testing.T) {
		for _, want := range []string{"Key ring", strings.Repeat("🔑", 64), "👩‍💻's", ""} {
			if err := s.auth.RenamePasskey(t.Context(), of(adaID), id, want); err != nil || name() != want {
				t.Errorf("RenamePasskey: %v; it is called %q, want %q", err, name(), want)
			}
		}
	})
	t.Run("a name is short and printable", func(t *testing.T) {
		for _, bad := range []string{strings.Repeat("k", 65), "\xff", "a\x00b", "two\nlines"} {
			if err := s.auth.RenamePasskey(t.Context(), of(adaID), id, bad); err == nil || errors.Is(err, pintle.ErrNotFound) || name() != "" {
				t.Errorf("RenamePasskey to %q: %v; it is called %q", bad, err, name())
			}
		}
	})
}

func TestAPasskeyIsNamedAfterItsAuthenticator(t *testing.T) {
	for aaguid, want := range map[string]string{
		"bada5566-a7aa-401f-bd96-45619a55120d": "1Password",
		"fbfc3007-154e-4ecc-8c0b-6e020557d7bd": "Apple Passwords",
		"01020304-0506-0708-0102-030405060708": "",
		"00000000-0000-0000-0000-000000000000": "",
	} {
		raw, err := hex.DecodeString(strings.ReplaceAll(aaguid, "-", ""))
		if err != nil {
			t.Fatal(err)
		}
		s := newSite(t)
		key := passkeytest.New()
		key.AuthenticatorData = func(data []byte) []byte { return slices.Replace(data, 37, 37+len(raw), raw...) }
		s.browser().signIn(key, "email", "ada@example.com")
		if got := s.passkeys("ada@example.com")[0].Name; got != want {
			t.Errorf("a passkey made by %s is called %q, want %q", aaguid, got, want)
		}
	}
}

// The registration does not count as a use of the passkey.
func TestWhenAPasskeyWasMadeAndUsed(t *testing.T) {
	s := newSite(t)
	key := passkeytest.New()
	key.Flags |= passkeytest.BackupEligible | passkeytest.BackupState
	before := time.Now().Truncate(time.Millisecond)
	s.browser().signIn(key, "email", "ada@example.com")
	made := s.passkeys("ada@example.com")[0]
	if made.Created.Before(before) || made.Created.After(time.Now()) || !made.LastUsed.IsZero() || !made.BackedUp {
		t.Errorf("after the registration: %+v", made)
	}

	before = time.Now().Truncate(time.Millisecond)
	key.Flags &^= passkeytest.BackupState // it was taken out of the cloud
	s.browser().signIn(key)
	used := s.passkeys("ada@example.com")[0]
	if used.LastUsed.Before(before) || used.LastUsed.After(time.Now()) || used.BackedUp {
		t.Errorf("after the sign-in: %+v", used)
	}
	used.Counter, used.BackedUp, used.LastUsed = made.Counter, made.BackedUp, made.LastUsed
	if diff := cmp.Diff(made, used); diff != "" {
		t.Errorf("the sign-in changed more: -before +after:\n%s", diff)
	}

	key.Answer = func(a map[string]any) { response(a)["signature"] = b64(make([]byte, 64)) }
	done := time.Now()
	time.Sleep(2 * time.Millisecond) // what is stored is as exact as that
	if code := s.browser().try(key); code == "" {
		t.Error("signed in without a signature")
	}
	if last := s.passkeys("ada@example.com")[0]; last.LastUsed.After(done) || last.Counter != 1 {
		t.Errorf("a rejected response counts as a use: %+v", last)
	}
}
