package browser_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A forgery is a form on a page of another site that posts to the site.
type forgery struct {
	path   string
	fields map[string]string
}

var forgeries = map[string]forgery{
	"the site's own form":       {"/account", map[string]string{"name": "Mallory"}},
	"the end of the account":    {"/account/delete", map[string]string{"confirmed": "yes"}},
	"the site's sign-out":       {"/signout", nil},
	"the sign-out route":        {"/auth/signout", nil},
	"sign-out, a guessed token": {"/auth/signout", map[string]string{"csrfToken": strings.Repeat("a", 64)}},
	"signing the user in as another user": {"/auth/callback/password", map[string]string{
		"email": "omar@example.com", "password": "the moving finger writes",
	}},
	"the session route": {"/auth/session", map[string]string{"data": "x"}},
}

// A site is a host without the port, so the browser sends the cookies with requests
// from another port: SameSite alone does not help there (CK-4, SH-43, ASVS-3.5.1).
func TestFormsOfAnotherOriginDoNothing(t *testing.T) {
	q := startQuickstart(t, "database")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := forgeries[r.URL.Query().Get("forgery")]
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><form method="post" action="%s">`, html.EscapeString(q.url+f.path))
		for name, value := range f.fields {
			fmt.Fprintf(w, `<input type="hidden" name="%s" value="%s">`, html.EscapeString(name), html.EscapeString(value))
		}
		fmt.Fprint(w, `<button>Win a prize</button></form>`)
	}))
	defer evil.Close()

	v := newBrowserUser(t)
	v.open(q.url + "/account")
	v.fill("Email", "mary@example.com")
	v.fill("Password", "ammonite and belemnite")
	v.press("Sign in with password")

	origins := map[string]string{
		"same site, other port": strings.Replace(evil.URL, "127.0.0.1", "localhost", 1),
		"another site":          evil.URL,
	}
	for where, origin := range origins {
		for what, f := range forgeries {
			t.Run(what+" from "+where, func(t *testing.T) {
				v := &browserUser{t: t, ctx: v.ctx}
				v.open(origin + "/?forgery=" + url.QueryEscape(what))
				resp := v.press("Win a prize")
				if !strings.HasPrefix(f.path, "/auth/") && resp.Status != http.StatusForbidden {
					t.Errorf("the response to the form is %d, want 403", resp.Status)
				}
				v.open(q.url + "/account")
				v.isAt("/account")
				v.sees("Mary Anning", "mary@example.com")
			})
		}
	}
}
