package pintle_test

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/testsite"
)

const (
	clientSecret = "the client secret & more"
	typed        = "a password that a user typed"
)

// A wiretap remembers every secret that goes by: the values of cookies, what
// providers and the application tell each other, links in mails.
type wiretap struct {
	mu      sync.Mutex
	secrets map[string]string // to what they are
}

func (w *wiretap) heard(what string, values ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, value := range values {
		if len(value) >= 8 { // shorter ones are no secrets, and in every text
			w.secrets[value] = what
		}
	}
}

// on listens on every wire of a site's network.
func (w *wiretap) on(s *site) {
	for host, handler := range s.net {
		s.net[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.request(r)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			w.answer(answer)
			maps.Copy(rw.Header(), answer.Header())
			rw.WriteHeader(answer.Code)
			_, _ = rw.Write(answer.Body.Bytes())
		})
	}
}

// telling are the parameters and members that must stay secret.
var telling = []string{
	"code", "state", "nonce", "code_verifier", "access_token", "refresh_token", "id_token", "token", "client_secret",
	"client_assertion", "csrfToken", "password", "oauth_token", "oauth_token_secret", "oauth_verifier",
}

func (w *wiretap) request(r *http.Request) {
	for _, c := range r.Cookies() {
		w.cookie(c)
	}
	for name := range strings.SplitSeq(r.Header.Get("Authorization"), " ") {
		w.heard("Authorization", name)
		if decoded, err := base64.StdEncoding.DecodeString(name); err == nil {
			w.heard("Authorization, decoded", string(decoded))
		}
	}
	w.parameters(r.URL.Query())
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		if form, err := url.ParseQuery(sent(r)); err == nil {
			w.parameters(form)
		}
	}
}

func (w *wiretap) answer(r *httptest.ResponseRecorder) {
	for _, c := range r.Result().Cookies() {
		w.cookie(c)
	}
	if to, err := url.Parse(r.Header().Get("Location")); err == nil {
		w.parameters(to.Query())
	}
	text := r.Body.String()
	for _, name := range telling {
		for _, part := range strings.Split(text, `"`+name+`":"`)[1:] {
			value, _, _ := strings.Cut(part, `"`)
			w.heard(name, value)
		}
	}
}

func (w *wiretap) parameters(values url.Values) {
	for _, name := range telling {
		for _, value := range values[name] {
			if name == "code" && value == "credentials" {
				continue
			}
			w.heard(name, value, url.QueryEscape(value))
		}
	}
}

// cookie hears what a cookie holds. Where to go is no secret.
func (w *wiretap) cookie(c *http.Cookie) {
	if c.Name == callbackURLCookie {
		return
	}
	value, err := url.QueryUnescape(c.Value)
	if err != nil {
		value = c.Value
	}
	w.heard("cookie "+c.Name, c.Value, value)
	if token, _, ok := strings.Cut(value, "|"); ok {
		w.heard("form token", token)
	}
}

// wantSilence fails the test if text repeats a secret.
func (w *wiretap) wantSilence(t *testing.T, where, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for secret, what := range w.secrets {
		if strings.Contains(text, secret) {
			at := strings.Index(text, secret)
			t.Errorf("SH-13 ASVS-16.2.5 %s repeats the %s: …%s…", where, what, text[max(0, at-200):min(len(text), at+len(secret)+20)])
		}
	}
}

// sent is the body of a request, which the handler is still to read.
func sent(r *http.Request) string {
	if r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	text, _ := io.ReadAll(body) // it is in memory
	return string(text)
}

// talkative is a site with every kind of provider and flow that reports all it
// can, and the wiretap on it.
func talkative(t *testing.T, strategy pintle.SessionStrategy) (*site, *recordingTxStore, *wiretap) {
	t.Helper()
	tap := &wiretap{secrets: map[string]string{secret: "secret of the application", clientSecret: "client secret", typed: "password"}}
	s, k := fullSite(t, strategy, func(s *site) {
		for _, id := range []string{"acme", "hub", "old"} {
			s.idp.Register(authtest.Client{ID: id, Secret: clientSecret, RedirectURIs: []string{s.url + "/auth/callback/" + id}})
		}
		acme := s.idp.OIDC("acme")
		acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		s.Providers[0] = acme
		s.Providers = append(s.Providers, s.idp.OAuth2("hub"), s.idp.OAuth1("old"))
		tap.on(s)
	})
	_, host, _ := strings.Cut(s.url, "://")
	own := testsite.Network{host: s.net[host]}
	tap.on(&site{net: own})
	s.net[host] = own[host]
	return s, k, tap
}

