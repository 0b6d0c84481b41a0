package frameworks_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

func TestSignInWithAPassword(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.get("/").want(http.StatusOK).wantBody("guest")
		b.signIn("kim").wantLocation(b.address)
		b.get("/").want(http.StatusOK).wantBody("Kim")
		b.get("/account").want(http.StatusOK).wantBody("Kim")
	})
}

func TestAWrongPasswordIsRejected(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		r := b.post("/auth/callback/password", "csrfToken", b.csrf(), "username", "kim", "password", "root's")
		r.want(http.StatusFound).wantLocation(b.address + "/auth/signin?error=CredentialsSignin&code=credentials")
		if line := r.line("authjs.session-token"); line != "" {
			t.Errorf("a session cookie was set: %s", line)
		}
		b.get("/").wantBody("guest")
	})
}

func TestSignInWithAProvider(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, withProvider(t))
		b.client.CheckRedirect = nil
		resp := authtest.SignInWith(t, b.client, b.address+"/auth", "acme")
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Request.URL.String() != b.address+"/" {
			t.Errorf("the sign-in ended at %s with status %d", resp.Request.URL, resp.StatusCode)
		}
		b.get("/account").want(http.StatusOK).wantBody("Ada")
	})
}

func TestACallbackOfAnotherBrowserIsRejected(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, withProvider(t))
		// Kim signs in at the provider, and another browser opens the callback.
		to := b.post("/auth/signin/acme", "csrfToken", b.csrf()).want(http.StatusFound).location()
		back := b.get(to).want(http.StatusFound).location()
		guest := newBrowser(t, b.address)
		r := guest.get(back).want(http.StatusFound)
		if r.line("authjs.session-token") != "" || !strings.Contains(r.location(), "error=") {
			t.Errorf("sent to %s with cookies %q", r.location(), r.Header["Set-Cookie"])
		}
		guest.get("/").wantBody("guest")
	})
}

func TestAHandlerSignsAUserIn(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.post("/login", "username", "kim", "password", "root's").want(http.StatusUnauthorized)
		b.get("/").wantBody("guest")
		b.post("/login", "username", "kim", "password", "kim's").want(http.StatusSeeOther).wantLocation(b.address + "/account")
		b.get("/account").want(http.StatusOK).wantBody("Kim")
	})
}

func TestAHandlerRedirectsToAProvider(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, withProvider(t))
		to := b.post("/leave").want(http.StatusSeeOther).location()
		back := b.get(to).want(http.StatusFound).location()
		if !strings.HasPrefix(back, b.address+"/auth/callback/acme?") {
			t.Fatalf("the provider sends the browser to %s", back)
		}
		b.get(back).want(http.StatusFound).wantLocation(b.address + "/account")
		b.get("/account").want(http.StatusOK).wantBody("Ada")
	})
}

func TestSignOut(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.signIn("kim")
		b.post("/auth/signout", "csrfToken", b.csrf()).want(http.StatusFound)
		b.get("/").wantBody("guest")
		for _, c := range b.cookies() {
			if strings.Contains(c.Name, "session-token") {
				t.Errorf("the browser still has %s", c.Name)
			}
		}
	})
}

func TestAHandlerSignsAUserOut(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.signIn("kim")
		r := b.post("/logout").want(http.StatusSeeOther).wantLocation(b.address + "/")
		if line := r.line("authjs.session-token"); !strings.Contains(line, "Max-Age=0") {
			t.Errorf("the session cookie is not cleared: %q", line)
		}
		b.get("/").wantBody("guest")
	})
}

func TestTheNextRequestHasTheDataThatAHandlerSaved(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.post("/role", "role", "editor").want(http.StatusUnauthorized)
		b.signIn("kim")
		b.get("/role").wantBody("")
		b.post("/role", "role", "editor").want(http.StatusOK).wantBody("editor")
		b.get("/role").wantBody("editor")
		b.get("/").wantBody("Kim")
	})
}

func TestAClientMadeBySignInHelpersIsSignedIn(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		site, err := url.Parse(b.address)
		if err != nil {
			t.Fatal(err)
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		jar.SetCookies(site, authtest.Cookies(t, must(pintle.New(config())), b.address, kim()))
		b.client.Jar = jar
		b.get("/account").want(http.StatusOK).wantBody("Kim")
	})
}
