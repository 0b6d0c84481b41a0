package pintle_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/tokenhash"
)

// mailSite is a site whose mail ends in s.mails, and its store.
func mailSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site, *pintle.Email)) (*site, *recordingTxStore) {
	t.Helper()
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, strategy), func(s *site) {
		mail := s.mailProvider()
		s.Providers = []pintle.Provider{mail}
		for _, change := range changes {
			change(s, mail)
		}
	})
	return s, k
}

// askForMail asks for a link, and returns the answer.
func (b *browser) askForMail(address string, fields ...string) *reply {
	b.t.Helper()
	return b.post("/auth/signin/email", append([]string{"email", address}, fields...)...)
}

// mailTo asks for a link and returns the mail with it.
func (b *browser) mailTo(address string, fields ...string) *pintle.Message {
	b.t.Helper()
	b.askForMail(address, fields...).goesTo(b.site.url + "/auth/verify-request?provider=email&type=email")
	return b.site.lastMail()
}

func (s *site) mailsSent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.mails)
}

var strategies = []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase}

func TestAPersonSignsInByMail(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := mailSite(t, strategy)
			b := s.browser()
			m := b.mailTo("  Ada.Lovelace@Example.COM ")
			if m.To != "ada.lovelace@example.com" || m.From != "app@example.com" || m.Provider != "email" {
				t.Errorf("the mail is from %q to %q by %q", m.From, m.To, m.Provider)
			}
			if !strings.Contains(m.Text, m.URL) || m.Subject == "" || m.HTML == "" {
				t.Errorf("the mail lacks its link: %q, %q", m.Subject, m.Text)
			}
			b.get(m.URL).goesTo(s.url)
			user := k.byEmail(t, "ada.lovelace@example.com")
			if user == nil {
				t.Fatal("no user was created")
			}
			if age := time.Since(user.EmailVerified); age < 0 || age > time.Minute {
				t.Errorf("the address was verified %s ago, want now", age)
			}
			if got := b.session()["user"].(map[string]any)["email"]; got != user.Email {
				t.Errorf("the session is of %v", got)
			}
			if e := lastEvent[*pintle.SignInEvent](s, "signIn"); e.User.ID != user.ID || e.NewUser == nil || !*e.NewUser ||
				e.Account.Type != pintle.TypeEmail || e.Account.ProviderAccountID != user.Email || e.Profile != nil {
				t.Errorf("the event is %+v of %+v", e, e.Account)
			}
			// The second time the user is known. The date of the first time
			// stays, and no event is emitted: Q4.
			s.eventNames()
			s.browser().get(s.browser().mailTo("ada.lovelace@example.com").URL).goesTo(s.url)
			if e := lastEvent[*pintle.SignInEvent](s, "signIn"); e.User.ID != user.ID || *e.NewUser {
				t.Errorf("the second sign-in is of %s, new: %t", e.User.ID, *e.NewUser)
			}
			if names := s.eventNames(); !slices.Equal(names, []string{"signIn"}) {
				t.Errorf("Q4 the second sign-in has the events %q", names)
			}
			if again := k.byEmail(t, user.Email); !again.EmailVerified.Equal(user.EmailVerified) {
				t.Errorf("Q4 the date of verification moved from %s to %s", user.EmailVerified, again.EmailVerified)
			}
		})
	}
}

