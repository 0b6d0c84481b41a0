package frameworks_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSignInRoutesAreBelowTheBasePath(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, path := range []string{"/auth/unknown", "/auth/session/x", "/auth/signin/a/b", "/auth/"} {
			b.get(path).want(http.StatusBadRequest).wantBody(`"Bad request."`)
		}
		for _, path := range []string{"/authsession", "/auth-session", "/nowhere", "/AUTH/session", "/api/auth/session"} {
			r := b.get(path)
			if r.StatusCode != http.StatusNotFound && path != "/AUTH/session" || strings.Contains(r.body, "null") {
				t.Errorf("%s: status %d, body %q", path, r.StatusCode, r.body)
			}
		}
		if r := b.get("/auth"); r.StatusCode == http.StatusOK {
			t.Errorf("/auth: status %d", r.StatusCode)
		}
	})
}

func TestTheBasePathCanBeAnother(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.base, s.BasePath = "/api/auth", "/api/auth" })
		b.get("/api/auth/session").want(http.StatusOK).wantBody("null")
		b.get("/api/auth/providers").want(http.StatusOK)
		b.get("/account").want(http.StatusFound).wantLocation("/api/auth/signin?callbackUrl=%2Faccount")
		b.get("/auth/session").want(http.StatusNotFound)
	})
}

func TestOnlyGetAndPostAreServed(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			want := `"Bad request."`
			if method == http.MethodHead {
				want = ""
			}
			b.do(method, "/auth/session", "").want(http.StatusBadRequest).wantBody(want)
		}
	})
}

// ASVS-3.5.1: nor does a framework let forged requests through.
func TestAPostFromAnotherSiteIsRejected(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, withProvider(t))
		b.signIn("kim")
		form := []string{"Content-Type", "application/x-www-form-urlencoded"}
		for _, path := range []string{"/auth/signin/acme", "/auth/callback/password", "/auth/signout"} {
			r := b.do(http.MethodPost, path, "username=root&password=root%27s", form...).want(http.StatusFound)
			if !strings.Contains(r.location(), "error=MissingCSRF") {
				t.Errorf("%s leads to %s", path, r.location())
			}
		}
		elsewhere := append(slices.Clone(form), "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
		for _, path := range []string{"/login", "/logout", "/role"} {
			b.do(http.MethodPost, path, "username=root&password=root%27s", elsewhere...).want(http.StatusForbidden)
		}
		b.get("/").wantBody("Kim")
	})
}

func TestALargeBodyIsRejected(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		large := strings.Repeat("x", 300<<10)
		form := []string{"Content-Type", "application/x-www-form-urlencoded"}
		for _, path := range []string{"/auth/callback/password", "/auth/session", "/auth/signin/password"} {
			b.do(http.MethodPost, path, "csrfToken="+b.csrf()+"&username="+large, form...).
				want(http.StatusRequestEntityTooLarge).wantBody(`"Bad request."`)
		}
		// This request has no Content-Length.
		chunk := fmt.Sprintf("%x\r\n%s\r\n0", len(large), large)
		status, body := raw(t, b.address, "POST /auth/callback/password HTTP/1.1", "Host: "+host(b.address),
			"Content-Type: application/x-www-form-urlencoded", "Transfer-Encoding: chunked", "", chunk)
		if status != http.StatusRequestEntityTooLarge || body != `"Bad request."` {
			t.Errorf("chunked: status %d, body %q", status, body)
		}
	})
}

