package handshake

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/internal/loopback"
	"github.com/pintleauth/pintle/internal/query"
)

// metadata is the metadata of a provider at the time of a request: the
// configuration of the application, completed by the discovery document if there
// is one.
type metadata struct {
	issuer                         string // as the provider spells it; may contain {tenantid}
	authorization, token, userinfo string
	jwks, endSession, revocation   string
	push                           string   // RFC 9126
	algs                           []string // id_token_signing_alg_values_supported
	proofAlgs                      []string // dpop_signing_alg_values_supported
	sendsIssuer                    bool     // RFC 9207
	requiresPush                   bool

	discovered bool
	plainHTTP  bool // the document came over http, so its addresses may too
}

// resolve returns the metadata, from the network about once an hour.
func (p *Provider) resolve(ctx context.Context) (*metadata, error) {
	if !p.discovers() {
		return &metadata{
			issuer: p.Issuer, authorization: p.Authorization.URL, token: p.Token.URL,
			userinfo: p.UserInfo.URL, jwks: p.JWKS, revocation: p.Revocation.URL,
			push: p.PushedAuthorization.URL,
		}, nil
	}
	m, err := p.document(ctx)
	if err != nil {
		return nil, p.errorf("discovery: %w", err)
	}
	return m, nil
}

// document returns what the discovery document says.
func (p *Provider) document(ctx context.Context) (*metadata, error) {
	return p.found.get(ctx, source[*metadata]{fetch: p.discover, stale: metadataStale, warn: p.warn("metadata")})
}

// discovers reports whether the configuration needs the discovery document. A
// plain OAuth 2 provider such as GitHub may have an issuer for the iss parameter
// alone, and no document.
func (p *Provider) discovers() bool {
	if p.Issuer == "" && p.WellKnown == "" {
		return false
	}
	wantsKeys := p.requiresIDToken() && p.JWKS == "" && !isSymmetric(p.SigningAlg)
	return p.Issuer == "" || p.Authorization.URL == "" || p.Token.URL == "" ||
		p.usesUserInfo() && p.UserInfo.URL == "" || wantsKeys
}

// warn returns what reports that an older copy of a document serves.
func (p *Provider) warn(document string) func(ctx context.Context, since time.Time, err error) {
	if p.OldCopy == nil {
		return nil
	}
	return func(ctx context.Context, since time.Time, err error) { p.OldCopy(ctx, document, since, err) }
}

func (p *Provider) discover(ctx context.Context) (fetched[*metadata], error) {
	m, err := p.fetchMetadata(ctx)
	return fetched[*metadata]{m, metadataAge}, err
}

