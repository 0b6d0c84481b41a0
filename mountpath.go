package pintle

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/page"
)

// baseSource names the source of the base path.
func baseSource(given, completed string) string {
	switch {
	case given != "":
		return "Config.BasePath"
	case completed != "":
		return "the path of Config.URL (AUTH_URL)"
	}
	return "the default of Config.BasePath"
}

// mountedAt describes where the Auth must be mounted.
func (s *settings) mountedAt() string {
	return fmt.Sprintf("mount the Auth at %s/, which is %s", s.base, s.baseSource)
}

// logGuardedSignIn logs once that a guard is in front of the sign-in page.
func (s *settings) logGuardedSignIn(r *http.Request) {
	if !s.notices.first(noticeGuardedSignIn) {
		return
	}
	fix := s.mountedAt() + ", and outside Auth.Require"
	if s.Pages.SignIn != "" {
		fix = "serve Config.Pages.SignIn outside Auth.Require, or let it pass in Callbacks.Authorized"
	}
	s.log.LogAttrs(r.Context(), slog.LevelError, "pintle: the sign-in page is behind Auth.Require, so no user can sign in",
		slog.String("code", string(codeSignInPageLoop)), slog.String("page", s.signInPagePath()), slog.String("fix", fix))
}

// noteGuardedRoute logs once that a guard rejects a request for a route. The
// guard receives such a request if the application's patterns do not lead it to
// the Auth.
func (s *settings) noteGuardedRoute(r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return // which is no route, and mostly a scanner
	}
	if _, _, ok := s.parsePath(r.URL.EscapedPath()); !ok || !s.notices.first(noticeGuardedRoute) {
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "pintle: a request for a route of the Auth reached Auth.Require instead, which refuses it",
		slog.String("code", string(codeGuardedRoute)), slog.String("method", r.Method), slog.String("path", clip.Text(r.URL.EscapedPath(), clip.Max)),
		slog.String("fix", s.mountedAt()+", for GET and POST and outside Auth.Require: the pattern \"GET /auth/\" of http.ServeMux leaves the forms to other patterns"))
}

// maxUnreached is the number of browsers that guards send to the sign-in page
// before any request reaches a route; then the log reports it. With several
// processes behind a balancer another process may have served the page.
const maxUnreached = 4

// noteUnreached counts the browsers that guards send to the sign-in page. If
// the page is served at another address, the application answers with status
// 404, and the Auth does not see the request.
func (s *settings) noteUnreached(r *http.Request) {
	if s.Pages.SignIn != "" || s.reached.Load() || r.Header.Get("Sec-Fetch-Mode") != "navigate" || s.unreached.Add(1) != maxUnreached {
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "pintle: Auth.Require has sent browsers to the sign-in page, and none has reached it in this process",
		slog.String("code", string(codeSignInPageMissing)), slog.String("page", s.signInPagePath()),
		slog.String("fix", "if it is not found there, "+s.mountedAt()+": a pattern of http.ServeMux ends with a slash"))
}

// misrouted reports whether a request names a route at another path than those
// below the base path, and logs it once: the Auth is mounted elsewhere than
// configured, or something in front of it has changed the path.
func (x *exchange) misrouted() bool {
	path := x.r.URL.EscapedPath()
	fix := ""
	switch base, ok := routedBelow(path); {
	case !ok || strings.HasPrefix(path, x.base+"/"):
		return false // mostly a scanner
	case base == "":
		fix = "the prefix " + x.base + " was removed: mount the Auth without http.StripPrefix, and have proxies pass the whole path on"
	default:
		fix = x.mountedAt() + "; or set Config.BasePath to " + clip.Quote(base)
	}
	if x.notices.first(noticeMount) {
		x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a request for a route reached the Auth at another path than its base path, and is refused",
			slog.String("code", string(codeBasePathMismatch)), slog.String("path", clip.Text(path, clip.Max)), slog.String("basePath", x.base), slog.String("fix", fix))
	}
	return true
}

// routedBelow returns the base path for which a path would name a route.
func routedBelow(path string) (base string, ok bool) {
	path = "/" + strings.Trim(path, "/") // http.StripPrefix may leave no slash
	last := max(strings.LastIndexByte(path, '/'), 0)
	for _, end := range []int{max(strings.LastIndexByte(path[:last], '/'), 0), last} {
		if _, _, ok := parseRoute(path[:end], path); ok {
			return path[:end], true
		}
	}
	return "", false
}

// showMisrouted shows a browser that the operator has to do something.
func (x *exchange) showMisrouted() {
	_ = x.show(x.pages().Error(page.Site{}, string(CodeConfiguration))) // which never fails
}
