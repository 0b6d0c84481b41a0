package handshake

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/query"
)

// BeginOptions are the parameters of one sign-in.
type BeginOptions struct {
	// RedirectURI is where the provider sends the browser back to.
	RedirectURI string

	// State is sent as it is. It may be empty without the State check.
	State string

	// Extra are parameters of the request that began the sign-in, such as
	// prompt or login_hint. Begin ignores empty ones and those that identify
	// or protect the flow. Those that decide what the application is given, such
	// as claims, are ignored where the configuration or Own has them, except that
	// scope may replace a configured one.
	Extra query.Values

	// Own are parameters of the application. They may replace those of the
	// configuration.
	Own query.Values

	// Ask is sent in place of parameters with the same names.
	Ask Ask
}

// An Ask is what a sign-in asks of the provider about how its user signs in there. The
// zero value asks for nothing.
type Ask struct {
	// Prompt is sent as prompt. If it has the word login, max_age=0 is sent as well, so
	// that the ID token has auth_time.
	Prompt string

	// MaxAge is how long ago the user may have signed in there. Zero sends nothing.
	MaxAge time.Duration

	// ACR are the authentication context classes that will do, the preferred one first.
	ACR []string

	// Scopes are asked for beside those of the configuration, or of Own.
	Scopes []string
}

// Login reports whether the user has to sign in anew.
func (a Ask) Login() bool { return slices.Contains(strings.Fields(a.Prompt), "login") }

// params are the parameters of the request.
//
// https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
func (a Ask) params() query.Values {
	var own query.Values
	if a.Prompt != "" {
		own.Add("prompt", a.Prompt)
	}
	if a.MaxAge > 0 || a.Login() {
		var seconds int64
		if !a.Login() {
			seconds = int64((a.MaxAge + time.Second - 1) / time.Second)
		}
		own.Add("max_age", strconv.FormatInt(seconds, 10))
	}
	if len(a.ACR) > 0 {
		own.Add("acr_values", strings.Join(a.ACR, " "))
	}
	return own
}

// Begun is a sign-in that has begun. Verifier and Nonce are empty if the provider
// does not have the check; they are secrets of this browser and hidden from
// [log/slog].
type Begun struct {
	URL      string
	Verifier string
	Nonce    string
}

// LogValue leaves out the secrets.
func (b Begun) LogValue() slog.Value { return slog.StringValue("sign-in begun") }

// Begin returns the URL to send the browser to. It makes a request only if the
// authorization endpoint has to be discovered, or the parameters are pushed.
//
// The order of the parameters is part of the wire contract: those of the
// endpoint first, then response_type, client_id, redirect_uri, extra ones,
// state, code_challenge, code_challenge_method, nonce, resource and dpop_jkt where they
// are used, and scope unless the earlier ones include it. If they are pushed, the URL has
// client_id and request_uri alone.
func (p *Provider) Begin(ctx context.Context, o BeginOptions) (Begun, error) {
	if p.ClientID == "" {
		return Begun{}, missing(p.ID, p.Env, "ClientID", "ID")
	}
	if o.RedirectURI == "" {
		return Begun{}, p.errorf("begin: RedirectURI is empty")
	}
	if p.State && o.State == "" {
		return Begun{}, p.errorf("begin: the state check is on, but State is empty")
	}
	m, u, params, err := p.authorization(ctx, o.RedirectURI)
	if err != nil {
		return Begun{}, err
	}

	decided := p.decided(u, o.Own)
	for _, e := range o.Extra {
		if e.Value != "" && !p.isReserved(e.Key) && !decided(e.Key) {
			set(&params, e.Key, e.Value)
		}
	}
	for _, e := range o.Own {
		if e.Value != "" && !p.isReserved(e.Key) {
			set(&params, e.Key, e.Value)
		}
	}

	var b Begun
	if o.State != "" {
		set(&params, "state", o.State)
	}
	if p.PKCE {
		b.Verifier = newVerifier()
		set(&params, "code_challenge", challengeS256(b.Verifier))
		set(&params, "code_challenge_method", "S256")
	}
	if p.Nonce {
		b.Nonce = newVerifier()
		set(&params, "nonce", b.Nonce)
	}
	if p.MaxAge > 0 {
		set(&params, "max_age", strconv.FormatInt(int64(p.MaxAge.Seconds()), 10))
	}
	for _, e := range o.Ask.params() {
		set(&params, e.Key, e.Value)
	}
	for _, resource := range p.Resources {
		params.Add("resource", resource)
	}
	if p.proves(m) {
		// The code is bound to the key, too.
		// https://www.rfc-editor.org/rfc/rfc9449#section-10
		set(&params, "dpop_jkt", p.Proofs.Thumbprint())
	}
	if p.OIDC && len(p.Authorization.Params) == 0 && p.Authorization.URL == "" {
		setDefault(&params, "scope", defaultScope)
	}

	if len(o.Ask.Scopes) > 0 {
		configured, _ := params.First("scope")
		set(&params, "scope", withScopes(configured, o.Ask.Scopes))
	}

	if p.pushes(m) {
		if params, err = p.pushed(ctx, m, params); err != nil {
			return Begun{}, err
		}
	}
	u.RawQuery = params.Encode()
	b.URL = normalURL(u)
	if len(b.URL) > maxAuthorizationURL {
		return Begun{}, p.errorf("begin: authorization URL is longer than %d bytes", maxAuthorizationURL)
	}
	return b, nil
}