// The tables of E-mail sign-in, with the calls of the store in order: the token
// is stored before the mail is sent (Q26, W-41), events come after the commit.
func TestAMailSignInAsksTheStoreInOrder(t *testing.T) {
	ada := pintle.User{Name: "Ada Lovelace", Email: "ada@example.com"}
	tests := []struct {
		row      string
		strategy pintle.SessionStrategy
		known    bool   // a user with the address exists
		signedIn string // "", "same", "other" or "unknown"
		want     []string
	}{
		{"E1", pintle.StrategyDatabase, true, "", []string{"getUserByEmail", "begin", "getUserByEmail", "userAccounts", "endUserSessions", "updateUser", "createSession", "commit", "event updateUser", "event signIn"}},
		{"E2", pintle.StrategyDatabase, true, "same", []string{"getUserByEmail", "getSessionAndUser", "begin", "getUserByEmail", "userAccounts", "endUserSessions", "updateUser", "createSession", "commit", "event updateUser", "event signIn"}},
		{"E3", pintle.StrategyDatabase, true, "other", []string{"getUserByEmail", "getSessionAndUser", "begin", "getUserByEmail", "userAccounts", "endUserSessions", "deleteSession", "updateUser", "createSession", "commit", "event updateUser", "event signIn"}},
		{"E3 with an unknown token", pintle.StrategyDatabase, true, "unknown", []string{"getUserByEmail", "getSessionAndUser", "begin", "getUserByEmail", "userAccounts", "endUserSessions", "deleteSession", "updateUser", "createSession", "commit", "event updateUser", "event signIn"}},
		{"E4", pintle.StrategyJWT, true, "", []string{"getUserByEmail", "begin", "getUserByEmail", "userAccounts", "updateUser", "commit", "event updateUser", "event signIn"}},
		{"E5", pintle.StrategyDatabase, false, "", []string{"getUserByEmail", "begin", "getUserByEmail", "createUser", "createSession", "commit", "event createUser", "event signIn"}},
		{"E5 while another user is signed in", pintle.StrategyDatabase, false, "other", []string{"getUserByEmail", "getSessionAndUser", "begin", "getUserByEmail", "createUser", "createSession", "commit", "event createUser", "event signIn"}},
		{"E6", pintle.StrategyJWT, false, "", []string{"getUserByEmail", "begin", "getUserByEmail", "createUser", "commit", "event createUser", "event signIn"}},
	}
	for _, tt := range tests {
		t.Run(tt.row, func(t *testing.T) {
			s, k := mailSite(t, tt.strategy)
			b := s.browser()
			var user, grace *pintle.User
			if tt.known {
				user = k.seedUser(t, ada)
			}
			grace = k.seedUser(t, people["grace"].user)
			held := ""
			switch tt.signedIn {
			case "same":
				held = k.seedSession(t, user, time.Hour)
			case "other":
				held = k.seedSession(t, grace, time.Hour)
			case "unknown":
				held = "an-unknown-token"
			}
			b.plant(sessionCookie, held)
			m := b.mailTo(ada.Email)
			k.wantCalls(t, "getUserByEmail", "createVerificationToken")
			b.get(m.URL).goesTo(s.url)
			k.wantCalls(t, slices.Insert(slices.Clone(tt.want), slices.Index(tt.want, "begin")+1, "useVerificationToken")...)

			if is := b.session()["user"].(map[string]any)["email"]; is != ada.Email {
				t.Errorf("%v is signed in", is)
			}
			if tt.strategy == pintle.StrategyDatabase {
				if b.cookie(sessionCookie) == held {
					t.Error("ASVS-7.2.4 the session token is the one from before")
				}
				gone := tt.signedIn == "other" && tt.known
				if n := k.sessions(t, grace.ID); (n == 0) != (gone || tt.signedIn != "other") {
					t.Errorf("SH-76 the other user has %d sessions left", n)
				}
			}
		})
	}
}

func TestTheLinkIsStoredAsAHash(t *testing.T) {
	tests := []struct {
		name   string
		change func(*site, *pintle.Email)
		key    string
	}{
		{"with the secret", func(*site, *pintle.Email) {}, secret},
		{"with the list of secrets", func(s *site, _ *pintle.Email) {
			s.Secrets = []string{"a new secret, which is 32 characters long", secret}
		}, "a new secret, which is 32 characters long," + secret},
		{"with the provider's own secret", func(_ *site, m *pintle.Email) { m.Secret = "of the mail" }, "of the mail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stored *pintle.Verification
			s, _ := mailSite(t, pintle.StrategyJWT, tt.change, func(s *site, _ *pintle.Email) {
				s.Store = &verificationSpy{s.Store.(*recordingTxStore), func(v *pintle.Verification) { stored = v }}
			})
			began := time.Now()
			m := s.browser().mailTo("ada@example.com")
			sum := sha256.Sum256([]byte(m.Token + tt.key))
			if want := hex.EncodeToString(sum[:]); stored.Token != want || stored.Identifier != "ada@example.com" {
				t.Errorf("stored is %+v, want the hash %s", stored, want)
			}
			if !stored.Expires.Equal(m.Expires) || stored.Expires.Sub(began).Round(time.Minute) != 24*time.Hour {
				t.Errorf("the link ends %s, the mail says %s", stored.Expires, m.Expires)
			}
			if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(m.Token) {
				t.Errorf("ASVS-6.5.3 the token %q is not 256 bits", m.Token)
			}
			link, err := url.Parse(m.URL)
			if err != nil {
				t.Fatal(err)
			}
			if want := "callbackUrl=http%3A%2F%2Flocalhost%3A3000&token=" + m.Token + "&email=ada%40example.com"; link.RawQuery != want || link.Path != "/auth/callback/email" {
				t.Errorf("the link is %s, want the query %s", m.URL, want)
			}
		})
	}
}

