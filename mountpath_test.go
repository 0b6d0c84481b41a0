package pintle_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

var navigation = []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "none"}

func TestAnAuthAtTheWrongPathSaysWhereItBelongs(t *testing.T) {
	tests := []struct {
		name   string
		config pintle.Config
		mount  func(auth http.Handler) http.Handler
		path   string
		says   []string // empty for nothing
	}{
		{
			"mounted elsewhere",
			pintle.Config{BasePath: "/api/auth"},
			nil, "/auth/signin",
			[]string{"mount the Auth at /api/auth/, which is Config.BasePath", `set Config.BasePath to "/auth"`},
		},
		{
			"mounted elsewhere, and a route with a provider",
			pintle.Config{},
			nil, "/api/auth/callback/acme",
			[]string{"mount the Auth at /auth/, which is the default of Config.BasePath", `set Config.BasePath to "/api/auth"`},
		},
		{
			"mounted elsewhere than the path of the URL",
			pintle.Config{URL: "http://localhost:3000/app"},
			nil, "/auth/signin",
			[]string{"mount the Auth at /app/, which is the path of Config.URL (AUTH_URL)", `set Config.BasePath to "/auth"`},
		},
		{
			"without its prefix",
			pintle.Config{},
			func(auth http.Handler) http.Handler { return http.StripPrefix("/auth", auth) }, "/auth/signin",
			[]string{"the prefix /auth was removed", "without http.StripPrefix"},
		},
		{
			"without its prefix and the slash",
			pintle.Config{},
			func(auth http.Handler) http.Handler { return http.StripPrefix("/auth/", auth) }, "/auth/signin/acme",
			[]string{"the prefix /auth was removed", "without http.StripPrefix"},
		},
		{"a scanner", pintle.Config{}, nil, "/auth/wp-login.php", nil},
		{"a scanner that knows the routes", pintle.Config{}, nil, "/auth/admin/signin", nil},
		{"a scanner elsewhere", pintle.Config{}, nil, "/wp/login", nil},
		{"a base path at the root", pintle.Config{BasePath: "/"}, nil, "/auth/signin", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.BasePath, s.URL = tt.config.BasePath, tt.config.URL })
			var h http.Handler = s.auth
			if tt.mount != nil {
				h = tt.mount(h)
			}
			for range 2 {
				ask(h, "GET", "http://localhost:3000"+tt.path, nil)
			}
			page, _ := ask(h, "GET", "http://localhost:3000"+tt.path, nil, navigation...)
			if tt.says == nil {
				if s.log.has("BasePathMismatch") || page.Code != http.StatusBadRequest {
					t.Errorf("status %d; the log has %s", page.Code, s.log)
				}
				return
			}
			if n := s.log.records(t, "WARN", "BasePathMismatch"); n != 1 {
				t.Fatalf("the log has %d warnings: %s", n, s.log)
			}
			fix, _ := s.log.last(t, "BasePathMismatch")["fix"].(string)
			for _, text := range tt.says {
				if !strings.Contains(fix, text) {
					t.Errorf("the fix does not say %q: %s", text, fix)
				}
			}
			if page.Code != http.StatusInternalServerError || !strings.Contains(page.Body.String(), "the server log says what happened") {
				t.Errorf("a browser is answered %d: %.200s", page.Code, page.Body)
			}
			if script, _ := ask(h, "GET", "http://localhost:3000"+tt.path, nil); script.Code != http.StatusBadRequest || script.Body.String() != `"Bad request."` {
				t.Errorf("a script is answered %d: %s", script.Code, script.Body)
			}
		})
	}
}

// A guard sends browsers to a sign-in page that the application answers with
// status 404, of which the Auth sees nothing.
func TestASignInPageThatNoBrowserReachesIsNoticed(t *testing.T) {
	visit := func(mux http.Handler, headers ...string) {
		for range 8 {
			ask(mux, "GET", "http://localhost:3000/members", nil, headers...)
		}
	}
	guarded := func(t *testing.T, pattern string, changes ...func(*site)) (*site, *http.ServeMux) {
		s := newSite(t, changes...)
		mux := http.NewServeMux()
		mux.Handle(pattern, s.auth)
		mux.Handle("/members", s.auth.Require(http.HandlerFunc(sayWho)))
		return s, mux
	}
	t.Run("a pattern without its slash", func(t *testing.T) {
		s, mux := guarded(t, "/auth")
		visit(mux, navigation...)
		if n := s.log.records(t, "WARN", "SignInPageMissing"); n != 1 {
			t.Fatalf("the log has %d warnings: %s", n, s.log)
		}
		if fix, _ := s.log.last(t, "SignInPageMissing")["fix"].(string); !strings.Contains(fix, "mount the Auth at /auth/") || !strings.Contains(fix, "ends with a slash") {
			t.Errorf("the fix is %q", fix)
		}
	})
	t.Run("a sign-in page that was reached", func(t *testing.T) {
		s, mux := guarded(t, "/auth/")
		ask(mux, "GET", "http://localhost:3000/auth/signin", nil)
		visit(mux, navigation...)
		if s.log.has("SignInPageMissing") {
			t.Error("the log says that it was not")
		}
	})
	t.Run("clients that do not follow", func(t *testing.T) {
		s, mux := guarded(t, "/auth")
		visit(mux, "Accept", "text/html")
		if s.log.has("SignInPageMissing") {
			t.Error("they count")
		}
	})
	t.Run("a sign-in page of the application", func(t *testing.T) {
		s, mux := guarded(t, "/auth/", func(s *site) { s.Pages.SignIn = "/login" })
		visit(mux, navigation...)
		if s.log.has("SignInPageMissing") {
			t.Error("browsers are not sent to the Auth")
		}
	})
	t.Run("refusals of the application", func(t *testing.T) {
		s, mux := guarded(t, "/auth/", func(s *site) {
			s.Refuse = func(w http.ResponseWriter, _ *http.Request, _ pintle.Refusal) { w.WriteHeader(http.StatusUnauthorized) }
		})
		visit(mux, navigation...)
		if s.log.has("SignInPageMissing") {
			t.Error("browsers are not sent anywhere")
		}
	})
}
