package passkey_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/token"
)

// WA-1, ASVS-6.7.2: challenges are random and long enough.
func TestChallengesAreUnique(t *testing.T) {
	s := newSite(t)
	seen := map[string]bool{}
	for range 100 {
		_, begun := s.browser().options()
		challenge, _ := begun["options"].(map[string]any)["challenge"].(string)
		raw, err := base64.RawURLEncoding.DecodeString(challenge)
		if err != nil || len(raw) != 32 || seen[challenge] {
			t.Fatalf("challenge %q: %v, seen before: %t", challenge, err, seen[challenge])
		}
		seen[challenge] = true
	}
}

// The cookie has the form of Auth.js: a sealed value in a sealed value.
func TestTheChallengeCookie(t *testing.T) {
	s := newSite(t)
	resp, _ := s.browser().get(base + "/webauthn-options/passkey?email=ada@example.com")
	var cookie *http.Cookie
	for _, c := range resp.Cookies() {
		if c.Name == challengeCookie {
			cookie = c
		}
	}
	if cookie == nil || cookie.MaxAge != 900 || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" {
		t.Fatalf("cookie %+v", cookie)
	}
	outer := opened(t, challengeCookie, cookie.Value)
	if outer["provider"] != "passkey" {
		t.Errorf("the cookie is for the provider %v", outer["provider"])
	}
	value, _ := outer["value"].(string)
	inner := opened(t, "encodedWebauthnChallenge", value)
	for _, member := range []string{"challenge", "registerData", "iat", "exp", "jti"} {
		if inner[member] == nil {
			t.Errorf("the value has no %s", member)
		}
	}
	user, _ := inner["registerData"].(map[string]any)
	if len(user) != 1 || user["email"] != "ada@example.com" {
		t.Errorf("registerData is %v", user)
	}

	resp, _ = s.browser().get(base + "/webauthn-options/passkey")
	for _, c := range resp.Cookies() {
		if c.Name == challengeCookie {
			value, _ := opened(t, challengeCookie, c.Value)["value"].(string)
			if _, said := opened(t, "encodedWebauthnChallenge", value)["registerData"]; said {
				t.Error("an authentication has registerData")
			}
		}
	}
}

// A cookie is too small for all members that a store may keep of a user.
func TestTheChallengeCookieIsSmall(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signIn(passkeytest.New(), "email", "ada@example.com")
	image := "data:image/png;base64," + strings.Repeat("A", 8192)
	if _, err := s.store.UpdateUser(t.Context(), s.user("ada@example.com").ID, pintle.UserUpdate{Image: &image}); err != nil {
		t.Fatal(err)
	}
	b.options("action", "register")
	if n := len(b.cookie(challengeCookie)); n == 0 || n > 3000 {
		t.Errorf("the cookie has %d characters", n)
	}
}

