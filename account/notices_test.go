package account_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/store/memstore"
)

// kinds are the kinds of the mails to an address, in order.
func (s *site) kinds(to string) (kinds []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		if m.To == to {
			kinds = append(kinds, m.Kind)
		}
	}
	return kinds
}

// count counts the mails of a kind to an address.
func (s *site) count(to, kind string) (n int) {
	for _, k := range s.kinds(to) {
		if k == kind {
			n++
		}
	}
	return n
}

// changePassword changes the password of the user who is signed in.
func (b *browser) changePassword(from, to string) *browser {
	b.t.Helper()
	b.get("/auth/account/password").post("/auth/account/password", "current", from, "password", to)
	return b.want(http.StatusOK).isAt("/auth/account")
}

// AC-41: the notices of a user have a limit, so that a thief who causes many cannot fill the mailbox. The last
// one of the day says that further ones are held back.
func TestAUserGetsTwentyNoticesADay(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	s.seed("bob@example.com", goodPassword, true)
	b, from, to := s.browser().signIn(ada, goodPassword), goodPassword, newPassword
	for range 22 {
		b.changePassword(from, to)
		from, to = to, from
	}
	if n := s.count(ada, "password-changed"); n != 20 {
		t.Errorf("%d notices were sent, want 20", n)
	}
	for i, m := range s.sent(ada) {
		if said := strings.Contains(m.Text, "held back") && strings.Contains(m.HTML, "held back"); said != (i == 19) {
			t.Errorf("notice %d says that further ones are held back: %t", i+1, said)
		}
	}
	if n := strings.Count(s.log(), "pintle: notice held back"); n != 2 {
		t.Errorf("the log reports %d notices that were held back, want 2", n)
	}
	s.browser().signIn("bob@example.com", goodPassword).changePassword(goodPassword, newPassword)
	s.wantMail("bob@example.com", "was changed")
}

// AC-41: the mails that any client can cause, the notices, and those about new devices and wrong codes are counted apart.
func TestOneBudgetOfMailsDoesNotUseUpAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	r := s.browser().request(http.MethodPost, "/auth/account/password", http.NoBody)
	send := func(kind string, times int) int {
		before := s.count(ada, kind)
		for range times {
			account.Notify(s.accounts, r, u, kind, "")
		}
		return s.count(ada, kind) - before
	}
	if n := send("second-factor-wrong", 3); n != 1 {
		t.Errorf("%d mails about wrong codes in a day, want 1", n)
	}
	if n := send("new-device", 30); n != 5 {
		t.Errorf("%d mails about new devices in a day, want 5", n)
	}
	for range 8 {
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
	}
	if n := s.count(ada, "reset"); n != 5 {
		t.Errorf("%d mails of clients, want 5", n)
	}
	if n := send("password-changed", 15) + send("factor-removed", 3) + send("passkey-added", 15); n != 20 {
		t.Errorf("%d notices in a day, want 20", n)
	}
	if m := s.lastMail(); m.Kind != "passkey-added" || !strings.Contains(m.Text, "held back") {
		t.Errorf("the last notice is %q", m.Text)
	}
}

// The days are counted by the store, for all processes.
func TestNoticesAreSentAgainTheNextDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins at midnight UTC
		sent, store := 0, memstore.New()
		process := func() *account.Accounts {
			accounts := account.New(account.Options{Mail: func(context.Context, *pintle.Message) error { sent++; return nil }})
			_, err := pintle.New(pintle.Config{
				Store: store, URL: "https://app.example.com", Secrets: []string{strings.Repeat("x", 40)}, Accounts: accounts,
				Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			return accounts
		}
		u := &pintle.User{ID: "1", Email: ada, EmailVerified: time.Now()}
		r := httptest.NewRequest(http.MethodGet, "https://app.example.com/auth/account", http.NoBody)
		two := []*account.Accounts{process(), process()}
		send := func(times int) int {
			before := sent
			for i := range times {
				account.Notify(two[i%2], r, u, "password-changed", "")
			}
			return sent - before
		}
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{10 * time.Hour, 20}, {13*time.Hour + 59*time.Minute, 0}, {time.Minute, 20}, {20 * time.Hour, 0}, {4 * time.Hour, 20}} {
			time.Sleep(tt.after)
			if n := send(25); n != tt.want {
				t.Errorf("at %v %d notices were sent, want %d", time.Now().UTC(), n, tt.want)
			}
		}
	})
}

