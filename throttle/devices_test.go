package throttle_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/throttle"
)

// A browser keeps cookies, whatever its address.
type browser struct {
	*site
	address string
	cookies map[string]*http.Cookie
}

func (s *site) browser(address string) *browser {
	return &browser{s, address, map[string]*http.Cookie{}}
}

// try signs in with the cookies of the browser and returns the outcome.
func (b *browser) try(username, password string) string {
	b.t.Helper()
	return b.tryAt("credentials", username, password)
}

// tryAt is try at one of several providers.
func (b *browser) tryAt(provider, username, password string) string {
	b.t.Helper()
	r := from(b.address)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	_, err := b.SignIn(w, r, provider, pintle.SignInOptions{Fields: map[string]any{"username": username, "password": password}})
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	switch {
	case err == nil:
		return "in"
	case errors.Is(err, throttle.ErrTooMany):
		return "refused"
	case errors.Is(err, pintle.CodeCredentials):
		return "wrong"
	}
	b.t.Errorf("%s at %s: %v", username, b.address, err)
	return ""
}

// looked tries a number of wrong passwords and returns how many were verified.
func (b *browser) looked(n int, username string) int {
	b.t.Helper()
	before := b.asked.Load()
	for i := range n {
		b.try(username, fmt.Sprint("guess ", i))
	}
	return int(b.asked.Load() - before)
}

// attack uses up the limit of an account from ten addresses.
func (s *site) attack(username string) {
	s.t.Helper()
	for i := range 10 {
		s.guess(10, attacker(i), username)
	}
}

func attacker(i int) string { return fmt.Sprintf("203.0.113.%d:1", i) }

// ASVS-6.1.1: guesses of other clients do not lock the owner out of known devices.
func TestAKnownDeviceIsNotLockedOut(t *testing.T) {
	t.Run("SA-M6 at a new address, while the guesses go on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			phone := s.browser(here)
			if got := phone.try("kim", "open sesame"); got != "in" {
				t.Fatal(got)
			}
			s.attack("kim")
			for minute := range 1440 {
				s.guess(1, attacker(minute%10), "kim")
				if minute%60 == 0 {
					phone.address = fmt.Sprintf("[2001:db8:0:%x::1]:1", minute)
					if got := phone.try("kim", "open sesame"); got != "in" {
						t.Fatalf("in minute %d the owner is %s", minute, got)
					}
				}
				time.Sleep(time.Minute)
			}
		})
	})
	t.Run("SA-M6 after a restart, and after the secret has been replaced", func(t *testing.T) {
		const older, newer = "a secret for tests, 32 characters or more", "a newer secret, of 32 characters or more"
		first := newSite(t, nil)
		phone := first.browser(here)
		phone.try("kim", "open sesame")
		for _, secrets := range [][]string{{older}, {newer, older}} {
			second := newSite(t, nil, func(cfg *pintle.Config) { cfg.Secrets = secrets })
			second.attack("kim")
			phone.site, phone.address = second, elsewhere
			if got := phone.try("kim", "open sesame"); got != "in" {
				t.Errorf("with %d secrets the owner is %s", len(secrets), got)
			}
		}
		other := newSite(t, nil, func(cfg *pintle.Config) { cfg.Secrets = []string{"the secret of another site, 32 or more"} })
		other.attack("kim")
		phone.site = other
		if got := phone.try("kim", "open sesame"); got != "refused" {
			t.Errorf("with a cookie of another site: %s", got)
		}
	})
	t.Run("SA-M6 behind an address whose limit another client uses up", func(t *testing.T) {
		s := newSite(t, nil)
		laptop := s.browser(here)
		laptop.try("kim", "open sesame")
		for i := range 20 {
			s.guess(10, here, fmt.Sprint("person ", i))
		}
		s.guess(10, here, "kim")
		if got := laptop.try("kim", "open sesame"); got != "in" {
			t.Errorf("the owner is %s", got)
		}
	})
	t.Run("SA-M6 with one that signs in to several accounts", func(t *testing.T) {
		s := newSite(t, nil)
		shared := s.browser(here)
		shared.try("kim", "open sesame")
		shared.try("lee", "open sesame")
		s.attack("kim")
		s.attack("lee")
		shared.address = elsewhere
		for _, who := range []string{"kim", "lee"} {
			if got := shared.try(who, "open sesame"); got != "in" {
				t.Errorf("%s is %s", who, got)
			}
		}
	})
}

