package provider_test

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

func TestScopesReplaceTheDefaultOnes(t *testing.T) {
	scopes := []string{"one", "two"}
	for _, tt := range []struct {
		p    *pintle.OAuth
		want string
	}{
		{provider.GitHub(provider.Options{Scopes: scopes}), "one two"},
		{provider.Google(provider.Options{Scopes: scopes}), "one two"},
		{provider.Strava(provider.Options{Scopes: scopes}), "one,two"},
		{provider.Facebook(provider.FacebookOptions{Options: provider.Options{Scopes: scopes}}), "one,two"},
		{provider.GitHub(provider.Options{Scopes: []string{}}), ""},
	} {
		if got, there := tt.p.Authorization.Params["scope"]; got != tt.want || !there {
			t.Errorf("%s requests %q (present: %t), want %q", tt.p.ID, got, there, tt.want)
		}
	}
}

func TestOptionsNeverReachAnotherProvider(t *testing.T) {
	for id, create := range constructors {
		changed := create(provider.Options{Scopes: []string{"changed"}})
		changed.Authorization.Params["added"] = "1"
		if fresh := create(provider.Options{}); fresh.Authorization.Params["added"] != "" || fresh.Authorization.Params["scope"] == "changed" {
			t.Errorf("%s: what one application changes, another one has", id)
		}
	}
}

func TestTwitterSpeaksBothVersions(t *testing.T) { // S-40
	for version, want := range map[string]oauth.Protocol{"": oauth.OAuth2, "2.0": oauth.OAuth2, "1.0a": oauth.OAuth1} {
		p := provider.Twitter(provider.TwitterOptions{Version: version})
		if p.Protocol != want || p.ID != "twitter" || p.Name != "Twitter" {
			t.Errorf("version %q is %v, %q, %q", version, p.Protocol, p.ID, p.Name)
		}
	}
	refused(t, provider.Twitter(provider.TwitterOptions{Version: "3"}), `"3"`)

	f := *readFacts(t)["twitter-oauth1"]
	f.ID = "twitter"
	s := newService(t, &f, ada)
	a := newApplication(t, provider.Twitter(provider.TwitterOptions{
		Version: "1.0a", Options: provider.Options{ClientID: clientID, ClientSecret: clientSecret},
	}), s)
	a.signIn(s)
	if a.signedIn == nil || a.signedIn.Account.OAuthToken != "lasting" || a.signedIn.Account.OAuthTokenSecret != "lasting&secret" {
		t.Errorf("the sign-in gave %+v: %s", a.signedIn, a.log.String())
	}
}

func TestTwitterRequestsTheAddressWithItsScope(t *testing.T) {
	p := provider.Twitter(provider.TwitterOptions{Options: provider.Options{Scopes: []string{"users.read", "tweet.read", "users.email"}}})
	if got, want := p.UserInfo.Params["user.fields"], "profile_image_url,confirmed_email"; got != want {
		t.Errorf("the fields are %q, want %q", got, want)
	}
	var typed provider.TwitterProfile
	profile := pintle.Profile{"data": map[string]any{"id": "7", "confirmed_email": "ada@example.com"}}
	if err := profile.Decode(&typed); err != nil || typed.Data.ID != "7" || typed.Data.ConfirmedEmail != "ada@example.com" {
		t.Errorf("Decode gave %+v, %v", typed, err)
	}
	user, err := p.Profile(profile, nil)
	if err != nil || user.Email != "ada@example.com" {
		t.Errorf("the user is %+v, %v", user, err)
	}
}

