package frameworks_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type ctx = context.Context

func TestCookiesHaveTheirAttributes(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		csrf := b.get("/auth/csrf").line("authjs.csrf-token")
		session := b.signIn("kim").line("authjs.session-token")
		for _, tt := range []struct{ line, want string }{
			{csrf, `^authjs\.csrf-token=[0-9a-f]{64}%7C[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Lax$`},
			{session, `^authjs\.session-token=[\w.-]+; Path=/; Expires=[^;]+ GMT; HttpOnly; SameSite=Lax$`},
		} {
			if !regexp.MustCompile(tt.want).MatchString(tt.line) {
				t.Errorf("Set-Cookie: %s, want %s", tt.line, tt.want)
			}
		}
	})
}

// ASVS-3.3.1, ASVS-3.3.4: over TLS cookies are secure, and never a script's.
func TestCookiesAreSecureOverTLS(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.tls = true })
		if !strings.HasPrefix(b.address, "https://") {
			t.Fatalf("the application is at %s", b.address)
		}
		csrf := b.get("/auth/csrf").line("__Host-authjs.csrf-token")
		session := b.signIn("kim").line("__Secure-authjs.session-token")
		for _, line := range []string{csrf, session} {
			if !strings.Contains(line, "; HttpOnly; Secure; SameSite=Lax") {
				t.Errorf("Set-Cookie: %q", line)
			}
		}
		r := b.get("/account").want(http.StatusOK).wantBody("Kim")
		if want := 2; r.ProtoMajor != want && !f.http1 {
			t.Errorf("HTTP/%d was spoken, want HTTP/%d", r.ProtoMajor, want)
		}
	})
}

// ASVS-3.3.5: no cookie is longer than browsers keep.
func TestASessionOf8KBGoesIntoSeveralCookies(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.signIn("kim")
		large := strings.Repeat("editor ", 1<<10)
		b.post("/role", "role", large).want(http.StatusOK)
		if got := b.sessionCookies(); !slices.Equal(got, []string{"authjs.session-token.0", "authjs.session-token.1", "authjs.session-token.2"}) {
			t.Fatalf("the browser has %q", got)
		}
		b.get("/role").want(http.StatusOK).wantBody(large)
		b.get("/account").want(http.StatusOK).wantBody("Kim")
		b.post("/role", "role", "small").want(http.StatusOK)
		if got := b.sessionCookies(); !slices.Equal(got, []string{"authjs.session-token"}) {
			t.Errorf("after shrinking the browser has %q", got)
		}
		b.post("/role", "role", large).want(http.StatusOK)
		b.post("/logout").want(http.StatusSeeOther)
		if got := b.sessionCookies(); len(got) != 0 {
			t.Errorf("after signing out the browser has %q", got)
		}
	})
}

// sessionCookies are the names of the cookies that hold the session.
func (b *browser) sessionCookies() []string {
	b.t.Helper()
	var names []string
	for _, c := range b.cookies() {
		if strings.Contains(c.Name, "session-token") {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

func TestCookiesOfTheApplicationAreLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		// A handler that saves twice sends each cookie once; line checks that.
		b := f.start(t, func(s *setting) { s.Session.UpdateAge = -1 })
		b.signIn("kim")
		r := b.post("/role", "role", "editor").want(http.StatusOK)
		if r.line("authjs.session-token") == "" {
			t.Error("no session cookie")
		}
		b.get("/role").wantBody("editor")
	})
}

func TestAForgedSessionIsAnonymous(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, value := range []string{"x", "a.b.c.d.e", `"quoted"`, "%zz", strings.Repeat("A", 3000)} {
			b.get("/", "Cookie", "authjs.session-token="+value).want(http.StatusOK).wantBody("guest")
			b.get("/account", "Cookie", "authjs.session-token="+value, "Accept", "*/*").want(http.StatusUnauthorized)
		}
	})
}