// A verificationSpy shows what is stored of a link.
type verificationSpy struct {
	*recordingTxStore
	look func(*pintle.Verification)
}

func (s *verificationSpy) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	s.look(v)
	return s.recordingTxStore.CreateVerification(ctx, v)
}

// Whatever keeps a link from being stored or sent ends on the error page, with
// no cookie and no second half.
func TestAMailThatCannotBeSentIsAFault(t *testing.T) {
	t.Run("W-41 Q26 no mail is sent whose token is not stored", func(t *testing.T) {
		s, k := mailSite(t, pintle.StrategyJWT)
		k.fail("createVerificationToken")
		s.browser().askForMail("ada@example.com").fails("/auth/error", "Configuration")
		if n := s.mailsSent(); n != 0 {
			t.Errorf("%d mails were sent", n)
		}
		if !s.log.has("AdapterError") {
			t.Errorf("the log does not say so:\n%s", s.log)
		}
	})
	t.Run("the server refuses the mail", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
			m.Send = func(context.Context, *pintle.Message) error { return errBroken }
		})
		s.browser().askForMail("ada@example.com").fails("/auth/error", "Configuration")
		if !s.log.has("EmailSignInError") || !strings.Contains(s.log.String(), errBroken.Error()) {
			t.Errorf("the log does not say so:\n%s", s.log)
		}
	})
	t.Run("no token can be made", func(t *testing.T) {
		s, k := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
			m.GenerateToken = func() (string, error) { return "", errBroken }
		})
		s.browser().askForMail("ada@example.com").fails("/auth/error", "Configuration")
		k.wantCalls(t, "getUserByEmail")
	})
	t.Run("the store does not answer", func(t *testing.T) {
		s, k := mailSite(t, pintle.StrategyJWT)
		k.fail("getUserByEmail")
		s.browser().askForMail("ada@example.com").fails("/auth/error", "Configuration")
		if n := s.mailsSent(); n != 0 {
			t.Errorf("%d mails were sent", n)
		}
	})
	t.Run("the request ends", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
			m.Send = func(ctx context.Context, _ *pintle.Message) error {
				if _, ends := ctx.Deadline(); ends {
					return errors.New("Pintle set a deadline on the context")
				}
				return ctx.Err()
			}
		})
		s.browser().mailThatIsNotSent(t)
	})
}

// mailThatIsNotSent requests a mail that the Send function of the site drops.
func (b *browser) mailThatIsNotSent(t *testing.T) {
	t.Helper()
	b.askForMail("ada@example.com").goesTo(b.site.url + "/auth/verify-request?provider=email&type=email")
}

