package pintle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/store/memstore"
)

// course returns the debug records, one text each: the step of a flow and its
// further attributes, or the operation of the store and its outcome.
func (l *logBook) course(t *testing.T) []string {
	t.Helper()
	var course []string
	for _, entry := range l.entries(t) {
		switch {
		case entry["level"] != "DEBUG":
		case entry["msg"] == "pintle: store":
			course = append(course, fmt.Sprintf("store: %v: %v", entry["operation"], entry["outcome"]))
			if spent, ok := entry["duration"].(float64); !ok || spent < 0 {
				t.Errorf("the duration of %v is %v", entry["operation"], entry["duration"])
			}
		default:
			text := fmt.Sprint(entry["step"])
			for _, name := range []string{"method", "cookie", "checks", "ceremony", "answer", "decision", "strategy", "sessions", "status"} {
				if value, there := entry[name]; there {
					text += fmt.Sprintf(": %v", value)
				}
			}
			course = append(course, text)
		}
	}
	return course
}

// A follower reads the debug records of a log as they come.
type follower struct {
	*logBook
	read int
}

// sees fails the test unless the debug records since the last call are these.
func (f *follower) sees(t *testing.T, want ...string) {
	t.Helper()
	all := f.course(t)
	got := all[f.read:]
	f.read = len(all)
	if !slices.Equal(got, want) {
		t.Errorf("the log tells\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// A developer can follow a sign-in in the default log, whose level is above
// that of debug records. The records contain nothing that helps to sign in or
// identifies the user: S-53, W-44.
func TestTheLogTellsTheCourseOfASignIn(t *testing.T) {
	f := &follower{logBook: &logBook{}}
	useDefaultLogger(t, slog.New(slog.NewJSONHandler(f, nil)))
	tap := &wiretap{secrets: map[string]string{secret: "secret of the application"}}
	katherine := authtest.Person{Subject: "subject-of-katherine", Name: "Katherine Johnson", Email: "katherine@example.com"}
	memory := memstore.New()
	if _, err := memory.CreateUser(t.Context(), &pintle.User{Name: people["ada"].user.Name, Email: people["ada"].user.Email}); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(s *site) {
		s.Logger, s.Store = nil, memory
		s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", nil }
		s.idp.SignInAs(katherine)
		s.Providers = []pintle.Provider{s.idp.OIDC("acme"), s.mailProvider(), &pintle.Credentials{
			Authorize: func(ctx context.Context, c *pintle.Submission) (*pintle.User, error) {
				who := people[c.Text("username")]
				if c.Text("password") != who.password {
					return nil, nil
				}
				return memory.UserByEmail(ctx, who.user.Email)
			},
		}}
		tap.on(s)
	})
	_, host, _ := strings.Cut(s.url, "://")
	own := testsite.Network{host: s.net[host]}
	tap.on(&site{net: own})
	s.net[host] = own[host]

	b := s.browser()
	to := b.leave("acme")
	f.sees(t,
		"request accepted: GET", // of the form token
		"request accepted: POST",
		"sent to the provider: state pkce nonce",
	)
	back := b.consent(to)
	b.get(back).goesTo(s.url)
	f.sees(t,
		"request accepted: GET",
		"callback received",
		"store: once: ok",
		"response accepted: it belongs to the flow of this browser",
		"tokens exchanged",
		"profile read",
		"store: getUserByAccount: not found",
		"Callbacks.SignIn called: allowed",
		"store: getUserByAccount: not found",
		"store: getUserByEmail: not found",
		"store: createUser: ok",
		"store: linkAccount: ok",
		"store: createSession: ok",
		"store: transaction: ok",
		"decided: user created",
		"session issued: database",
		"signed in",
	)
	b.session()
	f.sees(t, "request accepted: GET", "store: getSessionAndUser: ok", "session shown")
	b.post("/auth/signout").want(http.StatusFound)
	f.sees(t, "request accepted: GET", "request accepted: POST", "store: deleteSession: ok", "signed out: 1")
	b.session()
	f.sees(t, "request accepted: GET", "no session shown")
	b.get("/members").want(http.StatusFound)
	f.sees(t, "request refused by Require: 401")
	b.get(back).fails("/auth/error", "Configuration") // a second time
	f.sees(t,
		"request accepted: GET",
		"callback received",
		"cookie not accepted: "+nonceCookie,
		"cookie not accepted: "+pkceCookie,
		"cookie not accepted: "+stateCookie,
	)

	b.signIn("ada")
	f.sees(t,
		"request accepted: GET",
		"request accepted: POST",
		"Authorize returned a user",
		"Callbacks.SignIn called: allowed",
		"store: getUser: ok",
		"store: createSession: ok",
		"decided: the user that Authorize returned",
		"session issued: database",
		"signed in",
	)
	b.post("/auth/callback/credentials", "username", "ada", "password", typed).fails("/auth/signin", "CredentialsSignin")
	f.sees(t, "request accepted: GET", "request accepted: POST")

	b = s.browser()
	mail := b.mailTo("grace@example.com")
	f.sees(t,
		"request accepted: GET",
		"request accepted: POST",
		"store: getUserByEmail: not found",
		"Callbacks.SignIn called: allowed",
		"store: createVerificationToken: ok",
		"mail sent",
	)
	b.get(mail.URL).goesTo(s.url)
	f.sees(t,
		"request accepted: GET",
		"mail link received",
		"store: useVerificationToken: ok",
		"mail link accepted",
		"store: transaction: rolled back",
		"store: getUserByEmail: not found",
		"Callbacks.SignIn called: allowed",
		"store: useVerificationToken: ok",
		"store: getUserByEmail: not found",
		"store: createUser: ok",
		"store: createSession: ok",
		"store: transaction: ok",
		"decided: user created",
		"session issued: database",
		"signed in",
	)

	tap.heard("mail", mail.URL, mail.Token, mail.Text)
	tap.heard("typed password", typed)
	for _, who := range people {
		tap.heard("password", who.password)
		tap.heard("person", who.user.Name, who.user.Email)
	}
	tap.heard("person", katherine.Subject, katherine.Email, katherine.Name)
	for _, e := range s.events {
		if e, ok := e.of.(*pintle.SignInEvent); ok {
			tap.heard("tokens", e.Account.AccessToken, e.Account.IDToken, e.Account.RefreshToken)
			tap.heard("user", e.User.ID)
		}
	}
	if len(tap.secrets) < 30 {
		t.Errorf("the tap heard only %d secrets", len(tap.secrets))
	}
	tap.wantSilence(t, "the log", f.String())
}

// The log also has the steps of sign-ins and sessions that end in other ways.
func TestTheLogTellsWhatBecomesOfASession(t *testing.T) {
	inDatabase := func(s *site) { s.Session.Strategy = pintle.StrategyDatabase }
	for _, tt := range []struct {
		step   string
		change func(*site)
		do     func(b *browser, k *recordingTxStore)
	}{
		{"decided: user found by the account", nil, func(b *browser, _ *recordingTxStore) {
			b.signInWith("acme")
			b.site.browser().signInWith("acme")
		}},
		{"decided: account linked to the user who is signed in", inDatabase, func(b *browser, _ *recordingTxStore) {
			b.mailTo("ada@example.com")
			b.get(b.site.lastMail().URL)
			b.signInWith("acme")
		}},
		{"decided: refused", nil, func(b *browser, k *recordingTxStore) {
			k.seedUser(t, pintle.User{Email: strings.ToLower(adaElsewhere.Email)})
			b.signInWith("acme")
		}},
		{"decided: none: the store failed", nil, func(b *browser, k *recordingTxStore) {
			k.fail("createUser")
			b.signInWith("acme")
		}},
		{"Callbacks.SignIn called: refused", func(s *site) { s.Callbacks.SignIn = refusing(errBroken) }, func(b *browser, _ *recordingTxStore) {
			b.signInWith("acme")
		}},
		{"no session issued: Callbacks.JWT returned no claims", func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		}, func(b *browser, _ *recordingTxStore) { b.signInWith("acme") }},
		{"session ended by Callbacks.JWT", func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				if c.Trigger == "" {
					return nil, nil
				}
				return c.Claims, nil
			}
		}, func(b *browser, _ *recordingTxStore) {
			b.signInWith("acme")
			b.who()
		}},
		{"session extended", func(s *site) { s.Session.UpdateAge = -1 }, func(b *browser, _ *recordingTxStore) {
			b.signInWith("acme")
			b.who()
		}},
		{"session extended", func(s *site) { inDatabase(s); s.Session.UpdateAge = -1 }, func(b *browser, k *recordingTxStore) {
			b.plant(sessionCookie, k.seedSession(t, k.seedUser(t, people["ada"].user), time.Hour))
			b.who()
		}},
		{"session expired", inDatabase, func(b *browser, k *recordingTxStore) {
			b.plant(sessionCookie, k.seedSession(t, k.seedUser(t, people["ada"].user), -time.Hour))
			b.who()
		}},
		{"session cookie not accepted, so the request counts as signed out", nil, func(b *browser, _ *recordingTxStore) {
			b.plant(sessionCookie, "a token that was made up")
			b.leave("acme")
		}},
		{"cookie not accepted: " + csrfCookie, nil, func(b *browser, _ *recordingTxStore) {
			b.plant(csrfCookie, "a form token|that was made up")
			b.csrf()
		}},
		{"callback URL not accepted, so the browser goes to the home page in the end", nil, func(b *browser, _ *recordingTxStore) {
			b.post("/auth/signout", "callbackUrl", "https://evil.example")
		}},
		{"called by server code", nil, func(b *browser, _ *recordingTxStore) {
			_, _ = b.site.auth.SignOut(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, b.site.url+"/leave", nil), pintle.SignOutOptions{RedirectTo: "/"})
		}},
	} {
		t.Run(tt.step, func(t *testing.T) {
			s, k := fullSite(t, pintle.StrategyJWT, func(s *site) {
				s.idp.SignInAs(adaElsewhere)
				if tt.change != nil {
					tt.change(s)
				}
			})
			tt.do(s.browser(), k)
			if got := s.log.course(t); !slices.Contains(got, tt.step) {
				t.Errorf("the log tells\n\t%s", strings.Join(got, "\n\t"))
			}
		})
	}
}