func TestADeviceCookieGrantsLittle(t *testing.T) {
	known := func(t *testing.T, s *site, who string) *browser {
		t.Helper()
		b := s.browser(here)
		if got := b.try(who, "open sesame"); got != "in" {
			t.Fatal(got)
		}
		b.address = elsewhere
		return b
	}
	t.Run("SA-M6 it does not exempt from the limit of another account", func(t *testing.T) {
		s := newSite(t, nil)
		b := known(t, s, "lee")
		s.attack("kim")
		if n := b.looked(20, "kim"); n != 0 {
			t.Errorf("%d guesses were looked at, want 0", n)
		}
	})
	t.Run("SA-M6 a stolen one does not guess without limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			thief := known(t, s, "kim")
			s.attack("kim")
			n := 0
			for i := range 200 {
				thief.address = fmt.Sprintf("198.51.%d.1:1", i)
				n += thief.looked(2, "kim")
			}
			if n != 10 {
				t.Errorf("%d guesses were looked at, want 10", n)
			}
			time.Sleep(time.Minute)
			if n := thief.looked(10, "kim"); n > 2 {
				t.Errorf("a minute later %d, want one more, and one of the limit of the account", n)
			}
		})
	})
	t.Run("SA-M6 a hundred collected ones do not guess without limit", func(t *testing.T) {
		s := newSite(t, nil)
		// A user whose password is changed afterwards.
		var collected []*browser
		for range 50 {
			collected = append(collected, known(t, s, "kim"))
		}
		s.attack("kim")
		n := 0
		for i, b := range collected {
			b.address = fmt.Sprintf("198.51.%d.1:1", i)
			n += b.looked(10, "kim")
		}
		if n != 100 {
			t.Errorf("%d guesses were looked at, want 100", n)
		}
	})
	t.Run("SA-M6 its owner is not hindered by a copy that guesses", func(t *testing.T) {
		s := newSite(t, nil)
		owner := known(t, s, "kim")
		thief := &browser{s, "198.51.100.77:1", maps.Clone(owner.cookies)}
		if got := owner.try("kim", "open sesame"); got != "in" {
			t.Fatal(got)
		}
		s.attack("kim")
		thief.looked(20, "kim")
		if got := owner.try("kim", "open sesame"); got != "in" {
			t.Errorf("the owner is %s", got)
		}
	})
	t.Run("SA-M6 it is sealed, and ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			b := known(t, s, "kim")
			c := b.cookies["__Host-pintle.devices"]
			if c == nil || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Fatalf("the cookie is %v of %v", c, b.cookies)
			}
			if c.Expires.IsZero() || time.Until(c.Expires) > 180*24*time.Hour+time.Minute || strings.Contains(c.Value, "kim") {
				t.Errorf("it expires at %s: %s", c.Expires, c.Value)
			}
			s.attack("kim")
			good := c.Value
			for _, bad := range []string{good[:len(good)-2] + "AA", "", `[{"a":"","i":"x","e":99999999999}]`, strings.Repeat("A", 100_000)} {
				c.Value = bad
				if got := b.try("kim", "open sesame"); got != "refused" {
					t.Errorf("with the cookie %.40q: %s", bad, got)
				}
			}
			c.Value = good
			time.Sleep(180*24*time.Hour - time.Minute)
			s.attack("kim")
			if got := b.try("kim", "guess"); got != "wrong" {
				t.Errorf("before its end: %s", got)
			}
			time.Sleep(2 * time.Minute)
			s.attack("kim")
			if got := b.try("kim", "open sesame"); got != "refused" {
				t.Errorf("after its end: %s", got)
			}
		})
	})
	t.Run("SA-M6 it ends although another account signs in meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			b := known(t, s, "kim")
			time.Sleep(100 * 24 * time.Hour)
			if got := b.try("lee", "open sesame"); got != "in" { // the cookie is renewed
				t.Fatal(got)
			}
			time.Sleep(100 * 24 * time.Hour)
			s.attack("kim")
			s.attack("lee")
			if got := b.try("lee", "guess"); got != "wrong" {
				t.Errorf("lee, who signed in 100 days ago, is %s", got)
			}
			if got := b.try("kim", "open sesame"); got != "refused" {
				t.Errorf("kim, who signed in 200 days ago, is %s", got)
			}
		})
	})
	t.Run("SA-M6 it is for the account of one provider", func(t *testing.T) {
		s := newSite(t, nil, func(cfg *pintle.Config) {
			p := *cfg.Providers[0].(*pintle.Credentials)
			g := &throttle.Guard{}
			staff := p
			staff.ID = "staff"
			cfg.Providers = []pintle.Provider{g.Credentials(&p, "username"), g.Credentials(&staff, "username")}
		})
		b := known(t, s, "kim")
		s.attack("kim")
		for i := range 100 {
			s.browser(attacker(i/10)).tryAt("staff", "kim", "guess")
		}
		if got := b.tryAt("staff", "kim", "guess"); got != "refused" {
			t.Errorf("a guess at the kim of another provider is %s", got)
		}
		if got := b.try("kim", "guess"); got != "wrong" {
			t.Errorf("a guess at the kim of this provider is %s", got)
		}
	})
	t.Run("SA-M6 one that does not say whose device it is counts for nothing", func(t *testing.T) {
		for fields, want := range map[string]string{
			`"n":%q,"u":%q`: "wrong",
			`"a":%q,"u":%q`: "refused", // the name was folded: it may be of a look-alike
		} {
			name := sha256.Sum256([]byte("credentials\x00typed kim"))
			hashed := base64.RawURLEncoding.EncodeToString(name[:16])
			s := newSite(t, nil, func(cfg *pintle.Config) {
				cfg.Providers = append(cfg.Providers, &pintle.Credentials{ID: "issue", Authorize: func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
					device := fmt.Sprintf(fields, hashed, hashed)
					return &pintle.User{ID: "kim"}, s.SetCookie("pintle.devices", `[{`+device+`,"i":"x","e":99999999999}]`, time.Hour)
				}})
			})
			b := s.browser(elsewhere)
			b.tryAt("issue", "", "")
			s.attack("kim")
			if got := b.try("kim", "guess"); got != want {
				t.Errorf("a guess with %s is %s, want %s", fields, got, want)
			}
		}
	})
	t.Run("SA-M6 a wrong password and a rejected sign-in set no cookie", func(t *testing.T) {
		s := newSite(t, nil, func(cfg *pintle.Config) {
			cfg.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				if a.User.ID == "lee" {
					return "/second-factor", nil
				}
				return "", nil
			}
		})
		b := s.browser(here)
		b.try("kim", "guess")
		b.try("lee", "open sesame")
		if b.cookies["__Host-pintle.devices"] != nil {
			t.Error("there is a cookie")
		}
	})
	t.Run("SA-M6 it stays small, however many accounts sign in", func(t *testing.T) {
		s := newSite(t, nil, func(cfg *pintle.Config) {
			p := *cfg.Providers[0].(*pintle.Credentials)
			p.Authorize = func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
				return &pintle.User{ID: s.Text("username")}, nil
			}
			cfg.Providers[0] = (&throttle.Guard{}).Credentials(&p, "username")
		})
		b := s.browser(here)
		for i := range 100 {
			if got := b.try(fmt.Sprint("person ", i), "any"); got != "in" {
				t.Fatalf("person %d is %s", i, got)
			}
		}
		if n := len(b.cookies["__Host-pintle.devices"].Value); n > 2000 {
			t.Errorf("the cookie has %d bytes", n)
		}
	})
	t.Run("SA-M6 the host can do without", func(t *testing.T) {
		s := newSite(t, &throttle.Guard{DeviceAge: -1})
		if b := known(t, s, "kim"); b.cookies["__Host-pintle.devices"] != nil {
			t.Error("there is a cookie")
		}
	})
}