// An address that is not one mailbox causes no mail, no row and no cookie.
func TestAnInvalidAddressGetsNoMail(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyDatabase)
	for name, typed := range map[string]string{
		"SH-07 a list":                         "ada@example.com,eve@evil.example",
		"SH-07 a comma before the @":           "ada,eve@evil.example",
		"SH-07 a header field":                 "ada@example.com\r\nBcc: eve@evil.example",
		"SH-01 a full-width @ beside a real @": "eve＠evil.example@example.com",
		"SH-14 a quoted local part":            `"eve@evil.example x"@example.com`,
		"SH-68 two @":                          "ada@evil@example.com",
		"SH-10 HTML":                           "<a href=https://evil.example>@example.com",
		"nothing":                              "",
	} {
		t.Run(name, func(t *testing.T) {
			s.browser().askForMail(typed).fails("/auth/error", "Configuration")
			if !s.log.has("EmailSignInError") {
				t.Errorf("the log does not say so:\n%s", s.log)
			}
		})
	}
	b := s.browser()
	b.postJSON("/auth/signin/email", map[string]any{"csrfToken": b.csrf(), "email": []string{"ada@example.com", "eve@evil.example"}}).
		fails("/auth/error", "Configuration")
	b.post("/auth/signin/email").fails("/auth/error", "Configuration")
	k.wantCalls(t)
	if n := s.mailsSent(); n != 0 {
		t.Errorf("%d mails were sent", n)
	}
}

func TestTheHostNormalizesAddressesItself(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
		m.Normalize = func(typed string) (string, error) {
			local, found := strings.CutSuffix(strings.ToLower(typed), "@example.com")
			if !found {
				return "", errors.New("not one of ours")
			}
			local, _, _ = strings.Cut(local, "+")
			return local + "@example.com", nil
		}
	})
	b := s.browser()
	m := b.mailTo("Ada+News@example.com")
	if m.To != "ada@example.com" {
		t.Errorf("the mail goes to %q", m.To)
	}
	b.get(m.URL).goesTo(s.url)
	if k.byEmail(t, "ada@example.com") == nil {
		t.Error("the user has another address")
	}
	b.askForMail("ada@example.org").fails("/auth/error", "Configuration")
}

// SA-H1: Normalize determines which addresses may sign in by a provider. It
// also applies to links that another provider of the site made.
func TestALinkOfAnotherProviderIsForAnAddressOfThisOne(t *testing.T) {
	for name, tt := range map[string]struct {
		address string
		change  func(*pintle.Email)
		accepts bool
	}{
		"an address that it refuses": {"mallory@evil.example", nil, false},
		"an address that it changes": {"ada+news@corp.example", nil, false},
		"an address that it keeps":   {"ada@corp.example", nil, true},
		"a secret for each":          {"ada@corp.example", func(p *pintle.Email) { p.Secret = "a secret for the links of the staff" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, k := mailSite(t, pintle.StrategyDatabase, func(s *site, _ *pintle.Email) {
				staff := s.mailProvider()
				staff.ID = "staff"
				staff.Normalize = func(address string) (string, error) {
					local, found := strings.CutSuffix(address, "@corp.example")
					if !found {
						return address, errors.New("for the staff only")
					}
					local, _, _ = strings.Cut(local, "+")
					return local + "@corp.example", nil
				}
				if tt.change != nil {
					tt.change(staff)
				}
				s.Providers = append(s.Providers, staff)
			})
			b := s.browser()
			link := strings.Replace(b.mailTo(tt.address).URL, "/callback/email?", "/callback/staff?", 1)
			if tt.accepts {
				b.get(link).goesTo(s.url)
				return
			}
			b.get(link).fails("/auth/error", "Verification")
			if who := b.sub(); who != "" || k.byEmail(t, tt.address) != nil {
				t.Errorf("%q is signed in", who)
			}
		})
	}
}

// If Normalize rejects or changes its own results, no link would work. No mail
// is sent then, and the log describes what to do.
func TestNormalizeMustAcceptItsOwnResults(t *testing.T) {
	for name, normalize := range map[string]func(string) (string, error){
		"it rejects them": func(name string) (string, error) {
			if strings.Contains(name, "@") {
				return "", errors.New("type the name alone")
			}
			return name + "@example.com", nil
		},
		"it changes them": func(name string) (string, error) { return "x" + name, nil },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) { m.Normalize = normalize })
			s.browser().askForMail("ada").fails("/auth/error", "Configuration")
			if n := s.mailsSent(); n != 0 {
				t.Errorf("%d mails were sent", n)
			}
			if !strings.Contains(s.log.String(), "must return its own results unchanged") {
				t.Errorf("the log says %s", s.log)
			}
		})
	}
}

