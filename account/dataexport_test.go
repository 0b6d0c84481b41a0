package account_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// exports asks for the file.
func (b *browser) exports() *browser {
	b.t.Helper()
	return b.get("/auth/account/export").post("/auth/account/export")
}

// An account that is years old makes no file of any size.
func TestTheDownloadHasTheNewestTenThousandEvents(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	for i := range 10_001 {
		s.recordFor(u.ID, "confirmed", time.Now().Add(-time.Duration(i+1)*time.Millisecond))
	}
	b := s.browser().startSession(u, 0, "pwd").exports().want(http.StatusOK)
	if n := strings.Count(b.page, `"outcome":`); n != 10_000 {
		t.Errorf("the file has %d events, want 10000", n)
	}
}

// AC-93
func TestAUserDownloadsTheirData(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub, withPasskeys(&echo{}), func(_ *pintle.Config, o *account.Options) {
			o.SignUp.Fields = []pintle.Field{{Name: "nick"}}
			o.Export.More = func(_ context.Context, u *pintle.User) (any, error) {
				return map[string]any{"posts": []string{"first post of " + u.Email}}, nil
			}
		})
		u, err := s.store.CreateUser(t.Context(), &pintle.User{
			ID: "ada", Name: "Ada", Email: ada, EmailVerified: time.Now().UTC().Truncate(time.Millisecond),
			Extra: map[string]any{"nick": "countess", "passwordHash": "canary-hash"},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.setPassword(u.ID, goodPassword)
		err = s.store.LinkAccount(t.Context(), &pintle.Account{
			UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "583231",
			AccessToken: "canary-access", RefreshToken: "canary-refresh", IDToken: "canary-id",
		})
		if err != nil {
			t.Fatal(err)
		}
		s.passkey(u)
		s.app(u)
		if _, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		s.remember(u)
		s.browser().startSession(u, 0, "pwd", "otp")
		ops, ctx := s.operators()
		s.done(ops.SetRoles(ctx, u.ID, []string{"editor"}))
		for i := range 600 { // more than are read at a time
			s.recordFor(u.ID, "confirmed", time.Now().Add(-time.Duration(i+1)*time.Minute))
		}
		b := s.browser().startSession(u, 0, "pwd", "otp").exports().want(http.StatusOK)
		if n, acts := strings.Count(b.page, `"kind": "confirmed"`), strings.Count(b.page, `"actor": "support"`); n != 600 || acts != 1 {
			t.Errorf("the file has %d events of the user and %d acts of operators, want 600 and 1", n, acts)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "Content-Disposition": `attachment; filename="account.json"`,
		} {
			if got := b.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if got := b.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("Cache-Control is %q", got)
		}
		for _, want := range []string{
			ada, "countess", "583231", `"phone"`, "first post of", `"rememberedDevices"`, `"recoveryLeft": 10`, `"passkeys"`, `"devices"`, `"exported"`,
		} {
			if !strings.Contains(b.page, want) {
				t.Errorf("the file has no %s: %s", want, b.page)
			}
		}
		rows, err := s.rows.Factors(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		secrets := []string{"canary", "argon2", grace, b.sessionCookie()}
		for _, row := range rows {
			secrets = append(secrets, row.Secret)
		}
		for _, secret := range secrets {
			if secret == "" || secret == "hash" {
				continue
			}
			if strings.Contains(b.page, secret) {
				t.Errorf("the file has the secret %q", secret)
			}
		}
		s.mailOf("exported")
		b.exports().want(http.StatusTooManyRequests)
		if b.header.Get("Retry-After") == "" {
			t.Error("the answer does not say when to try again")
		}
		s.browser().startSession(s.seed("bob@example.com", goodPassword, true), 0, "pwd").exports().want(http.StatusOK)
	})
}

// The work of the application is done once an hour, too.
func TestASecondExportDoesNotAskTheApplication(t *testing.T) {
	calls := 0
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Export.More = func(context.Context, *pintle.User) (any, error) { calls++; return nil, nil }
	})
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).exports().want(http.StatusOK)
	b.exports().want(http.StatusTooManyRequests)
	if calls != 1 {
		t.Errorf("the application was asked %d times", calls)
	}
}

// AT-8: of downloads at the same moment one is sent, also an hour after another one.
func TestOfExportsAtTheSameMomentOneIsSent(t *testing.T) {
	var s *site
	inner := 0
	s = newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Export.More = func(_ context.Context, u *pintle.User) (any, error) {
			if inner++; inner == 1 {
				s.browser().startSession(u, 0, "pwd").exports().want(http.StatusOK)
			}
			return nil, nil
		}
	})
	u := s.seed(ada, goodPassword, true)
	s.browser().startSession(u, 0, "pwd").exports().want(http.StatusTooManyRequests)
	if n := s.count(ada, "exported"); inner != 2 || n != 1 {
		t.Errorf("%d files were made, and %d mails sent", inner, n)
	}
}

// AT-47
func TestAnExportNeedsAFreshProof(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	b := s.browser().startSession(u, time.Hour, "pwd")
	b.get("/auth/account/export").isAt("/auth/account/confirm")
	if b.post("/auth/account/export").want(http.StatusForbidden); b.header.Get("Content-Disposition") != "" {
		t.Error("an old session has the file")
	}
	fresh := s.browser().startSession(u, 0, "pwd")
	if fresh.do(http.MethodPost, "/auth/account/export", map[string][]string{}).want(http.StatusForbidden); fresh.header.Get("Content-Disposition") != "" {
		t.Error("a form without a token gets the file")
	}
	s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
	if fresh.get("/auth/account").post("/auth/account/export").want(http.StatusUnauthorized); fresh.header.Get("Content-Disposition") != "" {
		t.Error("a user who is banned has the file")
	}
}

// A callback that fails sends no half of a file, and does not count.
func TestAnExportWhoseCallbackFailsCanBeRepeated(t *testing.T) {
	fails := true
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Export.More = func(context.Context, *pintle.User) (any, error) {
			if fails {
				return nil, errors.New("no answer")
			}
			return "all", nil
		}
	})
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).exports().want(http.StatusServiceUnavailable)
	fails = false
	b.exports().want(http.StatusOK).says(`"application": "all"`)
}

func TestAnApplicationCanTakeTheExportOut(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Export.Off = true })
	s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).get("/auth/account/export").want(http.StatusNotFound)
}

// AC-93: a list of the page "devices" has 100 entries, and the file has all.
// A native application has its name in the data of the session.
func TestTheListOfDevicesNamesNativeApplications(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	if err := s.store.CreateSession(t.Context(), &pintle.StoredSession{
		Token: strings.Repeat("t", 43), UserID: u.ID, Created: time.Now(), Expires: time.Now().Add(time.Hour), Data: map[string]any{"application": "Fossil finder", "other": "x"},
	}); err != nil {
		t.Fatal(err)
	}
	s.fresh(u).get("/auth/account/devices").says("Fossil finder").says("A browser")
}

func TestTheFileHasAllDevices(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	for range 120 {
		s.browser().startSession(u, 0, "pwd")
	}
	b := s.fresh(u)
	b.get("/auth/account/export").post("/auth/account/export").want(http.StatusOK)
	if devices, _ := b.json()["devices"].([]any); len(devices) != 121 {
		t.Errorf("the file has %d devices, want 121", len(devices))
	}
}