// An application may have users whose names differ in an accent alone. Guesses at
// them share limits, and what one of them is known by is nothing to the other.
func TestALookAlikeIsNotKnownAsTheOwner(t *testing.T) {
	lookAlikes := func(cfg *pintle.Config) {
		p := *cfg.Providers[0].(*pintle.Credentials)
		p.Authorize = func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
			if name := s.Text("username"); s.Text("password") == "open sesame" && (name == "kim" || name == "kím") {
				return &pintle.User{ID: name, Name: name}, nil
			}
			return nil, nil
		}
		cfg.Providers[0] = (&throttle.Guard{}).Credentials(&p, "username")
	}
	signedIn := func(t *testing.T, s *site, address, who string) *browser {
		t.Helper()
		b := s.browser(address)
		if got := b.try(who, "open sesame"); got != "in" {
			t.Fatal(got)
		}
		return b
	}
	t.Run("SA-M6 its devices do not use up the limit of the owner's", func(t *testing.T) {
		s := newSite(t, nil, lookAlikes)
		owner := signedIn(t, s, here, "kim")
		var devices []*browser
		for i := range 24 {
			devices = append(devices, signedIn(t, s, fmt.Sprintf("198.51.%d.1:1", i), "kím"))
		}
		for i, b := range devices {
			b.looked(10, []string{"kim", "kím"}[i%2])
		}
		s.attack("kim")
		owner.address = elsewhere
		if got := owner.try("kim", "open sesame"); got != "in" {
			t.Errorf("the owner, at a known device, is %s", got)
		}
	})
	t.Run("SA-M6 its devices get no guesses beyond the limit of the account", func(t *testing.T) {
		s := newSite(t, nil, lookAlikes)
		device := signedIn(t, s, here, "kím")
		s.attack("kim")
		device.address = elsewhere
		if got := device.try("kim", "guess"); got != "refused" {
			t.Errorf("the guess is %s", got)
		}
	})
	t.Run("SA-M6 its address gets no guesses beyond the limit of the account", func(t *testing.T) {
		s := newSite(t, nil, lookAlikes)
		signedIn(t, s, here, "kím")
		s.attack("kim")
		if got := s.try(here, "kim", "guess"); got != "refused" {
			t.Errorf("the guess is %s", got)
		}
		if got := s.try(here, "kím", "guess"); got != "wrong" {
			t.Errorf("a guess at the account that signed in there is %s", got)
		}
	})
	t.Run("SA-M6 a name is not taken for the id of an account", func(t *testing.T) {
		s := newSite(t, nil, func(cfg *pintle.Config) {
			p := *cfg.Providers[0].(*pintle.Credentials)
			g := &throttle.Guard{}
			other := p
			other.ID, other.Authorize = "other", func(context.Context, *pintle.Submission) (*pintle.User, error) { return &pintle.User{ID: "7"}, nil }
			p.Authorize = func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil }
			p.Account = func(context.Context, *pintle.Submission) (string, error) { return "1", nil }
			cfg.Providers = []pintle.Provider{g.Credentials(&p, "username"), g.Credentials(&other, "username")}
		})
		b := s.browser(here)
		if got := b.tryAt("other", "account 1", "any"); got != "in" {
			t.Fatal(got)
		}
		s.attack("kim")
		if got := s.try(here, "kim", "guess"); got != "refused" {
			t.Errorf("a guess at the account 1 is %s", got)
		}
	})
	t.Run("SA-M6 users without an id share no limit of devices", func(t *testing.T) {
		var s *site
		s = newSite(t, nil, func(cfg *pintle.Config) {
			p := *cfg.Providers[0].(*pintle.Credentials)
			p.Authorize = func(ctx context.Context, sub *pintle.Submission) (*pintle.User, error) {
				user, err := s.authorize(ctx, sub)
				if user != nil {
					user.ID = ""
				}
				return user, err
			}
			cfg.Providers[0] = (&throttle.Guard{PerDevice: throttle.Limit{Burst: 200}}).Credentials(&p, "username")
		})
		kim, lee := signedIn(t, s, here, "kim"), signedIn(t, s, "198.51.100.10:1", "lee")
		s.attack("kim")
		s.attack("lee")
		kim.address, lee.address = elsewhere, elsewhere
		if n := kim.looked(100, "kim"); n != 100 {
			t.Errorf("%d guesses at kim were looked at, want 100", n)
		}
		if got := lee.try("lee", "open sesame"); got != "in" {
			t.Errorf("lee is %s", got)
		}
	})
	t.Run("SA-M6 devices of one user share a limit, however the user spells the name", func(t *testing.T) {
		s := newSite(t, nil)
		var collected []*browser
		spellings := []string{"kim", "Kim", "kIm", "kiM"}
		for i := range 40 {
			collected = append(collected, signedIn(t, s, fmt.Sprintf("198.51.%d.1:1", i), spellings[i%4]))
		}
		s.attack("kim")
		n := 0
		for i, b := range collected {
			b.address = fmt.Sprintf("203.0.%d.1:1", i)
			before := s.asked.Load()
			for j := range 10 {
				b.try(spellings[i%4], fmt.Sprint("guess ", j))
			}
			n += int(s.asked.Load() - before)
		}
		if n != 100 {
			t.Errorf("%d guesses were looked at, want 100", n)
		}
	})
}

