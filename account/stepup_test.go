package account_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/pages"
)

const tenMinutes = 10 * time.Minute

// startSession gives the browser a session of a user who has proven something some time
// ago.
func (b *browser) startSession(u *pintle.User, ago time.Duration, methods ...string) *browser {
	b.t.Helper()
	return b.startSessionAt(u, time.Now().Add(-ago), methods...)
}

// startSessionAt is startSession for a time.
func (b *browser) startSessionAt(u *pintle.User, at time.Time, methods ...string) *browser {
	b.t.Helper()
	return b.startSessionBy(b.auth, u, pintle.Authentication{Time: at, Methods: methods})
}

// startSessionBy gives the browser a session that auth starts.
func (b *browser) startSessionBy(auth *pintle.Auth, u *pintle.User, how pintle.Authentication) *browser {
	b.t.Helper()
	w := httptest.NewRecorder()
	_, _, err := auth.StartSession(w, b.request(http.MethodGet, "/", nil), u, pintle.StartOptions{Authentication: how})
	if err != nil {
		b.t.Fatal(err)
	}
	here, err := url.Parse(b.server.URL)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(here, w.Result().Cookies())
	return b
}

// demand puts a page on the site that demands something. It answers with "done" and
// counts its requests.
func (s *site) demand(path string, d account.Demand) *int {
	calls := new(int)
	s.mux.Handle(path, s.accounts.Demand(d, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		_, _ = io.WriteString(w, "done "+r.Method+" "+r.URL.RawQuery)
	})))
	return calls
}

// script sends a request as a script does, with JSON if body is not empty.
func (b *browser) script(method, path, body string) *browser {
	b.t.Helper()
	r := b.request(method, path, strings.NewReader(body))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return b.send(r)
}

// AC-143, AC-149
func TestAPageThatDemandsAFreshProofAsksForItAndComesBack(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd")
		b.get("/danger?x=1").isAt("/auth/account/confirm").says(`type="password"`)
		if *calls != 0 {
			t.Fatal("the page was reached without a fresh proof")
		}
		b.post("/auth/account/confirm", b.fields("password", goodPassword)...).isAt("/danger").says("done GET x=1")
		b.isSignedInAs("ada@example.com").get("/danger").says("done")
	})
}

// fields are the hidden fields of the form on the last page, and more.
func (b *browser) fields(more ...string) []string {
	b.t.Helper()
	pairs := []string{}
	for _, found := range hiddenField.FindAllStringSubmatch(b.page, -1) {
		if found[1] != "csrfToken" {
			pairs = append(pairs, found[1], unescaped.Replace(found[2]))
		}
	}
	return append(pairs, more...)
}

var (
	hiddenField = regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`)
	unescaped   = strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`, "&#39;", "'")
)

// AT-77, AC-144
func TestAFormToAPageThatDemandsAFreshProofDoesNothing(t *testing.T) {
	s := newSite(t, false)
	calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes, Level: account.TwoFactors})
	b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd")
	for referer, back := range map[string]string{
		s.server.URL + "/settings?tab=2": "/settings?tab=2",
		"":                               "/",
		"https://evil.example/settings":  "/",
		"://":                            "/",
		s.server.URL + "//evil.example":  "/",
	} {
		r := b.request(http.MethodPost, "/danger?y=2", strings.NewReader("secret=hunter2-of-ada"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Referer", referer)
		b.send(r).want(http.StatusForbidden).says("Nothing was done")
		if want := `callbackUrl=` + url.QueryEscape(back) + `&amp;max_age`; !strings.Contains(b.page, want) {
			t.Errorf("Referer %q: the page does not lead back to %s: %s", referer, back, b.page)
		}
		if got, want := b.header.Get("Pintle-Step-Up"), `{"acr":"mfa","max_age":600}`; got != want {
			t.Errorf("Pintle-Step-Up is %q, want %q", got, want)
		}
	}
	if *calls != 0 {
		t.Error("the handler was called")
	}
	if strings.Contains(s.log(), "hunter2") || strings.Contains(b.page, "hunter2") {
		t.Error("what was sent is in the log or on the page")
	}
}

// On a site in several languages the answer is in one of them.
func TestAnAnswerOfADemandVariesWithTheLanguage(t *testing.T) {
	for want, languages := range map[string][]pages.Texts{"Cookie, Accept": nil, "Cookie, Accept, Accept-Language": {{Lang: "de"}}} {
		s := newSite(t, true, func(c *pintle.Config, _ *account.Options) { c.Languages = languages })
		s.demand("/api", account.Demand{MaxAge: tenMinutes})
		b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd")
		b.script(http.MethodGet, "/api", "").want(http.StatusUnauthorized)
		if got := strings.Join(b.header.Values("Vary"), ", "); got != want {
			t.Errorf("Vary is %q, want %q", got, want)
		}
	}
}

// AC-145
func TestAScriptGetsTheChallengeOfRFC9470(t *testing.T) {
	s := newSite(t, true)
	s.demand("/api", account.Demand{MaxAge: tenMinutes, Level: account.TwoFactors})
	s.demand("/ever", account.Demand{Level: account.PhishingResistant})
	b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Minute, "pwd")
	const described = `Bearer error="insufficient_user_authentication", error_description="The user has to confirm that it is them", `
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		answer := b.script(method, "/api?z=1", "").want(http.StatusUnauthorized).json()
		if got, want := b.header.Get("WWW-Authenticate"), described+`acr_values="mfa phr", max_age="600"`; got != want {
			t.Errorf("%s: WWW-Authenticate is %q, want %q", method, got, want)
		}
		if answer["error"] != "insufficient_user_authentication" || answer["acr_values"] != "mfa phr" || answer["max_age"] != 600.0 {
			t.Errorf("%s: the answer is %v", method, answer)
		}
		to, err := url.Parse(answer["url"].(string))
		if err != nil || to.Path != "/auth/account/confirm" || to.Query().Get("callbackUrl") != "/" {
			t.Errorf("%s: the answer leads to %v", method, answer["url"])
		}
		if b.header.Get("Cache-Control") != "private, no-cache, no-store" || !strings.Contains(b.header.Get("Vary"), "Cookie") {
			t.Errorf("%s: the headers are %v", method, b.header)
		}
	}
	answer := b.script(http.MethodGet, "/ever", "").json()
	if got, want := b.header.Get("WWW-Authenticate"), described+`acr_values="phr"`; got != want {
		t.Errorf("without a time WWW-Authenticate is %q, want %q", got, want)
	}
	if _, said := answer["max_age"]; said {
		t.Errorf("without a time the answer has %v", answer["max_age"])
	}
	// A client that asks for nothing in particular is not a browser that loads a page.
	if b.send(b.request(http.MethodGet, "/api", nil)).status != http.StatusUnauthorized {
		t.Errorf("a request without Accept was answered with %d", b.status)
	}
}