// A store that fails must not hide a takeover.
func TestNoticesThatCannotBeCountedAreSent(t *testing.T) {
	flaky := &flakyStore{Store: memstore.New()}
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = flaky })
	u := s.seed(ada, goodPassword, true)
	flaky.fail("AttemptFlow")
	account.Notify(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u, "password-changed", "")
	s.wantMail(ada, "was changed")
	if log := s.log(); !strings.Contains(log, "notices of a user not counted") {
		t.Error(log)
	}
}

// AC-170
func TestANoticeSaysWhatWhenAndWhere(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, describesDevices)
		s.seed(ada, goodPassword, true)
		b := s.browser().as("Firefox on Linux").signIn(ada, goodPassword)
		before := time.Now().UTC().Truncate(time.Minute)
		b.changePassword(goodPassword, newPassword)
		m := s.wantMail(ada, "was changed")
		for _, part := range []string{m.Text, strings.ReplaceAll(m.HTML, "&#34;", `"`)} {
			for _, want := range []string{"Your password was changed", `Device: "Firefox on Linux, 4"`, "If it was not you, choose a new password now."} {
				if !strings.Contains(part, want) {
					t.Errorf("the mail does not say %q: %s", want, part)
				}
			}
			at, err := time.Parse("Time: 2 January 2006, 15:04 UTC", "Time: "+mailDate.FindString(part))
			if err != nil || at.Before(before) || at.After(time.Now()) {
				t.Errorf("the mail says the time %v, %v", at, err)
			}
			for _, never := range []string{"<img", "url(", goodPassword, newPassword, "token="} {
				if strings.Contains(part, never) {
					t.Errorf("the mail has %q", never)
				}
			}
			site := strings.ReplaceAll(part, strings.TrimPrefix(s.server.URL, "http://"), "")
			if strings.Contains(site, "127.0.0.1") || strings.Contains(site, "::1") {
				t.Errorf("the mail has the address of the client: %s", site)
			}
			for _, c := range b.client.Jar.Cookies(b.at) {
				if len(c.Value) > 8 && strings.Contains(part, c.Value) {
					t.Errorf("the mail has the cookie %s", c.Name)
				}
			}
		}
	})
}

// describesDevices has the application describe devices as hostile clients like it.
func describesDevices(c *pintle.Config, _ *account.Options) {
	c.Session.Describe = func(r *http.Request) map[string]any {
		return map[string]any{"browser": r.UserAgent(), "cores": 8, "version": "4"}
	}
}

// A namedBrowser sends requests with a name.
type namedBrowser struct{ name string }

func (n namedBrowser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", n.name)
	return connections.RoundTrip(r)
}

// as gives the browser a name.
func (b *browser) as(name string) *browser {
	b.client.Transport = namedBrowser{name}
	return b
}

// AC-173: what an attacker has named ends where its quotes end, and is no link.
func TestTheNameOfADeviceCannotSpeakForTheSite(t *testing.T) {
	s := newSite(t, false, describesDevices)
	s.seed(ada, goodPassword, true)
	for name, want := range map[string]string{
		"":                                 `"4"`,
		"Firefox 128.0":                    "\"Firefox 128\u200b.0, 4\"",
		"see http://evil.example/ now":     "\"see http:\u200b//evil\u200b.example/ now, 4\"",
		"write to eve@evil.example":        "\"write to eve\u200b@evil\u200b.example, 4\"",
		`Firefox". Your code is "1234`:     "\"Firefox'\u200b. Your code is '1234, 4\"",
		"a\tb\u2028c\u202ed\u200fe\u0085f": `"a b cde f, 4"`,
		"\xff\xfe broken":                  `"broken, 4"`,
		strings.Repeat("é", 63) + "xyz":    `"` + strings.Repeat("é", 63) + `…"`,
		strings.Repeat("é", 61):            `"` + strings.Repeat("é", 61) + `, 4"`,
	} {
		s.browser().as(name).signIn(ada, goodPassword)
		s.mu.Lock()
		m := s.mails[len(s.mails)-1]
		s.mails = nil
		s.mu.Unlock()
		if !strings.Contains(m.Text, "\nDevice: "+want+"\n") {
			t.Errorf("%q becomes %q", name, m.Text)
		}
		if _, err := s.rows.EndFlows(t.Context(), "id-"+ada, "notices-of-devices"); err != nil {
			t.Fatal(err)
		}
	}
}

