package pintle_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/native"
	"github.com/pintleauth/pintle/store/memstore"
)

const nativeVerifier = "a-verifier-that-only-the-application-knows-of"

// withApplications is a site with native applications and database sessions.
func withApplications(s *site) {
	s.Store = memstore.New()
	s.Providers = s.Providers[:1]
	s.Session.AllowBearer = true
	s.Native = []native.Application{
		{ID: "desktop", Name: "Desktop", RedirectURLs: []string{"http://127.0.0.1/in", "https://app.example.com/in"}},
		{ID: "phone", Name: "Phone", FirstParty: true, RedirectURLs: []string{"https://phone.example.com/in", "http://[::1]/in"}},
		{ID: "other", Name: "Other", DangerouslyAllowPrivateScheme: true, RedirectURLs: []string{"com.example.other:/in", "http://127.0.0.1/in"}},
	}
}

// withApplicationsToo leaves the site its providers and its store.
func withApplicationsToo(s *site) {
	providers, store := s.Providers, s.Store
	withApplications(s)
	s.Providers, s.Store = providers, store
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// asking is the authorization request of an application, with the changes. An empty value
// removes a parameter.
func asking(changes map[string]string) url.Values {
	q := url.Values{
		"client_id": {"desktop"}, "redirect_uri": {"http://127.0.0.1:50000/in"}, "response_type": {"code"}, "state": {"a state"},
		"code_challenge": {challengeOf(nativeVerifier)}, "code_challenge_method": {"S256"},
	}
	for name, value := range changes {
		if q.Set(name, value); value == "" {
			q.Del(name)
		}
	}
	return q
}

func (b *browser) asksForCode(q url.Values) *reply {
	b.t.Helper()
	return b.get("/auth/native/authorize?" + q.Encode())
}

// agrees presses a button of the page that asks, and returns what the application gets.
func (b *browser) agrees(q url.Values, answer string) url.Values {
	b.t.Helper()
	page := b.asksForCode(q).want(http.StatusOK)
	form := page.hidden()
	form.Set("answer", answer)
	to := b.postForm(page.action(), form, ownPage...).want(http.StatusFound).location()
	target, params, _ := strings.Cut(to, "?")
	if target != q.Get("redirect_uri") {
		b.t.Fatalf("the browser is sent to %s", to)
	}
	got, err := url.ParseQuery(params)
	if err != nil || got.Get("state") != q.Get("state") || got.Get("iss") != b.site.url+"/auth" {
		b.t.Errorf("the application gets %v", got)
	}
	return got
}

// code returns a code for an application.
func (b *browser) code(q url.Values) string {
	b.t.Helper()
	code := b.agrees(q, "yes").Get("code")
	if code == "" || len(code) > 2000 {
		b.t.Fatalf("the code is %q", code)
	}
	return code
}

// exchange sends a code, with changes of the form.
func (s *site) exchange(code string, changes map[string]string) *reply {
	s.t.Helper()
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {"desktop"},
		"redirect_uri": {"http://127.0.0.1:50000/in"}, "code_verifier": {nativeVerifier},
	}
	for name, value := range changes {
		if form.Set(name, value); value == "" {
			form.Del(name)
		}
	}
	return s.browser().postForm("/auth/native/token", form)
}

// bearerOf exchanges a code, and returns the token of the session.
func (s *site) bearerOf(code string, changes map[string]string) string {
	s.t.Helper()
	var answer struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
	}
	r := s.exchange(code, changes)
	r.want(http.StatusOK).json(&answer)
	r.isNotStored()
	if answer.Token == "" || answer.Type != "Bearer" || answer.Expires < 29*24*3600 {
		s.t.Errorf("the answer is %s", r.body)
	}
	return answer.Token
}

func (r *reply) refusesCode(code string) {
	r.t.Helper()
	if r.want(http.StatusBadRequest); r.body != `{"error":"`+code+`"}` {
		r.t.Errorf("the answer is %s", r.body)
	}
	r.isNotStored()
}

