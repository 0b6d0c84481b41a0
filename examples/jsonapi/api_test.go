package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
	"golang.org/x/oauth2"
)

func startAPI(t *testing.T) (address string, auth *pintle.Auth) {
	t.Helper()
	store := memstore.New()
	if _, err := store.CreateUser(t.Context(), &kim); err != nil {
		t.Fatal(err)
	}
	guard := &throttle.Guard{}
	passwords := newPasswords(store, guard)
	auth, err := pintle.New(config(store, passwords, authtest.Start(t, authtest.Options{AutoConsent: true})))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(newAPI(auth, passwords))
	t.Cleanup(srv.Close)
	return srv.URL, auth
}

func TestAnApplicationWithAPasswordGetsAToken(t *testing.T) {
	api, _ := startAPI(t)
	right := send(t, http.DefaultClient, "POST", api+"/session", `{"username":"kim","password":"open sesame"}`)
	token, _ := right.json["access_token"].(string)
	if right.status != http.StatusOK || token == "" || right.json["token_type"] != "Bearer" || right.header.Get("Set-Cookie") != "" || right.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the right password: %+v", right)
	}
	if days := right.json["expires_in"].(float64) / 24 / 3600; days < 29 || days > 30 {
		t.Errorf("the token is valid for %.1f days, want 30", days)
	}
	authorization := []string{"Authorization", "Bearer " + token}
	if got := send(t, http.DefaultClient, "GET", api+"/me", "", authorization...); got.json["id"] != "1" || got.json["name"] != "Kim" {
		t.Errorf("the token is that of %+v, want Kim", got)
	}
	if got := send(t, http.DefaultClient, "DELETE", api+"/session", "", authorization...); got.status != http.StatusNoContent {
		t.Errorf("signing out: %+v", got)
	}
	got := send(t, http.DefaultClient, "GET", api+"/me", "", authorization...)
	if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("the token after signing out: %+v", got)
	}

	for body, problem := range map[string]string{
		`{"username":"kim","password":"open barley"}`: "invalid_grant",
		`{}`:     "invalid_grant",
		`kim`:    "invalid_request",
		`["kim"`: "invalid_request",
		`{"username":"` + strings.Repeat("x", 1<<15) + `"}`: "invalid_request",
	} {
		if got := send(t, http.DefaultClient, "POST", api+"/session", body); got.status != http.StatusBadRequest || got.json["error"] != problem {
			t.Errorf("%.50s: %+v, want %s", body, got, problem)
		}
	}
}

// A form for passwords outside the sign-in page has to limit guesses, too.
func TestGuessesAreLimited(t *testing.T) {
	for name, tt := range map[string]struct {
		path, contentType string
		body              func(i int) string
		looked            int
	}{
		"SA-L17 of a password": {"/session", "application/json", func(i int) string {
			return fmt.Sprintf(`{"username":"kim","password":"guess %d"}`, i)
		}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			api, _ := startAPI(t)
			refused := 0
			for i := range tt.looked + 20 {
				got := send(t, http.DefaultClient, "POST", api+tt.path, tt.body(i), "Content-Type", tt.contentType)
				if got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") != "" {
					refused++
				}
			}
			if refused != 20 {
				t.Errorf("%d are rejected, want 20", refused)
			}
		})
	}
}

// An application of the same computer may share the browser's cookies.
func TestASignInOfAnApplicationLeavesTheBrowserAlone(t *testing.T) {
	api, auth := startAPI(t)
	ada := authtest.HTTPClient(t, auth, api, &pintle.User{Name: "Ada"})
	if got := send(t, ada, "POST", api+"/session", `{"username":"kim","password":"open sesame"}`); got.status != http.StatusOK {
		t.Fatalf("Kim signs in: %+v", got)
	}
	if got := send(t, ada, "GET", api+"/me", ""); got.json["name"] != "Ada" {
		t.Errorf("the browser gets %+v", got)
	}
}

// asking returns the authorization request of an application, with the changes.
func asking(changes map[string]string) url.Values {
	asked := url.Values{
		"client_id": {"desktop"}, "redirect_uri": {"http://127.0.0.1:50000/signed-in"}, "state": {"s"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier("a-verifier-that-only-the-application-knows-of")}, "code_challenge_method": {"S256"},
		"response_type": {"code"},
	}
	for name, value := range changes {
		asked.Set(name, value)
	}
	return asked
}

// An anonymous user signs in first, and returns to the page that asks.
func TestAnonymousUsersSignInBeforeThePageThatAsks(t *testing.T) {
	api, auth := startAPI(t)
	anonymous := authtest.HTTPClient(t, auth, api, nil)
	asked := api + "/auth/native/authorize?" + asking(nil).Encode()
	resp, err := anonymous.Get(asked)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := url.Parse(resp.Request.URL.Query().Get("callbackUrl"))
	if err != nil || resp.Request.URL.Path != "/auth/signin" || back.Path != "/auth/native/authorize" || back.Query().Encode() != asking(nil).Encode() {
		t.Errorf("an anonymous user is redirected to %s", resp.Request.URL)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(text), "/auth/callback/credentials") {
		t.Errorf("the sign-in page does not offer the providers: %v\n%s", err, text)
	}
}

func TestOnlyTheApplicationItselfIsAnswered(t *testing.T) {
	api, auth := startAPI(t)
	person := authtest.HTTPClient(t, auth, api, &pintle.User{ID: "1"})
	person.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, tt := range []struct {
		name    string
		changes map[string]string
		status  int
	}{
		{"an application on this computer", nil, http.StatusOK},
		{"a phone", map[string]string{"client_id": "phone", "redirect_uri": "https://app.example.com/signed-in"}, http.StatusOK},
		{"the address of another application", map[string]string{"redirect_uri": "https://app.example.com/signed-in"}, http.StatusBadRequest},
		{"an unknown application", map[string]string{"client_id": "evil"}, http.StatusBadRequest},
		{"another site", map[string]string{"redirect_uri": "https://evil.example/signed-in"}, http.StatusBadRequest},
		{"a name, which may be resolved elsewhere", map[string]string{"redirect_uri": "http://localhost:50000/signed-in"}, http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, person, "GET", api+"/auth/native/authorize?"+asking(tt.changes).Encode(), "", "Sec-Fetch-Mode", "navigate")
			if got.status != tt.status || got.header.Get("Location") != "" {
				t.Errorf("the page: %+v, want status %d", got, tt.status)
			}
		})
	}
}

// An answered is a response that was read.
type answered struct {
	status int
	header http.Header
	json   map[string]any
}

func send(t *testing.T, c *http.Client, method, address, body string, headers ...string) answered {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := answered{status: resp.StatusCode, header: resp.Header}
	if resp.Header.Get("Content-Type") == "application/json" {
		if err := json.NewDecoder(resp.Body).Decode(&got.json); err != nil {
			t.Fatal(err)
		}
	}
	return got
}