func opened(t *testing.T, salt, text string) map[string]any {
	t.Helper()
	codec, err := token.New(salt, secret)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := codec.Decode(text)
	if err != nil {
		t.Fatalf("open with salt %s: %v", salt, err)
	}
	claims, err := tok.Claims()
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// WA-1, W-37, W-14: a challenge is valid once, in one browser, for 15 minutes.
func TestChallengesAreUsedOnce(t *testing.T) {
	signedUp := func(t *testing.T) (*site, *passkeytest.Authenticator) {
		s := newSite(t)
		key := passkeytest.New()
		key.Step = 0 // so that no counter is in the way
		s.browser().signIn(key, "email", "ada@example.com")
		return s, key
	}
	for _, ceremony := range []struct{ name, email string }{{"an assertion", ""}, {"a registration", "eve@example.com"}} {
		begin := func(t *testing.T) (s *site, b *browser, action string, answer []byte) {
			s, key := signedUp(t)
			if ceremony.email != "" {
				key = passkeytest.New()
			}
			b = s.browser()
			action, answer = b.answering(key, "email", ceremony.email)
			return s, b, action, answer
		}
		t.Run("W-37 "+ceremony.name+" that is sent again", func(t *testing.T) {
			s, b, action, answer := begin(t)
			copied := b.cookie(challengeCookie)
			if code := b.send(action, answer); code != "" {
				t.Fatalf("the first time: %q; log:\n%s", code, &s.log)
			}
			if b.cookie(challengeCookie) != "" {
				t.Error("the cookie is not cleared")
			}
			thief := s.browser()
			thief.setCookie(challengeCookie, copied)
			if code := thief.send(action, answer); code != "Configuration" || thief.signedInAs() != "" {
				t.Errorf("the second time: %q, signed in %q", code, thief.signedInAs())
			}
			if !s.logged("answered before") {
				t.Errorf("the log does not name the reason:\n%s", &s.log)
			}
		})
		t.Run("WA-1 "+ceremony.name+" from another browser", func(t *testing.T) {
			s, _, action, answer := begin(t)
			if code := s.browser().send(action, answer); code != "Configuration" {
				t.Errorf("error %q", code)
			}
		})
		t.Run("WA-1 "+ceremony.name+" with the challenge of another", func(t *testing.T) {
			_, b, action, answer := begin(t)
			b.options("email", ceremony.email)
			if code := b.send(action, answer); code != "WebAuthnVerificationError" {
				t.Errorf("error %q", code)
			}
		})
		t.Run("W-14 "+ceremony.name+" after a failure with the same challenge", func(t *testing.T) {
			s, b, action, answer := begin(t)
			copied := b.cookie(challengeCookie)
			spoiled := []byte(strings.Replace(string(answer), `"public-key"`, `"password"`, 1))
			if code := b.send(action, spoiled); code != "WebAuthnVerificationError" {
				t.Fatalf("the spoiled answer: %q", code)
			}
			if b.cookie(challengeCookie) != "" {
				t.Error("W-14: the cookie is not cleared on failure")
			}
			b.setCookie(challengeCookie, copied)
			if code := b.send(action, answer); code != "Configuration" {
				t.Errorf("the good answer after it: %q; log:\n%s", code, &s.log)
			}
		})
		t.Run("W-37 "+ceremony.name+" that two instances with one store receive 64 times at once", func(t *testing.T) {
			first, b, action, answer := begin(t)
			copied := b.cookie(challengeCookie)
			second := newSite(t, func(s *site) { s.store, s.Config.Store = first.store, first.store })
			before := first.signIns()
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					b := []*site{first, second}[i%2].browser()
					b.setCookie(challengeCookie, copied)
					b.send(action, answer)
				})
			}
			wg.Wait()
			if n := first.signIns() - before + second.signIns(); n != 1 {
				t.Errorf("signed in %d times", n)
			}
		})
		t.Run("WA-1 "+ceremony.name+" that comes late", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, b, action, answer := begin(t)
				copied := b.cookie(challengeCookie)
				time.Sleep(15*time.Minute + 16*time.Second)
				b.setCookie(challengeCookie, copied)
				if code := b.send(action, answer); code != "Configuration" {
					t.Errorf("error %q", code)
				}
			})
		})
		t.Run(ceremony.name+" that comes in time", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, b, action, answer := begin(t)
				copied := b.cookie(challengeCookie)
				time.Sleep(14 * time.Minute)
				b.setCookie(challengeCookie, copied)
				if code := b.send(action, answer); code != "" {
					t.Errorf("error %q", code)
				}
			})
		})
	}

	t.Run("a challenge for one ceremony in the other", func(t *testing.T) {
		s, key := signedUp(t)
		b := s.browser()
		_, answer := b.answering(key)
		if code := b.send("register", answer); code != "WebAuthnVerificationError" {
			t.Errorf("error %q", code)
		}
	})
	t.Run("a challenge of another provider", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Providers = []pintle.Provider{s.keys, &pintle.WebAuthn{
				ID: "other", Ceremony: passkey.New(passkey.Options{}).Ceremony, DisableAutofill: true,
			}}
		})
		key := passkeytest.New()
		b := s.browser()
		action, answer := b.answering(key, "email", "ada@example.com")
		resp, err := passkeytest.Post(t.Context(), b.Client, base+"/callback/other", action, answer)
		if err != nil {
			t.Fatal(err)
		}
		if code := b.outcome(resp); code != "Configuration" {
			t.Errorf("error %q", code)
		}

		t.Run("and a passkey of another provider", func(t *testing.T) {
			s.browser().signIn(key, "email", "ada@example.com")
			b := s.browser()
			resp, err := key.SignIn(t.Context(), b.Client, base+"/callback/other", nil)
			if err != nil {
				t.Fatal(err)
			}
			if code := b.outcome(resp); code != "WebAuthnVerificationError" {
				t.Errorf("error %q", code)
			}
		})
	})
	t.Run("a forged cookie", func(t *testing.T) {
		s, key := signedUp(t)
		b := s.browser()
		action, answer := b.answering(key)
		for _, forged := range []string{"", "x", strings.Repeat("a.", 4) + "a", sealed(t, map[string]any{"value": "x", "provider": "passkey"}), sealed(t, map[string]any{"value": "", "provider": "passkey"})} {
			b.setCookie(challengeCookie, forged)
			if code := b.send(action, answer); code != "Configuration" {
				t.Errorf("with the cookie %.20q: error %q", forged, code)
			}
		}
	})
	t.Run("a cookie without a challenge", func(t *testing.T) {
		s, key := signedUp(t)
		b := s.browser()
		action, answer := b.answering(key)
		codec, err := token.New("encodedWebauthnChallenge", secret)
		if err != nil {
			t.Fatal(err)
		}
		empty, err := codec.Encode(map[string]any{"challenge": ""}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b.setCookie(challengeCookie, sealed(t, map[string]any{"value": empty, "provider": "passkey"}))
		if code := b.send(action, answer); code != "Configuration" {
			t.Errorf("error %q", code)
		}
	})
	t.Run("a fresh cookie with an old challenge", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, key := signedUp(t)
			b := s.browser()
			action, answer := b.answering(key)
			inner, _ := opened(t, challengeCookie, b.cookie(challengeCookie))["value"].(string)
			time.Sleep(15*time.Minute + 16*time.Second)
			b.setCookie(challengeCookie, sealed(t, map[string]any{"value": inner, "provider": "passkey"}))
			if code := b.send(action, answer); code != "Configuration" {
				t.Errorf("error %q", code)
			}
		})
	})
	t.Run("a good answer with a lot around it", func(t *testing.T) {
		s, key := signedUp(t)
		key.Answer = func(a map[string]any) { a["x"] = strings.Repeat("x", 64<<10) }
		if code := s.browser().try(key); code != "WebAuthnVerificationError" {
			t.Errorf("error %q", code)
		}
	})
	t.Run("forms that hold no answer", func(t *testing.T) {
		s, key := signedUp(t)
		for name, form := range map[string][2]string{
			"no action":              {"", "{}"},
			"another action":         {"delete", `{"id":"AAAA"}`},
			"no data":                {"authenticate", ""},
			"data that is text":      {"authenticate", "hello"},
			"data that is null":      {"authenticate", "null"},
			"data without an id":     {"authenticate", "{}"},
			"an id that is not text": {"authenticate", `{"id":7}`},
			"a lot of data":          {"authenticate", `{"id":"AAAA","x":"` + strings.Repeat("x", 64<<10) + `"}`},
			"data nested deeply":     {"authenticate", strings.Repeat("[", 20000)},
		} {
			b := s.browser()
			b.answering(key)
			if code := b.send(form[0], []byte(form[1])); code != "WebAuthnVerificationError" {
				t.Errorf("%s: error %q", name, code)
			}
		}
	})
}

func sealed(t *testing.T, claims map[string]any) string {
	t.Helper()
	codec, err := token.New(challengeCookie, secret)
	if err != nil {
		t.Fatal(err)
	}
	text, err := codec.Encode(claims, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
