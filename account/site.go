package account

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// A site is where the pages are, and how they look.
type site struct {
	origin string // of Config.URL, or empty: then only this machine is served
	base   string // /auth
	pages  map[string]*page.Pages
	theme  pages.Theme

	secureCookies pintle.SecureCookies
	sessionCookie pintle.Cookie // of the configuration
}

func newSite(cfg *pintle.Config) (*site, error) {
	s := &site{base: "/auth", pages: map[string]*page.Pages{}, theme: cfg.Theme, secureCookies: cfg.SecureCookies, sessionCookie: cfg.Cookies.SessionToken}
	if cfg.URL != "" {
		u, err := url.Parse(cfg.URL)
		if err != nil {
			return nil, err
		}
		s.origin = u.Scheme + "://" + u.Host
		if path := strings.TrimSuffix(u.Path, "/"); path != "" {
			s.base = path
		}
	}
	s.base = strings.TrimSuffix(cmp.Or(cfg.BasePath, s.base), "/")
	for _, texts := range append([]pages.Texts{cfg.Texts}, cfg.Languages...) {
		texts.Site = cmp.Or(texts.Site, cfg.Texts.Site)
		p, err := page.New(page.Theme(cfg.Theme), page.Texts(texts))
		if err != nil {
			return nil, err
		}
		if _, there := s.pages[p.Lang()]; !there {
			s.pages[p.Lang()] = p
		}
	}
	return s, nil
}

// path is the path of a page: /auth/account/sign-up.
func (s *site) path(name string) string {
	if name == "" {
		return s.base + "/account"
	}
	return s.base + "/account/" + name
}

// originOf is the origin for links. Without Config.URL only requests for this machine come
// here, so that the header Host cannot lead to another site.
func (s *site) originOf(r *http.Request) string {
	if s.origin != "" {
		return s.origin
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// secure reports whether cookies of a request carry the attribute Secure.
func (s *site) secure(r *http.Request) bool { return strings.HasPrefix(s.originOf(r), "https://") }

func (s *site) signIn(pairs ...string) string { return withQuery(s.base+"/signin", pairs...) }

// withQuery adds a query of names and values, without those that are empty.
func withQuery(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
