package pintle_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
)

func TestASubmissionKeepsValuesInTheBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read []string
		s := newSite(t, func(s *site) {
			s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(ctx context.Context, c *pintle.Submission) (*pintle.User, error) {
				read = append(read, c.Cookie("seen"))
				if err := c.SetCookie("seen", c.Text("username"), time.Hour); err != nil {
					t.Error(err)
				}
				return checkPassword(ctx, c)
			}}}
		})
		b := s.browser()
		if r := b.post("/auth/callback/credentials", "username", "ada", "password", "guess"); r.cookies()["seen"] != nil {
			t.Error("a sign-in that fails keeps a value")
		}
		kept := b.signIn("ada").cookies()["seen"]
		if kept == nil || !kept.HttpOnly || kept.Path != "/" || strings.Contains(kept.Value, "ada") {
			t.Fatalf("the cookie is %v", kept)
		}
		b.signIn("ada")
		time.Sleep(2 * time.Hour)
		b.plant("seen", kept.Value)
		b.signIn("ada")
		b.plant("seen", sealed(t, "seen", map[string]any{"value": "mallory", "exp": time.Now().Add(time.Hour).Unix()}))
		b.signIn("ada")
		if got := strings.Join(read, ","); got != ",,ada,," {
			t.Errorf("the values read are %q, want that of the second sign-in alone", got)
		}
	})
}

func TestAValueThatCannotBeKeptIsRefused(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
			for name, err := range map[string]error{
				"a name with a space": c.SetCookie("a b", "x", time.Hour),
				"an empty name":       c.SetCookie("", "x", time.Hour),
				"a long value":        c.SetCookie("a", strings.Repeat("x", 2049), time.Hour),
				"no time":             c.SetCookie("a", "x", 0),
			} {
				if err == nil {
					t.Errorf("%s is accepted", name)
				}
			}
			if c.Cookie("a b") != "" || c.Cookie("") != "" {
				t.Error("a cookie that cannot be is read")
			}
			return nil, nil
		}}}
	})
	s.browser().post("/auth/callback/credentials", "username", "ada").fails("/auth/signin", "CredentialsSignin")

	// A test of a host calls Authorize without a browser.
	var alone pintle.Submission
	if err := alone.SetCookie("a", "x", time.Hour); err != nil || alone.Cookie("a") != "" {
		t.Errorf("without a browser: %v", err)
	}
}
