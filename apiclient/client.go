package apiclient

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pintleauth/pintle"
)

// New returns a client whose requests carry the access token of a user. Requests to other
// origins than [Options].Origins fail before they are sent. A redirect to another origin is
// not followed: the client returns it as the response, so that the token stays here.
//
// If the API answers 401 and says that the token is invalid (RFC 6750), the token is
// replaced once, and the request is sent once more if it has no body or a GetBody, as those
// of [http.NewRequest] mostly do. A request is one call of [pintle.Auth.Refresh] with its
// context, which mostly reads the store; with [pintle.NewFunc] that context names the
// tenant. Its errors, such as [pintle.ErrNoRefresh], and [ErrConsentRequired] are those of
// the client's methods.
//
// A token that is bound to a key ([pintle.OAuth].DPoP) is sent with a proof of the key, and
// with another proof if the API asks for its nonce in that.
//
// The client may be used concurrently, and for as long as auth. It has no Timeout. The
// error is about the origins.
func New(auth *pintle.Auth, userID string, o Options) (*http.Client, error) {
	t := &transport{source: newSource(auth, userID, o), origins: make(map[string]bool, len(o.Origins)), base: o.Transport}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	for _, text := range o.Origins {
		origin, err := parseOrigin(text)
		if err != nil {
			return nil, fmt.Errorf("apiclient: Origins: %w", err)
		}
		t.origins[origin] = true
	}
	if len(t.origins) == 0 {
		return nil, errors.New("apiclient: Origins is empty: list where the API is, such as https://api.example.com")
	}
	return &http.Client{Transport: t, CheckRedirect: t.checkRedirect}, nil
}

// parseOrigin returns an origin in the form of originOf.
func parseOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not a URL", text)
	case u.Hostname() == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("%q is not an origin: write a scheme and a host, such as https://api.example.com", text)
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return "", fmt.Errorf("%q is not encrypted: use https", text)
	}
	return originOf(u), nil
}

// originOf returns where a request to a URL goes.
func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// A transport adds the access token to requests.
type transport struct {
	source  *source
	origins map[string]bool
	base    http.RoundTripper
}

// maxRedirects is that of [http.Client] without a CheckRedirect.
const maxRedirects = 10

func (t *transport) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case !t.origins[originOf(req.URL)]:
		return http.ErrUseLastResponse
	case len(via) >= maxRedirects:
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	fail := func(err error) (*http.Response, error) {
		if req.Body != nil {
			_ = req.Body.Close() // the error is another
		}
		return nil, err
	}
	if origin := originOf(req.URL); !t.origins[origin] {
		return fail(fmt.Errorf("apiclient: the client is for %s, and the request is to %s: make another client for it",
			strings.Join(slices.Sorted(maps.Keys(t.origins)), " and "), origin))
	}
	account, err := t.source.account(req.Context(), "")
	if err != nil {
		return fail(err)
	}
	resp, err := t.sendOnce(req, req.Body, account)
	if err != nil || !rejectsToken(resp, account) || !canRepeat(req) {
		return resp, err
	}
	renewed, err := t.source.account(req.Context(), account.AccessToken)
	switch {
	case err != nil:
		discard(resp)
		return nil, err
	case renewed.AccessToken == account.AccessToken:
		return resp, nil
	}
	body := req.Body
	if req.GetBody != nil {
		if body, err = req.GetBody(); err != nil {
			return resp, nil //nolint:nilerr // the answer to the first attempt stands
		}
	}
	discard(resp)
	return t.sendOnce(req, body, renewed)
}

// sendOnce sends a request, and turns an answer that asks for another sign-in into an error.
func (t *transport) sendOnce(req *http.Request, body io.ReadCloser, account *pintle.Account) (*http.Response, error) {
	resp, err := t.send(req, body, account)
	if err != nil {
		return nil, err
	}
	if needs := stepUp(resp, account); needs != nil {
		discard(resp)
		return nil, needs
	}
	return resp, nil
}

// send sends a request with the token of an account, and a proof where that is bound to a
// key.
func (t *transport) send(req *http.Request, body io.ReadCloser, account *pintle.Account) (*http.Response, error) {
	with := *req
	with.Body = body
	return t.source.auth.SendWithToken(account, &with, t.base)
}

// canRepeat reports whether a request that was sent can be sent again.
func canRepeat(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

// maxDiscarded is how many bytes of an unused answer are read so that its connection can be
// used again.
const maxDiscarded = 64 << 10

func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxDiscarded) // for the connection only
	_ = resp.Body.Close()
}
