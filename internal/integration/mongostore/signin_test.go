package mongostore_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// site starts an application whose sessions are in db.
func site(t *testing.T, db *services.Mongo) string {
	t.Helper()
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "kim@example.org", EmailVerified: true})
	auth, err := pintle.New(pintle.Config{
		Store:     open(t, db),
		Providers: []pintle.Provider{idp.OIDC("acme")},
		Secrets:   []string{"a secret of at least 32 characters"},
		Session:   pintle.SessionConfig{UpdateAge: -1},
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

func newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 20 * time.Second}
}

// signedIn returns the response of the session route.
type signedIn struct {
	User    struct{ Name, Email string }
	Expires time.Time
}

func (s *signedIn) ask(t *testing.T, browser *http.Client, url string) {
	t.Helper()
	resp, err := browser.Get(url + "/auth/session")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(s); err != nil {
		t.Fatal(err)
	}
}

// token is that of the browser's session.
func token(t *testing.T, browser *http.Client, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range browser.Jar.Cookies(request.URL) {
		if strings.HasSuffix(c.Name, "session-token") {
			return c.Value
		}
	}
	t.Fatal("the browser has no session")
	return ""
}

func TestASessionOfPintleIsValidInAuthJS(t *testing.T) {
	db := services.MongoDatabase(t)
	url, node, browser := site(t, db), newAdapter(t, db), newBrowser(t)
	authtest.SignInWith(t, browser, url+"/auth", "acme").Body.Close()
	var before, after signedIn
	before.ask(t, browser, url)
	if before.User.Name != "Kim" {
		t.Fatalf("the session is %+v, want Kim's", before)
	}

	held := token(t, browser, url)
	there := node.call(t, "getSessionAndUser", held).(object)
	if u := there["user"].(object); u["email"] != "kim@example.org" {
		t.Errorf("the adapter finds %v", u)
	}
	later := time.Now().Add(400 * 24 * time.Hour).UTC().Truncate(time.Millisecond)
	node.call(t, "updateSession", object{"sessionToken": held, "expires": date(later)})
	after.ask(t, browser, url)
	if !after.Expires.Equal(later) {
		t.Errorf("the session ends at %v, want %v of the adapter", after.Expires, later)
	}
	node.call(t, "deleteSession", held)
	after = signedIn{}
	after.ask(t, browser, url)
	if after.User.Name != "" {
		t.Errorf("after the adapter ended the session it is %+v", after)
	}
}

// One new person in many browsers. Without transactions some sign-ins may find the
// user but not yet the account, and fail because the address is taken. There is one
// user all the same, and a second attempt signs in.
func TestManyFirstSignInsOfOnePersonMakeOneUser(t *testing.T) {
	db := services.MongoDatabase(t)
	url := site(t, db)
	var all sync.WaitGroup
	browsers := make([]*http.Client, 16)
	for i := range browsers {
		browsers[i] = newBrowser(t)
		all.Go(func() {
			if resp := authtest.SignInWith(t, browsers[i], url+"/auth", "acme"); resp != nil {
				resp.Body.Close()
			}
		})
	}
	all.Wait()
	in := 0
	for _, again := range []bool{false, true} {
		in = 0
		for _, browser := range browsers {
			var s signedIn
			if s.ask(t, browser, url); again && s.User.Name == "" {
				authtest.SignInWith(t, browser, url+"/auth", "acme").Body.Close()
				s.ask(t, browser, url)
			}
			if s.User.Name == "Kim" {
				in++
			}
		}
		for collection, want := range map[string]int64{"users": 1, "accounts": 1, "sessions": int64(in)} {
			n, err := db.Collection(collection).CountDocuments(t.Context(), bson.D{})
			if err != nil {
				t.Fatal(err)
			}
			if n != want {
				t.Errorf("there are %d %s, want %d", n, collection, want)
			}
		}
		if in == 0 {
			t.Error("no browser is signed in")
		}
	}
	if in != len(browsers) {
		t.Errorf("%d of %d browsers are signed in after a second try", in, len(browsers))
	}
}
