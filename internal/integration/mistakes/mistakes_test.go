package mistakes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/smtp"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// Texts of the log about the address of a site.
const (
	setURL     = "set Config.URL (AUTH_URL)"
	trustHost  = "Config.TrustHost (AUTH_TRUST_HOST=true)"
	haveProxy  = "have the proxy send X-Forwarded-Host"
	todo       = "https://todo.test"
	todoNoTLS  = "http://todo.test"
	mountThere = "mount the Auth at"
)

// For every mistake of the list, the log or the error of New names the cause and
// the remedy once, and the browser sees a page that is true.
func TestEveryMistakeIsExplained(t *testing.T) {
	for i, m := range mistakes {
		t.Run(fmt.Sprintf("%02d %s", i+1, m.name), func(t *testing.T) {
			t.Parallel()
			w := newSetup(t)
			m.run(w)
			w.nothingElse()
		})
	}
	if len(mistakes) != 55 {
		t.Errorf("there are %d mistakes in the list", len(mistakes))
	}
}

func TestTheGuideHasEveryMistake(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]bool{}
	for _, part := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(guide), -1) {
		parts[part[1]] = false
	}
	for _, m := range mistakes {
		if _, ok := parts[m.guide]; !ok {
			t.Errorf("the guide has no part %q", m.guide)
		}
		parts[m.guide] = true
	}
	for part, used := range parts {
		if !used {
			t.Errorf("no mistake is of the part %q of the guide", part)
		}
	}
}