// everything goes through all flows of a site, for good and for bad, whatever
// comes of it.
func everything(s *site, tap *wiretap) {
	b := s.browser()
	visit := func(target string) *reply {
		r := b.get(target)
		for range 4 { // as browsers do
			if r.location() == "" {
				return r
			}
			r = b.get(r.location())
		}
		return r
	}
	for _, provider := range []string{"acme", "hub", "old"} {
		r := b.post("/auth/signin/" + provider)
		if to := r.location(); to != "" {
			visit(to)
		}
		b.session()
		b.get("/")
		b.post("/auth/signout")
	}
	b.askForMail("linus@example.com")
	if s.mailsSent() > 0 {
		m := s.lastMail()
		tap.heard("mail link", m.URL, m.Token, m.Text)
		visit(m.URL)
		visit(m.URL)
		visit(strings.Replace(m.URL, "linus", "mallory", 1))
	}
	b.askForMail("not an address")
	b.post("/auth/callback/credentials", "username", "ada", "password", typed)
	b.post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password)
	b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": map[string]any{"note": typed}})
	b.plant(sessionCookie, b.cookie(sessionCookie)+"x")
	b.session()
	b.get("/")
	b.post("/auth/signout")
	b.get("/auth/callback/acme?code=" + url.QueryEscape("a code that was stolen") + "&state=" + url.QueryEscape("a state that was stolen"))
	b.get("/auth/nowhere?token=" + url.QueryEscape("a token gone astray"))
	b.postForm("/auth/signin/acme", url.Values{"csrfToken": {"a form token that was stolen"}})
}

// No log holds a secret, at any level, whatever goes right or wrong: SH-13,
// SH-84, W-44.
func TestNoLogHoldsASecret(t *testing.T) {
	t.Run("when all goes well", func(t *testing.T) {
		for _, strategy := range strategies {
			s, _, tap := talkative(t, strategy)
			everything(s, tap)
			if len(tap.secrets) < 50 {
				t.Errorf("the tap heard only %d secrets", len(tap.secrets))
			}
			tap.wantSilence(t, "the log", s.log.String())
			if !strings.Contains(s.log.String(), `"level":"DEBUG"`) {
				t.Error("the log is not at its most talkative")
			}
		}
	})
	t.Run("when the provider misbehaves", func(t *testing.T) {
		for _, fault := range authtest.Faults() {
			s, _, tap := talkative(t, pintle.StrategyJWT)
			s.idp.Break(fault)
			everything(s, tap)
			tap.wantSilence(t, "the log of a provider that "+string(fault), s.log.String())
		}
	})
	t.Run("when the store fails", func(t *testing.T) {
		for _, operation := range []string{
			"getUserByAccount", "getUserByEmail", "getUser", "begin", "commit", "createUser", "linkAccount", "createSession",
			"getSessionAndUser", "deleteSession", "createVerificationToken", "useVerificationToken",
		} {
			s, k, tap := talkative(t, pintle.StrategyDatabase)
			k.fail(operation)
			everything(s, tap)
			tap.wantSilence(t, "the log of a store that fails at "+operation, s.log.String())
		}
	})
}

// Errors that server code gets may end in its log, too.
func TestNoErrorHoldsASecret(t *testing.T) {
	s, k, tap := talkative(t, pintle.StrategyJWT)
	signIn := func(provider string, fields map[string]any) error {
		r := httptest.NewRequest(http.MethodPost, s.url+"/login", nil)
		_, err := s.auth.SignIn(httptest.NewRecorder(), r, provider, pintle.SignInOptions{Fields: fields})
		return err
	}
	k.fail("createVerificationToken", "getUserByEmail")
	for _, err := range []error{
		signIn("credentials", map[string]any{"username": "ada", "password": typed}),
		signIn("email", map[string]any{"email": "ada@example.com"}),
		signIn("email", map[string]any{"email": typed}),
	} {
		if err == nil {
			t.Fatal("nothing failed")
		}
		tap.wantSilence(t, "the error", err.Error())
	}
	r := httptest.NewRequest(http.MethodGet, s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+typed)
	_, _ = s.auth.Session(r)
	tap.wantSilence(t, "the log", s.log.String())
}
