package pintle_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// withFormPost puts a site on https and has the provider "acme" answer with a
// form, as Apple does.
func withFormPost(s *site) {
	s.url = "https://app.localhost"
	p := s.idp.OIDC("acme")
	p.Authorization.Params = map[string]string{"response_mode": "form_post"}
	s.Providers = []pintle.Provider{p}
}

const secureSessionCookie = "__Secure-" + sessionCookie

// leaveFor begins a flow that is to end at a path of the site, and returns the
// callback URL and the form that the provider's page posts there.
func (b *browser) leaveFor(path string) (action string, fields url.Values) {
	b.t.Helper()
	to := b.post("/auth/signin/acme", "callbackUrl", path).want(http.StatusFound).location()
	page := b.get(to).want(http.StatusOK)
	return page.action(), page.hidden()
}

var formAction = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)

// action is where the first form of a page is posted to.
func (r *reply) action() string {
	r.t.Helper()
	found := formAction.FindStringSubmatch(r.body)
	if found == nil {
		r.t.Fatalf("the page has no form: %.300s", r.body)
	}
	return html.UnescapeString(found[1])
}

// postFromElsewhere posts a form from a page of another site: a browser sends no
// cookies along but those that say SameSite=None.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.7
func (b *browser) postFromElsewhere(target string, fields url.Values) *reply {
	b.t.Helper()
	var withheld []*http.Cookie
	for _, c := range b.client.Jar.Cookies(b.address()) {
		if !slices.Contains(checkCookies, strings.TrimPrefix(c.Name, "__Secure-")) {
			withheld = append(withheld, c)
			b.plant(c.Name, "")
		}
	}
	r := b.postForm(target, fields)
	for _, c := range withheld {
		if r.cookies()[c.Name] == nil {
			b.plant(c.Name, c.Value)
		}
	}
	return r
}

// A browser sends no session along with a form of another site. The user who
// began the flow must not be lost with it:
// https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html
func TestAResponseByFormLinksToWhoBeganTheFlow(t *testing.T) {
	for _, strategy := range strategies {
		setUp := func(t *testing.T) (*site, *recordingTxStore, *browser, *pintle.User) {
			t.Helper()
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, strategy), withFormPost)
			s.idp.SignInAs(noAddress)
			ada := k.seedUser(t, people["ada"].user)
			b := s.browser()
			b.isOverTLS(k, ada, strategy)
			return s, k, b, ada
		}
		linkedNothing := func(t *testing.T, k *recordingTxStore) {
			t.Helper()
			if owner := k.owner(t, "acme", noAddress.Subject); owner != nil {
				t.Errorf("SA-L8 the account belongs to %s (%s)", owner.Name, owner.ID)
			}
		}
		t.Run("W-52 SA-L8 it is linked, and the browser ends where it began, with sessions as "+string(strategy), func(t *testing.T) {
			s, k, b, ada := setUp(t)
			action, fields := b.leaveFor("/account?tab=linked")
			fields.Set("user", `{"name":{"firstName":"Zoë \"Z\"","lastName":"<b>&amp;"}}`)
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			if set := page.header["Set-Cookie"]; len(set) > 0 {
				t.Errorf("the page replaces cookies that the browser kept back: %q", set)
			}
			if !strings.Contains(page.header.Get("Cache-Control"), "no-store") {
				t.Error("the page, which has a code in it, may be cached")
			}
			again := page.hidden()
			for name := range fields {
				if again.Get(name) != fields.Get(name) {
					t.Errorf("the field %s became %q, want %q", name, again.Get(name), fields.Get(name))
				}
			}
			if page.action() != s.url+"/auth/callback/acme" {
				t.Fatalf("the form is posted to %s", page.action())
			}
			linkedNothing(t, k)
			b.postForm(page.action(), again).goesTo(s.url + "/account?tab=linked")
			if owner := k.owner(t, "acme", noAddress.Subject); owner == nil || owner.ID != ada.ID {
				t.Errorf("the account belongs to %+v, want Ada; log: %s", owner, s.log)
			}
			if names := s.eventNames(); slices.Contains(names, "createUser") {
				t.Error("another user was made")
			}
			b.postForm(page.action(), again).fails("/auth/error", operator) // SA-L6
		})
		t.Run("SA-L8 a user who signed out on the way is not given a second user, with sessions as "+string(strategy), func(t *testing.T) {
			s, k, b, _ := setUp(t)
			action, fields := b.leaveFor("/account")
			b.plant(secureSessionCookie, "")
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			b.postForm(page.action(), page.hidden()).fails("/auth/signin", "OAuthAccountNotLinked")
			linkedNothing(t, k)
			if names := s.eventNames(); len(names) > 0 {
				t.Errorf("there were events: %v", names)
			}
		})
		t.Run("SA-L8 nor one whose session expired, with sessions as "+string(strategy), func(t *testing.T) {
			_, k, b, ada := setUp(t)
			action, fields := b.leaveFor("/account")
			if strategy == pintle.StrategyDatabase {
				b.plant(secureSessionCookie, k.seedSession(t, ada, -time.Hour))
			} else {
				b.plant(secureSessionCookie, "expired")
			}
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			b.postForm(page.action(), page.hidden()).fails("/auth/signin", "OAuthAccountNotLinked")
			linkedNothing(t, k)
		})
		t.Run("SA-L8 SH-76 nor one in whose browser another user signed in, with sessions as "+string(strategy), func(t *testing.T) {
			_, k, b, _ := setUp(t)
			action, fields := b.leaveFor("/account")
			b.isOverTLS(k, k.seedUser(t, people["grace"].user), strategy)
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			b.postForm(page.action(), page.hidden()).fails("/auth/signin", "OAuthAccountNotLinked")
			linkedNothing(t, k)
		})
		t.Run("SA-L8 nor one whose form says that it was posted again, with sessions as "+string(strategy), func(t *testing.T) {
			_, k, b, _ := setUp(t)
			action, fields := b.leaveFor("/account")
			fields.Set("pintle.again", "1")
			b.postFromElsewhere(action, fields).fails("/auth/signin", "OAuthAccountNotLinked")
			linkedNothing(t, k)
		})
		t.Run("SA-L8 a form of another flow is not posted again, with sessions as "+string(strategy), func(t *testing.T) {
			_, k, b, _ := setUp(t)
			action, fields := b.leaveFor("/account")
			fields.Set("state", "x")
			b.postFromElsewhere(action, fields).fails("/auth/error", operator)
			linkedNothing(t, k)
		})
		t.Run("SA-L8 W-22 a flow that began at Auth.js links too, with sessions as "+string(strategy), func(t *testing.T) {
			s, k, b, ada := setUp(t)
			action, fields := b.leaveFor("/account")
			for _, name := range checkCookies {
				name = "__Secure-" + name
				b.plant(name, resealed(t, b, name, func(c map[string]any) {
					c["jti"], _, _ = strings.Cut(c["jti"].(string), ".")
					delete(c, "callbackUrl")
				}))
			}
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			b.postForm(page.action(), page.hidden()).goesTo(s.url + "/account") // as the cookie says
			if owner := k.owner(t, "acme", noAddress.Subject); owner == nil || owner.ID != ada.ID {
				t.Errorf("the account belongs to %+v, want Ada", owner)
			}
		})
	}
}

