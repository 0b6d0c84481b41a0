package oauthclients

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dghubble/oauth1"
	"github.com/pintleauth/pintle/authtest"
	ours "github.com/pintleauth/pintle/internal/oauth1"
)

func oauth1Config(idp *authtest.IdentityProvider) *oauth1.Config {
	return &oauth1.Config{
		ConsumerKey: app.ID, ConsumerSecret: app.Secret, CallbackURL: app.RedirectURIs[0],
		Endpoint: oauth1.Endpoint{
			RequestTokenURL: idp.URL(authtest.OAuth1RequestTokenEndpoint),
			AuthorizeURL:    idp.URL(authtest.OAuth1AuthorizationEndpoint),
			AccessTokenURL:  idp.URL(authtest.OAuth1AccessTokenEndpoint),
		},
	}
}

func TestOAuth1SatisfiesAnIndependentClient(t *testing.T) {
	client := app
	client.RedirectURIs = []string{appURL + "/cb?tenant=a%20b"}
	idp := authtest.Start(t, authtest.Options{Path: "/tenant", AutoConsent: true, Clients: []authtest.Client{client}})
	config := oauth1Config(idp)
	config.CallbackURL = client.RedirectURIs[0]
	token, secret, err := config.RequestToken()
	if err != nil {
		t.Fatal(err)
	}
	authorize, err := config.AuthorizationURL(token)
	if err != nil {
		t.Fatal(err)
	}
	answer := answerOf(t, get(t, authorize.String()+"&login_hint=grace"))
	if answer.Get("oauth_token") != token || answer.Get("tenant") != "a b" {
		t.Fatalf("answer = %v, want the token and the tenant of the callback", answer)
	}
	accessToken, accessSecret, err := config.AccessToken(token, secret, answer.Get("oauth_verifier"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.AccessToken(token, secret, answer.Get("oauth_verifier")); err == nil {
		t.Error("temporary credentials worked twice")
	}
	resp, err := config.Client(t.Context(), oauth1.NewToken(accessToken, accessSecret)).
		Get(idp.URL(authtest.OAuth1AccountEndpoint) + "?include_email=true&q=a%20b%2Bc")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var account map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&account); err != nil {
		t.Fatal(err)
	}
	if account["id_str"] != "1002" || account["id"] != 1002.0 || account["screen_name"] != "grace" || account["email"] != "grace@example.com" {
		t.Errorf("account = %v, want Grace Hopper's", account)
	}
}

// capture stores the request and sends no response.
type capture struct{ header string }

func (c *capture) RoundTrip(r *http.Request) (*http.Response, error) {
	c.header = r.Header.Get("Authorization")
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}

var field = regexp.MustCompile(`(\w+)="([^"]*)"`)

// Where dghubble/oauth1 signs by RFC 5849, internal/oauth1 makes the same header.
// It is not compared where dghubble/oauth1 does not: it signs the first of several
// parameters of one name, leaves out ports 80 and 443 with any scheme, and signs
// an address without a path as if it were sent without the slash.
func FuzzTheHeaderIsTheOneOfAnotherLibrary(f *testing.F) {
	f.Add("key", "consumer&secret", "token", "token/secret~é", "/a%2Fb/é", "q=a+b%2Bc&z", "status=Hello%20Ladies%20%2b")
	f.Add("k, \"", "", "t", "", "/", "", "")
	f.Add("\x00é%", "%", "t", "+", "/*'()!~", "b=%FF&%C3%A9=%00", "a=;")
	f.Fuzz(func(t *testing.T, key, secret, token, tokenSecret, path, rawQuery, form string) {
		if token == "" { // the other library sends an empty oauth_token
			return
		}
		inQuery, err := url.ParseQuery(rawQuery)
		if err != nil {
			return
		}
		inForm, err := url.ParseQuery(form)
		if err != nil {
			return
		}
		for name := range inForm {
			if _, twice := inQuery[name]; twice {
				return
			}
		}
		for _, source := range []url.Values{inQuery, inForm} {
			for name, values := range source {
				if len(values) > 1 || strings.HasPrefix(name, "oauth_") {
					return
				}
			}
		}
		newRequest := func() *http.Request {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://Service.example:8443/", strings.NewReader(form))
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Path, r.URL.RawQuery = "/"+strings.TrimLeft(path, "/"), rawQuery
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}
		var theirs capture
		signing := (&oauth1.Config{ConsumerKey: key, ConsumerSecret: secret}).Client(t.Context(), oauth1.NewToken(token, tokenSecret)).Transport.(*oauth1.Transport)
		signing.Base = &theirs
		client := &http.Client{Transport: signing}
		resp, err := client.Do(newRequest())
		if err != nil {
			return
		}
		resp.Body.Close()

		var stamp ours.Stamp
		for _, m := range field.FindAllStringSubmatch(theirs.header, -1) {
			switch m[1] {
			case "oauth_nonce":
				if stamp.Nonce, err = url.PathUnescape(m[2]); err != nil {
					t.Fatal(err)
				}
			case "oauth_timestamp":
				seconds, err := strconv.ParseInt(m[2], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				stamp.Time = time.Unix(seconds, 0)
			}
		}
		req := newRequest()
		credentials := ours.Credentials{ConsumerKey: key, ConsumerSecret: secret, Token: token, TokenSecret: tokenSecret}
		if err := credentials.Authorize(req, stamp, nil); err != nil {
			t.Fatal(err)
		}
		if got := req.Header.Get("Authorization"); got != theirs.header {
			t.Errorf("for %s %q %q\n ours %s\ntheirs %s", req.URL, rawQuery, form, got, theirs.header)
		}
	})
}
