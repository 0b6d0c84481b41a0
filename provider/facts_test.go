package provider_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A fact is an entry of testdata/facts.json about a service, from Auth.js, goth
// and better-auth. Braces mark the values of the application.
type fact struct {
	ID, Name, Type, Protocol string
	Superset                 bool
	Status                   string
	Issuer, Discovery        string
	RequestToken             string
	Authorization            struct {
		URL, ScopeSeparator string
		Params              map[string]string
	}
	Token struct {
		URL, Method, AuthMethod string
		Params                  map[string]string
	}
	UserInfo struct {
		Source, Result string
		Requests       []profileRequest
	}
	Client      map[string]string
	Checks      []string
	Scope       string
	ScopeSource string
	Required    map[string]string
	Mapping     map[string]mapping

	// EmailVerified is nil if no page is known that states which addresses the
	// service has verified.
	EmailVerified *verification
}

// A profileRequest is a request for a profile.
type profileRequest struct {
	Method, URL, Auth string
	Params, Headers   map[string]string
	Body              any
}

// A mapping is where one member of a user comes from.
type mapping struct {
	From, Join, ErrorIfMissing []string
	Template                   string
}

// signsIn reports whether the entry is a service that a browser is sent to.
func (f *fact) signsIn() bool { return f.Type == "oauth" || f.Type == "oidc" }

// readFacts returns the facts by id, corrected.
func readFacts(t *testing.T) map[string]*fact {
	t.Helper()
	text, err := os.ReadFile("testdata/facts.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []*fact
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	facts := map[string]*fact{}
	for _, f := range list {
		// A plain OAuth 2 service that declares no scope is sent the scope of
		// OpenID Connect by Auth.js. It is better served without one (P-4).
		if f.Type == "oauth" && f.ScopeSource == "default" {
			f.Scope = ""
		}
		if correct := corrections[f.ID]; correct != nil {
			correct(f)
		}
		facts[f.ID] = f
	}
	return facts
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// fill replaces the text in braces.
func fill(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := values[strings.Trim(name, "{}")]; ok {
			return value
		}
		return name
	})
}