func TestExceededDecides(t *testing.T) {
	captcha := &pintle.Error{Code: pintle.CodeCredentials, Detail: "solve_the_captcha"}
	var asked []*throttle.Excess
	s := newSite(t, &throttle.Guard{Exceeded: func(_ context.Context, e *throttle.Excess) error {
		asked = append(asked, e)
		if e.Submission.Text("captcha") == "solved" {
			return nil
		}
		return captcha
	}})
	s.attack("kim")
	if len(asked) != 0 {
		t.Errorf("it ran %d times within the limit", len(asked))
	}
	try := func(address, password, answer string) error {
		_, err := s.SignIn(httptest.NewRecorder(), from(address), "credentials", pintle.SignInOptions{
			Fields: map[string]any{"username": "kim", "password": password, "captcha": answer},
		})
		return err
	}
	if e, ok := errors.AsType[*pintle.Error](try(elsewhere, "open sesame", "")); !ok || e.Code != captcha.Code || e.Detail != captcha.Detail {
		t.Errorf("SA-M6 without an answer: %v", e)
	}
	if len(asked) != 1 || asked[0].Account != "kim" || asked[0].RetryAfter <= 0 {
		t.Errorf("SA-M6 the host was given %+v", asked)
	}
	if err := try(elsewhere, "open sesame", "solved"); err != nil {
		t.Errorf("SA-M6 with one: %v", err)
	}
	for range 200 {
		_ = try("198.51.100.98:1", "open sesame", "")
	}
	if err := try("198.51.100.98:1", "open sesame", "solved"); err != nil {
		t.Errorf("SA-M6 a client that solved the CAPTCHA after many attempts: %v", err)
	}
	before := s.asked.Load()
	for i := range 50 {
		_ = try("198.51.100.99:1", fmt.Sprint(i), "solved")
	}
	if n := s.asked.Load() - before; n != 10 {
		t.Errorf("SA-M6 a client that solves every one has %d guesses looked at, want 10", n)
	}
}

