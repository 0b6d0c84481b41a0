package account_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// A writesNoted is a store that notes the names of the methods that write.
type writesNoted struct {
	pintle.Store
	log *writeLog
}

type writeLog struct {
	mu    sync.Mutex
	calls []string
}

func (l *writeLog) note(call string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
}

// take returns the calls since the last take.
func (l *writeLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.calls
	l.calls = nil
	return calls
}

func (s writesNoted) AccountStore() accountstore.Store {
	return rowsNoted{s.Store.AccountStore(), s.log}
}

func (s writesNoted) InTx(ctx context.Context, do func(pintle.Store) error) error {
	s.log.note("InTx")
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return do(writesNoted{tx, s.log}) })
}

func (s writesNoted) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	s.log.note("CreateUser")
	return s.Store.CreateUser(ctx, u)
}

func (s writesNoted) UpdateUser(ctx context.Context, id string, u pintle.UserUpdate) (*pintle.User, error) {
	s.log.note("UpdateUser")
	return s.Store.UpdateUser(ctx, id, u)
}

func (s writesNoted) LinkAccount(ctx context.Context, a *pintle.Account) error {
	s.log.note("LinkAccount")
	return s.Store.LinkAccount(ctx, a)
}

func (s writesNoted) UnlinkAccount(ctx context.Context, userID, provider, id string, keep []*pintle.Account) error {
	s.log.note("UnlinkAccount")
	return s.Store.UnlinkAccount(ctx, userID, provider, id, keep)
}

func (s writesNoted) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	s.log.note("CreateSession")
	return s.Store.CreateSession(ctx, session)
}

func (s writesNoted) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	s.log.note("UpdateSession")
	return s.Store.UpdateSession(ctx, token, change)
}

func (s writesNoted) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	s.log.note("DeleteSession")
	return s.Store.DeleteSession(ctx, token)
}

func (s writesNoted) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	s.log.note("EndUserSessions")
	return s.Store.EndUserSessions(ctx, userID, except)
}

func (s writesNoted) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	s.log.note("CreateVerification")
	return s.Store.CreateVerification(ctx, v)
}

func (s writesNoted) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	s.log.note("UseVerification")
	return s.Store.UseVerification(ctx, identifier, token)
}

func (s writesNoted) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	s.log.note("UsePasskey")
	return s.Store.UsePasskey(ctx, used, old)
}

type rowsNoted struct {
	accountstore.Store
	log *writeLog
}

func (r rowsNoted) ChangeState(ctx context.Context, s *accountstore.State) error {
	r.log.note("ChangeState")
	return r.Store.ChangeState(ctx, s)
}

func (r rowsNoted) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	r.log.note("CountFailure")
	return r.Store.CountFailure(ctx, userID, at, window, limit)
}

func (r rowsNoted) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	r.log.note("CountSuccess")
	return r.Store.CountSuccess(ctx, userID, at)
}

func (r rowsNoted) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	r.log.note("AddFactor")
	return r.Store.AddFactor(ctx, f)
}

func (r rowsNoted) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	r.log.note("ReplaceFactor")
	return r.Store.ReplaceFactor(ctx, f)
}

func (r rowsNoted) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	r.log.note("AdvanceFactor")
	return r.Store.AdvanceFactor(ctx, userID, kind, id, step, used)
}

func (r rowsNoted) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	r.log.note("DeleteFactor")
	return r.Store.DeleteFactor(ctx, userID, kind, id)
}

func (r rowsNoted) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	r.log.note("DeleteFactors")
	return r.Store.DeleteFactors(ctx, userID, kinds, except)
}

func (r rowsNoted) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	r.log.note("CreateFlow")
	return r.Store.CreateFlow(ctx, f)
}

func (r rowsNoted) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	r.log.note("AttemptFlow")
	return r.Store.AttemptFlow(ctx, id, limit)
}

func (r rowsNoted) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	r.log.note("ChangeFlow")
	return r.Store.ChangeFlow(ctx, f)
}

func (r rowsNoted) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	r.log.note("UseFlow")
	return r.Store.UseFlow(ctx, id, kind)
}

func (r rowsNoted) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	r.log.note("EndFlows")
	return r.Store.EndFlows(ctx, subject, kinds...)
}

// withWritesNoted is a site whose store notes what is written.
func withWritesNoted(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) (*site, *writeLog) {
	t.Helper()
	log := &writeLog{}
	note := func(c *pintle.Config, _ *account.Options) { c.Store = writesNoted{c.Store, log} }
	return newSite(t, tokens, append([]func(*pintle.Config, *account.Options){note}, changes...)...), log
}

