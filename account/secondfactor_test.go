package account_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// An app is an authenticator app, written for the tests.
type app struct{ secret string }

// code is what the app shows some steps from now.
func (a app) code(t *testing.T, steps int64) string {
	t.Helper()
	return a.codeAt(t, time.Now().Unix()/30+steps)
}

func (a app) codeAt(t *testing.T, step int64) string {
	t.Helper()
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(a.secret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := mac.Sum(nil)
	o := sum[19] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[o:])&0x7fffffff)%1000000)
}

var (
	shownKey   = regexp.MustCompile(`name="key" value="([^"]+)"`)
	shownURI   = regexp.MustCompile(`href="(otpauth:[^"]+)"`)
	shownCodes = regexp.MustCompile(`<code>([0-9A-Z-]{19})</code>`)
)

// key is the sealed secret of the form on the last page, and the app that has scanned it.
func (b *browser) key() (key string, a app) {
	b.t.Helper()
	found, uri := shownKey.FindStringSubmatch(b.page), shownURI.FindStringSubmatch(b.page)
	if found == nil || uri == nil {
		b.t.Fatalf("the page has no secret: %d %s", b.status, b.page)
	}
	u, err := url.Parse(html.UnescapeString(uri[1]))
	if err != nil {
		b.t.Fatal(err)
	}
	return found[1], app{u.Query().Get("secret")}
}

func (b *browser) codes() (codes []string) {
	for _, found := range shownCodes.FindAllStringSubmatch(b.page, -1) {
		codes = append(codes, found[1])
	}
	return codes
}

// addApp adds a first app at a route, and saves the recovery codes. The code of the
// app is that of the step before now.
func (b *browser) addApp(route string) (a app, codes []string) {
	b.t.Helper()
	if route == "totp" {
		b.get("/auth/account/totp")
	}
	key, a := b.key()
	b.want(200).post("/auth/account/"+route, "key", key, "code", a.code(b.t, -1), "name", "Phone").want(200)
	if codes = b.codes(); len(codes) != 10 {
		b.t.Fatalf("%d recovery codes were shown: %s", len(codes), b.page)
	}
	b.post(b.at.Path, "saved", "1").want(200)
	return a, codes
}

const ada = "ada@example.com"

// withApp is a site with a user who has an app and recovery codes.
func withApp(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) (*site, app, []string) {
	t.Helper()
	s := newSite(t, tokens, changes...)
	s.seed(ada, goodPassword, true)
	awayFromTheNextStep()
	b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	a, codes := b.addApp("totp")
	b.isAt("/auth/account/factors").isSignedInAs(ada)
	return s, a, codes
}

// awayFromTheNextStep waits for the next time step of codes if it is near: a test computes
// several codes and expects them to be of one step.
func awayFromTheNextStep() {
	const step, near = 30 * time.Second, 10 * time.Second
	now := time.Now()
	if left := now.Truncate(step).Add(step).Sub(now); left < near {
		time.Sleep(left)
	}
}

// half is a browser in which the password was right and the second factor is asked for.
func (s *site) half() *browser {
	s.t.Helper()
	return s.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor").want(200).isSignedInAs("")
}

const secondFactor = "/auth/account/second-factor"

// AT-50, AC-101, AC-103, AC-105, ASVS-6.3.3, SH-78
func TestAPasswordAloneSignsNoUserWithASecondFactorIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, _ := withApp(t, tokens)
		b := s.half()
		if b.at.Query().Get("error") != "SecondFactorRequired" {
			t.Errorf("clients of Auth.js find no error in %s", b.at)
		}
		if session := s.browserWith(b).get("/auth/session").page; session != "null" {
			t.Errorf("the session is %s", session)
		}
		b.post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
		if got := s.browserWith(b).get("/auth/account/me").json()["session"].(map[string]any)["acr"]; got != "mfa" {
			t.Errorf("the session has the level %v", got)
		}
	})
}

// browserWith is a second tab of a browser.
func (s *site) browserWith(b *browser) *browser {
	other := *b
	return &other
}

// AT-51, AC-106
func TestACodeWorksOnceAndNoneBeforeItAfterwards(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, _ := withApp(t, tokens)
		now := time.Now().Unix() / 30
		s.half().post(secondFactor, "code", a.codeAt(t, now-1)).want(422).says("That code is not right").
			post(secondFactor, "code", a.codeAt(t, now)).isSignedInAs(ada)
		second := s.half().post(secondFactor, "code", a.codeAt(t, now)).want(422)
		second.post(secondFactor, "code", a.codeAt(t, now+1)).isSignedInAs(ada)
		// AT-61: the code of the step before is still in time, and too late.
		s.half().post(secondFactor, "code", a.codeAt(t, now)).want(422).isSignedInAs("")
	})
}

