package clients_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	hashes "github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
)

// newAccountsSite serves the built pages beside Pintle with the accounts of package account.
// Mary has a password there, and an account of the identity provider. While the site is down,
// the form token cannot be requested.
func newAccountsSite(t *testing.T, pages, sessions string, further ...pintle.Provider) *site {
	t.Helper()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s := &site{url: strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), idp: authtest.Start(t, authtest.Options{AutoConsent: true})}
	s.idp.SignInAs(authtest.Person{Subject: "42", Name: "Mary Anning", Email: "mary@example.com"})
	store, hasher := memstore.New(), &hashes.Hasher{Memory: 64, Passes: 1} // cheap
	cfg := config(t, "the secret of the site with accounts")
	cfg.URL, cfg.Store, cfg.Providers, cfg.Callbacks = s.url, store, append(further, s.idp.OIDC("idp")), pintle.Callbacks{}
	cfg.ExperimentalPasskeys = len(further) > 0
	if sessions == "token" {
		cfg.Session.Strategy, cfg.Session.Revocation = pintle.StrategyJWT, &memstore.Revocations{}
		cfg.Callbacks.JWT = rename
	}
	cfg.Accounts = account.New(account.Options{
		Mail:      func(_ context.Context, m *pintle.Message) error { s.mail.Store(m); return nil },
		Passwords: account.Passwords{Hasher: hasher},
		Pictures: account.Pictures{Store: func(_ context.Context, _ *pintle.User, picture *account.Picture) (string, error) {
			return fmt.Sprintf("/pictures/%dx%d.%s", picture.Width, picture.Height, path.Base(picture.Type)), nil
		}},
	})
	s.auth = newAuth(t, cfg)

	now := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	mary, err := store.CreateUser(t.Context(), &pintle.User{Name: "Mary Anning", Email: "mary@example.com", EmailVerified: now})
	if err != nil {
		t.Fatal(err)
	}
	hash, err := hasher.Hash(t.Context(), "ammonite and belemnite")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: mary.ID, Kind: "password", Secret: hash, Created: now}); err != nil {
		t.Fatal(err)
	}
	if err := store.LinkAccount(t.Context(), &pintle.Account{UserID: mary.ID, Type: pintle.TypeOIDC, Provider: "idp", ProviderAccountID: "42"}); err != nil {
		t.Fatal(err)
	}
	mux.Handle("/api/auth/", s.auth)
	mux.Handle("/api/auth/csrf", s.whileUp(s.auth))
	// The sessions of a user who was asked now, and of one who was not asked for an hour.
	for from, ago := range map[string]time.Duration{"/now": 0, "/old": time.Hour} {
		mux.HandleFunc(from, func(w http.ResponseWriter, r *http.Request) {
			facts := pintle.Authentication{Time: time.Now().Add(-ago), Methods: []string{"pwd"}}
			if _, _, err := s.auth.StartSession(w, r, mary, pintle.StartOptions{Authentication: facts}); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>Later</title>")
		})
	}
	mux.HandleFunc("/unproven", func(w http.ResponseWriter, r *http.Request) {
		if _, err := store.UpdateUser(r.Context(), mary.ID, pintle.UserUpdate{EmailVerified: &time.Time{}}); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("/due", func(_ http.ResponseWriter, r *http.Request) {
		state, err := store.AccountStore().State(r.Context(), mary.ID)
		if err == nil {
			state.Must = "password enrol"
			err = store.AccountStore().ChangeState(r.Context(), state)
		}
		if err != nil {
			t.Error(err)
		}
	})
	mux.Handle("/welcome", s.auth.Load(http.HandlerFunc(welcome)))
	mux.Handle("/", http.FileServer(http.Dir(pages)))
	return s
}

// addsAnApp gives the user of the tab a second factor, and returns the recovery codes.
func (p *tab) addsAnApp(s *site) []string {
	p.t.Helper()
	p.open(s.url + "/api/auth/account/totp")
	key := p.evaluate(`new URL(document.querySelector("a[href^='otpauth:']").href).searchParams.get("secret")`)
	p.fill("code", codeOfNow(p.t, key))
	p.press("Add the app")
	p.hasTitle("Save your recovery codes")
	codes := p.evaluate(`Array.from(document.querySelectorAll(".codes code"), (code) => code.textContent).join(" ")`)
	p.evaluate(`document.querySelector("[name=saved]").checked = true, ""`)
	p.press("Continue")
	p.hasTitle("Second factor")
	return strings.Fields(codes)
}

// codeOfNow is what an authenticator app shows.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-4
func codeOfNow(t *testing.T, key string) string {
	t.Helper()
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[len(sum)-1]&15:])&0x7fffffff%1_000_000)
}

