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

// maxOptions bounds what is read of a site's answer.
const maxOptions = 1 << 20

// SignIn does a ceremony with the site: it asks for options, saying what is
// typed, answers them and returns the response. callback is the URL of the
// provider's callback, which the list of providers has:
// http://localhost:3000/auth/callback/passkey. client keeps the cookies. Which
// ceremony it is the site decides, unless typed has an action.
func (a *Authenticator) SignIn(ctx context.Context, client *http.Client, callback string, typed url.Values) (*http.Response, error) {
	action, answer, err := a.Answering(ctx, client, callback, typed)
	if err != nil {
		return nil, err
	}
	return Post(ctx, client, callback, action, answer)
}

// Answering is the first half of SignIn: it returns which ceremony the site
// chose and the answer that it has not been sent yet.
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
		return "", nil, fmt.Errorf("passkeytest: ask for options: %w", err)
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
		return "", nil, fmt.Errorf("passkeytest: ask for options: status %d: %s", resp.StatusCode, text)
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
