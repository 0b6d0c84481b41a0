package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// canary is a secret that is too short to be used, and that no message may show.
const canary = "canary-8f3a1c"

// bareStore is a store that can do nothing beyond the interface every store has.
type bareStore struct{ pintle.Store }

func (bareStore) Features() pintle.Features {
	return pintle.Features{Remedy: "name a table in Layout.Sessions"}
}

// sessionStore can keep sessions, and no mail links.
type sessionStore struct{ pintle.Store }

func (sessionStore) Features() pintle.Features { return pintle.Features{Sessions: true} }

// variable is an environment with one variable.
func variable(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}

func TestNewSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	authorize := func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil }
	send := func(context.Context, *pintle.Message) error { return nil }
	tests := []struct {
		name   string
		change func(*pintle.Config)
		code   pintle.Code
		says   []string // the option, and the remedy
	}{
		{
			"no providers", func(c *pintle.Config) { c.Providers = nil },
			pintle.CodeConfiguration,
			[]string{"Config.Providers", "add at least one"},
		},
		{
			"a nil pointer for a provider", func(c *pintle.Config) { c.Providers = append(c.Providers, (*pintle.OAuth)(nil)) },
			pintle.CodeConfiguration,
			[]string{"Config.Providers[1] is nil", "set it to a provider"},
		},
		{
			"a nil pointer for the store", func(c *pintle.Config) { c.Store = (*memstore.Store)(nil) },
			pintle.CodeConfiguration,
			[]string{"Config.Store is a nil *memstore.Store", "look at the error of the function that made it"},
		},
		{
			"two providers without credentials", func(c *pintle.Config) {
				c.Providers = append(c.Providers, &pintle.OAuth{ID: "a", Protocol: oauth.OIDC, Issuer: "https://a.example"}, &pintle.OAuth{ID: "b", Protocol: oauth.OIDC, Issuer: "https://b.example"})
			},
			"InvalidEndpoints",
			[]string{`provider "a": `, "AUTH_A_ID", "AUTH_A_SECRET", `provider "b": `, "AUTH_B_ID", "AUTH_B_SECRET"},
		},
		{
			"a switch that is neither on nor off", func(c *pintle.Config) { c.Getenv = variable("AUTH_TRUST_HOST", "maybe") },
			pintle.CodeConfiguration,
			[]string{`AUTH_TRUST_HOST is "maybe"`, "true, yes, on or 1", "false, no, off or 0"},
		},
		{
			"blanks for a client secret", func(c *pintle.Config) {
				c.Getenv = variable("AUTH_A_SECRET", " ")
				c.Providers = append(c.Providers, &pintle.OAuth{ID: "a", Protocol: oauth.OIDC, Issuer: "https://a.example", ClientID: "x"})
			},
			"InvalidEndpoints",
			[]string{"ClientSecret is missing", "AUTH_A_SECRET"},
		},
		{
			"a nil provider", func(c *pintle.Config) { c.Providers = append(c.Providers, nil) },
			pintle.CodeConfiguration,
			[]string{"Config.Providers[1]"},
		},
		{
			"no secret", func(c *pintle.Config) { c.Secrets = nil },
			"MissingSecret",
			[]string{"AUTH_SECRET", "Config.Secrets", "openssl rand -base64 33"},
		},
		{
			"only empty secrets", func(c *pintle.Config) { c.Secrets = []string{"", ""} },
			"MissingSecret",
			[]string{"AUTH_SECRET", "openssl rand -base64 33"},
		},
		{
			"a short secret", func(c *pintle.Config) { c.Secrets = []string{canary} },
			"MissingSecret",
			[]string{"Config.Secrets: secret 1 has 13 characters", "32", "openssl rand -base64 33"},
		},
		{
			"a short secret of the environment", func(c *pintle.Config) {
				c.Secrets = nil
				c.Getenv = func(name string) string {
					return map[string]string{"AUTH_SECRET": secret, "AUTH_SECRET_1": canary}[name]
				}
			},
			"MissingSecret",
			[]string{"AUTH_SECRET_1 has 13 characters, at least 32", "openssl rand -base64 33"},
		},
		{
			"a short secret under its former name", func(c *pintle.Config) { c.Secrets, c.Getenv = nil, variable("NEXTAUTH_SECRET", canary) },
			"MissingSecret",
			[]string{"NEXTAUTH_SECRET has 13 characters"},
		},
		{
			"a short second secret", func(c *pintle.Config) { c.Secrets = []string{secret, canary} },
			"MissingSecret",
			[]string{"secret 2", "32"},
		},
		{
			"a short token secret", func(c *pintle.Config) { c.JWT.Secrets = []string{canary} },
			"MissingSecret",
			[]string{"Config.JWT.Secrets: secret 1 has 13 characters", "32"},
		},
		{
			"an empty token secret", func(c *pintle.Config) { c.JWT.Secrets = []string{secret, ""} },
			"MissingSecret",
			[]string{"Config.JWT.Secrets: secret 2 has 0 characters"},
		},
		{
			"a URL without scheme", func(c *pintle.Config) { c.URL = "app.example.com" },
			pintle.CodeConfiguration,
			[]string{"Config.URL", "AUTH_URL", "https://app.example.com"},
		},
		{
			"a URL of another scheme", func(c *pintle.Config) { c.URL = "ftp://app.example.com" },
			pintle.CodeConfiguration,
			[]string{"Config.URL", "AUTH_URL"},
		},
		{
			"a base path that is no path", func(c *pintle.Config) { c.BasePath = "auth" },
			pintle.CodeConfiguration,
			[]string{"Config.BasePath", "begins with one /"},
		},
		{
			"a base path that a browser takes for a host", func(c *pintle.Config) { c.BasePath = "//auth" },
			pintle.CodeConfiguration,
			[]string{"Config.BasePath", "begins with one /"},
		},
		{
			"a base path with a query", func(c *pintle.Config) { c.BasePath = "/auth?x" },
			pintle.CodeConfiguration,
			[]string{"Config.BasePath"},
		},
		{"an id that no path can name", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Credentials{ID: "pass word", Authorize: authorize}}
		}, pintle.CodeConfiguration, []string{`"pass word"`, "letters, digits"}},
		{"an id with a slash", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Credentials{ID: "a/b", Authorize: authorize}}
		}, pintle.CodeConfiguration, []string{`"a/b"`}},
		{"the id that clients send for no provider", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Credentials{ID: "undefined", Authorize: authorize}}
		}, pintle.CodeConfiguration, []string{`"undefined"`}},
		{"an OAuth provider without id", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{Issuer: "https://idp.example", ClientID: "x"}}
		}, pintle.CodeConfiguration, []string{"no ID"}},
		{"an OAuth provider without endpoints", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", ClientID: "x", ClientSecret: canary}}
		}, "InvalidEndpoints", []string{"acme"}},
		{"no issuer, whose metadata has the endpoints", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, ClientID: "x", ClientSecret: canary}}
		}, "InvalidEndpoints", []string{"InvalidEndpoints (provider acme): provider \"acme\": Issuer is missing: set it in the provider's options or in AUTH_ACME_ISSUER"}},
		{"no issuer for sessions that end at the provider", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, ClientID: "x", ClientSecret: canary, EndSessionAtProvider: true}}
		}, "InvalidEndpoints", []string{"Issuer is missing: set it in the provider's options or in AUTH_ACME_ISSUER"}},
		{"no client id", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme-works", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientSecret: canary}}
		}, "InvalidEndpoints", []string{"ClientID is missing", "AUTH_ACME_WORKS_ID"}},
		{"no client secret", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x"}}
		}, "InvalidEndpoints", []string{"ClientSecret is missing", "AUTH_ACME_SECRET"}},
		{"neither, of OAuth 1.0a", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{
				ID: "old", Protocol: oauth.OAuth1, RequestToken: oauth.Endpoint{URL: "https://idp.example/request"},
				Authorization: oauth.Endpoint{URL: "https://idp.example/authorize"}, Token: oauth.Endpoint{URL: "https://idp.example/token"},
				UserInfo: oauth.Endpoint{URL: "https://idp.example/user"},
			}}
		}, "InvalidEndpoints", []string{"ClientID is missing", "AUTH_OLD_ID", "ClientSecret is missing", "AUTH_OLD_SECRET"}},
		{"no secret for the signature of ID tokens", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x", ClientAuth: "none", SigningAlg: "HS256"}}
		}, "InvalidEndpoints", []string{"ClientSecret is missing", "AUTH_ACME_SECRET"}},
		{"two providers with one id", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Credentials{Name: "A", Authorize: authorize}, &pintle.Credentials{Name: "B", Authorize: authorize}}
		}, pintle.CodeConfiguration, []string{"Config.Providers[1]", `"credentials"`, "set the field ID"}},
		{"W-19 SH-81 an issuer without TLS", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "http://idp.example", ClientID: "x", ClientSecret: canary}}
		}, "InvalidEndpoints", []string{"acme", "https"}},
		{"credentials without a function", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Credentials{}}
		}, "MissingAuthorize", []string{"Credentials.Authorize"}},
		{"mail without a sender", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Email{}}
		}, pintle.CodeConfiguration, []string{"Email.Send"}},
		{"mail without a store", func(c *pintle.Config) {
			c.Providers = []pintle.Provider{&pintle.Email{Send: send}}
		}, "MissingAdapter", []string{"Config.Store"}},
		{"W-45 mail with a store that keeps no links", func(c *pintle.Config) {
			c.Providers, c.Store = []pintle.Provider{&pintle.Email{Send: send}}, bareStore{memstore.New()}
		}, "MissingAdapterMethods", []string{"mail provider", "pintle.Features.Verifications", "bareStore", "name a table in Layout"}},
		{"database sessions without a store", func(c *pintle.Config) {
			c.Session.Strategy = pintle.StrategyDatabase
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x"}}
		}, "MissingAdapter", []string{"Config.Store", "Config.Session.Strategy", "StrategyJWT"}},
		{"W-45 database sessions in a store that keeps none", func(c *pintle.Config) {
			c.Session.Strategy, c.Store = pintle.StrategyDatabase, bareStore{memstore.New()}
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x"}}
		}, "MissingAdapterMethods", []string{"Config.Session.Strategy", "pintle.Features.Sessions", "bareStore", "name a table in Layout"}},
		{"W-23 database sessions for credentials alone", func(c *pintle.Config) {
			c.Session.Strategy, c.Store = pintle.StrategyDatabase, sessionStore{memstore.New()}
		}, "UnsupportedStrategy", []string{"Config.Session.Strategy", "StrategyJWT"}},
		{"W-23 a store, whose sessions are the default, for credentials alone", func(c *pintle.Config) {
			c.Store = sessionStore{memstore.New()}
		}, "UnsupportedStrategy", []string{"Config.Session.Strategy", "StrategyJWT", "Config.Store"}},
		{
			"an unknown strategy", func(c *pintle.Config) { c.Session.Strategy = "cookie" },
			"UnsupportedStrategy",
			[]string{`"cookie"`, "StrategyJWT", "StrategyDatabase"},
		},
		{
			"a page that is neither path nor URL", func(c *pintle.Config) { c.Pages.SignIn = "login" },
			pintle.CodeConfiguration,
			[]string{"Config.Pages.SignIn", `"login"`, "begins with /"},
		},
		{
			"a sign-in page that is the built-in one", func(c *pintle.Config) { c.Pages.SignIn = "/auth/signin" },
			pintle.CodeConfiguration,
			[]string{`"/auth/signin" is the built-in page`, "leave it empty"},
		},
		{
			"an error page that is the built-in one of this site", func(c *pintle.Config) {
				c.URL, c.Pages.Error = "https://app.example.com", "https://app.example.com/auth/error?x=1"
			},
			pintle.CodeConfiguration,
			[]string{"Config.Pages", "redirected to it again and again"},
		},
		{
			"two pages that lead to each other", func(c *pintle.Config) { c.Pages.SignIn, c.Pages.Error = "/auth/error", "/auth/signin/" },
			pintle.CodeConfiguration,
			[]string{"Config.Pages", "redirected to it again and again"},
		},
		{
			"SH-90 a page that is a script", func(c *pintle.Config) { c.Pages.Error = "javascript:alert(1)" },
			pintle.CodeConfiguration,
			[]string{"Config.Pages.Error"},
		},
		{
			"a check that does not exist", func(c *pintle.Config) {
				c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x", ClientSecret: "y", Checks: []oauth.Check{"pkec"}}}
			},
			pintle.CodeConfiguration,
			[]string{`"pkec"`, "package oauth"},
		},
		{
			"a protocol that does not exist", func(c *pintle.Config) {
				c.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme", Protocol: 17, Issuer: "https://idp.example", ClientID: "x", ClientSecret: "y"}}
			},
			pintle.CodeConfiguration,
			[]string{"protocol 17", "package oauth"},
		},
		{
			"an invalid colour", func(c *pintle.Config) { c.Theme.BrandColor = "red;}body{" },
			pintle.CodeConfiguration,
			[]string{"Config.Theme"},
		},
		{
			"SH-90 a logo that is a script", func(c *pintle.Config) { c.Theme.Logo = "javascript:alert(1)" },
			pintle.CodeConfiguration,
			[]string{"Config.Theme"},
		},
		{
			"a negative lifetime", func(c *pintle.Config) { c.Session.MaxAge = -time.Hour },
			pintle.CodeConfiguration,
			[]string{"Config.Session.MaxAge", "30 days"},
		},
		{
			"a negative absolute lifetime", func(c *pintle.Config) { c.Session.AbsoluteMaxAge = -1 },
			pintle.CodeConfiguration,
			[]string{"Config.Session.AbsoluteMaxAge"},
		},
		{"half a token format", func(c *pintle.Config) {
			c.JWT.Decode = func(context.Context, string, string) (pintle.Claims, error) { return nil, nil }
		}, pintle.CodeConfiguration, []string{"Config.JWT.Encode", "Config.JWT.Decode"}},
		{"CK-1 a prefix that the path breaks", func(c *pintle.Config) {
			c.URL, c.Cookies.CSRFToken.Path = "https://app.example.com", "/auth"
		}, pintle.CodeConfiguration, []string{"Config.Cookies", "__Host-"}},
		{"CK-1 a prefix that the domain breaks", func(c *pintle.Config) {
			c.URL, c.Cookies.CSRFToken.Domain = "https://app.example.com", "example.com"
		}, pintle.CodeConfiguration, []string{"Config.Cookies", "__Host-"}},
		{"CK-1 a prefix on a site without TLS", func(c *pintle.Config) {
			c.URL, c.Cookies.SessionToken.Name = "http://localhost:3000", "__Secure-session"
		}, pintle.CodeConfiguration, []string{"Config.Cookies", "__Secure-session"}},
		{"CK-4 SameSite=None without Secure", func(c *pintle.Config) {
			c.URL, c.Cookies.SessionToken.SameSite = "http://localhost:3000", http.SameSiteNoneMode
		}, pintle.CodeConfiguration, []string{"Config.Cookies"}},
		{
			"a cookie name that ends the header", func(c *pintle.Config) { c.Cookies.SessionToken.Name = "a=b; c" },
			pintle.CodeConfiguration,
			[]string{"Config.Cookies"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := pintle.Config{
				Providers: []pintle.Provider{&pintle.Credentials{Authorize: authorize}},
				Secrets:   []string{secret},
				Getenv:    func(string) string { return "" },
			}
			tt.change(&cfg)
			auth, err := pintle.New(cfg)
			if auth != nil || err == nil {
				t.Fatal("New accepts it")
			}
			if e, ok := errors.AsType[*pintle.Error](err); !ok || e.Code != tt.code {
				t.Errorf("New fails with %q, want code %s", err, tt.code)
			}
			if !errors.Is(err, tt.code) {
				t.Errorf("errors.Is(%q, %q) = false", err, tt.code)
			}
			for _, text := range tt.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the message does not say %q: %s", text, err)
				}
			}
			if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), secret) {
				t.Errorf("SH-13 the message tells a secret: %s", err)
			}
		})
	}
}

