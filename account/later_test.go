package account_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

// afterwards is work that an application does after its answers.
type afterwards struct{ work []func(context.Context) }

func (a *afterwards) add(_ context.Context, work func(context.Context)) {
	a.work = append(a.work, work)
}

func (a *afterwards) run(ctx context.Context) {
	for _, work := range a.work {
		work(ctx)
	}
	a.work = nil
}

// laterSite is a site that sends mails after its answers.
func laterSite(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) (*site, *afterwards) {
	t.Helper()
	after := &afterwards{}
	return newSite(t, tokens, append(changes, func(_ *pintle.Config, o *account.Options) { o.Later = after.add })...), after
}

func withoutMailToUnknown(_ *pintle.Config, o *account.Options) { o.NoMailToUnknown = true }

// AC-52
func TestAnApplicationSendsMailsAfterTheAnswer(t *testing.T) {
	type key struct{}
	var s *site
	s, after := laterSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Mail = func(ctx context.Context, m *pintle.Message) error {
			if ctx.Value(key{}) != "of the work" || m.Request.Context().Value(key{}) != "of the work" {
				t.Error("the mail is not sent in the context of the work")
			}
			return s.keepMail(ctx, m)
		}
	})
	ctx := context.WithValue(t.Context(), key{}, "of the work")
	b := s.browser().get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com").isAt("/auth/account/sign-up-sent")
	if len(s.mails) != 0 || len(after.work) != 1 {
		t.Fatalf("%d mails were sent before the answer, and %d wait", len(s.mails), len(after.work))
	}
	after.run(ctx)
	b.post("/auth/account/sign-up-sent", "again", "1").want(200)
	if len(s.mails) != 1 || len(after.work) != 1 {
		t.Fatalf("%d mails were sent before the second answer, and %d wait", len(s.mails), len(after.work))
	}
	after.run(ctx)
	b.post("/auth/account/sign-up-sent", "code", s.code()).isAt("/auth/account/sign-up-finish").
		post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("ada@example.com")

	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com").isAt("/auth/account/forgot-sent")
	if len(s.mails) != 2 {
		t.Fatal("the link was mailed before the answer")
	}
	after.run(ctx)
	s.browser().get(s.wantMail("ada@example.com", "password").URL).isAt("/auth/account/reset").says("ada@example.com")
}

// AC-52
func TestAContextOfLaterOutlivesTheRequest(t *testing.T) {
	var given context.Context
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Later = func(ctx context.Context, _ func(context.Context)) { given = ctx }
	})
	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com")
	s.server.Close() // which waits for the request
	if given == nil || given.Err() != nil || given.Done() != nil {
		t.Errorf("the context ends with the request: %v", given)
	}
}

// AC-52, AT-20: the mails that no user gets are the only difference, and no client sees them.
func TestNoMailToUnknownAddressesTellsNothingInTheAnswer(t *testing.T) {
	for _, name := range []string{"sign-up", "forgot"} {
		t.Run(name, func(t *testing.T) {
			inBothKinds(t, func(t *testing.T, tokens bool) {
				for _, script := range []bool{false, true} {
					s, after := laterSite(t, tokens, withoutMailToUnknown)
					s.seedEveryKind()
					free, waiting := s.answers(questions[name], script, kindsOfUsers[0]), len(after.work)
					after.run(t.Context())
					unknown := len(s.mails)
					for _, email := range kindsOfUsers[1:] {
						if got := s.answers(questions[name], script, email); got != free {
							t.Errorf("%s is answered differently:\n%s", email, firstDifference(got, free))
						}
						if len(after.work) != waiting || waiting == 0 {
							t.Errorf("%s: Later is called %d times, and %d times for an address without an account", email, len(after.work), waiting)
						}
						before := len(s.mails)
						after.run(t.Context())
						proved := email != "unproven@example.com"
						want := map[bool]int{true: waiting}[name == "sign-up" || proved]
						if n := len(s.sent(email)); n != want || len(s.mails) != before+want {
							t.Errorf("%s gets %d of %d mails, want %d", email, n, len(s.mails)-before, want)
						}
					}
					if want := map[bool]int{true: waiting}[name == "sign-up"]; unknown != want {
						t.Errorf("an address without an account gets %d mails, want %d", unknown, want)
					}
				}
			})
		})
	}
}

// AC-52, AT-17, AT-20
func TestTheWorkBeforeAnAnswerIsTheSameWithMailsAfterwards(t *testing.T) {
	for _, name := range []string{"sign-up", "forgot"} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			after := &afterwards{}
			s := newSite(t, false, withoutMailToUnknown, func(c *pintle.Config, o *account.Options) {
				c.Store, o.Later = recordedStore{c.Store, r}, after.add
				o.Mail = func(context.Context, *pintle.Message) error {
					r.note("Mail", nil)
					return nil
				}
			})
			s.seedEveryKind()
			s.seed("seen@example.com", goodPassword, true)
			s.browser().signIn("seen@example.com", "a wrong password") // a site has users that were found before
			free := r.of(func() { s.answers(questions[name], true, kindsOfUsers[0]) })
			if len(free) == 0 || slices.Contains(free, "Mail") {
				t.Fatalf("before the answer the site does %q", free)
			}
			for _, email := range kindsOfUsers[1:] {
				if got := r.of(func() { s.answers(questions[name], true, email) }); !slices.Equal(got, free) {
					t.Errorf("%s: the store is asked\n%s\nwant, as for an address without an account\n%s", email, got, free)
				}
			}
			if after := r.of(func() { after.run(t.Context()) }); slices.ContainsFunc(after, func(call string) bool { return call != "Mail" }) {
				t.Errorf("after the answer the store is asked %s", after)
			}
		})
	}
}

// AC-52
func TestAMailThatPanicsAfterTheAnswerIsLogged(t *testing.T) {
	s, after := laterSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Mail = func(context.Context, *pintle.Message) error { panic("the mail server is gone") }
	})
	b := s.browser().get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com").isAt("/auth/account/sign-up-sent")
	after.run(t.Context())
	log := s.log()
	for _, want := range []string{"level=ERROR", "the mail server is gone", "later_test.go"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not have %q: %s", want, log)
		}
	}
	b.get("/auth/account/sign-up-sent").want(200)
}

// AC-52
func TestNewRefusesNoMailToUnknownBeforeTheAnswer(t *testing.T) {
	for _, later := range []bool{false, true} {
		o := account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }, NoMailToUnknown: true}
		if later {
			o.Later = new(afterwards).add
		}
		_, err := pintle.New(pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)},
			Getenv: func(string) string { return "" }, Accounts: account.New(o),
		})
		if refused := err != nil && strings.Contains(fmt.Sprint(err), "Options.Later"); refused == later {
			t.Errorf("with Later %t: New returns %v", later, err)
		}
	}
}