func TestVKHasAVersionAndURLs(t *testing.T) { // S-41
	p := provider.VK(provider.VKOptions{})
	for _, e := range []oauth.Endpoint{p.Authorization, p.Token, p.UserInfo} {
		if e.Params["v"] != "5.126" {
			t.Errorf("%s has version %q", e.URL, e.Params["v"])
		}
	}
	const oauthHost, api = "https://oauth.vk.com", "https://api.vk.com/method"
	for _, tt := range []struct {
		name                          string
		o                             provider.VKOptions
		authorization, token, profile string
	}{
		{
			name: "S-41 a version", o: provider.VKOptions{Version: "5.199"},
			authorization: oauthHost + "/authorize?scope=email&v=5.199", token: oauthHost + "/access_token?v=5.199", profile: api + "/users.get?fields=photo_100&v=5.199",
		},
		{
			name: "S-41 the URLs of the specification",
			o: provider.VKOptions{
				AccessTokenURL: oauthHost + "/access_token?v=5.131", RequestTokenURL: oauthHost + "/access_token?v=5.131",
				AuthorizationURL: oauthHost + "/authorize?response_type=code&v=5.131", ProfileURL: api + "/users.get?fields=photo_100&v=5.131",
			},
			authorization: oauthHost + "/authorize?response_type=code&scope=email&v=5.131", token: oauthHost + "/access_token?v=5.131", profile: api + "/users.get?fields=photo_100&v=5.131",
		},
		{
			name:          "S-41 other addresses",
			o:             provider.VKOptions{AuthorizationURL: "https://a.example/", AccessTokenURL: "https://t.example/", ProfileURL: "https://p.example/?fields=sex"},
			authorization: "https://a.example/?scope=email&v=5.126", token: "https://t.example/?v=5.126", profile: "https://p.example/?fields=sex&v=5.126",
		},
		{
			name:          "S-41 scopes and an address",
			o:             provider.VKOptions{AuthorizationURL: "https://a.example/?v=5.199", Options: provider.Options{Scopes: []string{"photos", "email"}}},
			authorization: "https://a.example/?scope=photos+email&v=5.199", token: oauthHost + "/access_token?v=5.126", profile: api + "/users.get?fields=photo_100&v=5.126",
		},
		{
			name:          "S-41 scopes in an address",
			o:             provider.VKOptions{AuthorizationURL: "https://a.example/?scope=photos"},
			authorization: "https://a.example/?scope=photos&v=5.126", token: oauthHost + "/access_token?v=5.126", profile: api + "/users.get?fields=photo_100&v=5.126",
		},
		{
			name:          "S-41 the other name of the token endpoint",
			o:             provider.VKOptions{RequestTokenURL: "https://r.example/?v=5.199"},
			authorization: oauthHost + "/authorize?scope=email&v=5.126", token: "https://r.example/?v=5.199", profile: api + "/users.get?fields=photo_100&v=5.126",
		},
		{
			name:          "S-41 both names of the token endpoint",
			o:             provider.VKOptions{AccessTokenURL: "https://t.example/", RequestTokenURL: "https://r.example/"},
			authorization: oauthHost + "/authorize?scope=email&v=5.126", token: "https://t.example/?v=5.126", profile: api + "/users.get?fields=photo_100&v=5.126",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := provider.VK(tt.o)
			for _, e := range []struct {
				name string
				e    oauth.Endpoint
				want string
			}{{"authorization", p.Authorization, tt.authorization}, {"token", p.Token, tt.token}, {"profile", p.UserInfo, tt.profile}} {
				if got := whole(t, e.e); got != e.want {
					t.Errorf("the %s endpoint is %s, want %s", e.name, got, e.want)
				}
			}
		})
	}
}