// corrections are the places where the catalogue knowingly departs from the
// facts, each with the reason: other protections (P-5), endpoints that have ended
// (P-6), answers that Auth.js cannot read (P-8), credentials sent as documented
// (P-11).
var corrections = map[string]func(*fact){
	// Nothing needs the postal code.
	"amazon": func(f *fact) { f.Scope = "profile" },
	// The grant that Auth.js describes and does not use, at the documented
	// address; without PKCE, which the service has not heard of.
	"azure-devops": func(f *fact) {
		f.Token.URL, f.Token.AuthMethod = "https://app.vssps.visualstudio.com/oauth2/token", "assertion"
		f.Checks = []string{"state"}
	},
	"battlenet": func(f *fact) {
		f.Checks = []string{"pkce", "state"} // a request without a state is rejected
		f.Issuer, f.Discovery = "https://oauth.battle.net", "https://oauth.battle.net/.well-known/openid-configuration"
	},
	"bitbucket": func(f *fact) {
		f.UserInfo.Requests = append(f.UserInfo.Requests, profileRequest{
			Method: "GET", URL: "https://api.bitbucket.org/2.0/user/emails", Headers: bearer,
		})
	},
	"bungie": func(f *fact) {
		f.Checks = []string{"pkce", "state"} // the service may not support PKCE
		f.UserInfo.Requests[0].Headers = map[string]string{"Authorization": "Bearer {access_token}", "X-API-Key": "api-key"}
	},
	"dailymotion": func(f *fact) { // the API returns the requested fields
		f.UserInfo.Requests[0].Params = map[string]string{"fields": "id,fullname,email,avatar_720_url"}
	},
	"digitalocean": func(f *fact) { f.Token.AuthMethod = "client_secret_post" },
	"dribbble":     func(f *fact) { f.Scope = "public" },        // not "undefined"
	"eveonline":    func(f *fact) { f.UserInfo.Requests = nil }, // the access token has it
	"facebook": func(f *fact) { // v19.0 ended in May 2026
		f.Authorization.URL = "https://www.facebook.com/v24.0/dialog/oauth"
	},
	"figma":  func(f *fact) { f.Scope = "current_user:read" }, // files:read is deprecated
	"fitbit": func(f *fact) { f.Mapping["id"] = mapping{From: []string{"user.encodedId"}} },
	"gitea": func(f *fact) {
		f.Issuer, f.Checks, f.UserInfo.Requests[0].Auth = "https://gitea.com", []string{"pkce", "state"}, "bearer"
	},
	"heroku":  func(f *fact) { f.Scope = "identity" }, // goth requests no scope and gets all
	"hubspot": func(f *fact) { delete(f.Authorization.Params, "client_id") },
	"influxcloud": func(f *fact) {
		f.Issuer = "https://cloud.influxdata.com"
	},
	"intercom": func(f *fact) { // the secret in the body rather than in a URL
		f.Token.Params, f.Token.AuthMethod = nil, "client_secret_post"
	},
	// The responses are requested as JSON; both hosts have https.
	"lark": func(f *fact) { f.Mapping["id"] = mapping{From: []string{"data.open_id"}} }, // P-12
	"lastfm": func(f *fact) {
		f.Authorization.URL, f.Checks = "https://www.last.fm/api/auth/", []string{"state"}
		f.Token.URL = "https://ws.audioscrobbler.com/2.0/"
		f.UserInfo.Requests[0] = profileRequest{Method: "GET", URL: f.Token.URL, Auth: "none", Params: map[string]string{
			"method": "user.getinfo", "user": "{login}", "api_key": "client", "format": "json",
		}}
		f.Mapping["image"] = mapping{}
	},
	"microsoft-entra-id": func(f *fact) { f.UserInfo.Requests = photo },
	"azure-ad":           func(f *fact) { f.UserInfo.Requests = photo },
	"mailchimp": func(f *fact) { // as documented
		f.Token.AuthMethod = "client_secret_post"
		f.UserInfo.Requests[0].Headers = map[string]string{"Authorization": "OAuth {access_token}"}
	},
	"mailru": func(f *fact) { // as documented; the state because PKCE is new there
		f.Checks, f.UserInfo.Requests[0].Headers, f.UserInfo.Requests[0].Auth = []string{"pkce", "state"}, nil, "query:access_token"
	},
	"notion": func(f *fact) { f.Authorization.Params = map[string]string{"owner": "user"} },
	"onedrive": func(f *fact) { // an address is no id
		f.Mapping["id"] = mapping{From: []string{"id"}}
	},
	"openid-connect": func(f *fact) {
		f.Checks, f.Scope = []string{"pkce", "state", "nonce"}, "openid profile email"
	},
	"oura": func(f *fact) { // version 1 ended in January 2024
		f.UserInfo.Requests[0].URL = "https://api.ouraring.com/v2/usercollection/personal_info"
		f.Mapping["id"], f.Scope = mapping{From: []string{"id"}}, "email personal"
	},
	"patreon": func(f *fact) { // version 2 of the API
		f.UserInfo.Requests[0].URL = "https://www.patreon.com/api/oauth2/v2/identity"
		f.UserInfo.Requests[0].Params = map[string]string{"fields[user]": "created,email,full_name,image_url,is_email_verified,vanity"}
	},
	"paybin":    func(f *fact) { f.Issuer = "https://idp.paybin.io" },
	"pinterest": func(f *fact) { f.Mapping["id"] = mapping{From: []string{"id"}} }, // P-12
	"reddit": func(f *fact) {
		f.UserInfo.Requests[0].Headers = map[string]string{"Authorization": "Bearer {access_token}", "User-Agent": "pintle (+https://github.com/pintleauth/pintle)"}
	},
	"shopify": func(f *fact) { // version 2019-04 has long ended
		f.UserInfo.Requests[0].URL = strings.ReplaceAll(f.UserInfo.Requests[0].URL, "{version}", "2026-10")
	},
	"soundcloud": func(f *fact) { // OAuth 2.1 since October 2024
		f.Authorization.URL, f.Token.URL = "https://secure.soundcloud.com/authorize", "https://secure.soundcloud.com/oauth/token"
		f.Checks = []string{"pkce", "state"}
		f.UserInfo.Requests[0].Auth, f.UserInfo.Requests[0].Headers = "", map[string]string{"Authorization": "OAuth {access_token}"}
	},
	"stripe": func(f *fact) { f.Scope = "read_only" },
	"tiktok": func(f *fact) { f.Checks = []string{"pkce", "state"} }, // PKCE is for its apps only
	"todoist": func(f *fact) { // version 9 ended in February 2026; the state is required
		f.Checks, f.UserInfo.Requests[0].URL = []string{"pkce", "state"}, "https://api.todoist.com/api/v1/sync"
	},
	"trakt": func(f *fact) {
		f.UserInfo.Requests[0].Headers["User-Agent"] = "pintle (+https://github.com/pintleauth/pintle)"
		f.Mapping["id"] = mapping{From: []string{"ids.uuid"}, ErrorIfMissing: []string{"ids"}} // P-12
	},
	"tumblr": func(f *fact) { // P-12
		f.Mapping["id"] = mapping{From: []string{"response.user.blogs[primary=true].uuid"}}
	},
	"twitch": func(f *fact) { // whether the address is verified
		f.Authorization.Params["claims"] = `{"id_token":{"email":null,"email_verified":null,"picture":null,"preferred_username":null}}`
	},
	"uber": func(f *fact) {
		f.Authorization.URL, f.Token.URL = "https://login.uber.com/oauth/v2/authorize", "https://login.uber.com/oauth/v2/token"
		f.UserInfo.Requests[0].URL = "https://api.uber.com/v1.2/me"
	},
	"vk": func(f *fact) { // the version of the specification; the service rejects PKCE
		f.Authorization.Params["v"], f.Token.Params["v"], f.UserInfo.Requests[0].Params["v"] = "5.126", "5.126", "5.126"
		f.Checks = []string{"state"}
	},
	"workos": func(f *fact) { delete(f.Authorization.Params, "connection") }, // empty unless it is set
	"yahoo":  func(f *fact) { f.Scope = "openid profile email" },
}

var bearer = map[string]string{"Authorization": "Bearer {access_token}"}

var photo = []profileRequest{{Method: "GET", URL: "https://graph.microsoft.com/v1.0/me/photos/48x48/$value", Headers: bearer}}