func TestALinkWorksOnce(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyDatabase)
	m := s.browser().mailTo("ada@example.com")
	s.browser().get(m.URL).goesTo(s.url)
	eve := s.browser()
	eve.get(m.URL).fails("/auth/error", "Verification")
	if eve.session() != nil {
		t.Error("SH-19 a used link signs in")
	}
	if !s.log.has("Verification") {
		t.Errorf("the log does not say so:\n%s", s.log)
	}
	if n := k.sessions(t, k.byEmail(t, "ada@example.com").ID); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

func TestALinkEndsInTime(t *testing.T) {
	for name, maxAge := range map[string]time.Duration{"by default after a day": 0, "ASVS-6.5.5 as the host says": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, k := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) { m.MaxAge = maxAge })
				life := maxAge
				if life == 0 {
					life = 24 * time.Hour
				}
				early, late := s.browser().mailTo("ada@example.com"), s.browser().mailTo("grace@example.com")
				time.Sleep(life - time.Second)
				s.browser().get(early.URL).goesTo(s.url)
				time.Sleep(2 * time.Second)
				s.browser().get(late.URL).fails("/auth/error", "Verification")
				if k.byEmail(t, "grace@example.com") != nil {
					t.Error("an expired link made a user")
				}
				// It is used up by being looked at.
				k.takeCalls()
				s.browser().get(late.URL).fails("/auth/error", "Verification")
				k.wantCalls(t, "getUserByEmail", "begin", "useVerificationToken", "rollback")
			})
		})
	}
}

// AC-10: an expired row goes when it is seen, also where Callbacks.SignIn is to be called first.
func TestAnExpiredLinkIsRemovedBeforeTheCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := false
		s, k := mailSite(t, pintle.StrategyJWT, func(s *site, _ *pintle.Email) {
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				called = true
				return "", nil
			}
		})
		late := s.browser().mailTo("grace@example.com")
		called = false
		time.Sleep(25 * time.Hour)
		k.takeCalls()
		s.browser().get(late.URL).fails("/auth/error", "Verification")
		k.wantCalls(t, "begin", "useVerificationToken", "commit")
		if called || k.byEmail(t, "grace@example.com") != nil {
			t.Errorf("Callbacks.SignIn was called: %t, or a user was made", called)
		}
	})
}

func TestALinkIsForItsAddressAndToken(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyDatabase)
	m := s.browser().mailTo("ada@example.com")
	link, err := url.Parse(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	change := func(name, value string) string {
		query := link.Query()
		query.Set(name, value)
		changed := *link
		changed.RawQuery = query.Encode()
		return changed.String()
	}
	without := func(name string) string {
		query := link.Query()
		query.Del(name)
		changed := *link
		changed.RawQuery = query.Encode()
		return changed.String()
	}
	for name, tt := range map[string]struct{ link, code string }{
		"SH-09 another address":         {change("email", "eve@example.com"), "Verification"},
		"SH-09 the address in capitals": {change("email", "ADA@example.com"), "Verification"},
		"SH-09 no address":              {without("email"), "Verification"},
		"SH-08 another token":           {change("token", strings.Repeat("0", 64)), "Verification"},
		"SH-08 the hash":                {change("token", tokenhash.New(secret).Sum(m.Token)), "Verification"},
		"no token":                      {without("token"), "Configuration"},
		"an empty token":                {change("token", ""), "Configuration"},
		"a very long token":             {change("token", strings.Repeat("a", 4000)), "Verification"},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.browser()
			b.get(tt.link).fails("/auth/error", tt.code)
			if b.session() != nil {
				t.Error("the browser is signed in")
			}
			if tt.code != "Verification" {
				return
			}
			says := fmt.Sprint(s.log.last(t, "Verification")["error"])
			if cut := strings.HasSuffix(name, "no address"); cut != strings.Contains(says, "cut it off before") {
				t.Errorf("the log says %s", says)
			}
		})
	}
	s.browser().get(m.URL).goesTo(s.url) // and is still good for whom it was sent to
	if k.byEmail(t, "eve@example.com") != nil {
		t.Error("a user was made of a changed link")
	}
}