// AT-51, AC-106
func TestOfManyRequestsWithOneCodeOneSignsIn(t *testing.T) {
	s, a, _ := withApp(t, false)
	browsers := make([]*browser, 8) // fewer than the limit of a user
	for i := range browsers {
		browsers[i] = s.half()
		browsers[i].token()
	}
	atOnce(browsers, func(b *browser) { b.post(secondFactor, "code", a.code(t, 0)) })
	if n := signedIn(browsers); n != 1 {
		t.Errorf("one code has signed %d browsers in", n)
	}
}

// AT-53, AC-112, AC-113, AC-114
func TestOfManyRequestsWithOneRecoveryCodeOneSignsIn(t *testing.T) {
	s, _, codes := withApp(t, false)
	browsers := make([]*browser, 8)
	for i := range browsers {
		browsers[i] = s.half()
		browsers[i].token()
	}
	atOnce(browsers, func(b *browser) { b.post(secondFactor, "code", codes[3]) })
	if n := signedIn(browsers); n != 1 {
		t.Errorf("one recovery code has signed %d browsers in", n)
	}
	s.wantMail(ada, "recovery code was used")
	if text := s.lastMail().Text; !strings.Contains(text, "9 codes left") {
		t.Errorf("the mail says %s", text)
	}
}

func atOnce(browsers []*browser, do func(*browser)) {
	done := make(chan struct{})
	for _, b := range browsers {
		go func() {
			defer func() { done <- struct{}{} }()
			do(b)
		}()
	}
	for range browsers {
		<-done
	}
}

func signedIn(browsers []*browser) (n int) {
	for _, b := range browsers {
		if b.who() != "" {
			n++
		}
	}
	return n
}

// AC-104, AC-112
func TestARecoveryCodeIsAcceptedAsItIsTyped(t *testing.T) {
	s, _, codes := withApp(t, true)
	typed := strings.NewReplacer("-", " ", "0", "o", "1", "l").Replace(strings.ToLower(codes[0]))
	b := s.half().get(secondFactor + "?method=recovery").says("recovery codes that you saved")
	b.post(secondFactor, "method", "recovery", "code", typed).isSignedInAs(ada)
	s.half().post(secondFactor, "method", "recovery", "code", codes[0]).want(422).isSignedInAs("").
		post(secondFactor, "method", "recovery", "code", codes[1]).isSignedInAs(ada)
}

// AT-52, SH-78
func TestAfterFiveWrongCodesTheSignInEndsAndTheUserIsTold(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, _ := withApp(t, tokens)
		for range 2 { // and one mail a day
			b := s.half()
			for range 4 {
				b.post(secondFactor, "code", a.code(t, 7)).want(422)
			}
			b.post(secondFactor, "code", a.code(t, 7)).want(429)
			b.post(secondFactor, "code", a.code(t, 0)).want(403).isSignedInAs("")
		}
		var told int
		for _, m := range s.sent(ada) {
			if strings.Contains(m.Subject, "did not succeed") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%d mails tell of wrong codes", told)
		}
		// The limit of the user: 10 in 15 minutes, in any sign-in, by any process.
		s.half().post(secondFactor, "code", a.code(t, 0)).want(429).isSignedInAs("")
	})
}

func TestWhatIsNoCodeIsNoAttempt(t *testing.T) {
	s, a, _ := withApp(t, false)
	b := s.half()
	for range 12 {
		b.post(secondFactor, "code", "12345").want(422)
		b.post(secondFactor, "code", "abcdef").want(422)
		b.post(secondFactor, "method", "sms", "code", a.code(t, 0)).want(422)
	}
	spaced := a.code(t, 0)
	b.post(secondFactor, "code", " "+spaced[:3]+"-"+spaced[3:]).isSignedInAs(ada)
}

// AT-52
func TestParallelRequestsHaveNoMoreAttempts(t *testing.T) {
	s, a, _ := withApp(t, false)
	first := s.half()
	first.token()
	browsers := make([]*browser, 12)
	for i := range browsers {
		browsers[i] = s.browserWith(first)
	}
	atOnce(browsers, func(b *browser) { b.post(secondFactor, "code", a.code(t, 7)) })
	counted := 0
	for _, b := range browsers {
		if b.status == http.StatusUnprocessableEntity {
			counted++
		}
	}
	if counted > 4 {
		t.Errorf("%d codes of one sign-in were compared and asked for again", counted)
	}
	first.post(secondFactor, "code", a.code(t, 0)).isSignedInAs("")
}

// failures are more than the limit of a user.
const failures = 12

func (s *site) userID() string { return s.user(ada).ID }

// AT-52, ASVS-6.6.3, SH-78
func TestAHundredWrongCodesInARowSuspendTheApp(t *testing.T) {
	s, a, codes := withApp(t, false)
	old := time.Now().Add(-time.Hour)
	for range 100 {
		if _, err := s.rows.CountFailure(t.Context(), s.userID(), old, time.Minute, 1000); err != nil {
			t.Fatal(err)
		}
	}
	b := s.half()
	for range failures { // which use nothing up: a recovery code still works
		b.post(secondFactor, "code", a.code(t, 0)).want(403).says("no longer accepted").isSignedInAs("")
	}
	b.post(secondFactor, "code", codes[0]).isSignedInAs(ada)
	s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
}