// S-47, RPX-98 to 100: a user signs in, agrees, and the application has a session of its own.
func TestAnApplicationGetsASessionForACode(t *testing.T) {
	s := newSite(t, withApplications, recording)
	b, app := s.browser(), application{s}
	r := b.asksForCode(asking(nil)).want(http.StatusFound)
	back := mustParse(t, r.location())
	if back.Path != "/auth/signin" {
		t.Fatalf("a browser that is signed out is sent to %s", back)
	}
	to := b.consent(mustParse(t, b.post("/auth/signin/acme", "callbackUrl", back.Query().Get("callbackUrl")).location()))
	after := b.get(to).want(http.StatusFound).location()
	if got := mustParse(t, after); got.Path != "/auth/native/authorize" || got.Query().Encode() != asking(nil).Encode() {
		t.Fatalf("after the sign-in the browser is sent to %s", after)
	}
	page := b.get(after).want(http.StatusOK)
	for _, text := range []string{"Desktop", "ada@example.com"} {
		if !strings.Contains(page.body, text) {
			t.Errorf("the page does not name %s", text)
		}
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || page.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("RPT-63 the page can be framed: %s", policy)
	}
	token := s.bearerOf(b.code(asking(nil)), nil)
	if app.who(token) != "Ada Lovelace" || token == b.cookie(sessionCookie) {
		t.Errorf("the token is that of %q", app.who(token))
	}
	var names []any
	for device, err := range s.auth.Devices(t.Context(), b.held()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, device.Data["application"])
	}
	if len(names) != 2 || !slices.Contains(names, any("Desktop")) {
		t.Errorf("the devices are %v", names)
	}
	req := httptest.NewRequest(http.MethodGet, s.url, nil)
	req.Header.Set("Authorization", "Bearer "+token)
	session, err := s.auth.Session(req)
	if err != nil || !session.Authentication.Time.Equal(b.held().Authentication.Time) || session.Authentication.Provider != "acme" {
		t.Errorf("the session records %+v, %v", session, err)
	}
	b.signOut()
	if app.who(token) != "Ada Lovelace" {
		t.Error("the session of the application ended with that of the browser")
	}
	if err := s.auth.SignOutEverywhere(t.Context(), session.User.ID); err != nil || app.who(token) != "anonymous" {
		t.Errorf("the session of the application goes on: %v", err)
	}
}

// S-47: a user whom the host does not admit comes back to the application as one who does not agree: it
// would otherwise wait until its user gives up.
func TestAnApplicationLearnsThatItsUserIsNotAdmitted(t *testing.T) {
	denied := url.Values{"error": {"access_denied"}, "state": {"a state"}, "iss": {"http://localhost:3000/auth"}}
	for name, way := range newUsers {
		if strings.HasPrefix(name, "token") {
			continue // of which a script or an application gets the answer
		}
		t.Run(name, func(t *testing.T) {
			var asked []*pintle.SignInAttempt
			deny := errors.New("not one of ours")
			s, k := newUserSite(t, true, &asked, &deny, withApplicationsToo)
			b := s.browser()
			b.get(b.asksForCode(asking(nil)).want(http.StatusFound).location()).want(http.StatusOK)
			r := way.come(b).want(http.StatusFound)
			to, params, _ := strings.Cut(r.location(), "?")
			if got, err := url.ParseQuery(params); to != "http://127.0.0.1:50000/in" || err != nil || !reflect.DeepEqual(got, denied) {
				t.Errorf("the browser is sent to %s", r.location())
			}
			if r.header.Get("Referrer-Policy") != "no-referrer" || b.who() != "anonymous" || k.byEmail(t, "new@corp.example") != nil || len(asked) != 1 {
				t.Errorf("the browser is %s, the host was asked %d times, and the answer has %v", b.who(), len(asked), r.header)
			}
			for _, left := range []string{"authjs.state", "authjs.pkce.code_verifier", "authjs.challenge"} {
				if b.cookie(left) != "" {
					t.Errorf("the browser keeps %s", left)
				}
			}

			deny = nil // the same browser can try again
			b.get(b.asksForCode(asking(nil)).want(http.StatusFound).location()).want(http.StatusOK)
			if after := mustParse(t, way.come(b).location()); after.Path != "/auth/native/authorize" || after.Query().Encode() != asking(nil).Encode() {
				t.Errorf("the browser is sent to %s", after)
			}
		})
	}
}

