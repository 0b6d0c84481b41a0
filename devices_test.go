package pintle_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// deviceName is what a session is known by in these tests.
var deviceName = pintle.NewClaim[string]("device")

func describeDevice(r *http.Request) map[string]any {
	data := map[string]any{}
	deviceName.Put(data, r.UserAgent())
	return data
}

// held is the session that a browser's cookies stand for.
func (b *browser) held() *pintle.Session {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.site.url+"/account", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(b.address()) {
		r.AddCookie(c)
	}
	session, err := b.site.auth.Session(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return session
}

// arrive signs in with acme at a browser of the given name.
func (s *site) arrive(name string) *browser {
	s.t.Helper()
	b := s.browser()
	b.get(b.consent(b.leave("acme")), "User-Agent", name).goesTo(s.url)
	return b
}

func (s *site) devicesOf(session *pintle.Session) []*pintle.Device {
	s.t.Helper()
	var devices []*pintle.Device
	for d, err := range s.auth.Devices(s.t.Context(), session) {
		if err != nil {
			s.t.Fatal(err)
		}
		devices = append(devices, d)
	}
	return devices
}

// ASVS-7.5.2: people see where they are signed in.
func TestAPersonSeesWhereTheyAreSignedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.Session.Describe = describeDevice })
		k.seedSession(t, k.seedUser(t, people["grace"].user), time.Hour) // which is not theirs
		start := time.Now()
		phone := s.arrive("phone")
		time.Sleep(36 * time.Hour)
		laptop := s.arrive("laptop")
		time.Sleep(12 * time.Hour)
		phone.who() // which extends its session, now that a day has passed
		time.Sleep(6 * time.Hour)

		devices := s.devicesOf(laptop.held())
		want := []struct {
			name              string
			current           bool
			created, lastUsed time.Duration
		}{
			{"laptop", true, 36 * time.Hour, 54 * time.Hour},
			{"phone", false, 0, 48 * time.Hour},
		}
		if len(devices) != len(want) {
			t.Fatalf("%d devices, want %d", len(devices), len(want))
		}
		for i, d := range devices {
			name, _ := deviceName.In(d.Data)
			if name != want[i].name || d.Current != want[i].current {
				t.Errorf("device %d is %q, current %t", i+1, name, d.Current)
			}
			if created, used := d.Created.Sub(start), d.LastUsed.Sub(start); created != want[i].created || used != want[i].lastUsed {
				t.Errorf("%s signed in after %v and was used after %v, want %v and %v", name, created, used, want[i].created, want[i].lastUsed)
			}
			if d.Handle == "" {
				t.Errorf("%s has no handle", name)
			}
		}
		if devices := s.devicesOf(phone.held()); devices[0].Current || !devices[1].Current {
			t.Error("the phone takes itself for the laptop")
		}
	})
}

// A store may yield tokens and have its own handles. No token reaches a page.
func TestDevicesHaveNoTokens(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, with(lavishStore{k.Store, map[string]string{}}, k.callLog, pintle.StrategyDatabase))
	s.arrive("phone")
	devices := s.devicesOf(s.arrive("laptop").held())
	current := 0
	for _, d := range devices {
		if len(d.Handle) != 7 {
			t.Errorf("the device is %+v", d)
		}
		if d.Current {
			current++
		}
	}
	if len(devices) != 2 || current != 1 {
		t.Errorf("of %d devices %d ask", len(devices), current)
	}
}

// A lavishStore yields the token of every session.
type lavishStore struct {
	pintle.Store
	tokens map[string]string // by what the Store has as handles
}

func (s lavishStore) CreateSession(ctx context.Context, row *pintle.StoredSession) error {
	hash := sha256.Sum256([]byte(row.Token))
	s.tokens[base64.RawURLEncoding.EncodeToString(hash[:])] = row.Token
	return s.Store.CreateSession(ctx, row)
}

func (s lavishStore) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		for row, err := range s.Store.UserSessions(ctx, userID) {
			if row != nil {
				row.Token, row.Handle = s.tokens[row.Handle], row.Handle[:7]
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// With an absolute lifetime a row may outlive its session.
func TestASessionThatIsTooOldIsNotADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.Session.AbsoluteMaxAge = 10 * day })
		s.arrive("phone")
		time.Sleep(2 * day)
		s.arrive("tablet")
		time.Sleep(9 * day)
		laptop := s.arrive("laptop")
		if devices := s.devicesOf(laptop.held()); len(devices) != 2 || !devices[0].Current {
			t.Errorf("%d devices, want the laptop and the tablet", len(devices))
		}
	})
}

// A configuration with longer sessions than before has rows that end sooner
// than their last use would allow.
func TestASessionIsNotUsedBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
		laptop := s.arrive("laptop")
		k.seedSession(t, k.owner(t, "acme", "1001"), 7*day)
		time.Sleep(day)
		for _, d := range s.devicesOf(laptop.held()) {
			if d.LastUsed.Before(d.Created) {
				t.Errorf("a session was used %v before it began", d.Created.Sub(d.LastUsed))
			}
		}
	})
}