// The callback checks again for which address the link was made, so that a
// store that finds links by their token alone does no harm.
func TestALinkForAnotherAddressIsRefusedWhateverTheStoreFinds(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT, func(s *site, _ *pintle.Email) {
		s.Store = &careless{s.Store.(*recordingTxStore)}
	})
	s.browser().get("/auth/callback/email?token=any&email=ada@example.com").fails("/auth/error", "Verification")
}

// A careless store finds a link for any address.
type careless struct{ *recordingTxStore }

func (careless) UseVerification(_ context.Context, _, token string) (*pintle.Verification, error) {
	return &pintle.Verification{Identifier: "victim@example.com", Token: token, Expires: time.Now().Add(time.Hour)}, nil
}

func TestALinkWorksInAnotherBrowser(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyDatabase)
	m := s.browser().mailTo("ada@example.com", "callbackUrl", "/inbox?folder=1")
	other := s.browser()
	other.get(m.URL).goesTo(s.url + "/inbox?folder=1")
	if other.session() == nil {
		t.Error("the browser is signed out")
	}
}

func TestALinkLeadsNowhereElse(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT)
	b := s.browser()
	for name, wish := range map[string]string{
		"SH-12 another site": "https://evil.example/", "SH-12 without scheme": "//evil.example", "SH-12 with a backslash": `/\evil.example`, "SH-38 with a user": "http://localhost:3000@evil.example",
	} {
		t.Run(name, func(t *testing.T) {
			m := b.mailTo("ada@example.com", "callbackUrl", wish)
			link, err := url.Parse(m.URL)
			if err != nil {
				t.Fatal(err)
			}
			query := link.Query()
			if target := query.Get("callbackUrl"); target != s.url && !strings.HasPrefix(target, s.url+"/") {
				t.Errorf("the link leads to %s", target)
			}
			query.Set("callbackUrl", wish)
			link.RawQuery = query.Encode()
			to, err := url.Parse(s.browser().get(link.String()).want(http.StatusFound).location())
			if err != nil || to.Host != "localhost:3000" {
				t.Errorf("a changed link leads to %s", to)
			}
		})
	}
}

func TestLinksSurviveANewSecret(t *testing.T) {
	const newer, newest = "a newer secret, of more than 32 characters", "the newest secret, of more than 32 characters"
	before, k := mailSite(t, pintle.StrategyDatabase)
	m := before.browser().mailTo("ada@example.com")
	pair := before.browser().mailTo("grace@example.com")
	rotated := func(secrets ...string) *site {
		return newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
			s.Providers, s.Secrets = []pintle.Provider{s.mailProvider()}, secrets
		})
	}
	s := rotated(newest, newer, secret)
	s.browser().get(m.URL).goesTo(s.url) // ASVS-13.3.4 W-12
	s = rotated(newest, newer)
	s.browser().get(pair.URL).fails("/auth/error", "Verification")
}