// W-9, Q16: a configuration with credentials or mail does not change the
// requirements of the next.
func TestConfigurationsAreJudgedByThemselves(t *testing.T) {
	if _, err := pintle.New(pintle.Config{Providers: []pintle.Provider{&pintle.Email{}}, Secrets: []string{secret}, Getenv: noEnv}); err == nil {
		t.Fatal("New accepts mail without a store")
	}
	newSite(t)
}

func noEnv(string) string { return "" }

func TestTheEnvironmentCompletesTheConfiguration(t *testing.T) {
	const first, second, third, base = "secret three, 32 characters or more", "secret two, of 32 characters or more", "secret one, of 32 characters or more", "secret zero, of 32 characters or so.."
	tests := []struct {
		name   string
		env    map[string]string
		config pintle.Config
		asks   string // for a path of this URL
		status int
		salted string // the secret that the session of a sign-in is sealed with
	}{
		{"AUTH_SECRET", map[string]string{"AUTH_SECRET": base}, pintle.Config{}, "http://localhost/auth/session", 200, base},
		{
			"numbered secrets, of which the highest writes",
			map[string]string{"AUTH_SECRET": base, "AUTH_SECRET_1": third, "AUTH_SECRET_2": second, "AUTH_SECRET_3": first},
			pintle.Config{},
			"http://localhost/auth/session", 200, first,
		},
		{"numbered secrets with a gap", map[string]string{"AUTH_SECRET": base, "AUTH_SECRET_2": second}, pintle.Config{}, "http://localhost/auth/session", 200, second},
		{"NEXTAUTH_SECRET", map[string]string{"NEXTAUTH_SECRET": base}, pintle.Config{}, "http://localhost/auth/session", 200, base},
		{"AUTH_SECRET before NEXTAUTH_SECRET", map[string]string{"AUTH_SECRET": first, "NEXTAUTH_SECRET": base}, pintle.Config{}, "http://localhost/auth/session", 200, first},
		{"the configuration before AUTH_SECRET", map[string]string{"AUTH_SECRET": base}, pintle.Config{Secrets: []string{first}}, "http://localhost/auth/session", 200, first},
		{"an empty secret in the configuration", map[string]string{"AUTH_SECRET": base}, pintle.Config{Secrets: []string{""}}, "http://localhost/auth/session", 200, base},

		{"AUTH_URL makes a host known", map[string]string{"AUTH_SECRET": base, "AUTH_URL": "http://app.example"}, pintle.Config{}, "http://app.example/auth/session", 200, ""},
		{"AUTH_URL has a path", map[string]string{"AUTH_SECRET": base, "AUTH_URL": "http://app.example/api/auth"}, pintle.Config{}, "http://app.example/api/auth/session", 200, ""},
		{"NEXTAUTH_URL", map[string]string{"AUTH_SECRET": base, "NEXTAUTH_URL": "http://app.example/api/auth/"}, pintle.Config{}, "http://app.example/api/auth/session", 200, ""},
		{
			"AUTH_URL before NEXTAUTH_URL",
			map[string]string{"AUTH_SECRET": base, "AUTH_URL": "http://app.example", "NEXTAUTH_URL": "http://app.example/api/auth"},
			pintle.Config{},
			"http://app.example/auth/session", 200, "",
		},
		{
			"W-26 an empty AUTH_URL counts as unset",
			map[string]string{"AUTH_SECRET": base, "AUTH_URL": "", "NEXTAUTH_URL": "http://app.example/api/auth"},
			pintle.Config{},
			"http://app.example/api/auth/session", 200, "",
		},
		{
			"the base path of the configuration before that of AUTH_URL",
			map[string]string{"AUTH_SECRET": base, "AUTH_URL": "http://app.example/api/auth"},
			pintle.Config{BasePath: "/auth"},
			"http://app.example/auth/session", 200, "",
		},

		{"no host is trusted", map[string]string{"AUTH_SECRET": base}, pintle.Config{}, "http://app.example/auth/session", 500, ""},
		{"AUTH_TRUST_HOST=true", map[string]string{"AUTH_SECRET": base, "AUTH_TRUST_HOST": "true"}, pintle.Config{}, "http://app.example/auth/session", 200, ""},
		{"AUTH_TRUST_HOST=1", map[string]string{"AUTH_SECRET": base, "AUTH_TRUST_HOST": "1"}, pintle.Config{}, "http://app.example/auth/session", 200, ""},
		{"W-26 AUTH_TRUST_HOST=false", map[string]string{"AUTH_SECRET": base, "AUTH_TRUST_HOST": "false"}, pintle.Config{}, "http://app.example/auth/session", 500, ""},
		{"W-26 AUTH_TRUST_HOST=0", map[string]string{"AUTH_SECRET": base, "AUTH_TRUST_HOST": "0"}, pintle.Config{}, "http://app.example/auth/session", 500, ""},
		{"W-26 an empty AUTH_TRUST_HOST counts as unset", map[string]string{"AUTH_SECRET": base, "AUTH_TRUST_HOST": ""}, pintle.Config{TrustHost: true}, "http://app.example/auth/session", 200, ""},
		{"W-48 the configuration does not hide AUTH_TRUST_HOST", map[string]string{"AUTH_SECRET": base, "AUTH_TRUST_HOST": "yes"}, pintle.Config{TrustHost: false}, "http://app.example/auth/session", 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := tt.config
			cfg.Getenv = func(name string) string { return tt.env[name] }
			cfg.Providers = []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}
			var book logBook
			cfg.Logger = book.logger()
			auth, err := pintle.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			w, _ := ask(auth, http.MethodGet, tt.asks, nil)
			if w.Code != tt.status {
				t.Errorf("GET %s answers %d, want %d; log: %s", tt.asks, w.Code, tt.status, &book)
			}
			if tt.salted != "" {
				value := signedInCookie(t, auth)
				if _, ok := openedWith(tt.salted, sessionCookie, value); !ok {
					t.Errorf("the session is not sealed with %q", tt.salted)
				}
			}
		})
	}
}