// AC-173: an address that was stored without a check is not a list of recipients.
func TestANoticeHasOneRecipient(t *testing.T) {
	for _, address := range []string{
		"ada@example.com,eve@evil.example", "ada@example.com\r\nBcc: eve@evil.example", "Ada <ada@example.com>, eve@evil.example",
		"ada@example.com;eve@evil.example", "ada", "ada@example.com\n",
	} {
		s := newSite(t, false)
		u, err := s.store.CreateUser(t.Context(), &pintle.User{Email: address, EmailVerified: time.Now().UTC().Truncate(time.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		account.Notify(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u, "password-changed", "")
		if len(s.mails) > 0 {
			t.Errorf("a mail was sent to %q", s.mails[0].To)
		}
		if log := s.log(); !strings.Contains(log, "mail of an account not sent") || strings.Contains(log, "evil.example") {
			t.Errorf("%q: %s", address, log)
		}
	}
}

// AC-175
func TestTheApplicationSeesEachNotice(t *testing.T) {
	var seen []string
	s := newSite(t, false, describesDevices, func(_ *pintle.Config, o *account.Options) {
		o.Notices.Change = func(_ context.Context, n *account.Notice) (*pintle.Message, error) {
			seen = append(seen, fmt.Sprint(n.Kind, " ", n.Required, " ", n.User.Email, " ", n.Device, " ", n.Message.Subject))
			if since := time.Since(n.Time); since < 0 || since > time.Minute {
				t.Errorf("the notice is of %v", n.Time)
			}
			return n.Message, nil
		}
	})
	s.seed(ada, goodPassword, true)
	s.browser().as("Firefox").signIn(ada, goodPassword).changePassword(goodPassword, newPassword)
	host := strings.TrimPrefix(s.server.URL, "http://")
	want := []string{
		"new-device false ada@example.com Firefox, 4 A new sign-in to " + host,
		"password-changed true ada@example.com Firefox, 4 Your password for " + host + " was changed",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("the application saw %q, want %q", seen, want)
	}
	if kinds := s.kinds(ada); !slices.Equal(kinds, []string{"new-device", "password-changed"}) {
		t.Errorf("the mails are %q", kinds)
	}
}

// AC-175: a notice that tells of a change of how a user signs in is sent as it is, whatever the application does.
func TestTheApplicationCanReplaceOrDropWhatCanBeLeftOutAndNothingElse(t *testing.T) {
	other := &pintle.Message{From: "x@example.com", To: "eve@evil.example", Subject: "Other", Text: "other", Kind: "other"}
	type change = func(*account.Notice) (*pintle.Message, error)
	for name, test := range map[string]struct {
		change change
		sent   string // the subject of what is sent about a new device, or ""
	}{
		"drops it":         {func(*account.Notice) (*pintle.Message, error) { return nil, nil }, ""},
		"replaces it":      {func(*account.Notice) (*pintle.Message, error) { return other, nil }, "Other"},
		"changes it":       {func(n *account.Notice) (*pintle.Message, error) { n.Message.Subject = "Mine"; return n.Message, nil }, "Mine"},
		"changes the kind": {func(n *account.Notice) (*pintle.Message, error) { n.Kind, n.Required = "x", false; return nil, nil }, ""},
		"changes the user": {func(n *account.Notice) (*pintle.Message, error) {
			n.User.Email = "eve@evil.example"
			return n.Message, nil
		}, "A new sign-in"},
		"fails": {func(*account.Notice) (*pintle.Message, error) { return other, errors.New("down") }, "A new sign-in"},
		"makes two lines": {func(n *account.Notice) (*pintle.Message, error) {
			n.Message.Subject = "a\r\nBcc: eve@evil.example"
			return n.Message, nil
		}, "A new sign-in"},
		"makes two senders": {func(n *account.Notice) (*pintle.Message, error) {
			n.Message.From = "a@b.example\nX: y"
			return n.Message, nil
		}, "A new sign-in"},
		"empties it": {func(n *account.Notice) (*pintle.Message, error) { *n.Message = pintle.Message{}; return nil, nil }, ""},
		"panics":     {func(*account.Notice) (*pintle.Message, error) { panic("of the application") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
				o.Notices.Change = func(_ context.Context, n *account.Notice) (*pintle.Message, error) { return test.change(n) }
			})
			u := s.seed(ada, goodPassword, true)
			notify := func(kind string) *pintle.Message {
				s.mails = nil
				func() {
					defer func() { _ = recover() }()
					account.Notify(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u, kind, "")
				}()
				if len(s.mails) == 0 {
					return nil
				}
				return s.mails[0]
			}
			m := notify("new-device")
			if test.sent == "" && m != nil || test.sent != "" && (m == nil || !strings.HasPrefix(m.Subject, test.sent) || m.To != ada || m.Kind != "new-device") {
				t.Errorf("about a new device %+v was sent, want %q", m, test.sent)
			}
			m = notify("password-changed")
			if m == nil || m.To != ada || m.Kind != "password-changed" || !strings.Contains(m.Subject, "was changed") || !strings.Contains(m.Text, "If it was not you") {
				t.Errorf("about a password %+v was sent", m)
			}
		})
	}
}

// AC-175
func TestOnlyNoticesThatCanBeLeftOutAreLeftOut(t *testing.T) {
	_, err := pintle.New(pintle.Config{
		Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("x", 40)}, Getenv: func(string) string { return "" },
		Accounts: account.New(account.Options{
			Mail:    func(context.Context, *pintle.Message) error { return nil },
			Notices: account.Notices{Off: []string{"new-device", "password-changed"}},
		}),
	})
	if err == nil || !strings.Contains(err.Error(), `Options.Notices.Off has "password-changed"`) {
		t.Error(err)
	}
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Notices.Off = []string{"second-factor-wrong"} })
	u := s.seed(ada, goodPassword, true)
	account.Notify(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u, "second-factor-wrong", "")
	if len(s.mails) > 0 {
		t.Errorf("%q was sent", s.mails[0].Subject)
	}
}