// The SignIn callback is called twice, and the second time the link is used up
// whatever it returns.
func TestTheHostIsAskedBeforeTheMailAndAfterTheLink(t *testing.T) {
	var attempts []pintle.SignInAttempt
	answer := func(*pintle.SignInAttempt) (string, error) { return "", nil }
	s, k := mailSite(t, pintle.StrategyJWT, func(s *site, _ *pintle.Email) {
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			attempts = append(attempts, *a)
			return answer(a)
		}
	})
	b := s.browser()
	m := b.mailTo("ada@example.com")
	b.get(m.URL).goesTo(s.url)
	if len(attempts) != 2 || !attempts[0].VerificationRequest || attempts[1].VerificationRequest {
		t.Fatalf("the callback was called with %+v", attempts)
	}
	for _, a := range attempts {
		if a.User.Email != "ada@example.com" || a.User.ID == "" || a.Account.Type != pintle.TypeEmail || a.Account.Provider != "email" ||
			a.Account.ProviderAccountID != "ada@example.com" || a.Account.UserID != a.User.ID || a.Profile != nil || a.Submission != nil {
			t.Errorf("the attempt is of %+v with %+v", a.User, a.Account)
		}
	}
	user := k.byEmail(t, "ada@example.com")
	b.mailTo("ada@example.com")
	if got := attempts[2].User.ID; got != user.ID {
		t.Errorf("a known person is asked about as %s, want %s", got, user.ID)
	}

	beforeMail := func(a *pintle.SignInAttempt) bool { return a.VerificationRequest }
	afterLink := func(a *pintle.SignInAttempt) bool { return !a.VerificationRequest }
	tests := []struct {
		name       string
		when       func(*pintle.SignInAttempt) bool
		goTo       string
		err        error
		mail, used bool
		code       string // of the error page; empty for a redirect
	}{
		{"refused before", beforeMail, "", errBroken, false, false, "AccessDenied"},
		{"refused before with a code", beforeMail, "", pintle.CodeCredentials, false, false, "AccessDenied"},
		{"sent elsewhere before", beforeMail, "/waiting-list", nil, false, false, ""},
		{"refused after", afterLink, "", errBroken, true, true, "AccessDenied"},
		{"refused after with a code", afterLink, "", pintle.CodeVerification, true, true, "Verification"},
		{"sent elsewhere after", afterLink, "/waiting-list", nil, true, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer = func(a *pintle.SignInAttempt) (string, error) {
				if tt.when(a) {
					return tt.goTo, tt.err
				}
				return "", nil
			}
			b, sent := s.browser(), s.mailsSent()
			r := b.askForMail("grace@example.com")
			if tt.mail {
				r = b.get(s.lastMail().URL)
			}
			if tt.code != "" {
				r.fails("/auth/error", tt.code)
			} else {
				r.goesTo(s.url + tt.goTo)
			}
			if got := s.mailsSent() - sent; (got == 1) != tt.mail {
				t.Errorf("%d mails were sent", got)
			}
			if b.session() != nil || k.byEmail(t, "grace@example.com") != nil {
				t.Error("the person was signed in")
			}
			if tt.used {
				answer = func(*pintle.SignInAttempt) (string, error) { return "", nil }
				b.get(s.lastMail().URL).fails("/auth/error", "Verification")
			}
		})
	}
}

// Scanners open every link in a mail, and browsers fetch pages before they are
// wanted: W-38. None of that may use a link up.
func TestOnlyAPersonUsesALinkUp(t *testing.T) {
	for _, confirm := range []bool{false, true} {
		s, k := mailSite(t, pintle.StrategyDatabase, func(_ *site, m *pintle.Email) { m.Confirm = confirm })
		m := s.browser().mailTo("ada@example.com")
		k.takeCalls()
		scanner := s.browser()
		scanner.do(http.MethodHead, m.URL, nil)
		for _, header := range [][]string{{"Sec-Purpose", "prefetch"}, {"Sec-Purpose", "prefetch;prerender"}, {"Purpose", "prefetch"}, {"X-Moz", "prefetch"}} {
			scanner.get(m.URL, header...).want(http.StatusOK)
		}
		if confirm {
			scanner.get(m.URL).want(http.StatusOK)
			scanner.get(m.URL).want(http.StatusOK)
		}
		k.wantCalls(t)
		if scanner.session() != nil {
			t.Errorf("W-38 confirm=%t: a scanner is signed in", confirm)
		}
	}
}

func TestALinkCanWaitForAPersonsWord(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyDatabase, func(_ *site, m *pintle.Email) { m.Confirm = true })
	m := s.browser().mailTo("ada@example.com", "callbackUrl", "/inbox")
	b := s.browser()
	page := b.get(m.URL).want(http.StatusOK)
	form := page.hidden()
	if !strings.Contains(page.body, "ada@example.com") || form.Get("csrfToken") == "" {
		t.Errorf("the page does not name the address and post a form: %s", page.body)
	}
	if policy := page.header.Get("Referrer-Policy"); policy != "strict-origin" && policy != "no-referrer" {
		t.Errorf("BCP-11 the page lets the link leak by %q", policy)
	}
	k.wantCalls(t, "getUserByEmail", "createVerificationToken")

	b.postForm(m.URL, form).goesTo(s.url + "/inbox")
	if b.session() == nil {
		t.Error("the browser is signed out")
	}
	b.postForm(m.URL, form).fails("/auth/error", "Verification")
}

