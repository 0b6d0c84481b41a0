package account_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

// A site is an application with accounts.
type site struct {
	t      *testing.T
	server *httptest.Server
	auth   *pintle.Auth
	store  pintle.Store

	mu    sync.Mutex
	mails []*pintle.Message
}

func newSite(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) *site {
	t.Helper()
	s := &site{t: t, store: memstore.New()}
	mux := http.NewServeMux()
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	cfg := pintle.Config{
		Store: s.store, URL: s.server.URL, Secrets: []string{strings.Repeat("secret ", 6)},
		Getenv: func(string) string { return "" },
	}
	if tokens {
		cfg.Session.Strategy, cfg.Session.Revocation = pintle.StrategyJWT, &memstore.Revocations{}
	}
	o := account.Options{From: "no-reply@example.com", Mail: func(_ context.Context, m *pintle.Message) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mails = append(s.mails, m)
		return nil
	}}
	for _, change := range changes {
		change(&cfg, &o)
	}
	cfg.Accounts = account.New(o)
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session := pintle.SessionFrom(r.Context()); session != nil {
			_, _ = w.Write([]byte(session.User.Email))
		}
	})))
	return s
}

// A browser keeps cookies and follows redirects.
type browser struct {
	*site
	client *http.Client
	page   string // the last page
	status int
}

func (s *site) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{site: s, client: &http.Client{Jar: jar}}
}

func (b *browser) get(path string) *browser {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) do(method, path string, form url.Values) *browser {
	b.t.Helper()
	target := path
	if strings.HasPrefix(path, "/") {
		target = b.server.URL + path
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.server.URL)
	}
	r.Header.Set("Accept", "text/html")
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if _, err := copyTo(&text, resp.Body); err != nil {
		b.t.Fatal(err)
	}
	b.page, b.status = text.String(), resp.StatusCode
	return b
}

var formToken = regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)

// post fills in the form of the last page.
func (b *browser) post(path string, pairs ...string) *browser {
	b.t.Helper()
	token := formToken.FindStringSubmatch(b.page)
	if token == nil {
		b.t.Fatalf("the page has no form: %s", b.page)
	}
	form := url.Values{"csrfToken": {token[1]}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

func (s *site) lastMail() *pintle.Message {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mails) == 0 {
		s.t.Fatal("no mail was sent")
	}
	return s.mails[len(s.mails)-1]
}

var mailedCode = regexp.MustCompile(`\b\d{4} \d{4}\b`)
