package userimport_test

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/userimport"
)

var secrets = []string{strings.Repeat("secret ", 6)}

// hasher has the projects and peppers of the fixtures, and cheap hashes.
func hasher() *password.Hasher {
	return &password.Hasher{
		Memory: 64, Passes: 1, Firebase: []password.Firebase{firebaseProject()}, Devise: []password.Devise{deviseApp()},
	}
}

// firebaseProject has the parameters of https://github.com/firebase/scrypt.
func firebaseProject() password.Firebase {
	return password.Firebase{
		SignerKey:     "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
		SaltSeparator: "Bw==", Rounds: 8, MemoryCost: 14,
	}
}

func deviseApp() password.Devise { return password.Devise{Pepper: strings.Repeat("b3d2a9", 21) + "b3"} }

// newSite starts an application with the users of a store.
func newSite(t *testing.T, store pintle.Store) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	o := account.Options{From: "no-reply@example.com", Mail: func(context.Context, *pintle.Message) error { return nil }}
	o.Passwords.Hasher = hasher()
	auth, err := pintle.New(pintle.Config{
		Store: store, URL: server.URL, Secrets: secrets, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Accounts: account.New(o),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	return server
}

// A browser has the cookies of a site.
type browser struct {
	t      *testing.T
	site   string
	client *http.Client
}

func newBrowser(t *testing.T, site *httptest.Server) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, site.URL, &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *browser) get(path string, answer any) {
	b.t.Helper()
	resp, err := b.client.Get(b.site + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		b.t.Fatal(path, err)
	}
}

// post sends a form. It returns the address of the session's user, or "", and where the
// browser is sent.
func (b *browser) post(path string, fields url.Values) (who, at string) {
	b.t.Helper()
	var form struct{ CSRFToken string }
	b.get("/auth/csrf", &form)
	fields.Set("csrfToken", form.CSRFToken)
	resp, err := b.client.PostForm(b.site+path, fields)
	if err != nil {
		b.t.Fatal(err)
	}
	resp.Body.Close()
	location, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		b.t.Fatal(err)
	}
	var session struct {
		User struct{ Email string }
	}
	b.get("/auth/session", &session)
	return session.User.Email, location.Path + "?" + location.RawQuery
}

func (b *browser) signIn(email, entered string) (who, at string) {
	b.t.Helper()
	return b.post("/auth/callback/credentials", url.Values{"email": {email}, "password": {entered}})
}

// signIn signs in with a password, in a new browser.
func signIn(t *testing.T, site *httptest.Server, email, entered string) (who, at string) {
	t.Helper()
	return newBrowser(t, site).signIn(email, entered)
}

// fixture opens a file of testdata.
func fixture(t testing.TB, name string) *os.File {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// importAll imports a source and returns what became of its users.
func importAll(t *testing.T, store pintle.Store, users iter.Seq2[*userimport.User, error], o userimport.Options) (userimport.Result, []userimport.Outcome) {
	t.Helper()
	if o.Secrets == nil {
		o.Secrets = secrets
	}
	var outcomes []userimport.Outcome
	o.Report = func(outcome userimport.Outcome) { outcomes = append(outcomes, outcome) }
	result, err := userimport.Import(t.Context(), store, users, o)
	if err != nil {
		t.Fatal(err)
	}
	return result, outcomes
}

// userAt returns the user of an address with the state and the factors by their kinds.
func userAt(t *testing.T, store pintle.Store, email string) (*pintle.User, *accountstore.State, map[string]*accountstore.Factor) {
	t.Helper()
	u, err := store.UserByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(email, err)
	}
	state, err := store.AccountStore().State(t.Context(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.AccountStore().Factors(t.Context(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	factors := map[string]*accountstore.Factor{}
	for _, f := range list {
		if factors[f.Kind] != nil {
			t.Errorf("%s has two factors of the kind %s", email, f.Kind)
		}
		factors[f.Kind] = f
	}
	return u, state, factors
}