func TestTheEnvironmentCompletesProviders(t *testing.T) {
	tests := []struct {
		name     string
		provider *pintle.OAuth
		env      map[string]string
		id       string
	}{
		{"by id", &pintle.OAuth{ID: "acme"}, map[string]string{"AUTH_ACME_SECRET": "x", "AUTH_ACME_ID": "client-7", "AUTH_ACME_ISSUER": "https://idp.example"}, "client-7"},
		{"with hyphens in the id", &pintle.OAuth{ID: "acme-works-ltd"}, map[string]string{"AUTH_ACME_WORKS_LTD_SECRET": "x", "AUTH_ACME_WORKS_LTD_ID": "client-7", "AUTH_ACME_WORKS_LTD_ISSUER": "https://idp.example"}, "client-7"},
		{"by the name for the environment", &pintle.OAuth{ID: "second", Env: "ACME"}, map[string]string{"AUTH_ACME_SECRET": "x", "AUTH_ACME_ID": "client-7", "AUTH_SECOND_ID": "client-8", "AUTH_ACME_ISSUER": "https://idp.example"}, "client-7"},
		{"but not what is configured", &pintle.OAuth{ID: "acme", ClientID: "client-9", Issuer: "https://idp.example"}, map[string]string{"AUTH_ACME_SECRET": "x", "AUTH_ACME_ID": "client-7", "AUTH_ACME_ISSUER": "https://evil.example"}, "client-9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.provider.Protocol = oauth.OIDC
			before := *tt.provider
			s := newSite(t, func(s *site) {
				s.Getenv = func(name string) string { return tt.env[name] }
				s.Providers = []pintle.Provider{tt.provider}
			})
			to := s.browser().leave(tt.provider.ID)
			if got := to.Query().Get("client_id"); to.Host != "idp.example" || got != tt.id {
				t.Errorf("the browser is sent to %s as client %q, want idp.example as %q", to.Host, got, tt.id)
			}
			if tt.provider.ClientID != before.ClientID || tt.provider.Issuer != before.Issuer {
				t.Error("New changes the provider it was given")
			}
		})
	}
}

