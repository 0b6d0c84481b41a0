package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// processes are four sites with one store and one shared state, as four processes behind a load
// balancer.
func processes(t *testing.T, open func(*testing.T, bool, ...func(*pintle.Config, *account.Options)) *site, limit func(*throttle.Guard)) []*site {
	store, shared := memstore.New(), &memstore.SharedState{}
	sites := make([]*site, 4)
	for i := range sites {
		sites[i] = open(t, false, func(cfg *pintle.Config, o *account.Options) {
			cfg.Store, cfg.SharedState = store, shared
			o.Passwords.Guard = &throttle.Guard{}
			limit(o.Passwords.Guard)
		})
	}
	return sites
}

// AC-40: the limit of wrong passwords holds for all processes together, for sign-ins and for the page
// to confirm.
func TestWrongPasswordsHaveOneLimitAtAllProcesses(t *testing.T) {
	sites := processes(t, newSite, func(g *throttle.Guard) { g.PerAccountAndClient = throttle.Limit{Burst: 5, Every: time.Hour} })
	u := sites[0].seed(ada, goodPassword, true)
	for _, s := range sites {
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
	}
	for i := range 3 {
		if at := sites[i].browser().signIn(ada, "a guess").at.String(); strings.Contains(at, "too_many_attempts") {
			t.Errorf("guess %d is refused", i)
		}
	}
	for i := range 2 {
		sites[i].browser().startSession(u, 2*time.Hour, "pwd").get("/danger").confirmBy("password", "guess").want(http.StatusUnprocessableEntity)
	}
	for _, s := range sites {
		s.browser().startSession(u, 2*time.Hour, "pwd").get("/danger").confirmBy("password", goodPassword).want(http.StatusTooManyRequests)
		if at := s.browser().signIn(ada, goodPassword).at.String(); !strings.Contains(at, "too_many_attempts") {
			t.Errorf("after five wrong passwords a sign-in leads to %s", at)
		}
	}
}

// Mails that any client can cause have one limit at all processes, and leave the one of the codes.
func TestMailsHaveOneLimitAtAllProcesses(t *testing.T) {
	sites := processes(t, newSite, func(g *throttle.Guard) { g.MailsPerAddress = throttle.Limit{Burst: 2, Every: time.Hour} })
	u := sites[0].seed(ada, "", true)
	mails := 0
	for i := range 12 {
		s := sites[i%4]
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
	}
	for _, s := range sites {
		mails += len(s.sent(ada))
	}
	if mails != 2 {
		t.Errorf("%d mails were sent to one address, want 2", mails)
	}
	b := sites[3].browser().startSession(u, time.Hour, "mail")
	b.get("/auth/account/confirm").post("/auth/account/confirm", "method", "mail", "again", "1").want(http.StatusOK)
}

// So have sign-ups that make a user at once.
func TestSignUpsHaveOneLimitAtAllProcesses(t *testing.T) {
	sites := processes(t, newDeferred, func(*throttle.Guard) {})
	for i := range 20 {
		sites[i%4].browser().signUp(fmt.Sprintf("ada%d@example.com", i)).isAt("/")
	}
	for _, s := range sites {
		s.browser().signUp("one-more@example.com").want(http.StatusTooManyRequests)
	}
}

// With one number for mails and for sign-ups, each has its own count.
func TestMailsOfAClientLeaveTheLimitOfSignUps(t *testing.T) {
	sites := processes(t, newDeferred, func(g *throttle.Guard) { g.MailsPerClient = throttle.Limit{Burst: 6, Every: time.Hour} })
	for i := range 3 {
		sites[i].browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", fmt.Sprintf("grace%d@example.com", i))
	}
	for i := range 3 { // which also causes a mail
		sites[i].browser().signUp(fmt.Sprintf("ada%d@example.com", i)).isAt("/")
	}
	sites[3].browser().signUp("one-more@example.com").want(http.StatusTooManyRequests)
}
