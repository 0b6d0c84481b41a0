package pintle_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// A bank requires the FAPI 2.0 Security Profile. The application has a key in the place of a
// secret, and its access tokens are of no use without another one.
func ExampleAuth_SendWithToken() {
	// This takes the place of the bank.
	bank := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, FAPI2: true, DPoPNonces: true, Algorithm: authtest.ES256})
	if err := bank.Listen(); err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	bank.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID: "bank", Protocol: oauth.OIDC, Issuer: bank.Issuer, ClientID: "app",
			SecurityProfile: oauth.FAPI2,
			ClientKeys:      []oauth.ClientKey{{Signer: key}}, // the bank reads the public half at /auth/jwks
		}},
		Store:   memstore.New(), // which keeps the tokens
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account, err := auth.Refresh(r.Context(), &pintle.Account{Provider: "bank", UserID: pintle.SessionFrom(r.Context()).User.ID})
		if err != nil {
			http.Error(w, "sign in with the bank again", http.StatusForbidden)
			return
		}
		call, err := http.NewRequestWithContext(r.Context(), http.MethodGet, bank.URL(authtest.UserInfoEndpoint), http.NoBody)
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		resp, err := auth.SendWithToken(account, call, nil)
		if err != nil {
			http.Error(w, "try again later", http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		_, _ = fmt.Fprintf(w, "The bank answers %s to a token of the type %s.\n", resp.Status, account.TokenType)
	})
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("POST /login", loginWith(auth, "bank"))
	mux.Handle("/", auth.Load(auth.Require(page)))
	app := httptest.NewServer(mux)
	defer app.Close()
	bank.Register(authtest.Client{ID: "app", Key: key.Public(), RedirectURIs: []string{app.URL + "/auth/callback/bank"}})

	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	resp, err := browser.Post(app.URL+"/login", "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	// Output: The bank answers 200 OK to a token of the type dpop.
}

// A program in a cluster has no secret. The platform writes a token into a file, and replaces
// it before it expires. AUTH_ACME_ASSERTION_FILE can name the file as well.
func ExampleOAuth_workloadIdentity() {
	acme := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := acme.Listen(); err != nil {
		log.Fatal(err)
	}
	defer acme.Close()
	acme.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})
	file, platform, err := newPlatform("app", acme.Issuer)
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file)

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID: "acme", Protocol: oauth.OIDC, Issuer: acme.Issuer, ClientID: "app",
			ClientAssertionFile: file, // in Kubernetes the path of a projected volume
		}},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("POST /login", loginWith(auth, "acme"))
	mux.Handle("/", auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "Hello, %s!\n", pintle.SessionFrom(r.Context()).User.Name)
	}))))
	app := httptest.NewServer(mux)
	defer app.Close()
	acme.Register(authtest.Client{ID: "app", Key: platform.Public(), RedirectURIs: []string{app.URL + "/auth/callback/acme"}})

	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	resp, err := browser.Post(app.URL+"/login", "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	// Output: Hello, Kim!
}

// loginWith sends a browser to a provider.
func loginWith(auth *pintle.Auth, provider string) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, provider, pintle.SignInOptions{RedirectTo: "/"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}))
}

// newPlatform takes the place of a cluster: it writes an assertion into a file.
func newPlatform(client, audience string) (file string, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return "", nil, err
	}
	assertion, err := handshake.SignJWT(key, "", map[string]any{
		"iss": client, "sub": client, "aud": audience, "jti": rand.Text(), "exp": time.Now().Add(time.Minute).Unix(),
	})
	if err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp("", "assertion-*")
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	_, err = io.Copy(f, strings.NewReader(assertion))
	return f.Name(), key, err
}
