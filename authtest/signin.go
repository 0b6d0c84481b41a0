package authtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// SignIn makes r the request of a signed-in user, for tests that call a handler:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim", Email: "kim@example.com"})
//	app.ServeHTTP(w, r)
//
// auth is the application's. It starts the session, see [pintle.Auth.StartSession]:
// Callbacks.JWT and Events.SignIn are called as at a sign-in with a provider called
// "authtest", Callbacks.SignIn, Callbacks.SignUp, Callbacks.SyncUser and Callbacks.Hold are not. Every server with the
// same secrets, store and options for sessions and cookies accepts the cookies. The
// host of r must be one that auth trusts, as for any request. With an auth of
// [pintle.NewFunc] r names the tenant.
//
// If auth has a store, u is created there unless there is a user with its ID or, if
// that is empty, its address. Afterwards *u is the stored user.
func SignIn(tb TB, auth *pintle.Auth, r *http.Request, u *pintle.User) {
	tb.Helper()
	fresh := cookiesOf(tb, auth, r, u)
	kept := r.Cookies()
	r.Header.Del("Cookie")
	for _, c := range fresh {
		r.AddCookie(c)
	}
	for _, c := range kept {
		if _, err := r.Cookie(c.Name); err != nil {
			r.AddCookie(c)
		}
	}
}

// HTTPClient returns a client in which u is signed in, see [SignIn], at the site
// with the given address, for tests that start a server. It keeps cookies and
// follows redirects. With a nil u the client is anonymous.
//
//	kim := authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: "Kim"})
//	resp, err := kim.Get(srv.URL + "/account")
//
// A server with TLS needs one line more: kim.Transport = srv.Client().Transport.
func HTTPClient(tb TB, auth *pintle.Auth, address string, u *pintle.User) *http.Client {
	tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatalf("authtest: make a cookie jar: %v", err)
		return nil
	}
	if u != nil {
		site, cookies := cookiesAt(tb, auth, address, u)
		jar.SetCookies(site, cookies)
	}
	return &http.Client{Jar: jar}
}

// Cookies returns the cookies of a browser in which u is signed in, see [SignIn],
// at the site with the given address, for tests that drive a browser. The scheme
// decides whether they are secure ones. For Playwright there is [StorageState].
func Cookies(tb TB, auth *pintle.Auth, address string, u *pintle.User) []*http.Cookie {
	tb.Helper()
	_, cookies := cookiesAt(tb, auth, address, u)
	return cookies
}

// SignInWith takes a client through a whole sign-in, like a user who chooses a
// provider on the sign-in page: to the provider and back, to the page after a mail
// was sent, or to the page after a password was verified. base is the address of
// the sign-in routes, and fields are names and values for the form of an
// [pintle.Email] or [pintle.Credentials] provider. The client must keep cookies
// and follow redirects, and the provider must redirect without a page; see
// [Options.AutoConsent]. It returns the last response, which the caller closes.
//
//	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})
//	resp := authtest.SignInWith(t, client, srv.URL+"/auth", "acme")
//
//	resp := authtest.SignInWith(t, client, srv.URL+"/auth", "email", "email", "kim@example.com")
func SignInWith(tb TB, c *http.Client, base, provider string, fields ...string) *http.Response {
	tb.Helper()
	resp, err := signInWith(c, base, provider, fields)
	if err != nil {
		tb.Fatalf("authtest: sign in with %q: %v", provider, err)
	}
	return resp
}

func cookiesAt(tb TB, auth *pintle.Auth, address string, u *pintle.User) (*url.URL, []*http.Cookie) {
	tb.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err == nil && r.URL.Host == "" {
		err = errors.New("the address must be absolute, like http://localhost:3000")
	}
	if err != nil {
		tb.Fatalf("authtest: sign in at %q: %v", address, err)
		return nil, nil
	}
	return r.URL, cookiesOf(tb, auth, r, u)
}

func cookiesOf(tb TB, auth *pintle.Auth, r *http.Request, u *pintle.User) []*http.Cookie {
	tb.Helper()
	cookies, err := signIn(auth, visit(r), u)
	if err != nil {
		tb.Fatalf("authtest: sign in %q: %v", u.Name, err)
	}
	return cookies
}

// visit returns an anonymous request to the site of r.
func visit(r *http.Request) *http.Request {
	v := r.Clone(r.Context())
	v.Header.Del("Cookie")
	v.Method, v.Body = http.MethodPost, http.NoBody
	if v.URL.Scheme == "https" && v.TLS == nil {
		v.TLS = &tls.ConnectionState{} // r is a client's, which does not have it yet
	}
	return v
}

// signIn starts a session of u in a browser that has none.
func signIn(auth *pintle.Auth, r *http.Request, u *pintle.User) ([]*http.Cookie, error) {
	if auth == nil {
		return nil, errors.New("the Auth is nil: give it the application's")
	}
	store, err := auth.StoreFor(r) //nolint:contextcheck // r has it
	if err != nil {
		return nil, err
	}
	if err := storeUser(r.Context(), store, u); err != nil {
		return nil, err
	}
	w := &http.Response{Header: http.Header{}}
	how := pintle.StartOptions{Authentication: pintle.Authentication{Provider: "authtest"}}
	if _, _, err := auth.StartSession(receiver{w}, r, u, how); err != nil {
		return nil, err
	}
	cookies := w.Cookies()
	for _, c := range cookies {
		r.AddCookie(c)
	}
	session, err := auth.Session(r)
	if err == nil && session == nil {
		err = errors.New("the application does not accept the session that it has just started")
	}
	return cookies, err
}

// A receiver is the browser's end of a response of which only the header counts.
type receiver struct{ *http.Response }

func (r receiver) Header() http.Header         { return r.Response.Header }
func (r receiver) Write(b []byte) (int, error) { return len(b), nil }
func (r receiver) WriteHeader(int)             {}

// storeUser makes u a user of the store, which may be nil.
func storeUser(ctx context.Context, store pintle.Store, u *pintle.User) error {
	u.Email = strings.ToLower(u.Email) // as every sign-in writes it
	if store == nil {
		if u.ID == "" {
			u.ID = uuid.New()
		}
		return nil
	}
	stored, err := lookUpUser(ctx, store, u)
	if errors.Is(err, pintle.ErrNotFound) {
		proposed := *u
		if proposed.ID == "" {
			proposed.ID = uuid.New()
		}
		stored, err = store.CreateUser(ctx, &proposed)
		if errors.Is(err, pintle.ErrConflict) {
			// A parallel test was faster.
			stored, err = lookUpUser(ctx, store, u)
		}
	}
	if err != nil {
		return fmt.Errorf("store the user: %w", err)
	}
	*u = *stored
	return nil
}

func lookUpUser(ctx context.Context, store pintle.Store, u *pintle.User) (*pintle.User, error) {
	switch {
	case u.ID != "":
		return store.User(ctx, u.ID)
	case u.Email != "":
		return store.UserByEmail(ctx, u.Email)
	}
	return nil, pintle.ErrNotFound
}
