package authtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

func TestTheStorageStateIsWhatPlaywrightWrites(t *testing.T) {
	cfg := configs()["tokens"]
	auth := newAuth(t, cfg)
	cfg.Cookies.SessionToken = pintle.Cookie{Domain: "localhost", SameSite: http.SameSiteStrictMode}
	shared := newAuth(t, cfg)
	for address, prefix := range map[string]string{"http://localhost:3000": "", "https://localhost": "__Secure-"} {
		text := authtest.StorageState(t, auth, address, &pintle.User{Name: "Kim"})
		var state struct {
			Cookies []map[string]any
			Origins []any
		}
		if err := json.Unmarshal(text, &state); err != nil {
			t.Fatal(err)
		}
		if state.Origins == nil || len(state.Origins) != 0 || len(state.Cookies) != 1 {
			t.Fatalf("the state is %s", text)
		}
		found := map[string]map[string]any{}
		for _, c := range state.Cookies {
			found[fmt.Sprint(c["name"])] = c
		}
		session := found[prefix+"authjs.session-token"]
		ends, _ := session["expires"].(float64)
		if left := time.Until(time.Unix(int64(ends), 0)); left < 29*24*time.Hour || left > 30*24*time.Hour {
			t.Errorf("the session ends in %s", left)
		}
		if session["domain"] != "localhost" || session["path"] != "/" || session["httpOnly"] != true || session["sameSite"] != "Lax" ||
			session["secure"] != (prefix != "") || session["value"] == "" {
			t.Errorf("the session's cookie is %v", session)
		}
	}
	text := authtest.StorageState(t, shared, "http://localhost:3000", &pintle.User{Name: "Kim"})
	for _, want := range []string{`"domain": ".localhost"`, `"sameSite": "Strict"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("of a cookie for a domain the state lacks %s: %s", want, text)
		}
	}
	var j judge
	if text := authtest.StorageState(&j, auth, "localhost", &pintle.User{}); text != nil || !strings.Contains(j.verdict, "must be absolute") {
		t.Errorf("without an address: %q, %s", j.verdict, text)
	}
}

// Playwright's tests start signed in.
func ExampleStorageState() {
	var t testing.TB = example{} // the test's own

	auth, err := pintle.New(configs()["tokens"]) // the application's own
	if err != nil {
		panic(err)
	}
	state := authtest.StorageState(t, auth, "http://localhost:3000", &pintle.User{Name: "Kim"})
	// Write it to a file that playwright.config.js names as storageState.
	fmt.Println(json.Valid(state))
	// Output: true
}
