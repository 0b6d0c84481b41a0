package passkeytest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxOptions bounds how much of a site's response is read.
const maxOptions = 1 << 20

// SignIn performs a ceremony with the site: it requests options with the fields
// in typed, sends the authenticator's response and returns that of the site.
// callback is the URL of the provider's callback, which the list of providers has:
// http://localhost:3000/auth/callback/passkey. client keeps the cookies. The site
// chooses the ceremony, unless typed has an action.
func (a *Authenticator) SignIn(ctx context.Context, client *http.Client, callback string, typed url.Values) (*http.Response, error) {
	action, answer, err := a.Answering(ctx, client, callback, typed)
	if err != nil {
		return nil, err
	}
	return Post(ctx, client, callback, action, answer)
}

// Answering is the first half of SignIn: it returns the ceremony that the site
// chose and the response, which is not sent yet.
func (a *Authenticator) Answering(ctx context.Context, client *http.Client, callback string, typed url.Values) (action string, answer []byte, err error) {
	base, provider, ok := strings.Cut(callback, "/callback/")
	site, parseErr := url.Parse(callback)
	if !ok || parseErr != nil {
		return "", nil, fmt.Errorf("passkeytest: %q is not the URL of a callback", callback)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/webauthn-options/"+provider+"?"+typed.Encode(), nil)
	if err != nil {
		return "", nil, fmt.Errorf("passkeytest: %w", err)
	}
	resp, err := client.Do(r)
	if err != nil {
		return "", nil, fmt.Errorf("passkeytest: request options: %w", err)
	}
	defer resp.Body.Close()
	var begun struct {
		Action  string
		Options json.RawMessage
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxOptions))
	if err == nil {
		err = json.Unmarshal(text, &begun)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("passkeytest: request options: status %d: %s", resp.StatusCode, text)
	}
	origin := site.Scheme + "://" + site.Host
	if begun.Action == "register" {
		answer, err = a.Create(origin, begun.Options)
	} else {
		answer, err = a.Get(origin, begun.Options)
	}
	return begun.Action, answer, err
}

// Post is the second half of SignIn.
func Post(ctx context.Context, client *http.Client, callback, action string, answer []byte) (*http.Response, error) {
	form := url.Values{"action": {action}, "data": {string(answer)}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, callback, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("passkeytest: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("passkeytest: answer: %w", err)
	}
	return resp, nil
}