// A handle comes from a form, and does not determine whose session it may end.
func TestAUserCannotEndTheSessionOfAnotherUser(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	phone, laptop := s.arrive("phone"), s.arrive("laptop")
	grace := s.browser()
	grace.signInAs(k, k.seedUser(t, people["grace"].user), pintle.StrategyDatabase)
	ctx, mine := t.Context(), laptop.held()
	theirs := s.devicesOf(grace.held())[0].Handle
	for _, handle := range []string{theirs, "", grace.cookie(sessionCookie), phone.cookie(sessionCookie), "AAAA"} {
		if err := s.auth.EndDevice(ctx, mine, handle); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("EndDevice(%q) is %v, want ErrNotFound", handle, err)
		}
	}
	if grace.who() != "Grace Hopper" || phone.who() == "anonymous" {
		t.Fatal("a session ended that was not to")
	}

	k.takeCalls()
	devices := s.devicesOf(mine)
	other := devices[slices.IndexFunc(devices, func(d *pintle.Device) bool { return !d.Current })]
	if err := s.auth.EndDevice(ctx, mine, other.Handle); err != nil {
		t.Fatal(err)
	}
	k.wantCalls(t, "endSession") // and no event: no user signed out
	if phone.who() != "anonymous" || laptop.who() == "anonymous" {
		t.Error("another session ended than the one that was meant")
	}
	if err := s.auth.EndDevice(ctx, mine, other.Handle); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("ending it again is %v", err)
	}
}

// ASVS-7.4.3: after a change of their credentials, users can be signed out on
// all other devices.
func TestAllOtherDevicesAreSignedOut(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	phone, tablet, laptop := s.arrive("phone"), s.arrive("tablet"), s.arrive("laptop")
	grace := s.browser()
	grace.signInAs(k, k.seedUser(t, people["grace"].user), pintle.StrategyDatabase)
	session := laptop.held()
	k.takeCalls()
	n, err := s.auth.EndOtherDevices(t.Context(), session)
	if err != nil || n != 2 {
		t.Errorf("EndOtherDevices returns %d, %v", n, err)
	}
	k.wantCalls(t, "endUserSessions")
	if phone.who() != "anonymous" || tablet.who() != "anonymous" {
		t.Error("another device is still signed in")
	}
	if laptop.who() == "anonymous" || grace.who() == "anonymous" {
		t.Error("too much ended")
	}
}

// Tokens are in browsers and nowhere else: the one that asks is all there is to
// say, and nothing pretends that the others were ended.
func TestOfTokenSessionsOneIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyJWT), func(s *site) {
			s.Session.Describe = describeDevice
			s.Session.Revocation = &memstore.Revocations{}
		})
		s.arrive("phone")
		laptop := s.arrive("laptop")
		began := time.Now()
		time.Sleep(time.Hour)
		session := laptop.held()
		devices := s.devicesOf(session)
		if len(devices) != 1 {
			t.Fatalf("%d devices, want 1", len(devices))
		}
		d := devices[0]
		if name, _ := deviceName.In(d.Data); name != "laptop" || !d.Current || d.Handle != "" || !d.Created.Equal(began) || !d.LastUsed.Equal(time.Now()) {
			t.Errorf("the device is %+v", d)
		}
		if err := s.auth.EndDevice(t.Context(), session, d.Handle); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("EndDevice is %v", err)
		}
		if _, err := s.auth.EndOtherDevices(t.Context(), session); !errors.Is(err, pintle.Code("UnsupportedStrategy")) {
			t.Errorf("EndOtherDevices is %v", err)
		}
		if laptop.who() == "anonymous" {
			t.Error("the session ended")
		}
	})
}

// A description comes from the application. It cannot change the user.
func TestDescribeCannotChangeTheUser(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Session.Describe = func(*http.Request) map[string]any {
			data := map[string]any{"sub": "user-grace", "name": "Grace Hopper"}
			deviceName.Put(data, "laptop")
			return data
		}
	})
	b := s.browser()
	b.signIn("ada")
	session := b.held()
	if name, ok := deviceName.Get(session); !ok || name != "laptop" {
		t.Errorf("the device is %q, %t", name, ok)
	}
	if session.User.ID != "user-ada" || session.User.Name != "Ada Lovelace" {
		t.Errorf("the user is %+v", session.User)
	}
}

// What a client calls itself is not the name of a user who has none, and sets none of the
// claims by which a session records how it began.
func TestDescribeCannotNameTheUser(t *testing.T) {
	s, _ := hijackSite(t, pintle.StrategyJWT, func(s *site) {
		s.Session.Describe = func(*http.Request) map[string]any {
			data := map[string]any{"name": "Firefox on Linux", "email": "firefox@example.com", "picture": "https://app.example.com/firefox.png", "acr": "high"}
			deviceName.Put(data, "laptop")
			return data
		}
		s.Callbacks.JWT = func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
			for _, name := range []string{"name", "picture", "acr"} {
				if value, said := change.Claims[name]; said {
					t.Errorf("the claim %s is %v", name, value)
				}
			}
			return change.Claims, nil
		}
	})
	b := s.browser()
	b.get(b.mailTo("new@example.com").URL).want(http.StatusFound) // a user without a name
	session := b.held()
	if u := session.User; u.Name != "" || u.Image != "" || u.Email != "new@example.com" {
		t.Errorf("the user is %+v", u)
	}
	if name, ok := deviceName.Get(session); !ok || name != "laptop" {
		t.Errorf("the device is %q, %t", name, ok)
	}

	nameless := s.browser()
	w := httptest.NewRecorder()
	_, started, err := s.auth.StartSession(w, nameless.request(), &pintle.User{ID: "nameless"}, pintle.StartOptions{})
	if err != nil || started.User.Email != "" {
		t.Errorf("the user without an address is %+v, %v", started, err)
	}
}