// RPT-61: nothing is sent to an address that is not registered, and what a user may try again stays here.
func TestOnlyTheApplicationThatWaitsLearnsOfARefusal(t *testing.T) {
	var asked []*pintle.SignInAttempt
	deny := errors.New("not one of ours")
	s, _ := newUserSite(t, true, &asked, &deny, withApplicationsToo)
	authorize := func(changes map[string]string) string { return "/auth/native/authorize?" + asking(changes).Encode() }
	for target, params := range map[string]string{
		"no application": "/members", "another site": "https://evil.example/auth/native/authorize?" + asking(nil).Encode(),
		"another address":        authorize(map[string]string{"redirect_uri": "https://evil.example/in"}),
		"an unknown application": authorize(map[string]string{"client_id": "evil"}), "no challenge": authorize(map[string]string{"code_challenge": ""}),
		"two addresses": authorize(nil) + "&redirect_uri=https%3A%2F%2Fevil.example", "no query": "/auth/native/authorize",
	} {
		b := s.browser()
		b.get("/auth/signin?callbackUrl=" + url.QueryEscape(params))
		if to := b.signInWith("acme").location(); to != s.url+"/auth/error?error=AccessDenied" {
			t.Errorf("%s: the browser is sent to %s", target, to)
		}
	}

	b := s.browser()
	b.get("/auth/signin?callbackUrl=" + url.QueryEscape(authorize(nil)))
	b.get("/auth/webauthn-options/passkey?action=register&email=new@corp.example").want(http.StatusOK)
	r := b.post("/auth/callback/passkey", "action", "register", "data", `{"id":"a2V5"}`, "json", "true").want(http.StatusOK)
	if !strings.HasPrefix(r.body, `{"url":"http://127.0.0.1:50000/in?error=access_denied`) {
		t.Errorf("a script gets %s", r.body)
	}
	var to struct{ URL string }
	b.tap("acme", s.idp.IDTokenFor("web", "web", b.nonce("acme"), nil), "callbackUrl", authorize(nil)).want(http.StatusOK).json(&to)
	if !strings.HasPrefix(to.URL, "http://127.0.0.1:50000/in?error=access_denied") {
		t.Errorf("the script of an SDK gets %s", to.URL)
	}
	b.post("/auth/callback/credentials", "username", "ada", "password", "wrong").fails("/auth/signin", "CredentialsSignin")
	deny = &pintle.Error{Code: pintle.CodeAccessDenied, RetryAfter: time.Minute, Err: errBroken}
	b.signInWith("acme").fails("/auth/error", "AccessDenied")
	deny = &pintle.Error{Code: pintle.CodeStore, Err: errBroken}
	b.signInWith("acme").fails("/auth/error", operator)

	// A mail is refused during an outage as it is otherwise. One that is refused leaves a
	// sign-in in another tab alone.
	refused := error(&pintle.Error{Code: pintle.CodeStore, Err: errBroken})
	s, _ = newUserSite(t, true, &asked, &deny, withApplicationsToo, func(s *site) {
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			if a.VerificationRequest {
				return "", refused
			}
			return "", nil
		}
	})
	b, deny = s.browser(), nil
	b.get("/auth/signin?callbackUrl=" + url.QueryEscape(authorize(nil)))
	b.askForMail("new@corp.example").fails("/auth/error", "AccessDenied")
	refused = errors.New("not one of ours")
	other := b.leave("acme")
	if sent := b.askForMail("new@corp.example").location(); !strings.HasPrefix(sent, "http://127.0.0.1:50000/in?error=access_denied") {
		t.Errorf("the browser is sent to %s", sent)
	}
	if b.get(b.consent(other)).want(http.StatusFound); b.who() == "anonymous" {
		t.Error("the refusal ended the sign-in in another tab")
	}

	// A user who is signed in links an account, and no application waits for that.
	s, k := newUserSite(t, true, &asked, &deny, withApplicationsToo, func(s *site) { s.Callbacks.SignIn = refusing(errBroken) })
	b = s.browser()
	b.get("/auth/signin?callbackUrl=" + url.QueryEscape(authorize(nil)))
	b.signInAs(k, k.seedUser(t, pintle.User{Name: "Ada", Email: "ada@example.org"}), pintle.StrategyDatabase)
	b.signInWith("acme").fails("/auth/error", "AccessDenied")
}

