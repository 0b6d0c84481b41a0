package frameworks_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

// The guide to tests shows this code: a session that has proofs opens a page that demands
// them, and one that has fewer does not.
func TestASessionWithProofsOpensAPageThatDemandsThem(t *testing.T) {
	store := memstore.New()
	accounts := account.New(account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }})
	auth, err := pintle.New(pintle.Config{
		URL: "http://localhost", Secrets: []string{"a secret of at least 32 characters"}, Store: store, Accounts: accounts,
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	app := auth.Load(accounts.Demand(account.Demand{Level: account.TwoFactors}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})))
	kim, err := store.CreateUser(t.Context(), &pintle.User{Email: "kim@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/keys", nil)
	proven := pintle.Authentication{Methods: []string{"pwd", "otp"}} // TwoFactors; "pwd" alone is OneFactor
	if _, _, err := auth.StartSession(w, r, kim, pintle.StartOptions{Authentication: proven}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	w = httptest.NewRecorder()
	app.ServeHTTP(w, r)
	if w.Code != http.StatusNoContent {
		t.Errorf("with two factors the page answers %d", w.Code)
	}
	w = httptest.NewRecorder()
	r = httptest.NewRequest(http.MethodGet, "http://localhost/keys", nil)
	proven = pintle.Authentication{Methods: []string{"pwd"}}
	if _, _, err := auth.StartSession(w, r, kim, pintle.StartOptions{Authentication: proven}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	w = httptest.NewRecorder()
	if app.ServeHTTP(w, r); w.Code == http.StatusNoContent {
		t.Error("with one factor the page opens")
	}
}