// A user who calls linking off at the provider is still signed in.
func TestAResponseByFormThatRefusesLeadsToTheAccountPage(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), withFormPost, func(s *site) { s.Pages.Account = "/account" })
	s.idp.Break(authtest.ResponseLoginRequired)
	b := s.browser()
	action, fields := b.leaveFor("/")
	b.postFromElsewhere(action, fields).fails("/auth/signin", retry) // signed out

	b.isOverTLS(k, k.seedUser(t, people["ada"].user), pintle.StrategyDatabase)
	action, fields = b.leaveFor("/")
	r := b.postFromElsewhere(action, fields).want(http.StatusFound)
	if r.location() != s.url+"/account?error="+retry {
		t.Errorf("SA-L8 the browser is sent to %s", r.location())
	}
}

// Auth.js does not say whether a user began the flow. A user who comes back signed out is
// signed in, as there.
func TestAResponseByFormOfAFlowThatAuthJSBeganSignedOut(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), withFormPost)
	b := s.browser()
	action, fields := b.leaveFor("/projects/7")
	for _, name := range checkCookies {
		name = "__Secure-" + name
		b.plant(name, resealed(t, b, name, func(c map[string]any) { c["jti"], _, _ = strings.Cut(c["jti"].(string), ".") }))
	}
	page := b.postFromElsewhere(action, fields).want(http.StatusOK)
	b.postForm(page.action(), page.hidden()).goesTo(s.url + "/projects/7")
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("W-22 SA-L8 %s is signed in", who)
	}
}