// A description does not hide a session from the list of the user's devices.
func TestDescribeCannotHideASession(t *testing.T) {
	s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
		s.Session.Describe = func(r *http.Request) map[string]any {
			return map[string]any{r.Header.Get("X-Name"): true}
		}
	})
	ada := people["ada"].user
	k.seedUser(t, ada)
	b := s.browser()
	r, w := b.request(), httptest.NewRecorder()
	r.Header.Set("X-Name", "pintle.pending")
	if _, _, err := s.auth.StartSession(w, r, &ada, pintle.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	b.takes(w)
	if n := count(t, s.auth.Devices(t.Context(), b.held())); n != 1 {
		t.Errorf("the user has a session and sees %d devices", n)
	}
	defer func() {
		if recover() == nil {
			t.Error("NewClaim takes the name of the mark of a sign-in that waits")
		}
	}()
	pintle.NewClaim[bool]("pintle.pending")
}

// An account page that is not behind Require changes no user.
func TestAccountPagesAreForThoseWhoAreSignedIn(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	for _, tt := range personalMethods(s.auth) {
		for name, session := range map[string]*pintle.Session{"no session": nil, "a session without a user": {}} {
			if err := tt.do(session); !errors.Is(err, pintle.CodeAccessDenied) {
				t.Errorf("%s with %s is %v, want AccessDenied", tt.name, name, err)
			}
		}
	}
	k.wantCalls(t)
}

// personalMethods are the methods that a signed-in user may use on their own
// data.
func personalMethods(auth *pintle.Auth) []personalMethod {
	ctx := context.Background()
	return []personalMethod{
		{"Devices", "Features.SessionList", func(s *pintle.Session) (failure error) {
			for _, err := range auth.Devices(ctx, s) {
				failure = err
			}
			return failure
		}},
		{"EndDevice", "Features.SessionList", func(s *pintle.Session) error { return auth.EndDevice(ctx, s, "AAAA") }},
		{"EndOtherDevices", "Features.SessionList", func(s *pintle.Session) error { _, err := auth.EndOtherDevices(ctx, s); return err }},
		{"Accounts", "Features.Accounts", func(s *pintle.Session) error { _, err := auth.Accounts(ctx, s); return err }},
		{"Unlink", "Features.Accounts", func(s *pintle.Session) error { return auth.Unlink(ctx, s, "acme", "1001") }},
	}
}

type personalMethod struct {
	name, needs string
	do          func(*pintle.Session) error
}

func containsAll(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

func TestAccountPagesSayWhatTheyLack(t *testing.T) {
	ada := &pintle.Session{User: people["ada"].user}
	k := newRecordingStore()
	plain := newSite(t, with(plainRecordingStore{plain: k.recordingStore}, k.callLog, pintle.StrategyDatabase)).auth
	tenants := pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, nil })
	for i, tt := range personalMethods(plain) {
		if err := tt.do(ada); !errors.Is(err, pintle.Code("MissingAdapterMethods")) || !containsAll(err.Error(), tt.name, tt.needs) {
			t.Errorf("%s is %v", tt.name, err)
		}
		if err := personalMethods(tenants)[i].do(ada); !errors.Is(err, pintle.CodeConfiguration) || !containsAll(err.Error(), tt.name, "New") {
			t.Errorf("%s of tenants is %v", tt.name, err)
		}
	}
}

// If the database fails, no list ends early: the page must not claim that there
// are no other sessions.
func TestAListOfDevicesThatBreaksOffSaysSo(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, with(interruptedList{k.Store}, k.callLog, pintle.StrategyDatabase))
	session := s.arrive("laptop").held()
	var failure error
	n := 0
	for d, err := range s.auth.Devices(t.Context(), session) {
		if failure = err; d != nil {
			n++
		}
	}
	if n != 1 || !errors.Is(failure, pintle.CodeStore) || !errors.Is(failure, errBroken) {
		t.Errorf("%d devices and %v", n, failure)
	}
	for _, err := range s.auth.Devices(t.Context(), session) {
		if err != nil {
			t.Error(err)
		}
		break // which the store must bear
	}
}

// A interruptedList breaks off after the first session.
type interruptedList struct{ pintle.Store }

func (s interruptedList) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		for row, err := range s.Store.UserSessions(ctx, userID) {
			if yield(row, err) {
				yield(nil, errBroken)
			}
			return
		}
	}
}