var mistakes = []struct {
	name  string // completes a sentence about the mistake
	guide string // the part of docs/troubleshooting.md about it
	run   func(w *setup)
}{
	{
		name:  "New says that there is no secret",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Secrets = nil
			w.refused("there is no secret", "set AUTH_SECRET or Config.Secrets", "openssl rand -base64 33")
			w.cfg.Accounts = account.New(account.Options{})
			w.refused("there is no secret", "set AUTH_SECRET or Config.Secrets", "openssl rand -base64 33")
		},
	},
	{
		name:  "New says that a secret is short",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Secrets = []string{"short"}
			w.refused("Config.Secrets: secret 1 has 5 characters, at least 32 are needed", "openssl rand -base64 33")
			w.cfg.Secrets, w.env["AUTH_SECRET_1"] = nil, "short"
			w.refused("AUTH_SECRET_1 has 5 characters, at least 32 are needed", "openssl rand -base64 33")
		},
	},
	{
		name:  "the log says that a public host needs a URL or TrustHost",
		guide: "UntrustedHost",
		run: func(w *setup) {
			w.publish(todoNoTLS, app(w.auth()))
			for range 2 {
				w.net.browser(w.T).open(todoNoTLS+"/members").sees(500, ourSide)
			}
			w.logged(1, "ERROR", "UntrustedHost", "the request says that it is for "+todoNoTLS, setURL, trustHost)
		},
	},
	{
		name:  "the log says that a proxy puts the address of its upstream into the Host header",
		guide: "The sign-in page names another host",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"a link to the sign-in page": func(w *setup) {
					w.publish(todo, proxy(w.serve(app(w.auth())), nil))
					for range 2 {
						b := w.net.browser(w.T).open(todo+"/").sees(200, "guest")
						b.click("/auth/signin").sees(500, ourSide).isAt(todo)
					}
					w.logged(1, "ERROR", "UntrustedHost", "for http://127.0.0.1:", "its page is at "+todo, setURL, trustHost)
				},
				"a form, which is not posted to the machine of the user": func(w *setup) {
					w.publish(todo, proxy(w.serve(app(w.auth())), nil))
					for range 2 {
						b := w.net.browser(w.T).open(todo+"/members").sees(200, "Sign in")
						b.submit("/signin/acme").sees(500, ourSide).isAt(todo)
					}
					w.logged(1, "ERROR", "UntrustedHost", "its page is at "+todo, setURL, trustHost)
				},
				"a form without TLS": func(w *setup) {
					w.publish(todoNoTLS, proxy(w.serve(app(w.auth())), nil))
					for range 2 {
						w.net.browser(w.T).open(todoNoTLS+"/members").submit("/callback/credentials", "username", "ada")
					}
					w.logged(1, "WARN", "AddressMismatch", `"browser":"`+todoNoTLS+`"`, `"site":"http://127.0.0.1:`, setURL, trustHost)
				},
				"a proxy that names the client": func(w *setup) {
					w.publish(todo, proxy(w.serve(app(w.auth())), func(r *httputil.ProxyRequest) { r.SetXForwarded() }))
					for range 2 {
						w.net.browser(w.T).open(todo+"/members").sees(500, ourSide).isAt(todo)
					}
					w.logged(1, "ERROR", "UntrustedHost", "a proxy passed it on from elsewhere", `X-Forwarded-Host: "todo.test"`, setURL, trustHost)
				},
			})
		},
	},
	{
		name:  "the log says that TrustHost needs headers of the proxy",
		guide: "The sign-in page names another host",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"a link to the sign-in page": func(w *setup) {
					w.cfg.TrustHost = true
					w.publish(todo, proxy(w.serve(app(w.auth())), nil))
					for range 2 {
						w.net.browser(w.T).open(todo + "/").click("/auth/signin")
					}
					w.logged(1, "WARN", "AddressMismatch", `"browser":"`+todo+`"`, `"site":"http://127.0.0.1:`, haveProxy, setURL)
				},
				"an address that was typed": func(w *setup) {
					w.cfg.TrustHost = true
					w.publish(todo, proxy(w.serve(app(w.auth())), nil))
					b := w.net.browser(w.T).open(todo + "/members")
					w.logged(1, "INFO", "AddressMismatch", `"host":"127.0.0.1:`, haveProxy, setURL)
					b.submit("/callback/credentials", "username", "ada").sees(200, "Allow cookies for this site and try again")
					w.logged(1, "INFO", "MissingCSRF", "a page at "+todo+" sent", "believed to be at http://127.0.0.1:", "Config.URL (AUTH_URL)")
				},
			})
		},
	},
	{
		name:  "the log says that a proxy does not say that there is TLS",
		guide: "The information you're about to submit is not secure",
		run: func(w *setup) {
			w.cfg.TrustHost = true
			w.publish(todo, proxy(w.serve(app(w.auth())), sameHost))
			for range 2 {
				w.net.browser(w.T).open(todo+"/members").sees(200, "Sign in")
			}
			w.logged(1, "WARN", "AddressMismatch", `"browser":"an https address"`, `"site":"`+todoNoTLS+`"`, "X-Forwarded-Proto", setURL)
		},
	},
	{
		name:  "the log says at the start that AUTH_URL is http",
		guide: "The information you're about to submit is not secure",
		run: func(w *setup) {
			w.env["AUTH_URL"] = todoNoTLS
			w.publish(todo, proxy(w.serve(app(w.auth())), sameHost))
			for range 2 {
				w.net.browser(w.T).open(todo+"/members").sees(200, "Sign in")
			}
			w.logged(1, "WARN", "insecure-url", "Config.URL (AUTH_URL) is http", "set it to the https URL that users open")
		},
	},
	{
		name:  "New says that AUTH_URL has no scheme",
		guide: "The program does not start",
		run: func(w *setup) {
			w.env["AUTH_URL"] = "todo.test"
			w.refused("Config.URL (AUTH_URL)", `"todo.test"`, "such as https://app.example.com")
		},
	},
	{
		name:  "the log says that AUTH_URL is another site",
		guide: "The sign-in page names another host",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"a link to the sign-in page": func(w *setup) {
					w.env["AUTH_URL"] = "https://production.example"
					at := w.serve(app(w.auth()))
					for range 2 {
						w.net.browser(w.T).open(at+"/").click("/auth/signin").sees(200, "to continue to production.example")
					}
					w.logged(1, "WARN", "AddressMismatch", `"browser":"`+at+`"`, `"site":"https://production.example"`, setURL)
				},
				"an address that was typed": func(w *setup) {
					w.env["AUTH_URL"] = "https://production.example"
					at := w.serve(app(w.auth()))
					for range 2 {
						w.net.browser(w.T).open(at+"/members").sees(200, "to continue to production.example")
					}
					w.logged(1, "INFO", "AddressMismatch", `"host":"127.0.0.1:`, `"site":"https://production.example"`, setURL)
				},
			})
		},
	},
	{
		name:  "the log says that AUTH_URL is another site, behind a proxy that names the host",
		guide: "The sign-in page names another host",
		run: func(w *setup) {
			for url, port := range map[string]string{"https://www.example.com": "", "http://localhost:3000": "", "http://todo.test": "", "https://todo.test": ":8443"} {
				w.each(map[string]func(*setup){
					url: func(w *setup) {
						w.env["AUTH_URL"] = url
						w.publish(todo, proxy(w.serve(app(w.auth())), func(r *httputil.ProxyRequest) {
							wellConfigured(r)
							r.Out.Host += port
							r.Out.Header.Set("X-Forwarded-Host", r.Out.Host)
						}))
						for range 2 {
							w.net.browser(w.T).open(todo+"/auth/signin").sees(200, "to continue to "+strings.SplitN(url, "://", 2)[1])
						}
						w.logged(1, "INFO", "AddressMismatch", `"host":"todo.test`+port+`"`, `"header":"X-Forwarded-Host"`, `"scheme":"https"`, `"site":"`+url+`"`, "none is needed if users open "+url, setURL)
						if strings.HasPrefix(url, "http://todo") {
							w.logged(1, "WARN", "insecure-url")
						}
					},
				})
			}
		},
	},
	{
		name:  "the log says that the proxy is not listed",
		guide: "All users are locked out together",
		run: func(w *setup) {
			w.cfg.TrustedProxies = nil
			w.env["AUTH_URL"] = todo
			w.publish(todo, proxy(w.serve(app(w.auth())), wellConfigured))
			w.signsIn(todo)
			w.logged(1, "WARN", "UnlistedProxy", `"proxy":"127.0.0.1"`, `"header":"X-Forwarded-For"`, `cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}`)
		},
	},
	{
		name:  "AUTH_URL may end with a slash",
		guide: "What works although it looks wrong",
		run: func(w *setup) {
			w.env["AUTH_URL"] = todo + "/"
			w.publish(todo, proxy(w.serve(app(w.auth())), sameHost))
			w.signsIn(todo)
		},
	},
	{
		name:  "the log says that the path of AUTH_URL is the base path",
		guide: "The sign-in page comes again and again",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"with the routes behind the guard": func(w *setup) {
					w.env["AUTH_URL"] = todo + "/app"
					auth := w.auth()
					mux := http.NewServeMux()
					mux.Handle("/auth/", auth)
					mux.Handle("/", page)
					w.publish(todo, proxy(w.serve(auth.Load(auth.Require(mux))), sameHost))
					for range 2 {
						w.net.browser(w.T).open(todo+"/").sees(403, "Something is wrong on our side").isAt(todo + "/app/signin")
					}
					w.logged(1, "ERROR", "SignInPageLoop", mountThere+" /app/, which is the path of Config.URL (AUTH_URL)", "outside Auth.Require")
				},
				"with the routes open": func(w *setup) {
					w.env["AUTH_URL"] = todo + "/app"
					w.publish(todo, proxy(w.serve(app(w.auth())), sameHost))
					for range 2 {
						w.net.browser(w.T).open(todo+"/auth/signin").sees(500, ourSide)
					}
					w.logged(1, "WARN", "BasePathMismatch", mountThere+" /app/, which is the path of Config.URL (AUTH_URL)", `set Config.BasePath to "/auth"`)
				},
			})
		},
	},
	{
		name:  "a handler outside Load and Require sees no session",
		guide: "SessionFrom is nil although the user is signed in",
		run: func(w *setup) {
			auth := w.auth()
			whoami := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprintf(rw, "There is a session: %t", pintle.SessionFrom(r.Context()) != nil)
			})
			mux := http.NewServeMux()
			mux.Handle("/auth/", auth)
			mux.Handle("/members", auth.Require(page))
			mux.Handle("/outside", whoami)
			mux.Handle("/inside", auth.Load(whoami))
			at := w.serve(mux)
			b := w.net.browser(w.T).open(at+"/members").submit("/callback/credentials", "username", "ada").sees(200, "Hello, ")
			b.open(at+"/outside").sees(200, "There is a session: false")
			b.open(at+"/inside").sees(200, "There is a session: true")
		},
	},
	{
		name:  "AUTH_TRUST_HOST may be yes",
		guide: "What works although it looks wrong",
		run: func(w *setup) {
			w.env["AUTH_TRUST_HOST"] = "yes"
			w.publish(todo, proxy(w.serve(app(w.auth())), wellConfigured))
			w.signsIn(todo)
		},
	},
	{
		name:  "the log says that nginx sends the name of its upstream, with TrustHost",
		guide: "The sign-in page names another host",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"with TLS": func(w *setup) {
					w.cfg.TrustHost = true
					w.publish(todo, proxy(w.serve(app(w.auth())), nginxDefaults))
					for range 2 {
						w.net.browser(w.T).open(todo+"/members").sees(200, "to continue to app")
					}
					w.logged(1, "WARN", "AddressMismatch", `"site":"http://app"`, `"browser":"an https address"`, haveProxy, setURL)
				},
				"without TLS": func(w *setup) {
					w.cfg.TrustHost = true
					w.publish(todoNoTLS, proxy(w.serve(app(w.auth())), nginxDefaults))
					for range 2 {
						w.net.browser(w.T).open(todoNoTLS+"/members").sees(200, "to continue to app")
					}
					w.logged(1, "INFO", "AddressMismatch", `"site":"http://app"`, `"host":"app"`, haveProxy, setURL)
				},
			})
		},
	},
	{
		name:  "the log says that nginx sends the name of its upstream",
		guide: "UntrustedHost",
		run: func(w *setup) {
			w.publish(todo, proxy(w.serve(app(w.auth())), nginxDefaults))
			for range 2 {
				w.net.browser(w.T).open(todo+"/members").sees(500, ourSide)
			}
			w.logged(1, "ERROR", "UntrustedHost", "for http://app", setURL, trustHost)
		},
	},
	{
		name:  "the log says that localhost is opened as 127.0.0.1",
		guide: "Allow cookies for this site and try again",
		run: func(w *setup) {
			var instance balancer
			at := w.serve(&instance)
			w.env["AUTH_URL"] = strings.Replace(at, "127.0.0.1", "localhost", 1)
			instance.use(app(w.auth()))
			b := w.net.browser(w.T).open(at+"/members").sees(200, "Sign in")
			b.submit("/callback/credentials", "username", "ada").sees(200, "Allow cookies for this site and try again")
			w.logged(1, "INFO", "MissingCSRF", "a page at "+at+" sent", "believed to be at http://localhost:", "Config.URL (AUTH_URL) is not the address that users open")
			b.isAt(w.env["AUTH_URL"]).submit("/callback/credentials", "username", "ada").sees(200, "Hello, ")
			w.net.browser(w.T).open(at+"/members").submit("/callback/credentials", "username", "ada")
			w.logged(1, "WARN", "AddressMismatch", `"browser":"`+at+`"`, `"site":"http://localhost:`, "or have them open the site there")
		},
	},
	{
		name:  "the log says that two instances have different secrets",
		guide: "Signed in and out by turns",
		run: func(w *setup) {
			const cause, fix = "not made with a current secret", "all processes of a site need the same Config.Secrets (AUTH_SECRET)"
			// two starts two instances, of which the first one answers, and returns the
			// second one.
			two := func(w *setup) (instances *balancer, second http.Handler, at string) {
				instances = &balancer{}
				instances.use(app(w.auth()))
				w.cfg.Secrets = []string{otherSecret}
				return instances, app(w.auth()), w.serve(instances)
			}
			w.each(map[string]func(*setup){
				"a flow": func(w *setup) {
					instances, second, at := two(w)
					b := w.net.browser(w.T).open(at + "/auth/signin")
					b.before = func(path string) {
						if strings.HasPrefix(path, "/auth/callback/") {
							instances.use(second)
						}
					}
					b.submit("/signin/acme").sees(400, "try again")
					w.logged(1, "INFO", "InvalidCheck", cause, fix)
					w.logged(1, "WARN", "ForeignSecret", cause, fix)
				},
				"a session": func(w *setup) {
					instances, second, at := two(w)
					b := w.net.browser(w.T).open(at+"/auth/signin").submit("/callback/credentials", "username", "ada")
					b.open(at+"/").sees(200, "Hello, Ada")
					instances.use(second)
					for range 2 {
						b.open(at+"/").sees(200, "guest")
					}
					w.logged(1, "WARN", "ForeignSecret", `"cookie":"authjs.session-token"`, cause, fix)
				},
				"a form": func(w *setup) {
					instances, second, at := two(w)
					b := w.net.browser(w.T).open(at + "/auth/signin")
					instances.use(second)
					b.submit("/callback/credentials", "username", "ada").sees(200, "try again")
					w.logged(1, "INFO", "MissingCSRF", cause, fix)
					w.logged(1, "WARN", "ForeignSecret", `"cookie":"authjs.csrf-token"`, cause, fix)
				},
			})
		},
	},
	{
		name:  "the log says that two instances have a memory each",
		guide: "Signed in and out by turns",
		run: func(w *setup) {
			w.cfg.Store, w.cfg.Session.Strategy = memstore.New(), pintle.StrategyDatabase
			var instances balancer
			instances.use(app(w.auth()))
			w.cfg.Store = memstore.New()
			second := app(w.auth())
			at := w.serve(&instances)
			b := w.net.browser(w.T).open(at + "/auth/signin").submit("/signin/acme")
			b.open(at+"/members").sees(200, "Hello, ")
			instances.use(second)
			for range 2 {
				b.open(at+"/").sees(200, "guest")
			}
			w.logged(1, "WARN", "ForgottenSession", "not in memory", "another process made the session", "keep them in a database", "StrategyJWT")
		},
	},
	{
		name:  "the log says that the client secret is wrong",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			p := w.idp.OIDC("acme")
			p.ClientSecret = "the wrong one"
			w.cfg.Providers = []pintle.Provider{p}
			at := w.serve(app(w.auth()))
			w.idp.Register(authtest.Client{ID: "acme", Secret: "the right one", RedirectURIs: []string{at + "/auth/callback/acme"}})
			w.net.browser(w.T).open(at+"/auth/signin").submit("/signin/acme").sees(500, ourSide)
			w.logged(1, "ERROR", "CallbackRouteError", `"invalid_client"`, "compare ClientID and ClientSecret (AUTH_ACME_ID, AUTH_ACME_SECRET)")
		},
	},
	{
		name:  "a wrong client id ends at the provider, which says so",
		guide: "The provider shows its error page",
		run: func(w *setup) {
			w.idp.Register(authtest.Client{ID: "another", Secret: "x", RedirectURIs: []string{"https://todo.test/auth/callback/acme"}})
			at := w.serve(app(w.auth()))
			b := w.net.browser(w.T).open(at + "/auth/signin").submit("/signin/acme").isAt(w.idp.Issuer)
			if b.status/100 != 4 {
				w.Errorf("the provider answers %d: %.300s", b.status, b.page)
			}
		},
	},
	{
		name:  "New says that there is no client id",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = []pintle.Provider{provider.OpenIDConnect(provider.Options{ID: "corp", Issuer: w.idp.Issuer})}
			w.refused("ClientID is missing", "AUTH_CORP_ID", "ClientSecret is missing", "AUTH_CORP_SECRET")
		},
	},
	{
		name:  "the log says that the issuer does not answer",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			p := w.idp.OIDC("corp")
			p.Issuer = w.closed()
			w.cfg.Providers = []pintle.Provider{p}
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/corp").sees(500, ourSide)
			w.logged(1, "ERROR", "Configuration", "discovery: ", "connection refused", "check Issuer (AUTH_CORP_ISSUER)")
		},
	},
	{
		name:  "the log says that the issuer has no metadata",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			p := w.idp.OIDC("corp")
			p.Issuer = w.serve(http.NotFoundHandler())
			w.cfg.Providers = []pintle.Provider{p}
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/corp").sees(500, ourSide)
			w.logged(1, "ERROR", "Configuration", "discovery: ", "status 404", "check Issuer (AUTH_CORP_ISSUER)")
		},
	},
	{
		name:  "an issuer may have a slash too many",
		guide: "What works although it looks wrong",
		run: func(w *setup) {
			p := w.idp.OIDC("acme")
			p.Issuer += "/"
			w.cfg.Providers = []pintle.Provider{p}
			w.signsIn(w.serve(app(w.auth())))
		},
	},
	{
		name:  "New says that an issuer is not encrypted",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = []pintle.Provider{provider.OpenIDConnect(provider.Options{ID: "corp", Issuer: "http://id.corp.example", ClientID: "x", ClientSecret: "y"})}
			w.refused("http://id.corp.example is not encrypted", "use https, or set DangerouslyAllowHTTP")
		},
	},
	{
		name:  "New says that an issuer has no scheme",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = []pintle.Provider{provider.OpenIDConnect(provider.Options{ID: "corp", Issuer: "id.corp.example", ClientID: "x", ClientSecret: "y"})}
			w.refused("Issuer", `"id.corp.example" is not an absolute URL`, "write it with https://")
		},
	},
	{
		name:  "New says that Auth0 needs an issuer",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = []pintle.Provider{provider.Auth0(provider.Options{ClientID: "x", ClientSecret: "y"})}
			w.refused("Issuer is missing", "AUTH_AUTH0_ISSUER")
		},
	},
	{
		name:  "the log says that the database is down",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			w.cfg.Store = w.postgres(strings.TrimPrefix(w.closed(), "http://"))
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/acme").sees(503, ourSide)
			w.logged(1, "ERROR", "AdapterError", "failed to connect", "connection refused", "check that the database runs, and the address in its URL")
		},
	},
	{
		name:  "the log reports that the database has stopped, and no user is signed out",
		guide: "503 Service Unavailable",
		run: func(w *setup) {
			server := services.PostgreSQL(w.T)
			w.cfg.Store = w.postgres(server.Addr)
			at := w.serve(app(w.auth()))
			b := w.net.browser(w.T).open(at + "/auth/signin").submit("/signin/acme")
			b.open(at+"/members").sees(200, "Hello, ")
			server.Stop(w.T)
			b.open(at+"/members").sees(503, "Try again in a moment")
			w.logged(1, "ERROR", "SessionTokenError", "getSessionAndUser", "check that the database runs, and the address in its URL")
			b.open(at+"/auth/signin").sees(200, "Sign in")
			server.Start(w.T)
			b.open(at+"/members").sees(200, "Hello, ")
		},
	},
	{
		name:  "the log says that the database was not migrated",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			w.cfg.Store = sqlstore.New(services.SQLiteDatabase(w.T).DB, sqlstore.SQLite)
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/acme").sees(503, ourSide)
			w.logged(1, "ERROR", "AdapterError", "no such table: pintle_", "run pintle migrate, or call sqlstore.Migrate")
		},
	},
	{
		name:  "the log says that the clock of the provider is ahead",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			w.idp.Break(authtest.IDTokenFutureIssuedAt)
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/acme").sees(500, ourSide)
			w.logged(1, "ERROR", "CallbackRouteError", "issued in the future", "compare the clocks")
		},
	},
	{
		name:  "the log says that a token is too long for nginx",
		guide: "502 upstream sent too big header, 400 Request Header Or Cookie Too Large, 431",
		run: func(w *setup) {
			const bytes, fix = "8 KB of cookies with status 400", "keep less in it (Callbacks.JWT, Session.Describe)"
			w.each(map[string]func(*setup){
				"the answer that sets it is refused": func(w *setup) {
					w.fill(20_000)
					w.env["AUTH_URL"] = todo
					w.publish(todo, nginx(w.serve(app(w.auth())), 8<<10, 8<<10))
					for range 2 {
						w.net.browser(w.T).open(todo+"/auth/signin").submit("/callback/credentials", "username", "ada").sees(502, "502 Bad Gateway")
					}
					w.logged(1, "WARN", "LongSessionToken", bytes, "502", fix, "proxy_buffer_size")
				},
				"every further request is refused": func(w *setup) {
					w.fill(20_000)
					w.env["AUTH_URL"] = todo
					w.publish(todo, nginx(w.serve(app(w.auth())), 64<<10, 8<<10))
					b := w.net.browser(w.T).open(todo+"/auth/signin").submit("/callback/credentials", "username", "ada").sees(400, "Cookie Too Large")
					b.open(todo+"/auth/signout").sees(400, "Cookie Too Large")
					w.logged(1, "WARN", "LongSessionToken", bytes, fix, "large_client_header_buffers")
				},
			})
		},
	},
	{
		name:  "the log says that a token is too long for any browser",
		guide: "502 upstream sent too big header, 400 Request Header Or Cookie Too Large, 431",
		run: func(w *setup) {
			w.fill(400_000)
			at := w.serve(app(w.auth()))
			b := w.net.browser(w.T).open(at+"/auth/signin").submit("/callback/credentials", "username", "ada").sees(500, ourSide)
			b.open(at+"/").sees(200, "guest")
			w.logged(1, "ERROR", "CallbackRouteError", "the session token has ", "more than 32 cookies is not read back", "keep less in it (Callbacks.JWT, Session.Describe)", "StrategyDatabase")
		},
	},
	{
		name:  "the log says that the Profile function returned no id",
		guide: "That did not work, or Access denied",
		run: func(w *setup) {
			p := w.idp.OIDC("acme")
			p.Profile = func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return &pintle.User{Name: "Ada"}, nil }
			w.cfg.Providers, w.cfg.Store = []pintle.Provider{p}, memstore.New()
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/acme").sees(200, "Try again")
			w.logged(1, "ERROR", "OAuthCallbackError", "it has no id", `the Profile function returned ""`)
		},
	},
	{
		name:  "the log says that a Profile function returns no id, without a store",
		guide: "A user has another id after each sign-in",
		run: func(w *setup) {
			p := w.idp.OIDC("acme")
			p.Profile = func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return &pintle.User{Name: "Ada"}, nil }
			w.cfg.Providers = []pintle.Provider{p}
			at := w.serve(app(w.auth()))
			for range 2 {
				w.net.browser(w.T).open(at+"/auth/signin").submit("/signin/acme").sees(200, "Hello, Ada")
			}
			w.logged(1, "WARN", "ProfileWithoutID", `"provider":"acme"`, "another id at each sign-in", "set User.ID", `Profile.ID("sub")`)
		},
	},
	{
		name:  "the log says why Callbacks.SignIn refuses",
		guide: "That did not work, or Access denied",
		run: func(w *setup) {
			w.cfg.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				return "", errors.New("ada is not on the list of guests")
			}
			w.net.browser(w.T).open(w.serve(app(w.auth()))+"/auth/signin").submit("/signin/acme").sees(403, "Access denied")
			w.logged(1, "WARN", "AccessDenied", "ada is not on the list of guests")
		},
	},
	{
		name:  "the log says that a cookie of the prefix __Host- needs TLS",
		guide: "Something is wrong on our side",
		run: func(w *setup) {
			w.cfg.Cookies.SessionToken.Name = "__Host-authjs.session-token"
			w.env["AUTH_URL"] = todoNoTLS
			w.refused("the prefix __Host- needs Secure", "Config.URL (AUTH_URL) is http", "open the site by https")
			w.env["AUTH_URL"] = ""
			at := w.serve(app(w.auth()))
			for range 2 {
				w.net.browser(w.T).open(at+"/auth/signin").sees(500, ourSide)
			}
			w.logged(1, "ERROR", "Configuration", "the prefix __Host- needs Secure", "this request came by http", "set Config.URL (AUTH_URL) to its https URL", "leave the name as it is in development")
		},
	},
	{
		name:  "the log says that Callbacks.JWT returns no claims",
		guide: "The sign-in page comes again and again",
		run: func(w *setup) {
			w.cfg.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
			at := w.serve(app(w.auth()))
			for range 2 {
				b := w.net.browser(w.T).open(at+"/members").sees(200, "Sign in").submit("/signin/acme")
				b.sees(200, "Sign in").isAt(at + "/auth/signin")
			}
			w.logged(1, "WARN", "SignInWithoutClaims", "Callbacks.JWT returned nil claims at a sign-in", "return t.Claims")
			if strings.Contains(w.log.String(), `"signed in"`) {
				w.Error("the log says that a user is signed in")
			}
		},
	},
	{
		name:  "the log says that Callbacks.SignIn sends browsers to a site that is not allowed",
		guide: "That did not work, or Access denied",
		run: func(w *setup) {
			w.cfg.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				return "https://billing.test/pay?customer=ada", nil
			}
			at := w.serve(app(w.auth()))
			for range 2 {
				w.net.browser(w.T).open(at+"/auth/signin").submit("/signin/acme").sees(200, "guest").isAt(at)
			}
			w.logged(1, "WARN", "RefusedTarget", `"target":"https://billing.test"`, "it goes to the home page", "let Callbacks.Redirect return URLs of that site")
		},
	},
	{
		name:  "New says that two providers have one id",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = []pintle.Provider{&pintle.Credentials{Name: "A", Authorize: w.check}, &pintle.Credentials{Name: "B", Authorize: w.check}}
			w.refused(`Config.Providers[1] has the ID "credentials", as a provider before it`, "set the field ID")
		},
	},
	{
		name:  "New says that there are no providers, that one is nil, and that an id is bad",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = nil
			w.refused("Config.Providers is empty", "add at least one provider")
			w.cfg.Providers = []pintle.Provider{nil}
			w.refused("Config.Providers[0] is nil", "set it to a provider, or remove it")
			w.cfg.Providers = []pintle.Provider{&pintle.Credentials{ID: "a b", Authorize: w.check}}
			w.refused(`the provider ID "a b" cannot be part of a URL`, "use letters, digits and - . _ ~")
		},
	},
	{
		name:  "New says that mail needs a store",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers = []pintle.Provider{&pintle.Email{Send: func(context.Context, *pintle.Message) error { return nil }}}
			w.refused("a mail provider needs Config.Store, to keep links and users in")
		},
	},
	{
		name:  "New says that nothing sends the mails",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers, w.cfg.Store = []pintle.Provider{&pintle.Email{}}, memstore.New()
			w.refused("Email.Send is nil", "set it, for example to smtp.New")
		},
	},
	{
		name:  "New says what is wrong with the strategy and the base path",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Session.Strategy = pintle.StrategyDatabase
			w.refused("database sessions need Config.Store", "set Config.Session.Strategy to StrategyJWT")
			w.cfg.Session.Strategy = "cookie"
			w.refused(`Config.Session.Strategy is "cookie"`, "use StrategyJWT or StrategyDatabase")
			w.cfg.Session.Strategy, w.cfg.BasePath = "", "auth"
			w.refused(`Config.BasePath is "auth"`, "must be a plain path that begins with one /")
		},
	},
	{
		name:  "New says that credentials alone cannot have database sessions",
		guide: "The program does not start",
		run: func(w *setup) {
			w.cfg.Providers, w.cfg.Store = []pintle.Provider{&pintle.Credentials{Authorize: w.check}}, memstore.New()
			w.refused("credentials providers alone cannot use database sessions, which are the default with a Config.Store", "set Config.Session.Strategy to StrategyJWT")
			w.cfg.Session.Strategy = pintle.StrategyDatabase
			w.refused("credentials providers alone cannot use database sessions, which Config.Session.Strategy asks for", "set Config.Session.Strategy to StrategyJWT")
		},
	},
	{
		name:  "the log says that the Auth is mounted elsewhere than its base path",
		guide: "404 page not found, or Bad request, at /auth/signin",
		run: func(w *setup) {
			guarded := func(w *setup, pattern string) string {
				auth := w.auth()
				mux := http.NewServeMux()
				mux.Handle(pattern, auth)
				mux.Handle("/", page)
				return w.serve(auth.Load(auth.Require(mux)))
			}
			open := func(w *setup, pattern string) string {
				auth := w.auth()
				mux := http.NewServeMux()
				mux.Handle(pattern, auth)
				mux.Handle("/members", auth.Require(page))
				return w.serve(auth.Load(mux))
			}
			w.each(map[string]func(*setup){
				"the routes are behind the guard": func(w *setup) {
					at := guarded(w, "/auth/")
					for range 2 {
						w.net.browser(w.T).open(at+"/").sees(403, "Something is wrong on our side")
					}
					w.logged(1, "ERROR", "SignInPageLoop", "the sign-in page is behind Auth.Require", mountThere+" /auth/, which is the default of Config.BasePath, and outside Auth.Require")
				},
				"at another path, behind the guard": func(w *setup) {
					w.cfg.BasePath = "/api/auth"
					at := guarded(w, "/auth/")
					for range 2 {
						w.net.browser(w.T).open(at+"/").sees(403, "Something is wrong on our side")
					}
					w.logged(1, "ERROR", "SignInPageLoop", "the sign-in page is behind Auth.Require", mountThere+" /api/auth/, which is Config.BasePath")
				},
				"at another path": func(w *setup) {
					w.cfg.BasePath = "/api/auth"
					at := open(w, "/auth/")
					for range 2 {
						w.net.browser(w.T).open(at+"/auth/signin").sees(500, ourSide)
					}
					w.logged(1, "WARN", "BasePathMismatch", mountThere+" /api/auth/, which is Config.BasePath", `set Config.BasePath to "/auth"`)
				},
				"for GET alone": func(w *setup) {
					auth := w.auth()
					mux := http.NewServeMux()
					mux.Handle("GET /auth/", auth)
					mux.Handle("/", auth.Require(page))
					at := w.serve(mux)
					for range 2 {
						w.net.browser(w.T).open(at+"/auth/signin").submit("/signin/acme").sees(401, "Sign in to see this page")
					}
					w.logged(1, "WARN", "GuardedRoute", `"path":"/auth/signin/acme"`, mountThere+" /auth/", "for GET and POST and outside Auth.Require", `"GET /auth/"`)
				},
				"without the slash at the end": func(w *setup) {
					at := open(w, "/auth")
					for range 5 {
						w.net.browser(w.T).open(at+"/members").sees(404, "not found")
					}
					w.logged(1, "WARN", "SignInPageMissing", "none has reached it", mountThere+" /auth/", "ends with a slash")
				},
			})
		},
	},
	{
		name:  "the log says that a form with a password is posted to the wrong route",
		guide: "A form leads back to the sign-in page",
		run: func(w *setup) {
			at := w.serve(app(w.auth()))
			b := w.net.browser(w.T).open(at + "/auth/signin")
			b.page = strings.ReplaceAll(b.page, "/callback/credentials", "/signin/credentials")
			for range 2 {
				b.submit("/signin/credentials", "username", "ada").sees(200, "Sign in")
				b.page = strings.ReplaceAll(b.page, "/callback/credentials", "/signin/credentials")
			}
			w.logged(1, "WARN", "MisdirectedForm", "nothing in it was looked at", "post the form to /auth/callback/credentials", "Auth.SignIn")
		},
	},
	{
		name:  "the log says that a handler begins a sign-in with a provider that is not configured",
		guide: "A form leads back to the sign-in page",
		run: func(w *setup) {
			auth := w.auth()
			mux := http.NewServeMux()
			mux.Handle("/auth/", auth)
			mux.HandleFunc("/login", func(rw http.ResponseWriter, r *http.Request) {
				next, err := auth.SignIn(rw, r, r.FormValue("provider"), pintle.SignInOptions{RedirectTo: "/"})
				if err != nil {
					w.Error(err)
				}
				http.Redirect(rw, r, next, http.StatusSeeOther)
			})
			at := w.serve(mux)
			w.net.browser(w.T).open(at+"/login").sees(200, "Sign in")
			w.logged(0, "WARN", "UnknownProvider")
			for range 2 {
				w.net.browser(w.T).open(at+"/login?provider=acmee").sees(200, "Sign in")
			}
			w.logged(1, "WARN", "UnknownProvider", `"provider":"acmee"`, "(acme, credentials)")
		},
	},
	{
		name:  "the log says that the prefix of the routes was stripped",
		guide: "404 page not found, or Bad request, at /auth/signin",
		run: func(w *setup) {
			auth := w.auth()
			mux := http.NewServeMux()
			mux.Handle("/auth/", http.StripPrefix("/auth", auth))
			mux.Handle("/members", auth.Require(page))
			at := w.serve(auth.Load(mux))
			for range 2 {
				w.net.browser(w.T).open(at+"/members").sees(500, ourSide)
			}
			w.logged(1, "WARN", "BasePathMismatch", `"path":"/signin"`, "the prefix /auth was removed", "mount the Auth without http.StripPrefix")
		},
	},
	{
		name:  "Require works without Load and outside of it",
		guide: "What works although it looks wrong",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"without Load": func(w *setup) {
					auth := w.auth()
					mux := http.NewServeMux()
					mux.Handle("/auth/", auth)
					mux.Handle("/", auth.Require(page))
					w.signsIn(w.serve(mux))
				},
				"outside Load": func(w *setup) {
					auth := w.auth()
					mux := http.NewServeMux()
					mux.Handle("/auth/", auth)
					mux.Handle("/", auth.Require(auth.Load(page)))
					w.signsIn(w.serve(mux))
				},
			})
		},
	},
	{
		name:  "the mail server's URL and its absence are explained",
		guide: "No mail arrives",
		run: func(w *setup) {
			for url, says := range map[string]string{
				"":                 "the URL of the mail server is empty: set it to smtps://user:password@host",
				"mail.example.com": "must begin with smtps:// or smtp://",
				"smtp://":          "names no host",
			} {
				_, err := smtp.FromURL(url)
				w.contains("the error of FromURL", fmt.Sprint(err), says)
			}
			sender, err := smtp.FromURL("smtp://" + strings.TrimPrefix(w.closed(), "http://"))
			if err != nil {
				w.Fatal(err)
			}
			w.cfg.Store = memstore.New()
			w.cfg.Providers = []pintle.Provider{&pintle.Email{From: "todo@example.com", Send: sender.Send}}
			b := w.net.browser(w.T).open(w.serve(app(w.auth())) + "/auth/signin")
			b.submit("/signin/email", "email", "ada@example.com").sees(500, "The email was not sent")
			w.logged(1, "ERROR", "EmailSignInError", "connecting: ", "connection refused", "check that the server runs")
		},
	},
	{
		name:  "a user who cancels, and one whose cookies are lost, can try again",
		guide: "That took too long, or was begun in another tab",
		run: func(w *setup) {
			w.each(map[string]func(*setup){
				"cancelled at the provider": func(w *setup) {
					w.idp.Break(authtest.ResponseAccessDenied)
					b := w.net.browser(w.T).open(w.serve(app(w.auth())) + "/auth/signin").submit("/signin/acme")
					b.sees(200, "That did not work. Try again").submit("/callback/credentials", "username", "ada").sees(200, "Hello, ")
					w.logged(1, "INFO", "OAuthCallbackError", "access_denied")
				},
				"cookies lost on the way": func(w *setup) {
					at := w.serve(app(w.auth()))
					b := w.net.browser(w.T).open(at + "/auth/signin")
					b.before = func(path string) {
						if strings.HasPrefix(path, "/auth/callback/") {
							b.forget()
						}
					}
					b.submit("/signin/acme").sees(400, "began in another browser")
					b.before = nil
					w.logged(1, "INFO", "InvalidCheck", "authjs.state is missing", "another browser, more than 15 minutes ago, or under another host name")
					b.submit("/signin/acme").sees(200, "Hello, ")
				},
			})
		},
	},
	{
		name:  "authtest says that httptest makes requests for example.com",
		guide: "UntrustedHost",
		run: func(w *setup) {
			tb := &failing{}
			authtest.SignIn(tb, w.auth(), httptest.NewRequest(http.MethodGet, "/members", http.NoBody), &pintle.User{Name: "Ada"})
			w.contains("the failure", tb.why, "UntrustedHost", "for http://example.com", setURL, trustHost)
			w.logged(1, "ERROR", "UntrustedHost", "for http://example.com", setURL, trustHost)
		},
	},
}

