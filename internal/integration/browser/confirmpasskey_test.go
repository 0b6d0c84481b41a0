package browser_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/store/memstore"
)

// addPasskey is the script of a page of the application on which a user adds a passkey.
const addPasskey = `<!doctype html><html lang="en"><title>Passkeys</title><button>Add</button><script>
document.querySelector("button").onclick = async () => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const { options } = await (await fetch("/auth/webauthn-options/passkey?action=register")).json();
  const made = await navigator.credentials.create({ publicKey: {
    ...options, challenge: bytes(options.challenge), user: { ...options.user, id: new TextEncoder().encode(options.user.id) }, excludeCredentials: [],
  } });
  const { csrfToken } = await (await fetch("/auth/csrf")).json();
  const data = JSON.stringify({ id: made.id, rawId: text(made.rawId), type: made.type, clientExtensionResults: {}, response: {
    attestationObject: text(made.response.attestationObject), clientDataJSON: text(made.response.clientDataJSON), transports: made.response.getTransports(),
  } });
  await fetch("/auth/callback/passkey", { method: "POST", body: new URLSearchParams({ csrfToken, action: "register", data, callbackUrl: "/" }) });
  location = "/added";
};
</script>`

// newVault starts an application with passkeys and a page that demands the strongest proof.
// Its user has signed in an hour ago, by a mail, when the page /begin was opened.
func newVault(t *testing.T) (address string, store pintle.Store) {
	t.Helper()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	address = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) // passkeys belong to a name
	store = memstore.New()
	accounts := account.New(account.Options{Mail: (&accountSite{}).keepMail})
	auth, err := pintle.New(pintle.Config{
		URL: address, Secrets: []string{"a secret of at least 32 characters"}, Store: store, Accounts: accounts,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Providers: []pintle.Provider{passkey.New(passkey.Options{})}, ExperimentalPasskeys: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	mary, err := store.CreateUser(t.Context(), &pintle.User{Email: marysAddress, EmailVerified: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(ago time.Duration, page string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			how := pintle.Authentication{Time: time.Now().Add(-ago), Methods: []string{"mail"}}
			if _, _, err := auth.StartSession(w, r, mary, pintle.StartOptions{Authentication: how}); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, page)
		}
	}
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/begin", begin(0, addPasskey))
	mux.HandleFunc("/later", begin(time.Hour, "It is an hour later"))
	mux.HandleFunc("/added", func(w http.ResponseWriter, _ *http.Request) { writePage(w, "There is a passkey") })
	mux.Handle("/vault", accounts.Demand(account.Demand{MaxAge: 10 * time.Minute, Strongest: true}, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			writePage(w, "The vault, drawer "+r.URL.Query().Get("drawer"))
		})))
	return address, store
}

// A user without a password confirms with a passkey: by the script that the page has, under its policy.
func TestAUserConfirmsWithAPasskey(t *testing.T) {
	address, store := newVault(t)
	v := newBrowserUser(t).withPasskeys()
	v.open(address + "/begin")
	v.do("add a passkey", chromedp.Click(`//button`))
	v.comesTo("/added")
	mary, err := store.UserByEmail(t.Context(), marysAddress)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := store.UserPasskeys(t.Context(), mary.ID); err != nil || len(keys) != 1 {
		t.Fatalf("the user has %d passkeys, %v", len(keys), err)
	}
	v.open(address + "/later")
	v.open(address + "/vault?drawer=3")
	v.comes("/auth/account/confirm", "Confirm that it is you", "Use a passkey")
	v.do("press the button", chromedp.Click(`form[data-passkey-options] button`))
	v.comesTo("/vault")
	v.sees("The vault, drawer 3")

	// Another browser of hers runs no scripts.
	w := newBrowserUser(t).withoutScripts()
	w.open(address + "/later")
	w.open(address + "/vault")
	w.comes("/auth/account/confirm", "Passkeys need JavaScript")
}