// useDefaultLogger makes a logger the default one for the time of a test.
func useDefaultLogger(t *testing.T, l *slog.Logger) {
	t.Helper()
	before, out, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(l)
	t.Cleanup(func() {
		slog.SetDefault(before)
		// SetDefault has changed package log, and leaves it so.
		log.SetOutput(out)
		log.SetFlags(flags)
	})
}

// S-28: Debug shows debug records in the default log, whatever its level. A logger
// of the host decides by its level, whatever Debug says.
func TestDebugIsForTheDefaultLog(t *testing.T) {
	const record = "DEBUG"
	signIn := func(t *testing.T, change func(*site)) {
		t.Helper()
		newSite(t, func(s *site) { s.Store = memstore.New() }, change).browser().signInWith("acme").want(http.StatusFound)
	}
	at := func(book *logBook, level slog.Level) *slog.Logger {
		return slog.New(slog.NewTextHandler(book, &slog.HandlerOptions{Level: level}))
	}
	t.Run("the log of a program that sets none", func(t *testing.T) {
		for _, on := range []bool{true, false} {
			var text bytes.Buffer
			out := log.Writer()
			log.SetOutput(&text)
			signIn(t, func(s *site) { s.Logger, s.Debug = nil, on })
			log.SetOutput(out)
			if got := strings.Contains(text.String(), "DEBUG pintle: store operation=createUser"); got != on {
				t.Errorf("with Debug %t the log is\n%s", on, text.String())
			}
		}
	})
	for _, tt := range []struct {
		name  string
		level slog.Level
		own   bool // the logger is Config.Logger, not the default one
		debug bool
		want  bool
	}{
		{"a default log above debug level", slog.LevelInfo, false, true, true},
		{"a default log above debug level, without Debug", slog.LevelInfo, false, false, false},
		{"a default log at debug level", slog.LevelDebug, false, true, true},
		{"a default log at debug level, without Debug", slog.LevelDebug, false, false, false},
		{"a logger of the host above debug level", slog.LevelInfo, true, true, false},
		{"a logger of the host above debug level, without Debug", slog.LevelInfo, true, false, false},
		{"a logger of the host at debug level", slog.LevelDebug, true, true, true},
		{"a logger of the host at debug level, without Debug", slog.LevelDebug, true, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other, book := &logBook{}, &logBook{}
			useDefaultLogger(t, at(other, slog.LevelDebug))
			if !tt.own {
				useDefaultLogger(t, at(book, tt.level))
			}
			signIn(t, func(s *site) {
				s.Logger, s.Debug = nil, tt.debug
				if tt.own {
					s.Logger = at(book, tt.level)
				}
			})
			for _, msg := range []string{`msg="pintle: flow"`, `msg="pintle: store"`} {
				if got := strings.Contains(book.String(), "level=DEBUG "+msg); got != tt.want {
					t.Errorf("there are records with %s: %t, want %t", msg, got, tt.want)
				}
			}
			if text := other.String(); strings.Contains(text, record) {
				t.Errorf("another log tells\n%s", text)
			}
			warning := "code=debug-enabled"
			if tt.debug && tt.own {
				warning = "Config.Debug has no effect"
			} else if tt.debug {
				warning = "Config.Debug is on, so the log tells more"
			}
			if got := strings.Contains(book.String(), warning); got != tt.debug {
				t.Errorf("the log has %q: %t", warning, got)
			}
		})
	}
}