func TestASuspensionByTheStateEndsWithARecoveryCode(t *testing.T) {
	s, a, codes := withApp(t, false)
	state, err := s.rows.State(t.Context(), s.userID())
	if err != nil {
		t.Fatal(err)
	}
	state.Suspended = true
	if err := s.rows.ChangeState(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	s.half().post(secondFactor, "code", a.code(t, 0)).want(403).post(secondFactor, "code", codes[0]).isSignedInAs(ada)
	s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
}

// AT-52: two processes share the limit of a user.
func TestTwoProcessesCountTogether(t *testing.T) {
	s, a, _ := withApp(t, false)
	other := newSite(t, false, func(cfg *pintle.Config, _ *account.Options) { cfg.Store = s.store })
	for _, at := range []*site{s, other} {
		b := at.half()
		for range 4 {
			b.post(secondFactor, "code", a.code(t, 7)).want(422)
		}
		b.post(secondFactor, "code", a.code(t, 7)).want(429)
	}
	for _, at := range []*site{s, other} {
		at.half().post(secondFactor, "code", a.code(t, 0)).want(429).isSignedInAs("")
	}
}

// AT-59, AC-107
func TestARotationOfSecretsLosesNoApp(t *testing.T) {
	before, between, after := strings.Repeat("before ", 6), strings.Repeat("between ", 6), strings.Repeat("after ", 6)
	with := func(store pintle.Store, secrets ...string) func(*pintle.Config, *account.Options) {
		return func(cfg *pintle.Config, _ *account.Options) {
			cfg.Secrets = secrets
			if store != nil {
				cfg.Store = store
			}
		}
	}
	s, a, codes := withApp(t, false, with(nil, before))
	rotated := newSite(t, false, with(s.store, between, before))
	rotated.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
	resealed := newSite(t, false, with(s.store, after, between))
	resealed.half().post(secondFactor, "code", a.code(t, 0)).want(422).isSignedInAs("") // it was used
	resealed.half().post(secondFactor, "code", a.code(t, 1)).isSignedInAs(ada)

	lost := newSite(t, false, with(s.store, strings.Repeat("other ", 8)))
	b := lost.half().post(secondFactor, "code", a.code(t, 0)).want(503).says("cannot be checked now").isSignedInAs("")
	if log := lost.log(); !strings.Contains(log, "secret of an authenticator app does not open") || !strings.Contains(log, "level=ERROR") {
		t.Errorf("the operator is not told: %s", log)
	}
	b.post(secondFactor, "code", codes[0]).isSignedInAs(ada)
}

func (s *site) totpRow() *accountstore.Factor {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), s.userID())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == "totp" {
			return row
		}
	}
	s.t.Fatal("there is no app")
	return nil
}

// AT-60, AC-107
func TestTheRowOfOneUserDoesNotWorkForAnother(t *testing.T) {
	s, _, _ := withApp(t, false)
	bob := s.seed("bob@example.com", goodPassword, true)
	row := s.totpRow()
	row.UserID = bob.ID
	if err := s.rows.AddFactor(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	b := s.browser().signIn("bob@example.com", goodPassword).isAt(secondFactor)
	b.post(secondFactor, "code", "123456").want(503).isSignedInAs("")
}

// AT-62
func TestAHeldSignInEndsWithTheFactorsThePasswordAndABan(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, change := range map[string]func(*site, *browser, app){
			"a factor is removed": func(s *site, owner *browser, _ app) {
				owner.get("/auth/account/factors").post("/auth/account/factor", "id", s.totpRow().ID, "action", "remove").want(200).
					says("The app is removed")
			},
			"an operator resets it": func(s *site, _ *browser, _ app) {
				if err := s.accounts.Operators().ResetSecondFactor(t.Context(), s.userID()); err != nil {
					t.Fatal(err)
				}
			},
			"a ban": func(s *site, _ *browser, _ app) {
				state, err := s.rows.State(t.Context(), s.userID())
				if err != nil {
					t.Fatal(err)
				}
				state.BannedUntil = accountstore.Forever
				if err := s.rows.ChangeState(t.Context(), state); err != nil {
					t.Fatal(err)
				}
			},
		} {
			s, a, _ := withApp(t, tokens)
			owner := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
			waiting := s.half()
			change(s, owner, a)
			waiting.post(secondFactor, "code", a.code(t, 1))
			if waiting.who() != "" || waiting.status == 200 && waiting.at.Path == "/" {
				t.Errorf("%s: a sign-in that waited is completed: %d %s", name, waiting.status, waiting.at)
			}
		}
	})
}