// whole is the URL of an endpoint with all its parameters.
func whole(t *testing.T, e oauth.Endpoint) string {
	t.Helper()
	u, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for name, value := range e.Params {
		if query.Has(name) {
			t.Errorf("%s has %s twice", e.URL, name)
		}
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// An option that sets an endpoint leaves the parameters that it does not name.
func TestOptionsOfEndpointsKeepTheOtherParameters(t *testing.T) {
	scopes := provider.Options{Scopes: []string{"one"}}
	for _, tt := range []struct {
		name         string
		usual, other *pintle.OAuth
		named        []string // the parameters that the option is for
	}{
		{"a URL of VK", provider.VK(provider.VKOptions{}), provider.VK(provider.VKOptions{AuthorizationURL: "https://a.example/", AccessTokenURL: "https://a.example/", ProfileURL: "https://a.example/"}), nil},
		{"a version of VK", provider.VK(provider.VKOptions{}), provider.VK(provider.VKOptions{Version: "5.199"}), []string{"v"}},
		{"a version of Facebook", provider.Facebook(provider.FacebookOptions{}), provider.Facebook(provider.FacebookOptions{Version: "v25.0"}), nil},
		{"a version of Foursquare", provider.Foursquare(provider.FoursquareOptions{}), provider.Foursquare(provider.FoursquareOptions{APIVersion: "20260101"}), []string{"v"}},
		{"a version of Shopify", provider.Shopify(provider.ShopifyOptions{Shop: "a"}), provider.Shopify(provider.ShopifyOptions{Shop: "b", Version: "2027-01"}), nil},
		{"the sandbox of PayPal", provider.PayPal(provider.PayPalOptions{}), provider.PayPal(provider.PayPalOptions{Sandbox: true}), nil},
		{"a data centre of Zoho", provider.Zoho(provider.ZohoOptions{}), provider.Zoho(provider.ZohoOptions{DataCentre: "eu"}), nil},
		{"an address of Webex", provider.Webex(provider.WebexOptions{}), provider.Webex(provider.WebexOptions{APIBaseURL: "https://a.example"}), nil},
		{"websites at WeChat", provider.WeChat(provider.WeChatOptions{}), provider.WeChat(provider.WeChatOptions{Website: true}), []string{"scope"}},
		{"an account of NetSuite", provider.NetSuite(provider.NetSuiteOptions{AccountID: "1"}), provider.NetSuite(provider.NetSuiteOptions{AccountID: "2", UserInfoURL: "https://a.example/"}), nil},
		{"a connection of WorkOS", provider.WorkOS(provider.WorkOSOptions{}), provider.WorkOS(provider.WorkOSOptions{Connection: "conn_1"}), []string{"connection"}},
		{"a tenant of Microsoft", provider.MicrosoftEntraID(provider.MicrosoftEntraIDOptions{}), provider.MicrosoftEntraID(provider.MicrosoftEntraIDOptions{Tenant: "consumers"}), nil},
		{"the address of X's user", provider.Twitter(provider.TwitterOptions{Options: scopes}), provider.Twitter(provider.TwitterOptions{Options: provider.Options{Scopes: []string{"one", "users.email"}}}), []string{"scope", "user.fields"}},
	} {
		t.Run(tt.name, func(t *testing.T) { sameParameters(t, tt.usual, tt.other, tt.named) })
	}
	for id, create := range constructors {
		t.Run("another issuer and scopes of "+id, func(t *testing.T) {
			usual := create(provider.Options{})
			sameParameters(t, usual, create(provider.Options{Issuer: "https://other.example"}), nil)
			sameParameters(t, usual, create(scopes), []string{"scope"})
		})
	}
}

func sameParameters(t *testing.T, usual, other *pintle.OAuth, named []string) {
	t.Helper()
	endpoints := func(p *pintle.OAuth) []oauth.Endpoint {
		return []oauth.Endpoint{p.Authorization, p.Token, p.UserInfo, p.RequestToken}
	}
	for i, e := range endpoints(usual) {
		given := endpoints(other)[i].Params
		for name, value := range e.Params {
			if got, there := given[name]; !there || got != value && !slices.Contains(named, name) {
				t.Errorf("%s of %s became %q (present: %t), want %q", name, e.URL, got, there, value)
			}
		}
	}
	if usual.Authorization.URL != "" && other.Authorization.URL == "" {
		t.Error("the authorization endpoint is lost")
	}
}

func TestGitHubEnterpriseServerIsAnIssuer(t *testing.T) {
	p := provider.GitHub(provider.Options{Issuer: "https://git.example/login/oauth"})
	for got, want := range map[string]string{
		p.Issuer: "https://git.example/login/oauth", p.Authorization.URL: "https://git.example/login/oauth/authorize",
		p.Token.URL: "https://git.example/login/oauth/access_token", p.UserInfo.URL: "https://git.example/api/v3/user",
	} {
		if got != want {
			t.Errorf("an endpoint is %s, want %s", got, want)
		}
	}
}

func TestTenantsOfMicrosoftAreIssuers(t *testing.T) {
	const login = "https://login.microsoftonline.com/"
	const id = "5f0c9a3e-8b1d-4c1e-9a53-0d7f5a1b2c3d"
	for _, tt := range []struct {
		name, tenant, issuer, variable string
		wantIssuer, wantWellKnown      string
	}{
		{name: "all accounts", wantIssuer: login + "common/v2.0"},
		{name: "a tenant", tenant: id, wantIssuer: login + id + "/v2.0"},
		{name: "organizations", tenant: "organizations", wantIssuer: login + "organizations/v2.0"},
		{name: "an issuer", issuer: login + id + "/v2.0", wantIssuer: login + id + "/v2.0"},
		{name: "a variable", variable: login + id + "/v2.0", wantIssuer: login + id + "/v2.0"},
		// The metadata of these names the id of the tenant.
		{name: "consumers", tenant: "consumers", wantWellKnown: login + "consumers/v2.0/.well-known/openid-configuration"},
		{name: "a domain", tenant: "contoso.example", wantWellKnown: login + "contoso.example/v2.0/.well-known/openid-configuration"},
		{name: "another host", issuer: "https://id.example.com/v2.0", wantIssuer: "https://id.example.com/v2.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := provider.MicrosoftEntraID(provider.MicrosoftEntraIDOptions{Tenant: tt.tenant, Options: provider.Options{Issuer: tt.issuer}})
			if tt.variable != "" {
				p.Issuer = tt.variable
			}
			if err := p.Complete(p); err != nil {
				t.Fatal(err)
			}
			if p.Issuer != tt.wantIssuer || p.WellKnown != tt.wantWellKnown {
				t.Errorf("the issuer is %q with %q, want %q with %q", p.Issuer, p.WellKnown, tt.wantIssuer, tt.wantWellKnown)
			}
			// RPT-33: of the audiences of an assertion Microsoft documents the token endpoint.
			base := strings.TrimSuffix(cmp.Or(p.Issuer, strings.TrimSuffix(p.WellKnown, "/.well-known/openid-configuration")), "/v2.0")
			if want := base + "/oauth2/v2.0/token"; p.Quirks.AssertionAudience != want {
				t.Errorf("the audience of an assertion is %q, want %q", p.Quirks.AssertionAudience, want)
			}
		})
	}
}

func TestServersAreRequiredAndSpelledInAnyWay(t *testing.T) {
	for _, issuer := range []string{"https://social.example", "https://social.example/", "https://social.example//"} {
		p := provider.Mastodon(provider.Options{Issuer: issuer})
		if err := p.Complete(p); err != nil {
			t.Fatal(err)
		}
		if p.Authorization.URL != "https://social.example/oauth/authorize" || p.Issuer != "" {
			t.Errorf("%s leads to %s, issuer %q", issuer, p.Authorization.URL, p.Issuer)
		}
	}
	refused(t, provider.Mastodon(provider.Options{}), "AUTH_MASTODON_ISSUER")
	refused(t, provider.Mastodon(provider.Options{ID: "other-social"}), "AUTH_OTHER_SOCIAL_ISSUER")
	for _, issuer := range []string{"social.example", "https://", "https://social.example/?a=b", "https://social.example/#a", "http://social.example"} {
		refused(t, provider.Mastodon(provider.Options{Issuer: issuer}), "mastodon")
	}
	p := provider.Mastodon(provider.Options{Issuer: "https://social.example"})
	p.UserInfo.URL = "https://elsewhere.example/me"
	if err := p.Complete(p); err != nil || p.UserInfo.URL != "https://elsewhere.example/me" {
		t.Errorf("a changed endpoint became %s, %v", p.UserInfo.URL, err)
	}
}

func TestVariablesNameServers(t *testing.T) {
	f := readFacts(t)["mastodon"]
	s := newService(t, f, ada)
	cfg := pintle.Config{
		Providers: []pintle.Provider{provider.Mastodon(provider.Options{})},
		Secrets:   []string{"a secret of the application, long enough"}, URL: "https://app.example",
		HTTPClient: &http.Client{Transport: s},
		Getenv: func(name string) string {
			return map[string]string{
				"AUTH_MASTODON_ID": clientID, "AUTH_MASTODON_SECRET": clientSecret, "AUTH_MASTODON_ISSUER": "https://server.example",
			}[name]
		},
	}
	a := &application{t: t}
	a.start(cfg)
	a.signIn(s)
	if a.signedIn == nil {
		t.Errorf("no user was signed in: %s", a.log.String())
	}
}

func TestNewRejectsIncompleteProviders(t *testing.T) {
	for _, tt := range []struct {
		p    *pintle.OAuth
		want string
	}{
		{provider.NetSuite(provider.NetSuiteOptions{UserInfoURL: "https://a.example/"}), "AccountID"},
		{provider.NetSuite(provider.NetSuiteOptions{AccountID: "1.evil.example/", UserInfoURL: "https://a.example/"}), "AccountID"},
		{provider.NetSuite(provider.NetSuiteOptions{AccountID: "1234567"}), "UserInfo"},
		{provider.Shopify(provider.ShopifyOptions{}), "Shop"},
		{provider.Shopify(provider.ShopifyOptions{Shop: "evil.example/"}), "Shop"},
		{provider.Keycloak(provider.Options{}), "Issuer"},
		{provider.Apple(provider.AppleOptions{TeamID: "T"}), "belong together"},
		{provider.Apple(provider.AppleOptions{TeamID: "T", KeyID: "K", PrivateKey: "secret"}), "PrivateKey"},
	} {
		refused(t, tt.p, tt.want)
	}
}

func TestOtherVersionsAndPlaces(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"a version of Facebook", provider.Facebook(provider.FacebookOptions{Version: "v25.0"}).Authorization.URL, "https://www.facebook.com/v25.0/dialog/oauth"},
		{"a version of Foursquare", provider.Foursquare(provider.FoursquareOptions{APIVersion: "20260101"}).UserInfo.Params["v"], "20260101"},
		{"the sandbox of PayPal", provider.PayPal(provider.PayPalOptions{Sandbox: true}).Token.URL, "https://api-m.sandbox.paypal.com/v1/oauth2/token"},
		{"the EU at Zoho", provider.Zoho(provider.ZohoOptions{DataCentre: "eu"}).Token.URL, "https://accounts.zoho.eu/oauth/v2/token"},
		{"another Webex", provider.Webex(provider.WebexOptions{APIBaseURL: "https://w.example"}).UserInfo.URL, "https://w.example/people/me"},
		{"websites at WeChat", provider.WeChat(provider.WeChatOptions{Website: true}).Authorization.URL, "https://open.weixin.qq.com/connect/qrconnect#wechat_redirect"},
		{"a version of Shopify", provider.Shopify(provider.ShopifyOptions{Shop: "a", Version: "2027-01"}).UserInfo.URL, "https://a.myshopify.com/admin/api/2027-01/shop.json"},
		{"a connection of WorkOS", provider.WorkOS(provider.WorkOSOptions{Connection: "conn_1"}).Authorization.Params["connection"], "conn_1"},
		{"a sandbox of NetSuite", provider.NetSuite(provider.NetSuiteOptions{AccountID: "1234567_SB1"}).Token.URL, "https://1234567-sb1.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	p := provider.FusionAuth(provider.FusionAuthOptions{TenantID: "t 1", Options: provider.Options{Issuer: "https://auth.example"}})
	p.Authorization.Params = map[string]string{}
	if err := p.Complete(p); err != nil || p.Authorization.Params["tenantId"] != "t 1" ||
		p.WellKnown != "https://auth.example/.well-known/openid-configuration?tenantId=t+1" {
		t.Errorf("a tenant of FusionAuth: %v, %s, %v", p.Authorization, p.WellKnown, err)
	}
}

// refused checks that New rejects a provider.
func refused(t *testing.T, p *pintle.OAuth, want string) {
	t.Helper()
	_, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{p}, Secrets: []string{"a secret of the application, long enough"},
		URL: "https://app.example", Getenv: func(string) string { return "" },
	})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("New with %s: %v, want an error with %q", p.ID, err, want)
	}
}