// S-53: every call of the store is a record, in a transaction or not.
func TestEveryOperationOfTheStoreIsInTheLog(t *testing.T) {
	for _, strategy := range strategies {
		s, k, tap := talkative(t, strategy)
		everything(s, tap)
		want := slices.DeleteFunc(k.takeCalls(), func(entry string) bool {
			return entry == "begin" || strings.HasPrefix(entry, "event ")
		})
		for i, entry := range want {
			if entry == "commit" || entry == "rollback" {
				want[i] = "transaction"
			}
		}
		var got []string
		for _, entry := range s.log.entries(t) {
			// recordingStore does not record the calls that list passkeys, nor those of its
			// shared state.
			if name, ok := entry["operation"].(string); ok && name != "listAuthenticatorsByUserId" && name != "once" {
				got = append(got, name)
			}
		}
		if len(want) < 20 || !slices.Equal(got, want) {
			t.Errorf("the log has %d operations\n\t%s\nthe store had %d\n\t%s", len(got), got, len(want), want)
		}
	}
}

// S-53: a record contains how the call ended, and never its arguments.
func TestARecordOfTheStoreSaysHowTheOperationEnded(t *testing.T) {
	outcome := func(s *site, operation string) (last string) {
		for _, entry := range s.log.entries(s.t) {
			if entry["operation"] == operation {
				last = entry["outcome"].(string)
				if len(entry) != 6 { // with time, level and msg
					s.t.Errorf("the record is %v", entry)
				}
			}
		}
		return last
	}
	for _, tt := range []struct {
		name    string
		failing map[string]error
		want    map[string]string
	}{
		{"nothing fails", nil, map[string]string{"getUserByAccount": "not found", "createUser": "ok", "transaction": "ok"}},
		{"an operation fails", map[string]error{"createUser": errBroken}, map[string]string{"createUser": "error", "transaction": "rolled back"}},
		{"the transaction fails", map[string]error{"commit": errBroken}, map[string]string{"createUser": "ok", "transaction": "error"}},
		{"the transaction cannot begin", map[string]error{"begin": errBroken}, map[string]string{"transaction": "error"}},
		{"another request was faster", map[string]error{"linkAccount": pintle.ErrConflict}, map[string]string{"linkAccount": "conflict", "transaction": "rolled back"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
			k.failing = tt.failing
			s.browser().signInWith("acme")
			for operation, want := range tt.want {
				if got := outcome(s, operation); got != want {
					t.Errorf("the outcome of %s is %q, want %q", operation, got, want)
				}
			}
			if strings.Contains(strings.Join(debugLines(s.log), ""), errBroken.Error()) {
				t.Error("a debug record repeats the text of the error")
			}
		})
	}
	t.Run("the store cannot do it", func(t *testing.T) {
		s := newSite(t, withPasskeys, func(s *site) { s.Store = namesInVain{memstore.New()} })
		ada := &pintle.Session{User: people["ada"].user}
		if err := s.auth.RenamePasskey(t.Context(), ada, "AAAA", "name"); !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
		if got := outcome(s, "renameAuthenticator"); got != "unsupported" {
			t.Errorf("the outcome is %q", got)
		}
	})
	t.Run("a loop over sessions that ends early", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Store = memstore.New() })
		b := s.browser()
		b.signInWith("acme")
		user := *lastEvent[*pintle.SignInEvent](s, "signIn").User
		for device, err := range s.auth.Devices(t.Context(), &pintle.Session{User: user}) {
			if device == nil || err != nil {
				t.Fatal(err)
			}
			break
		}
		if got := outcome(s, "userSessions"); got != "ok" {
			t.Errorf("the outcome is %q", got)
		}
	})
}

// debugLines are the lines of the log at debug level.
func debugLines(l *logBook) []string {
	return slices.DeleteFunc(strings.SplitAfter(l.String(), "\n"), func(line string) bool {
		return !strings.Contains(line, `"level":"DEBUG"`)
	})
}

// namesInVain is a store that reports the feature PasskeyNames without having
// it.
type namesInVain struct{ pintle.Store }

func (namesInVain) RenamePasskey(context.Context, string, string, string) error {
	return errors.ErrUnsupported
}