const defaultScope = "openid profile email"

// withScopes adds scopes to a list of them, which some services separate by commas.
func withScopes(list string, scopes []string) string {
	separator := " "
	if strings.Contains(list, ",") && !strings.Contains(list, " ") {
		separator = ","
	}
	all := strings.FieldsFunc(list, func(r rune) bool { return string(r) == separator })
	for _, scope := range scopes {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return strings.Join(all, separator)
}

// Scope is what the configuration asks for. It is empty where the service decides.
func (p *Provider) Scope() string {
	if scope, ok := p.Authorization.Params.First("scope"); ok {
		return scope
	}
	if u, err := url.Parse(p.Authorization.URL); err == nil && u.Query().Has("scope") {
		return u.Query().Get("scope")
	}
	return defaultScope
}

// authorization returns the authorization endpoint and the part of its query
// that the configuration sets: it may replace response_type and client_id for
// providers that use other names.
func (p *Provider) authorization(ctx context.Context, redirectURI string) (*metadata, *url.URL, query.Values, error) {
	configured := p.Authorization
	m := &metadata{authorization: configured.URL}
	if configured.URL == "" {
		var err error
		if m, err = p.resolve(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	// The parameters of a discovered endpoint come in another order, so endpoint
	// does not add them.
	u, err := p.endpoint(m, Endpoint{URL: configured.URL}, m.authorization, "Authorization.URL", "authorization endpoint")
	if err != nil {
		return nil, nil, nil, err
	}

	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return nil, nil, nil, p.errorf("authorization endpoint: %w", err)
	}
	own := query.Values{{Key: "response_type", Value: "code"}, {Key: "client_id", Value: p.ClientID}, {Key: "redirect_uri", Value: redirectURI}}
	if configured.URL == "" {
		for _, param := range own {
			set(&params, param.Key, param.Value)
		}
	}
	_, scoped := params.First("scope")
	apply(&params, configured.Params)
	for _, param := range configured.Params {
		// With an explicitly empty scope the parameter is not sent: Kakao, Zoom and
		// others reject it or take the scope from the application's settings.
		scoped = scoped || param.Key == "scope"
	}
	if !scoped && (configured.URL != "" || len(configured.Params) > 0) {
		set(&params, "scope", defaultScope)
	}
	if configured.URL != "" {
		for _, param := range own {
			setDefault(&params, param.Key, param.Value)
		}
	}
	return m, u, params, nil
}

// decides are the names of parameters that decide what the application is given, and for
// whom. The query of a sign-in request is the client's, which does not replace them.
//
// Others, such as prompt and hd, are passed on, as by Auth.js. They are wishes: a user can
// change them in the address bar as well, and only what the answer shows is a check.
var decides = map[string]bool{
	"scope": true, "claims": true, "acr_values": true, "resource": true, "audience": true,
	"authorization_details": true, "dpop_jkt": true, "id_token_hint": true, "registration": true,
}

// decided returns a function that reports whether a request must not set a parameter,
// because it decides what the application is given and the configuration, the
// authorization endpoint or the application has it. The default scope counts for none.
//
// The scope of the configuration is what most sign-ins need: clients of Auth.js ask for
// another one with the query. A second spelling of it would leave the choice to the
// provider.
func (p *Provider) decided(endpoint *url.URL, own query.Values) func(name string) bool {
	configured, set := map[string]bool{}, map[string]bool{}
	for name := range endpoint.Query() {
		configured[name] = true
	}
	for _, param := range p.Authorization.Params {
		configured[param.Key] = true
	}
	for _, param := range own {
		set[param.Key] = true
	}
	return func(sent string) bool {
		return isOneOf(sent, func(name string) bool {
			return decides[name] && (set[name] || configured[name] && sent != "scope")
		})
	}
}

// isReserved reports whether a request must not set this parameter, because
// it identifies or protects the flow: W-15, Q19, BCP-19.
func (p *Provider) isReserved(name string) bool { return isOneOf(name, p.isReservedName) }

// isOneOf reports whether a provider may read name as one of the names. Servers compare
// names differently: ASP.NET ignores case, PHP reads ".", " " and "[" as "_" and drops
// leading spaces and the text in brackets.
func isOneOf(name string, is func(string) bool) bool {
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimLeft(name, " \t\r\n\v\f")), "\x00")
	name = strings.NewReplacer(".", "_", " ", "_").Replace(name)
	array, _, _ := strings.Cut(name, "[")
	return is(array) || is(strings.ReplaceAll(name, "[", "_"))
}

func (p *Provider) isReservedName(name string) bool {
	switch name {
	case "client_id", "redirect_uri", "response_type", "response_mode", "state", "nonce",
		"code_challenge", "code_challenge_method", "request", "request_uri",
		"appid", "client_key": // client_id of WeChat and of TikTok
		return true
	case "max_age":
		return p.MaxAge > 0
	case "resource":
		return len(p.Resources) > 0
	case "dpop_jkt":
		return p.DPoP != 0 || p.FAPI
	}
	return false
}