// TestNewReadsNothingButTheEnvironmentItIsGiven keeps tests and hosts with two
// services apart.
func TestNewReadsNothingButTheEnvironmentItIsGiven(t *testing.T) {
	t.Setenv("AUTH_SECRET", secret)
	t.Setenv("AUTH_TRUST_HOST", "true")
	authorize := func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil }
	providers := []pintle.Provider{&pintle.Credentials{Authorize: authorize}}
	if _, err := pintle.New(pintle.Config{Providers: providers, Getenv: noEnv}); !errors.Is(err, pintle.Code("MissingSecret")) {
		t.Errorf("with Config.Getenv set, New fails with %v, want MissingSecret", err)
	}
	if _, err := pintle.New(pintle.Config{Providers: providers}); err != nil {
		t.Errorf("without one, New fails with %v although AUTH_SECRET is set", err)
	}
	var asked []string
	_, _ = pintle.New(pintle.Config{Providers: providers, Getenv: func(name string) string {
		asked = append(asked, name)
		return ""
	}})
	for _, name := range asked {
		if !strings.HasPrefix(name, "AUTH_") && !strings.HasPrefix(name, "NEXTAUTH_") {
			t.Errorf("New asks for %s", name)
		}
	}
	if !slices.Contains(asked, "AUTH_SECRET") {
		t.Error("New does not ask for AUTH_SECRET")
	}
}