// A thief who changes the password and closes the connection must not keep the notice from being sent.
func TestANoticeOutlivesItsRequest(t *testing.T) {
	for name, during := range map[string]string{"while the mail is sent": "mail", "when the password is stored": "store"} {
		t.Run(name, func(t *testing.T) {
			ctx, closes := context.WithCancel(t.Context())
			defer closes()
			s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
				c.Store = &attentiveStore{c.Store, func() {
					if during == "store" {
						closes()
					}
				}}
				keep := o.Mail
				o.Mail = func(ctx context.Context, m *pintle.Message) error {
					if during == "mail" && m.Kind == "password-changed" {
						closes()
					}
					if _, limited := ctx.Deadline(); !limited && m.Kind == "password-changed" {
						t.Error("the mail may take for ever")
					}
					if ctx.Err() != nil {
						return ctx.Err()
					}
					return keep(ctx, m)
				}
			})
			s.seed(ada, goodPassword, true)
			b := s.browser().signIn(ada, goodPassword).get("/auth/account/password")
			form := url.Values{"csrfToken": {b.token()}, "current": {goodPassword}, "password": {newPassword}}
			r := b.request(http.MethodPost, "/auth/account/password", strings.NewReader(form.Encode())).WithContext(ctx)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for _, c := range b.client.Jar.Cookies(r.URL) {
				r.AddCookie(c)
			}
			s.mux.ServeHTTP(httptest.NewRecorder(), r)
			if ctx.Err() == nil {
				t.Fatal("the connection was not closed")
			}
			s.wantMail(ada, "was changed")
		})
	}
}

// An attentiveStore ends no sessions for a client that has gone. stored is called when a
// password has been replaced.
type attentiveStore struct {
	pintle.Store
	stored func()
}

func (s *attentiveStore) AccountStore() accountstore.Store {
	return &attentiveRows{s.Store.AccountStore(), s.stored}
}

func (s *attentiveStore) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return s.Store.EndUserSessions(ctx, userID, except)
}

type attentiveRows struct {
	accountstore.Store
	stored func()
}

func (r *attentiveRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	defer r.stored()
	return r.Store.ReplaceFactor(ctx, f)
}

// In a text from right to left the time and the name of a device keep their own direction.
func TestFactsOfANoticeKeepTheirDirection(t *testing.T) {
	s := newSite(t, false, describesDevices, func(c *pintle.Config, _ *account.Options) {
		c.Texts = replaced()
		english := page.English().Account
		c.Texts.Account.Date, c.Texts.Account.Months, c.Texts.Account.Words["time_utc"] = english.Date, english.Months, english.Words["time_utc"]
	})
	s.seed(ada, goodPassword, true)
	s.browser().as("Firefox").signIn(ada, goodPassword)
	lines := strings.Split(s.mails[0].Text, "\n")
	isolated := func(text string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, "\u2068"+text) && strings.HasSuffix(line, "\u2069")
		})
	}
	if at := mailDate.FindString(s.mails[0].Text); at == "" || !isolated(at) || !isolated(`"Firefox, 4"`) {
		t.Errorf("the mail is %q", s.mails[0].Text)
	}
}

// AC-170: a mail says UTC, and means it on every server.
func TestTheTimeInAMailIsUTC(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	at := time.Date(2026, 3, 4, 1, 30, 0, 0, time.FixedZone("", 2*60*60))
	got := account.TimeIn(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), at)
	if want := "Time: 3 March 2026, 23:30 UTC"; !slices.Contains(got, want) {
		t.Errorf("the mail says %q, want %q", got, want)
	}
}