// signsIn fails the test unless a user signs in with the provider, and with
// nothing in the log to see to.
func (w *setup) signsIn(at string) {
	w.Helper()
	w.idp.Register(authtest.Client{ID: "acme", Secret: "any secret will do", RedirectURIs: []string{at + "/auth/callback/acme"}})
	b := w.net.browser(w.T).open(at+"/members").sees(200, "Sign in").submit("/signin/acme")
	b.isAt(at+"/members").sees(200, "Hello, ")
	if strings.Contains(b.page, "guest") {
		w.Errorf("no user is signed in; the log has %s", w.log)
	}
}

// fill makes tokens long.
func (w *setup) fill(bytes int) {
	w.cfg.Callbacks.JWT = func(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
		t.Claims["groups"] = strings.Repeat("x", bytes)
		return t.Claims, nil
	}
}

// closed returns the address of a server that has ended.
func (w *setup) closed() string {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL
}

// postgres is a store on a PostgreSQL server, migrated if the server runs.
func (w *setup) postgres(addr string) pintle.Store {
	db, err := sql.Open("pgx", "postgres://pintle@"+addr+"/postgres?sslmode=disable")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = db.Close() })
	if db.PingContext(w.Context()) == nil {
		if err := sqlstore.Migrate(w.Context(), db, sqlstore.PostgreSQL); err != nil {
			w.Fatal(err)
		}
	}
	return sqlstore.New(db, sqlstore.PostgreSQL)
}