// AC-142
func TestADemandOfASignedOutRequestIsAnsweredByRequire(t *testing.T) {
	s := newSite(t, false)
	calls := s.demand("/danger", account.Demand{})
	b := s.browser()
	b.get("/danger").isAt("/auth/signin")
	b.script(http.MethodGet, "/danger", "").want(http.StatusUnauthorized)
	b.post("/danger").want(http.StatusUnauthorized)
	if *calls != 0 {
		t.Error("the handler was called")
	}
}

// AC-141
func TestAFormMayBeSentTenMinutesLater(t *testing.T) {
	s := newSite(t, false)
	s.demand("/danger", account.Demand{MaxAge: tenMinutes})
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser().startSession(u, 15*time.Minute, "pwd").stay()
	if b.get("/danger").want(http.StatusSeeOther); b.header.Get("Location") == "" {
		t.Error("the page leads nowhere")
	}
	b.post("/danger").want(http.StatusOK).says("done POST")
	s.browser().startSession(u, 21*time.Minute, "pwd").post("/danger").want(http.StatusForbidden)
}

// AT-78, AC-212: sessions that Auth.js has begun record no proofs.
func TestASessionWithoutFactsMeetsNoDemand(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		calls := s.demand("/danger", account.Demand{})
		b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), 0)
		b.get("/danger").isAt("/auth/account/confirm")
		if *calls != 0 {
			t.Error("a session without proofs reached the page")
		}
		b.post("/auth/account/confirm", b.fields("password", goodPassword)...).says("done")
	})
}

// AC-142
func TestServerCodeAsksWhetherADemandIsMet(t *testing.T) {
	s := newSite(t, false)
	var err error
	s.mux.HandleFunc("/ask", func(w http.ResponseWriter, r *http.Request) {
		err = s.accounts.Meets(r, account.Demand{MaxAge: tenMinutes})
		if stepUp, ok := errors.AsType[*account.StepUpError](err); ok {
			stepUp.ServeHTTP(w, r)
		}
	})
	b := s.browser()
	b.get("/ask")
	if !errors.Is(err, pintle.CodeAccessDenied) {
		t.Errorf("without a session the error is %v", err)
	}
	u := s.seed("ada@example.com", goodPassword, true)
	b.startSession(u, time.Minute, "pwd").get("/ask")
	if err != nil {
		t.Errorf("a fresh proof does not do: %v", err)
	}
	b.startSession(u, time.Hour, "pwd").get("/ask").isAt("/auth/account/confirm")
	var stepUp *account.StepUpError
	if !errors.As(err, &stepUp) || stepUp.Level != account.OneFactor || stepUp.MaxAge != tenMinutes || !strings.Contains(err.Error(), "/auth/account/confirm") {
		t.Errorf("the error is %v", err)
	}
	for _, impossible := range []account.Demand{{MaxAge: -1}, {Level: -1}, {Level: 4}} {
		if err := s.accounts.Meets(b.request(http.MethodGet, "/", nil), impossible); err == nil || !strings.Contains(err.Error(), "account: Demand.") {
			t.Errorf("%+v is no error: %v", impossible, err)
		}
	}
}

func TestAnImpossibleDemandPanicsWhenItIsMade(t *testing.T) {
	for _, d := range []account.Demand{{MaxAge: -time.Second}, {Level: 4}, {Level: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was accepted", d)
				}
			}()
			account.New(account.Options{}).Demand(d, http.NotFoundHandler())
		}()
	}
}

func TestADemandBeforeNewAnswersWithAFault(t *testing.T) {
	a := account.New(account.Options{})
	w := httptest.NewRecorder()
	a.Demand(account.Demand{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the page was reached") })).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("the status is %d", w.Code)
	}
	if a.Meets(httptest.NewRequest(http.MethodGet, "/", nil), account.Demand{}) == nil {
		t.Error("Meets met a demand")
	}
}