// givesCode answers the page on which the sign-in waits.
func (p *tab) givesCode(code string) {
	p.t.Helper()
	p.hasTitle("One more step")
	p.do("use a recovery code", chromedp.Click(`//a[normalize-space(.) = "Use a recovery code"]`))
	p.waitFor("asked for a recovery code", `document.querySelector("[name=method][value=recovery]")`)
	p.fill("code", code)
	p.press("Sign in")
}

// AT-124: the published clients understand each answer of a site with accounts, also while
// a sign-in waits for its second factor.
func TestPublishedClientsSignInToAccounts(t *testing.T) {
	browser, pages := newBrowser(t), build(t)
	for _, c := range clients {
		if c.page == "svelte" { // another path, and no form token
			continue
		}
		kinds := []string{"token"}
		if c.page == "next-auth-5" { // where sessions are kept is hidden from clients
			kinds = append(kinds, "database")
		}
		for _, sessions := range kinds {
			t.Run(c.page+", sessions in a "+sessions, func(t *testing.T) {
				s := newAccountsSite(t, pages, sessions)
				// Clients of Auth.js drop the URL of an error, and ours returns it.
				noURL := func(got map[string]any) bool { return c.page == "pintle" || got["url"] == nil }
				address := s.url + "/" + c.page + ".html"
				p := browser.openTab(t, "one")
				home := func() {
					t.Helper()
					p.open(address)
				}
				home()
				p.isSignedOut()
				p.press("Wrong password")
				if got := p.result(); got["error"] != "CredentialsSignin" || c.explains && got["code"] != "credentials" || !noURL(got) {
					t.Errorf("a wrong password gives %v, want the error CredentialsSignin with the code credentials", got)
				}
				p.isSignedOut()
				p.press("Password")
				if got := p.result(); got["ok"] != true || got["error"] != nil || !strings.HasPrefix(fmt.Sprint(got["url"]), s.url) {
					t.Errorf("the right password gives %v, want ok, a URL and no error", got)
				}
				home()
				p.isSignedIn("Mary Anning")
				if c.watches {
					p.press("Rename")
					want := renamed
					if sessions == "database" {
						want = "Mary Anning" // its name is that of the user in the store
					}
					if got := p.result(); got["thrown"] != nil {
						t.Errorf("update gives %v", got)
					}
					p.isSignedIn(want)
				}
				codes := p.addsAnApp(s)
				home()
				p.isSignedIn("Mary Anning")
				p.press("Sign out and reload")
				p.isSignedOut()

				// The session of the client is none while the sign-in waits.
				p.press("Password")
				if got := p.result(); got["error"] != "SecondFactorRequired" || !noURL(got) {
					t.Errorf("a sign-in that waits gives %v, want the error SecondFactorRequired", got)
				}
				home()
				p.isSignedOut()
				p.press("Password, then welcome")
				p.hasTitle("One more step")
				home()
				p.isSignedOut()
				p.press("Sign out and reload") // gives it up
				p.isSignedOut()
				p.press("Password, then welcome")
				p.givesCode(codes[0])
				p.hasTitle("Welcome, Mary Anning")
				home()
				p.isSignedIn("Mary Anning")
				p.press("Sign out and reload")
				p.isSignedOut()
				p.press("Identity provider")
				p.givesCode(codes[1])
				p.isSignedIn("Mary Anning") // on the page of the client, where it began
				p.press("Sign out and reload")
				p.isSignedOut()
			})
		}
	}
}