func TestAUserCanRefuseAnApplication(t *testing.T) {
	s := newSite(t, withApplications)
	b := s.browser()
	b.arrivesBy("acme")
	if got := b.agrees(asking(nil), "no"); got.Get("error") != "access_denied" || got.Has("code") {
		t.Errorf("the application gets %v", got)
	}
	if got := b.agrees(asking(map[string]string{"state": ""}), "x"); got.Get("error") != "access_denied" || got.Has("state") {
		t.Errorf("the application gets %v", got)
	}
}

// RPX-98: only an application of the operator's, at an address that belongs to it, is not
// asked for.
func TestAnApplicationOfTheOperatorIsNotAskedFor(t *testing.T) {
	s := newSite(t, withApplications)
	b := s.browser()
	b.arrivesBy("acme")
	q := asking(map[string]string{"client_id": "phone", "redirect_uri": "https://phone.example.com/in"})
	to := mustParse(t, b.asksForCode(q).want(http.StatusFound).location())
	token := s.bearerOf(to.Query().Get("code"), map[string]string{"client_id": "phone", "redirect_uri": "https://phone.example.com/in"})
	if who := (application{s}).who(token); who != "Ada Lovelace" {
		t.Errorf("the token is that of %q", who)
	}
	for client, address := range map[string]string{"phone": "http://[::1]:50000/in", "desktop": "https://app.example.com/in"} {
		b.asksForCode(asking(map[string]string{"client_id": client, "redirect_uri": address})).want(http.StatusOK)
	}
}

// RPT-61: nothing is sent to an address that is not registered.
func TestOnlyAnAddressOfTheApplicationIsAnswered(t *testing.T) {
	s := newSite(t, withApplications)
	b := s.browser()
	b.arrivesBy("acme")
	twice := asking(nil)
	twice.Add("redirect_uri", "http://127.0.0.1:50000/in")
	clients := asking(nil)
	clients.Add("client_id", "other")
	for name, q := range map[string]url.Values{
		"another path":           asking(map[string]string{"redirect_uri": "http://127.0.0.1:50000/other"}),
		"localhost":              asking(map[string]string{"redirect_uri": "http://localhost:50000/in"}),
		"another host":           asking(map[string]string{"redirect_uri": "http://127.0.0.1.evil.example/in"}),
		"a user name":            asking(map[string]string{"redirect_uri": "http://127.0.0.1:50000@evil.example/in"}),
		"a fragment":             asking(map[string]string{"redirect_uri": "http://127.0.0.1:50000/in#x"}),
		"a query":                asking(map[string]string{"redirect_uri": "http://127.0.0.1:50000/in?x"}),
		"a private scheme":       asking(map[string]string{"redirect_uri": "desktop:/in"}),
		"that of another":        asking(map[string]string{"redirect_uri": "com.example.other:/in"}),
		"no address":             asking(map[string]string{"redirect_uri": ""}),
		"no application":         asking(map[string]string{"client_id": ""}),
		"an unknown application": asking(map[string]string{"client_id": "evil"}),
		"a second redirect_uri":  twice,
		"a second client_id":     clients,
	} {
		t.Run(name, func(t *testing.T) {
			r := b.get("/auth/native/authorize?"+q.Encode(), "Sec-Fetch-Mode", "navigate").want(http.StatusBadRequest)
			if r.location() != "" || !strings.Contains(r.header.Get("Content-Type"), "text/html") {
				t.Errorf("the answer is %v", r.header)
			}
			q.Set("csrfToken", b.csrf())
			q.Set("answer", "yes")
			if r := b.postForm("/auth/native/authorize", q, ownPage...).want(http.StatusBadRequest); r.location() != "" {
				t.Errorf("a form is answered %v", r.header)
			}
		})
	}
}