// flowCookies are the names of the cookies of flows that the last answer sets.
func (b *browser) flowCookies() []string {
	return slices.DeleteFunc(b.cookieNames(), func(name string) bool { return !strings.HasPrefix(name, "pintle.") })
}

// AC-6, AC-222: a GET of a page or a link changes nothing that is stored and sends no mail. Only a
// link with a token sets the cookie of a flow: that of its kind.
func TestNoPageThatIsShownWritesAnything(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for visitor, come := range map[string]func(t *testing.T) (*site, *writeLog, *browser){
			"signed out": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				return s, log, s.browser()
			},
			"signed in": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens, withPasskeys(&echo{}), withGitHub)
				u := s.seed(ada, goodPassword, true)
				s.passkey(u)
				s.app(u)
				return s, log, s.browser().startSession(u, 0, "pwd", "otp")
			},
			"with an address that is not proven": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				return s, log, s.browser().startSession(s.seed(ada, "", false), 0, "fed")
			},
			"before the second factor": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				s.app(s.seed(ada, goodPassword, true))
				return s, log, s.half()
			},
			"before the first factor": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens, required)
				s.seed(ada, goodPassword, true)
				b := s.browser().signIn(ada, goodPassword).isAt(enrol)
				return s, log, b.post(enrol, "code", s.code()).want(http.StatusOK)
			},
			"before the address is proven": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				s.seed(ada, goodPassword, false)
				return s, log, s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove")
			},
			"before another password": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				u := s.seed(ada, goodPassword, true)
				s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
				return s, log, s.browser().signIn(ada, goodPassword).isAt(mustChange)
			},
			"who has lost the address": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				u := s.seed(ada, goodPassword, true)
				s.changeState(u.ID, func(state *accountstore.State) { state.Must = "know-address-lost" })
				return s, log, s.browser().signIn(ada, goodPassword).isAt("/auth/account/address-lost")
			},
			"during a sign-up": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				return s, log, s.browser().signUp(ada).post("/auth/account/sign-up-sent", "code", s.code()).want(http.StatusOK)
			},
			"during a reset": func(t *testing.T) (*site, *writeLog, *browser) {
				s, log := withWritesNoted(t, tokens)
				s.seed(ada, goodPassword, true)
				return s, log, s.browser().get(s.resetLink(ada)).want(http.StatusOK)
			},
		} {
			t.Run(visitor, func(t *testing.T) {
				t.Parallel()
				s, log, b := come(t)
				b.stay()
				log.take()
				mails := len(s.mails)
				for name := range s.accounts.RoutesOf() {
					path := strings.TrimSuffix("/auth/account/"+name, "/")
					for _, query := range []string{"", "?error=SecondFactorRequired", "?method=recovery", "?format=text", "?token=unknown", "?again=1&new=1&saved=1&remove=1"} {
						for _, method := range []string{http.MethodGet, http.MethodHead} {
							b.do(method, path+query, nil)
							if calls := log.take(); len(calls) > 0 || len(s.mails) > mails {
								t.Errorf("%s %s%s writes %q, and sends %d mails", method, path, query, calls, len(s.mails)-mails)
							}
							if names := b.flowCookies(); len(names) > 0 {
								t.Errorf("%s %s%s sets %q", method, path, query, names)
							}
						}
					}
				}
			})
		}
		t.Run("a link", func(t *testing.T) {
			t.Parallel()
			s, log := withWritesNoted(t, tokens)
			s.seed(ada, goodPassword, true)
			invited, err := s.accounts.Operators().Invite(t.Context(), account.Invitation{Email: "invited@example.com"})
			s.done(err)
			s.seed(bob, goodPassword, true)
			s.browser().signIn(bob, goodPassword).movesAddress("bob@elsewhere.example.com")
			s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
			for _, mailed := range []struct{ want, link string }{
				{"pintle.reset", s.resetLink(ada)},
				{"pintle.signup", s.browser().signUp("new@example.com").lastMail().URL},
				{"pintle.signup", invited},
				{"pintle.address", s.mailOf("address-confirm").URL},
				{"pintle.undo", s.mailOf("address-changed-undo").URL},
			} {
				want, link := mailed.want, mailed.link
				for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodGet} {
					b := s.browser().stay()
					log.take()
					b.do(method, link, nil).want(http.StatusSeeOther)
					if calls, names := log.take(), b.flowCookies(); len(calls) > 0 || !slices.Equal(names, []string{want}) {
						t.Errorf("%s of the link writes %q and sets %q, want %s alone", method, calls, names, want)
					}
					if to, err := url.Parse(b.header.Get("Location")); err != nil || to.RawQuery != "" {
						t.Errorf("%s of the link leads to %s", method, to)
					}
				}
			}
		})
	})
}