func TestABuiltInPageMayTakeThePlaceOfAnother(t *testing.T) {
	for name, pages := range map[string]pintle.Pages{
		"errors on the sign-in page":           {Error: "/auth/signin"},
		"a sign-in page on another site":       {SignIn: "https://login.example.com/auth/signin"},
		"errors on a sign-in page of the host": {SignIn: "/login", Error: "/auth/signin"},
	} {
		t.Run(name, func(t *testing.T) {
			newSite(t, func(s *site) { s.Pages = pages })
		})
	}
}

// A provider that authenticates in another way than by a client secret needs
// none.
func TestACredentialIsAskedForOnlyWhereItIsSent(t *testing.T) {
	for name, change := range map[string]func(*pintle.OAuth){
		"a public client": func(p *pintle.OAuth) { p.ClientAuth = "none" },
		"a secret made by request": func(p *pintle.OAuth) {
			p.Quirks.ClientSecret = func(context.Context) (string, error) { return "x", nil }
		},
		"a secret of the environment": func(p *pintle.OAuth) { p.Env = "SHARED" },
	} {
		t.Run(name, func(t *testing.T) {
			p := &pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x"}
			change(p)
			_, err := pintle.New(pintle.Config{
				Providers: []pintle.Provider{p}, Secrets: []string{secret},
				Getenv: func(name string) string { return map[string]string{"AUTH_SHARED_SECRET": "y"}[name] },
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatAnOperatorShouldNotOverlookIsInTheLog(t *testing.T) {
	tests := []struct {
		name   string
		change func(*site)
		code   string
	}{
		{"the debug switch", func(s *site) { s.Debug = true }, "debug-enabled"},
		{"a callback for tokens that are not there", func(s *site) {
			s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyDatabase
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) { return c.Claims, nil }
		}, "unused-jwt-callback"},
		{"a URL without TLS", func(s *site) { s.Config.URL = "http://app.example.com" }, "insecure-url"},
		{"a URL whose path is not the base path", func(s *site) { s.URL, s.BasePath = "http://localhost:3000/api/auth", "/auth" }, "env-url-basepath-mismatch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			quiet := newSite(t, func(s *site) { s.Debug, s.Config.URL = false, s.url })
			if quiet.log.has(tt.code) {
				t.Error("the log always says so")
			}
			if s := newSite(t, tt.change); !s.log.has(tt.code) {
				t.Errorf("the log does not say so: %s", s.log)
			}
		})
	}
}

// Without a store for sessions they are in tokens.
func TestAStoreWithoutSessionsLeavesThemInTokens(t *testing.T) {
	s := newSite(t, func(s *site) { s.Store = userStore{rows: memstore.New()} })
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	if who := b.who(); who != "Ada Lovelace" || !strings.HasPrefix(b.cookie(sessionCookie), "eyJ") {
		t.Errorf("%s is signed in, with the cookie %q", who, b.cookie(sessionCookie))
	}
}

// The error says once what is wrong with the address, and once what to write.
func TestTheErrorOfAnAddressHasTheFixOnce(t *testing.T) {
	for _, address := range []string{"localhost:8443", "app.example", "ftp://app.example", "https://app.example:99999", "https://"} {
		_, err := pintle.New(pintle.Config{URL: address, Secrets: []string{secret}, Getenv: func(string) string { return "" }})
		text := fmt.Sprint(err)
		for part, want := range map[string]int{"Config.URL (AUTH_URL)": 1, strconv.Quote(address): 1, "such as https://app.example.com": 1, "origin: ": 0} {
			if n := strings.Count(text, part); n != want {
				t.Errorf("%q is %d times in the error %s", part, n, text)
			}
		}
	}
	_, err := pintle.New(pintle.Config{URL: "https://kim:" + canary + "@app.example", Secrets: []string{secret}, Getenv: func(string) string { return "" }})
	if text := fmt.Sprint(err); !strings.Contains(text, "user name") || strings.Contains(text, canary) {
		t.Errorf("the error of an address with a password is %s", text)
	}
}