// SH-87: all names of an account share its limits.
func TestNamesOfOneAccountAreCountedTogether(t *testing.T) {
	for name, spelling := range map[string]string{
		"a soft hyphen":                  "k\u00adim",
		"a joiner":                       "k\u200dim",
		"a space without a width":        "ki\u200bm",
		"a space in it":                  "k im",
		"a no-break space":               "\u00a0kim",
		"a mark of direction":            "\u202ekim",
		"a variation selector":           "kim\ufe0f",
		"an accent that collations drop": "kím",
		"a control character":            "kim\x00",
		"a filler":                       "kim\u3164",
	} {
		t.Run("SA-L2 "+name, func(t *testing.T) {
			s := newSite(t, nil)
			s.guess(10, here, "kim")
			if n := s.guess(1, here, spelling); n != 0 {
				t.Errorf("%q is counted apart", spelling)
			}
		})
	}
	ids := map[string]string{"kim": "1", "kim@example.com": "1", "lee": "2"}
	down := errors.New("the directory is down")
	var looks int
	var fail error
	resolving := func(cfg *pintle.Config) {
		guarded := *cfg.Providers[0].(*pintle.Credentials)
		guarded.Account = func(_ context.Context, s *pintle.Submission) (string, error) {
			looks++
			return ids[s.Text("username")], fail
		}
		// The guard wraps it again.
		cfg.Providers[0] = (&throttle.Guard{}).Credentials(&guarded, "username")
	}
	t.Run("SA-L2 aliases that the application resolves", func(t *testing.T) {
		s := newSite(t, &throttle.Guard{PerAccount: throttle.Limit{Burst: -1}, PerAccountAndClient: throttle.Limit{Burst: -1}, PerClient: throttle.Limit{Burst: -1}}, resolving)
		n := s.guess(10, here, "kim") + s.guess(10, here, "kim@example.com")
		if n != 10 {
			t.Errorf("%d guesses at one account were looked at, want 10", n)
		}
		if n := s.guess(5, here, "lee"); n != 5 {
			t.Errorf("of another account %d, want 5", n)
		}
		if n := s.guess(20, here, "unknown") + s.guess(20, here, "1") + s.guess(20, here, "account 1"); n != 30 {
			t.Errorf("of three names without account %d guesses were looked at, want 30", n)
		}
	})
	t.Run("SA-L2 a client beyond its limit costs no search", func(t *testing.T) {
		s := newSite(t, nil, resolving)
		for i := range 200 {
			s.guess(1, here, fmt.Sprint("person ", i))
		}
		if looks = 0; s.guess(10, here, "kim") != 0 || looks != 0 {
			t.Errorf("%d searches", looks)
		}
	})
	t.Run("SA-L2 a directory that is down lets no attempt through", func(t *testing.T) {
		s := newSite(t, nil, resolving)
		fail = down
		_, err := s.SignIn(httptest.NewRecorder(), from(here), "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "kim", "password": "open sesame"}})
		if !errors.Is(err, down) || s.asked.Load() != 0 {
			t.Errorf("%v, %d passwords were looked at", err, s.asked.Load())
		}
	})
}

func TestAMailBeyondTheLimitIsNotStored(t *testing.T) {
	t.Run("SA-L1 it leaves no row", func(t *testing.T) {
		s := newSite(t, nil)
		for i := range 200 {
			s.mail(fmt.Sprintf("203.0.113.%d:1", i), "kim@example.com")
		}
		if s.store.rows != 5 || len(s.mails) != 5 {
			t.Errorf("%d rows for %d mails", s.store.rows, len(s.mails))
		}
	})
}

// The sign-in page shows the user that the limit of mails is reached. Scripts get
// the error of any mail that cannot be sent, with status 429.
func TestAMailBeyondTheLimitIsReported(t *testing.T) {
	s := newSite(t, nil)
	for range 5 {
		s.mail(here, "kim@example.com")
	}
	_, err := s.SignIn(httptest.NewRecorder(), from(here), "email", pintle.SignInOptions{Fields: map[string]any{"email": "kim@example.com"}})
	if e, ok := errors.AsType[*pintle.Error](err); !ok || e.RetryAfter <= 0 || !errors.Is(err, pintle.Code("EmailSignInError")) || e.Provider != "email" {
		t.Errorf("the error is %#v", err)
	}
}

func TestTheAddressOfTheClientIsTheConfigurations(t *testing.T) {
	s := newSite(t, nil, func(cfg *pintle.Config) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	forwarded := func(address string) error {
		r := from("10.0.0.1:1")
		r.Header.Set("X-Forwarded-For", address)
		_, err := s.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "kim", "password": "guess"}})
		return err
	}
	for range 10 {
		_ = forwarded("192.0.2.1")
	}
	if err := forwarded("192.0.2.1"); !errors.Is(err, throttle.ErrTooMany) {
		t.Errorf("the client behind the proxy is not counted: %v", err)
	}
	if err := forwarded("192.0.2.2"); errors.Is(err, throttle.ErrTooMany) {
		t.Error("another client behind the proxy is counted with it")
	}
	s.guess(10, "@", "lee")
	if n := s.guess(1, "@", "lee"); n != 0 {
		t.Error("clients without an address are not counted")
	}
}