// RPT-62: without a challenge there is no code.
func TestAnApplicationNeedsAChallenge(t *testing.T) {
	s := newSite(t, withApplications)
	b := s.browser()
	b.arrivesBy("acme")
	for name, changes := range map[string]map[string]string{
		"plain":                    {"code_challenge_method": "plain", "code_challenge": nativeVerifier},
		"no method":                {"code_challenge_method": ""},
		"no challenge":             {"code_challenge": ""},
		"a short challenge":        {"code_challenge": challengeOf("x")[:42]},
		"a long challenge":         {"code_challenge": challengeOf("x") + "A"},
		"no hash":                  {"code_challenge": strings.Repeat("!", 43)},
		"a line break in it":       {"code_challenge": challengeOf("x")[:20] + "\n" + challengeOf("x")[20:]},
		"bits that no hash has":    {"code_challenge": strings.Repeat("A", 42) + "B"},
		"the implicit flow":        {"response_type": "token"},
		"no response_type":         {"response_type": ""},
		"more state than a cookie": {"state": strings.Repeat("x", 1025)},
	} {
		t.Run(name, func(t *testing.T) {
			to := mustParse(t, b.asksForCode(asking(changes)).want(http.StatusFound).location())
			if to.Host != "127.0.0.1:50000" || to.Query().Get("error") != "invalid_request" || to.Query().Has("code") {
				t.Errorf("the application gets %s", to)
			}
		})
	}
}

// RPT-62: a code is good once, for a minute, and for the application that has begun.
func TestACodeOfAnApplicationIsGoodOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, withApplications)
		b := s.browser()
		b.arrivesBy("acme")
		for name, changes := range map[string]map[string]string{
			"another verifier":       {"code_verifier": strings.Repeat("x", 43)},
			"the challenge":          {"code_verifier": challengeOf(nativeVerifier)},
			"another application":    {"client_id": "other"},
			"an unknown application": {"client_id": "evil"},
			"another address":        {"redirect_uri": "http://127.0.0.1:50001/in"},
		} {
			code := b.code(asking(nil))
			s.exchange(code, changes).refusesCode("invalid_grant")
			if r := s.exchange(code, nil); r.status != http.StatusBadRequest {
				t.Errorf("%s has not spent the code", name)
			}
		}
		short := asking(map[string]string{"code_challenge": challengeOf("short")})
		s.exchange(b.code(short), map[string]string{"code_verifier": "short"}).refusesCode("invalid_grant")
		long := strings.Repeat("x", 129)
		s.exchange(b.code(asking(map[string]string{"code_challenge": challengeOf(long)})), map[string]string{"code_verifier": long}).refusesCode("invalid_grant")
		for name, changes := range map[string]map[string]string{
			"no code": {"code": ""}, "no verifier": {"code_verifier": ""}, "no application": {"client_id": ""}, "no address": {"redirect_uri": ""}, "no grant": {"grant_type": ""},
		} {
			t.Log(name)
			s.exchange(b.code(asking(nil)), changes).refusesCode("invalid_request")
		}
		s.exchange(b.code(asking(nil)), map[string]string{"grant_type": "refresh_token"}).refusesCode("unsupported_grant_type")
		s.exchange("made up", nil).refusesCode("invalid_grant")
		s.exchange(b.cookie(sessionCookie), nil).refusesCode("invalid_grant")
		double := url.Values{"code": {"x", "y"}, "client_id": {"desktop"}}
		s.browser().postForm("/auth/native/token", double).refusesCode("invalid_request")
		s.browser().get("/auth/native/token").refusesCode("invalid_request")
		s.browser().postJSON("/auth/native/token", map[string]any{"code": "x"}).refusesCode("invalid_request")
		s.browser().postForm("/auth/native/token", url.Values{
			"grant_type": {"authorization_code"}, "code": {b.code(asking(nil))}, "client_id": {"desktop"},
			"redirect_uri": {"http://127.0.0.1:50000/in"}, "code_verifier": {nativeVerifier},
		}, "Content-Type", "text/plain").refusesCode("invalid_request")

		code, accepted := b.code(asking(nil)), 0
		for _, r := range testsite.InParallel(20, func(int) *reply { return s.exchange(code, nil) }) {
			if r.status == http.StatusOK {
				accepted++
			} else {
				r.refusesCode("invalid_grant")
			}
		}
		if accepted != 1 {
			t.Errorf("of 20 requests with one code %d were accepted", accepted)
		}
		early, late := b.code(asking(nil)), b.code(asking(nil))
		time.Sleep(59 * time.Second)
		s.bearerOf(early, nil)
		time.Sleep(2 * time.Second)
		s.exchange(late, nil).refusesCode("invalid_grant")
	})
}