// Without a form token a site could make the browser of its visitor sign in
// with the link of an attacker.
func TestAPersonsWordNeedsTheirForm(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyDatabase, func(_ *site, m *pintle.Email) { m.Confirm = true })
	m := s.browser().mailTo("eve@example.com")
	k.takeCalls()
	victim := s.browser()
	victim.csrf()
	victim.postForm(m.URL, url.Values{}).fails("/auth/signin", "MissingCSRF")
	if victim.session() != nil {
		t.Error("SH-46 a form of another site signs in")
	}
	if slices.Contains(k.takeCalls(), "useVerificationToken") {
		t.Error("SH-46 a form of another site uses a link up")
	}
}

func TestALinkMayComeBackAsAForm(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT)
	b := s.browser()
	m := b.mailTo("ada@example.com")
	b.postForm(m.URL, url.Values{}).goesTo(s.url)
	if b.session() == nil {
		t.Error("the browser is signed out")
	}
}

func TestNewPeopleGoToTheirOwnPage(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyDatabase, func(s *site, _ *pintle.Email) { s.Pages.NewUser = "/welcome?from=mail" })
	b := s.browser()
	b.get(b.mailTo("ada@example.com", "callbackUrl", "/inbox").URL).goesTo("/welcome?from=mail&callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Finbox")
	b.get(b.mailTo("ada@example.com", "callbackUrl", "/inbox").URL).goesTo(s.url + "/inbox")
}

func TestTheMessageHasWhatASenderNeeds(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT, func(s *site, m *pintle.Email) {
		s.Theme.BrandColor = "#c0ffee"
		m.GenerateToken = func() (string, error) { return "a token with spaces & symbols/é", nil }
	})
	b := s.browser()
	m := b.mailTo("ada@example.com")
	if m.Theme.BrandColor != "#c0ffee" || !strings.Contains(m.HTML, "#c0ffee") {
		t.Error("the mail has another theme")
	}
	if m.Request == nil || m.Request.URL.Path != "/auth/signin/email" {
		t.Error("the mail has no request")
	}
	if m.Token != "a token with spaces & symbols/é" {
		t.Errorf("the token is %q", m.Token)
	}
	b.get(m.URL).goesTo(s.url)
}

// W-38: an attacker who gets a browser to open a link of theirs would have its
// user act, and link accounts, as the attacker's user.
func TestALinkThatAnotherSiteOpensInAnotherBrowserAsksFirst(t *testing.T) {
	crossSite := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Accept", "text/html"}
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, _ := mailSite(t, strategy)
			mallory, victim := s.browser(), s.browser()
			victim.get("/auth/signin")
			link := mallory.mailTo("mallory@example.com").URL
			for _, site := range []string{"cross-site", "same-site"} {
				page := victim.get(link, "Sec-Fetch-Site", site).want(http.StatusOK)
				if victim.sub() != "" || !strings.Contains(page.body, "mallory@example.com") {
					t.Fatalf("W-38 %s: signed in as %q, the page says:\n%s", site, victim.sub(), page.body)
				}
			}
			// A page of another site may post, but not with the form token.
			if r := victim.postForm(link, nil, crossSite...); r.status != http.StatusFound || victim.sub() != "" {
				t.Errorf("W-38 a form of another site: status %d, signed in as %q", r.status, victim.sub())
			}
			// The user of the link presses the button.
			page := victim.get(link, crossSite...).want(http.StatusOK)
			victim.postForm(link, page.hidden(), "Sec-Fetch-Site", "same-origin").goesTo(s.url)
			if victim.sub() == "" {
				t.Error("the button does not sign in")
			}
		})
	}
	t.Run("W-38 the browser that asked is not asked again", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT)
		b := s.browser()
		b.get(b.mailTo("ada@example.com").URL, crossSite...).goesTo(s.url)
	})
	t.Run("W-38 a mail program opens a link without a site", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT)
		s.browser().get(s.browser().mailTo("ada@example.com").URL, "Sec-Fetch-Site", "none").goesTo(s.url)
	})
	t.Run("W-38 a token of the host's making does not name a browser", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
			m.GenerateToken = func() (string, error) { return strings.Repeat("a", 64), nil }
		})
		b := s.browser()
		b.get(b.mailTo("ada@example.com").URL, crossSite...).want(http.StatusOK)
	})
}
