package authtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
)

// signInWith requests the CSRF token of the form on the sign-in page, and posts the
// form.
func signInWith(c *http.Client, base, provider string, fields []string) (*http.Response, error) {
	if c.Jar == nil {
		return nil, errors.New("the client keeps no cookies: set its Jar")
	}
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("the field %q has no value", fields[len(fields)-1])
	}
	var csrf struct {
		Token string `json:"csrfToken"`
	}
	if err := ask(c, base+"/csrf", &csrf); err != nil {
		return nil, err
	}
	var providers map[string]struct{ Type string }
	if err := ask(c, base+"/providers", &providers); err != nil {
		return nil, err
	}
	p, ok := providers[provider]
	if !ok {
		return nil, fmt.Errorf("there is no such provider at %s", base)
	}
	form := url.Values{"csrfToken": {csrf.Token}, "callbackUrl": {"/"}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	target := base + "/signin/" + provider
	if p.Type == string(pintle.TypeCredentials) {
		target = base + "/callback/" + provider
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	return c.Do(r)
}

// ask reads the response of a route that returns JSON.
func ask(c *http.Client, address string, into any) error {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("there are no sign-in routes: GET %s answered %s", address, resp.Status)
	}
	return nil
}