func TestLineBreaksStayOutOfHeaders(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, wish := range []string{"/%0d%0aX-Evil:%201", "/a%0aSet-Cookie:%20evil=1", "%0d%0a%0d%0a<script>", "/%E5%98%8D%E5%98%8AX-Evil:1"} {
			for _, path := range []string{"/auth/signin", "/auth/csrf", "/auth/signout", "/auth/verify-request", "/account"} {
				r := b.get(path + "?callbackUrl=" + wish)
				if r.Header.Get("X-Evil") != "" || r.line("evil") != "" || strings.ContainsAny(r.location(), "\r\n") {
					t.Errorf("%s?callbackUrl=%s: %v", path, wish, r.Header)
				}
			}
		}
		r := b.post("/auth/callback/password", "csrfToken", b.csrf(), "username", "kim", "password", "kim's", "callbackUrl", "/a\r\nX-Evil: 1")
		if r.Header.Get("X-Evil") != "" || !strings.HasPrefix(r.location(), b.address) {
			t.Errorf("sent to %q with %v", r.location(), r.Header)
		}
	})
}

// TestEveryFrameworkGivesTheSameResponse compares every header and byte with those
// of net/http.
func TestEveryFrameworkGivesTheSameResponse(t *testing.T) {
	requests := []struct {
		method, path, body string
		headers            []string
	}{
		{"GET", "/auth/session", "", nil},
		{"GET", "/auth/providers", "", nil},
		{"GET", "/auth/signin", "", nil},
		{"GET", "/auth/signin?error=CredentialsSignin", "", nil},
		{"GET", "/auth/signout", "", nil},
		{"GET", "/auth/verify-request", "", nil},
		{"GET", "/auth/error?error=AccessDenied", "", nil},
		{"GET", "/auth/error?error=Verification", "", nil},
		{"GET", "/auth/signin?callbackUrl=javascript:alert(1)", "", nil},
		{"GET", "/auth/callback/password", "", nil},
		{"GET", "/auth/callback/unknown", "", nil},
		{"GET", "/auth/session?a=%zz&a=b;c", "", nil},
		{"GET", "/auth/unknown", "", nil},
		{"OPTIONS", "/auth/signin", "", nil},
		{"POST", "/auth/providers", "", nil},
		{"POST", "/auth/signin/password", "", nil},
		{"POST", "/auth/signin/password", "", []string{"X-Auth-Return-Redirect", "1"}},
		{"POST", "/auth/signin/password", "{", []string{"Content-Type", "application/json"}},
		{"POST", "/auth/signin/password", "--x\r\n", []string{"Content-Type", "multipart/form-data; boundary=x"}},
		{"POST", "/auth/signout", "csrfToken=x", []string{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
		{"POST", "/auth/session", "null", []string{"Content-Type", "application/json"}},
		{"GET", "/account", "", nil},
		{"GET", "/account", "", []string{"Accept", "application/json"}},
		{"GET", "/admin?x=ü", "", []string{"Accept-Language", "de"}},
		{"HEAD", "/auth/session", "", nil},
	}
	answers := map[string]string{}
	token := "" // one for all, since it is in the cookies and on the pages
	for _, f := range frameworks {
		b := f.start(t)
		if token == "" {
			token, _, _ = strings.Cut(b.get("/auth/csrf").line("authjs.csrf-token"), ";")
		}
		b.client.Jar = nil
		for _, q := range requests {
			name := fmt.Sprintf("%s %s %q %q", q.method, q.path, q.body, q.headers)
			r := b.do(q.method, q.path, q.body, append([]string{"Cookie", token, "Host", "localhost:3000"}, q.headers...)...)
			got := transcript(r)
			if want, known := answers[name]; !known {
				answers[name] = got
			} else if got != want {
				t.Errorf("%s in %s, compared with net/http:\n%s", name, f.name, cmp.Diff(want, got))
			}
		}
	}
}

// transcript is the response without the parts of the server: date, name and
// transfer encoding.
func transcript(r *reply) string {
	var lines []string
	for name, values := range r.Header {
		switch name {
		case "Date", "Server", "Content-Length", "Connection":
			continue
		}
		for _, value := range values {
			lines = append(lines, name+": "+value)
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d\n%s\n\n%s", r.StatusCode, strings.Join(lines, "\n"), r.body)
}