// RPT-63: the page that asks cannot be answered by another site, or for another user.
func TestOnlyTheUserWhoWasAskedAgrees(t *testing.T) {
	s := newSite(t, withApplications)
	begin := func() (*browser, string, url.Values) {
		b := s.browser()
		b.arrivesBy("acme")
		page := b.asksForCode(asking(nil)).want(http.StatusOK)
		form := page.hidden()
		form.Set("answer", "yes")
		return b, page.action(), form
	}
	refused := func(t *testing.T, r *reply) {
		t.Helper()
		if r.status != http.StatusFound || strings.Contains(r.location(), "127.0.0.1") || strings.Contains(r.location(), "code=") {
			t.Errorf("status %d, sent to %s", r.status, r.location())
		}
	}
	t.Run("a page of another site", func(t *testing.T) {
		b, action, form := begin()
		refused(t, b.postForm(action, form, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"))
		refused(t, b.postForm(action, form, "Sec-Fetch-Site", "same-site", "Origin", "http://evil.localhost"))
		refused(t, b.postForm(action, form, "Origin", "https://evil.example"))
		form.Del("csrfToken")
		refused(t, b.postForm(action, form, ownPage...))
	})
	for name, change := range map[string]func(b *browser, form url.Values){
		"another user has signed in": func(b *browser, _ url.Values) {
			s.idp.SignInAs(authtest.DefaultPeople()[1])
			b.signOut()
			b.arrivesBy("acme")
		},
		"the user has signed out": func(b *browser, _ url.Values) { b.signOut() },
		"no mark":                 func(_ *browser, form url.Values) { form.Del("consent") },
		"another application":     func(_ *browser, form url.Values) { form.Set("client_id", "other") },
		"another port":            func(_ *browser, form url.Values) { form.Set("redirect_uri", "http://127.0.0.1:50001/in") },
		"another challenge":       func(_ *browser, form url.Values) { form.Set("code_challenge", challengeOf("x")) },
		"another state":           func(_ *browser, form url.Values) { form.Set("state", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			s.idp.SignInAs(authtest.DefaultPeople()[0])
			b, action, form := begin()
			if change(b, form); name != "no mark" {
				form.Set("csrfToken", b.csrf())
			}
			refused(t, b.postForm(action, form, ownPage...))
		})
	}
}

// RPX-100: the session of an application ends with what ends the sessions of its user, also
// while the code is on its way.
func TestACodeEndsWithTheSessionsOfItsUser(t *testing.T) {
	inTime := func(t *testing.T, test func(t *testing.T)) { t.Helper(); synctest.Test(t, test) }
	t.Run("the provider ends the session", func(t *testing.T) {
		inTime(t, func(t *testing.T) {
			s := newSite(t, endedBy(pintle.StrategyDatabase), withApplicationsToo)
			b := s.browser()
			b.arrivesBy("acme")
			token, onItsWay := s.bearerOf(b.code(asking(nil)), nil), b.code(asking(nil))
			s.loggedOutBy(ofSession("sid-1"))
			b.is("anonymous")
			if who := (application{s}).who(token); who != "anonymous" {
				t.Errorf("the session of the application is that of %s", who)
			}
			s.exchange(onItsWay, nil).refusesCode("invalid_grant")
		})
	})
	for name, end := range map[string]func(s *site, userID string) error{
		"all sessions end":    func(s *site, id string) error { return s.auth.SignOutEverywhere(context.Background(), id) },
		"the user is deleted": func(s *site, id string) error { return s.auth.DeleteUser(context.Background(), id) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, withApplications)
			b := s.browser()
			b.arrivesBy("acme")
			code := b.code(asking(nil))
			if err := end(s, b.held().User.ID); err != nil {
				t.Fatal(err)
			}
			s.exchange(code, nil).refusesCode("invalid_grant")
			if strings.Contains(s.log.String(), code) {
				t.Error("the log has the code")
			}
		})
	}
}