// A session that the browser got while a flow was under way ends with the sign-in
// if the host asks for that, also where the flow began signed out: without its
// cookie there is nothing to end.
func TestAResponseByFormEndsTheSessionThatTheBrowserGotMeanwhile(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-L8 with sessions as "+string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newRecordingStore()
				s := newSite(t, withRecordingStore(k, strategy), withFormPost, func(s *site) {
					s.Session.RotateAtSignIn = true
					if strategy == pintle.StrategyJWT {
						s.Session.RotateAtSignIn, s.Session.Revocation = false, &memstore.Revocations{}
					}
				})
				user := k.seedUser(t, pintle.User{Name: "Ada", Email: "ada@example.com", EmailVerified: time.Now()})
				k.seedAccount(t, user, "acme", adaElsewhere.Subject)
				s.idp.SignInAs(adaElsewhere)
				b := s.browser()
				action, fields := b.leaveFor("/")
				b.isOverTLS(k, user, strategy) // in another tab
				held := b.cookie(secureSessionCookie)
				page := b.postFromElsewhere(action, fields).want(http.StatusOK)
				b.postForm(page.action(), page.hidden()).goesTo(s.url + "/")
				copied := s.browser()
				copied.plant(secureSessionCookie, held)
				if before, after := copied.who(), b.who(); before != "anonymous" || after != "Ada" {
					t.Errorf("the session from before is of %s, the browser's of %s", before, after)
				}
			})
		})
	}
}

// isOverTLS signs a stored user in on a site with https.
func (b *browser) isOverTLS(k *recordingTxStore, u *pintle.User, strategy pintle.SessionStrategy) {
	b.t.Helper()
	held := ""
	if strategy == pintle.StrategyDatabase {
		held = k.seedSession(b.t, u, time.Hour)
	} else {
		claims := claimsFor("ada")
		claims["sub"], claims["name"], claims["email"] = u.ID, u.Name, u.Email
		held = sealed(b.t, secureSessionCookie, claims)
	}
	b.plant(secureSessionCookie, held)
}

// The cookie with the callback URL stays in the browser as well.
func TestAResponseByFormEndsWhereItsFlowBegan(t *testing.T) {
	t.Run("W-52 SA-L8 signed out it takes no further page", func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), withFormPost)
		b := s.browser()
		action, fields := b.leaveFor("/projects/7")
		r := b.postFromElsewhere(action, fields).goesTo(s.url + "/projects/7")
		if got, _ := url.QueryUnescape(r.cookies()["__Secure-authjs.callback-url"].Value); got != s.url+"/projects/7" {
			t.Errorf("the cookie becomes %q", got)
		}
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("%s is signed in", who)
		}
	})
	t.Run("SA-L8 and without a store, where there is nothing to link", func(t *testing.T) {
		s := newSite(t, withFormPost)
		b := s.browser()
		b.plant(secureSessionCookie, sealed(t, secureSessionCookie, claimsFor("grace")))
		action, fields := b.leaveFor("/projects/7")
		b.postFromElsewhere(action, fields).goesTo(s.url + "/projects/7")
	})
	t.Run("SA-L8 the redirect rules judge it again", func(t *testing.T) {
		narrower := false
		s := newSite(t, withFormPost, func(s *site) {
			s.Callbacks.Redirect = func(_ context.Context, to, base string) (string, error) {
				if narrower && strings.HasSuffix(to, "/projects/7") {
					return base + "/elsewhere", nil
				}
				if strings.HasPrefix(to, "/") {
					return base + to, nil
				}
				return to, nil
			}
		})
		b := s.browser()
		action, fields := b.leaveFor("/projects/7")
		narrower = true
		b.postFromElsewhere(action, fields).goesTo(s.url + "/elsewhere")
	})
	t.Run("SA-L8 a callback URL that a cookie has no room for is left out", func(t *testing.T) {
		s := newSite(t, withFormPost)
		b := s.browser()
		for _, length := range []int{100, 2000, 2100, 8000} {
			r := b.post("/auth/signin/acme", "callbackUrl", "/"+strings.Repeat("x", length)).want(http.StatusFound)
			if c := r.cookies()["__Secure-"+stateCookie]; len(c.Name)+len(c.Value) > 4096 {
				t.Errorf("with a callback URL of %d bytes the cookie has %d", length, len(c.Value))
			}
			page := b.get(r.location())
			to := b.postFromElsewhere(page.action(), page.hidden()).want(http.StatusFound).location()
			if kept := strings.HasSuffix(to, "x"); kept != (length <= 2000) {
				t.Errorf("with a callback URL of %d bytes the browser goes to %.80s", length, to)
			}
		}
	})
	t.Run("SA-L8 no cookie of another provider has one", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		b.post("/auth/signin/acme", "callbackUrl", "/projects/7").want(http.StatusFound)
		for _, name := range checkCookies {
			if claims := unsealed(t, name, b.cookie(name)); claims["callbackUrl"] != nil {
				t.Errorf("%s holds %v", name, claims["callbackUrl"])
			}
		}
	})
}
