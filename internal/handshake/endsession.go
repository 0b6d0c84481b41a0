package handshake

import (
	"context"
	"errors"
	"time"

	"github.com/pintleauth/pintle/internal/query"
)

const (
	// endSessionTimeout bounds how long a user who signs out waits for the metadata of
	// the provider.
	endSessionTimeout = 3 * time.Second

	// maxEndSessionURL is the longest address that a browser is sent to. Servers reject
	// longer ones, and the user would see that instead of a page.
	maxEndSessionURL = 7000
)

// ErrNoEndSession is a provider that has no end session endpoint.
var ErrNoEndSession = errors.New("neither its metadata nor the configuration has an end session endpoint: set EndSession.URL")

// EndSessionOptions describe the end of one session.
type EndSessionOptions struct {
	// Hint is the ID token of the session. It is left out if it is empty, or if the
	// address would have more than 7,000 bytes with it.
	Hint string

	// RedirectURI is where the provider sends the browser, with State. It is left out
	// if it is empty, and State with it.
	RedirectURI, State string
}

// EndSessionURL returns where a browser goes to end its session at the provider. It takes
// three seconds at most. hinted reports that the address has the hint.
//
// https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RPLogout
func (p *Provider) EndSessionURL(ctx context.Context, o EndSessionOptions) (to string, hinted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, endSessionTimeout)
	defer cancel()
	m := &metadata{endSession: p.EndSessionEndpoint.URL}
	if m.endSession == "" && (p.Issuer != "" || p.WellKnown != "") {
		if m, err = p.document(ctx); err != nil {
			return "", false, p.errorf("discovery: %w", err)
		}
	}
	if m.endSession == "" {
		return "", false, p.errorf("%w", ErrNoEndSession)
	}
	if o.Hint != "" {
		if to, err = p.endSessionURL(m, o); err != nil || len(to) <= maxEndSessionURL {
			return to, err == nil, err
		}
		o.Hint = ""
	}
	to, err = p.endSessionURL(m, o)
	return to, false, err
}

func (p *Provider) endSessionURL(m *metadata, o EndSessionOptions) (string, error) {
	u, err := p.endpoint(m, Endpoint{URL: p.EndSessionEndpoint.URL}, m.endSession, "EndSession.URL", "end_session_endpoint")
	if err != nil {
		return "", err
	}
	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return "", p.errorf("end_session_endpoint: %w", err)
	}
	if o.Hint != "" {
		set(&params, "id_token_hint", o.Hint)
	}
	set(&params, "client_id", p.ClientID)
	if o.RedirectURI != "" {
		set(&params, "post_logout_redirect_uri", o.RedirectURI)
		set(&params, "state", o.State)
	}
	apply(&params, p.EndSessionEndpoint.Params)
	u.RawQuery, u.Fragment = params.Encode(), ""
	return normalURL(u), nil
}