// RPX-100: what a session of the browser records is recorded for that of the application, so
// that a guard which asks for a recent sign-in, or for a second factor, is not passed by it.
func TestTheSessionOfAnApplicationIsAsOldAsThatOfTheBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, withApplications, recording)
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(10 * time.Minute)
		if _, _, err := b.confirms("otp"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		want := b.held().Authentication
		if len(want.Methods) == 0 || len(want.Proofs) == 0 || want.Started.Equal(want.Time) {
			t.Fatalf("the session of the browser records %+v", want)
		}
		if got := s.recordedFor(s.bearerOf(b.code(asking(nil)), nil)); !reflect.DeepEqual(got, want) {
			t.Errorf("the session of the application records %+v, want %+v", got, want)
		}
	})
	t.Run("in the table of Auth.js", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, withApplications, recording, func(s *site) { s.Store = unrecorded{s.Store} })
			b := s.browser()
			b.arrivesBy("acme")
			time.Sleep(10 * time.Minute)
			began := time.Now()
			token := s.bearerOf(b.code(asking(nil)), nil)
			row, _, err := s.Store.(unrecorded).Store.SessionAndUser(t.Context(), token)
			if err != nil || !row.Created.Equal(began) {
				t.Errorf("the session of the application began at %v (%v), want when the user consented: %v", row.Created, err, began)
			}
		})
	})
}

// unrecorded is a store whose table of sessions has no time of their beginning, and nothing about
// the sign-in.
type unrecorded struct{ pintle.Store }

func (s unrecorded) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	row, u, err := s.Store.SessionAndUser(ctx, token)
	if row != nil {
		row.Created, row.Data = time.Time{}, nil
	}
	return row, u, err
}

// recordedFor returns what the session of a token records.
func (s *site) recordedFor(token string) pintle.Authentication {
	s.t.Helper()
	req := httptest.NewRequest(http.MethodGet, s.url, nil)
	req.Header.Set("Authorization", "Bearer "+token)
	session, err := s.auth.Session(req)
	if err != nil || session == nil {
		s.t.Fatalf("the session is %v, %v", session, err)
	}
	return session.Authentication
}