func (p *Provider) fetchMetadata(ctx context.Context) (*metadata, error) {
	address, err := p.documentURL()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(endpoint.With(ctx, endpoint.Discovery), http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	setting := "Issuer (" + variable(p.ID, p.Env, "ISSUER") + ")"
	if p.WellKnown != "" {
		setting = "WellKnown"
	}
	r, err := do(p.client(), req)
	if err != nil {
		return nil, fmt.Errorf("%w: check %s, and that this server can reach it", err, setting)
	}
	if r.status != http.StatusOK {
		return nil, withoutQuery(req, fmt.Errorf("status %d: check %s", r.status, setting))
	}
	document, err := decodeObject(r.body)
	if err != nil {
		return nil, withoutQuery(req, err)
	}
	if p.Discovered != nil {
		if err := p.Discovered(document); err != nil {
			return nil, err
		}
	}
	return p.readDocument(document, address.Scheme == "http")
}

func (p *Provider) documentURL() (*url.URL, error) {
	if p.WellKnown != "" {
		return p.parseURL(p.WellKnown)
	}
	u, err := p.parseURL(p.Issuer)
	if err != nil {
		return nil, err
	}
	// The path of the issuer is kept: it distinguishes tenants of one host.
	// https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationRequest
	return u.JoinPath(".well-known/openid-configuration"), nil
}

func (p *Provider) readDocument(document map[string]any, plainHTTP bool) (*metadata, error) {
	or := func(configured, name string) string {
		if configured != "" {
			return configured
		}
		return text(document, name)
	}
	if len(document) > maxMetadataMembers {
		return nil, fmt.Errorf("document has more than %d members", maxMetadataMembers)
	}
	for _, name := range []string{"issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint", "revocation_endpoint", "pushed_authorization_request_endpoint"} {
		if len(text(document, name)) > maxMetadataText {
			return nil, fmt.Errorf("%s in the document is longer than %d bytes", name, maxMetadataText)
		}
	}
	m := &metadata{
		issuer:        text(document, "issuer"),
		authorization: or(p.Authorization.URL, "authorization_endpoint"),
		token:         or(p.Token.URL, "token_endpoint"),
		userinfo:      or(p.UserInfo.URL, "userinfo_endpoint"),
		jwks:          or(p.JWKS, "jwks_uri"),
		endSession:    or(p.EndSessionEndpoint.URL, "end_session_endpoint"),
		revocation:    or(p.Revocation.URL, "revocation_endpoint"),
		push:          or(p.PushedAuthorization.URL, "pushed_authorization_request_endpoint"),
		discovered:    true,
		plainHTTP:     plainHTTP,
	}
	m.sendsIssuer, _ = document["authorization_response_iss_parameter_supported"].(bool)
	m.requiresPush, _ = document["require_pushed_authorization_requests"].(bool)
	m.algs = texts(document, "id_token_signing_alg_values_supported")
	m.proofAlgs = texts(document, "dpop_signing_alg_values_supported")

	// A document that names another issuer would let its host impersonate it.
	// https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationValidation
	switch {
	case m.issuer == "":
		return nil, fmt.Errorf("document names no issuer")
	case p.Issuer == "", sameURL(m.issuer, p.Issuer):
	case p.TenantIssuer && m.matchesTenant(p.Issuer):
	default:
		return nil, fmt.Errorf("document is of issuer %q, not of %q: set Issuer to the provider's own spelling", clip(m.issuer), p.Issuer)
	}
	return m, nil
}

// texts returns the texts of a member that is a list.
func texts(document map[string]any, name string) (list []string) {
	all, _ := document[name].([]any)
	for _, member := range all[:min(len(all), maxMetadataMembers)] {
		if s, ok := member.(string); ok && len(s) <= maxMetadataText {
			list = append(list, s)
		}
	}
	return list
}

// sameURL compares as parsed URLs, so that a bare host is the same with and
// without a slash, and a path is not.
func sameURL(a, b string) bool {
	u, err := url.Parse(a)
	if err != nil || u.Host == "" {
		return false
	}
	v, err := url.Parse(b)
	return err == nil && normalURL(u) == normalURL(v)
}

// normalURL returns u in the spelling of a browser's URL object.
func normalURL(u *url.URL) string {
	n := *u
	n.Scheme, n.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := n.Port(); n.Scheme == "https" && port == "443" || n.Scheme == "http" && port == "80" {
		n.Host = strings.TrimSuffix(n.Host, ":"+port)
	}
	n.Host = strings.TrimSuffix(n.Host, ":")
	if n.Path == "" {
		n.Path = "/"
	}
	return n.String()
}

const tenantPlaceholder = "{tenantid}"

// matchesTenant reports whether issuer is the issuer of the document with one
// path segment in place of the placeholder.
func (m *metadata) matchesTenant(issuer string) bool {
	before, after, ok := strings.Cut(m.issuer, tenantPlaceholder)
	if !ok {
		return false
	}
	tenant, ok := strings.CutPrefix(issuer, before)
	if !ok {
		return false
	}
	tenant, ok = strings.CutSuffix(tenant, after)
	return ok && isTenant(tenant)
}

// issuerOf returns the issuer that an ID token with this tid claim must name,
// or "" if no issuer is acceptable.
func (m *metadata) issuerOf(tid any) string {
	if !strings.Contains(m.issuer, tenantPlaceholder) {
		return m.issuer
	}
	tenant, _ := tid.(string)
	if !isTenant(tenant) {
		return ""
	}
	return strings.ReplaceAll(m.issuer, tenantPlaceholder, tenant)
}

// isTenant keeps a claim from adding anything but a name to a URL.
func isTenant(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// endpoint adds the configured parameters to an address. For the error about a
// missing address, field is the setting and name the member of the document.
func (p *Provider) endpoint(m *metadata, configured Endpoint, address, field, name string) (*url.URL, error) {
	if address == "" {
		return nil, p.errorf("no %s: set %s, or Issuer to one whose document has it", name, field)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, p.errorf("%s is not a URL", name)
	}
	// A remote document must not send us to http services on this machine.
	allowHTTP := p.AllowInsecure || loopback.Host(u.Hostname()) && (configured.URL != "" || m.plainHTTP)
	if err := cmp.Or(checkURL(u, allowHTTP), p.checkPublic(u)); err != nil {
		return nil, p.errorf("%s: %w", name, err)
	}
	if len(configured.Params) > 0 {
		params, err := query.Parse(u.RawQuery)
		if err != nil {
			return nil, p.errorf("%s: %w", name, err)
		}
		apply(&params, configured.Params)
		u.RawQuery = params.Encode()
	}
	return u, nil
}