func TestChecksStayInOrder(t *testing.T) {
	for id, create := range constructors {
		p := create(provider.Options{})
		if p.Protocol == oauth.OAuth2 && p.Checks != nil && !slices.Contains(p.Checks, oauth.CheckState) && !slices.Contains(p.Checks, oauth.CheckPKCE) {
			t.Errorf("the flow of %s has no check", id)
		}
		if slices.Contains(p.Checks, oauth.CheckNone) {
			t.Errorf("%s turns every check off", id)
		}
		for _, e := range []oauth.Endpoint{p.Authorization, p.Token, p.UserInfo, p.RequestToken} {
			if u, err := url.Parse(e.URL); err != nil || u.Scheme == "http" {
				t.Errorf("%s is spoken to at %s", id, e.URL)
			}
		}
	}
}

// An application adds a parameter to an endpoint of any provider, and to those of
// no other.
func TestParametersCanBeAddedToEveryEndpoint(t *testing.T) {
	for id, make := range constructors {
		p, other := make(provider.Options{}), make(provider.Options{})
		for name, pair := range map[string][2]map[string]string{
			"Authorization": {p.Authorization.Params, other.Authorization.Params},
			"Token":         {p.Token.Params, other.Token.Params},
			"UserInfo":      {p.UserInfo.Params, other.UserInfo.Params},
			"RequestToken":  {p.RequestToken.Params, other.RequestToken.Params},
		} {
			if pair[0] == nil {
				t.Errorf("%s.Params of %s is nil", name, id)
				continue
			}
			pair[0]["x"] = "y"
			if pair[1]["x"] != "" {
				t.Errorf("%s.Params of %s is that of every %s", name, id, id)
			}
		}
	}
}