// A code that is refused leaves nothing among the sessions of the user, and neither does one that
// comes after they have ended.
func TestACodeThatIsRefusedLeavesNoSession(t *testing.T) {
	s := newSite(t, withApplications)
	b := s.browser()
	b.arrivesBy("acme")
	id := b.held().User.ID
	rows := func() (n int) {
		for _, err := range s.Store.UserSessions(t.Context(), id) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	code := b.code(asking(nil))
	if n := rows(); n != 2 {
		t.Fatalf("beside the session of the browser there are %d rows, want that of the code", n-1)
	}
	s.exchange(code, map[string]string{"code_verifier": strings.Repeat("x", 43)}).refusesCode("invalid_grant")
	if n := rows(); n != 1 {
		t.Errorf("%d rows are left", n)
	}
	code = b.code(asking(nil))
	if err := s.auth.SignOutEverywhere(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	s.exchange(code, nil).refusesCode("invalid_grant")
	if n := rows(); n != 0 {
		t.Errorf("%d sessions go on", n)
	}
}

func TestACodeOfAnApplicationThatWasRemovedIsRefused(t *testing.T) {
	s := newSite(t, withApplications)
	b := s.browser()
	b.arrivesBy("acme")
	code := b.code(asking(nil))
	s.again(t, func(c *pintle.Config) { c.Native = c.Native[1:] })
	s.exchange(code, nil).refusesCode("invalid_grant")
}

// A failure of the store is not the fault of the application: it may try again with a new code.
func TestAnApplicationIsToldThatTheStoreFails(t *testing.T) {
	s := newSite(t, withApplications, func(s *site) { s.Store = &noCodes{Store: s.Store} })
	b := s.browser()
	b.arrivesBy("acme")
	code := b.code(asking(nil))
	s.Store.(*noCodes).broken = true
	r := s.exchange(code, nil)
	if r.want(http.StatusServiceUnavailable); r.body != `{"error":"server_error"}` {
		t.Errorf("the answer is %s", r.body)
	}
	r.isNotStored()
}

// A noCodes is a store that cannot use a verification up while it is broken.
type noCodes struct {
	pintle.Store
	broken bool
}

func (s *noCodes) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	if s.broken {
		return nil, errBroken
	}
	return s.Store.UseVerification(ctx, identifier, token)
}

// What has a code is kept by no cache, and the page of the application does not pass it on. The
// answer with the token sets no cookie, also where a browser would keep one for its sign-out.
func TestACodeIsInNoCacheAndNoReferrer(t *testing.T) {
	s := newSite(t, withApplications, func(s *site) { s.Providers[0].(*pintle.OAuth).EndSessionAtProvider = true })
	b := s.browser()
	b.arrivesBy("acme")
	page := b.asksForCode(asking(nil)).want(http.StatusOK)
	form := page.hidden()
	form.Set("answer", "yes")
	answer := b.postForm(page.action(), form, ownPage...).want(http.StatusFound)
	for what, r := range map[string]*reply{"the page": page, "the answer": answer} {
		if got := r.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("Cache-Control of %s is %q", what, got)
		}
	}
	if got := answer.header.Get("Referrer-Policy"); got != "no-referrer" {
		t.Errorf("Referrer-Policy is %q", got)
	}
	s.bearerOf(mustParse(t, answer.location()).Query().Get("code"), nil)
}

func TestMistakesInNativeAreReported(t *testing.T) {
	for want, change := range map[string]func(*pintle.Config){
		"AllowBearer":       func(c *pintle.Config) { c.Session.AllowBearer = false },
		"database sessions": func(c *pintle.Config) { c.Session.Strategy = pintle.StrategyJWT },
		"two applications":  func(c *pintle.Config) { c.Native = append(c.Native, c.Native[0]) },
		"RedirectURLs":      func(c *pintle.Config) { c.Native[0].RedirectURLs = nil },
	} {
		s := newSite(t, withApplications)
		change(&s.Config)
		if _, err := pintle.New(s.Config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// S-47
func TestASiteWithoutApplicationsHasNoRouteForThem(t *testing.T) {
	s := newSite(t)
	s.browser().asksForCode(asking(nil)).want(http.StatusBadRequest)
	s.exchange("x", nil).want(http.StatusBadRequest)
	s = newSite(t, withApplications)
	for _, path := range []string{"/auth/native", "/auth/native/", "/auth/native/other", "/auth/native/authorize/x"} {
		s.browser().get(path).want(http.StatusBadRequest)
	}
}
