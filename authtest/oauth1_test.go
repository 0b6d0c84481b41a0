package authtest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/oauth1"
)

// A consumer is the application as a client of OAuth 1.0a.
// internal/integration/oauthclients tests this package with another library.
type consumer struct {
	oauth1.Credentials

	t        *testing.T
	idp      *authtest.IdentityProvider
	callback string
}

func newConsumer(t *testing.T, idp *authtest.IdentityProvider) *consumer {
	return &consumer{oauth1.Credentials{ConsumerKey: app.ID, ConsumerSecret: app.Secret}, t, idp, app.RedirectURIs[0]}
}

// with returns the credentials of the consumer for a token.
func (c *consumer) with(token, secret string) oauth1.Credentials {
	credentials := c.Credentials
	credentials.Token, credentials.TokenSecret = token, secret
	return credentials
}

// request returns a signed request. Protocol parameters in more replace those
// that are usual.
func (c *consumer) request(method, address string, credentials oauth1.Credentials, more url.Values) *http.Request {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, address, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := credentials.Authorize(req, oauth1.NewStamp(), more); err != nil {
		c.t.Fatal(err)
	}
	return req
}

// form sends a request for credentials, and returns the answer and its status.
func (c *consumer) form(e authtest.Endpoint, credentials oauth1.Credentials, more url.Values) (url.Values, int) {
	c.t.Helper()
	resp := do(c.t, c.request(http.MethodPost, c.idp.URL(e), credentials, more))
	form, err := url.ParseQuery(body(c.t, resp))
	if err != nil {
		c.t.Fatal(err)
	}
	return form, resp.StatusCode
}

func (c *consumer) requestToken() (token, secret string, err error) {
	return c.tokens(authtest.OAuth1RequestTokenEndpoint, c.Credentials, url.Values{"oauth_callback": {c.callback}})
}

func (c *consumer) accessToken(token, secret, verifier string) (accessToken, accessSecret string, err error) {
	return c.tokens(authtest.OAuth1AccessTokenEndpoint, c.with(token, secret), url.Values{"oauth_verifier": {verifier}})
}

func (c *consumer) tokens(e authtest.Endpoint, credentials oauth1.Credentials, more url.Values) (token, secret string, err error) {
	form, status := c.form(e, credentials, more)
	if token, secret = form.Get("oauth_token"), form.Get("oauth_token_secret"); status != http.StatusOK || token == "" || secret == "" {
		return "", "", fmt.Errorf("status %d", status)
	}
	return token, secret, nil
}

func TestOAuth1SatisfiesACarefulClient(t *testing.T) {
	client := app
	client.RedirectURIs = []string{appURL + "/cb?tenant=a%20b"}
	idp := authtest.Start(t, authtest.Options{Path: "/tenant", Clients: []authtest.Client{client}})
	c := newConsumer(t, idp)
	c.callback = client.RedirectURIs[0]
	token, secret, err := c.requestToken()
	if err != nil {
		t.Fatal(err)
	}
	page := get(t, idp.URL(authtest.OAuth1AuthorizationEndpoint)+"?oauth_token="+url.QueryEscape(token))
	answer := answerOf(t, press(t, formsOf(body(t, page))[0], "person", "1002", nil))
	if answer.Get("oauth_token") != token || answer.Get("tenant") != "a b" {
		t.Fatalf("answer = %v, want the token and the tenant of the callback", answer)
	}
	accessToken, accessSecret, err := c.accessToken(token, secret, answer.Get("oauth_verifier"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.accessToken(token, secret, answer.Get("oauth_verifier")); err == nil {
		t.Error("temporary credentials worked twice")
	}
	address := idp.URL(authtest.OAuth1AccountEndpoint) + "?include_email=true&q=a%20b%2Bc&a1=b&a=z&a=y"
	account := decode(t, do(t, c.request(http.MethodGet, address, c.with(accessToken, accessSecret), nil)))
	if account["id_str"] != "1002" || account["id"] != 1002.0 || account["screen_name"] != "grace" || account["email"] != "grace@example.com" {
		t.Errorf("account = %v, want Grace Hopper's", account)
	}
}

func TestOAuth1ConsentCanBeDenied(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	token, _, err := newConsumer(t, idp).requestToken()
	if err != nil {
		t.Fatal(err)
	}
	ask := idp.URL(authtest.OAuth1AuthorizationEndpoint) + "?oauth_token=" + token
	answer := answerOf(t, press(t, formsOf(body(t, get(t, ask)))[2], "deny", "yes", nil))
	if answer.Get("denied") != token {
		t.Errorf("answer = %v, want denied", answer)
	}
	if resp := get(t, ask); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the denied token again: %s, want 400", resp.Status)
	}
}

var signatureField = regexp.MustCompile(`oauth_signature="[^"]*"`)

func TestOAuth1RequestsMustBeSignedFreshAndNew(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	callback := []string{"oauth_callback", app.RedirectURIs[0]}
	now := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	tests := []struct {
		name string
		more []string
		want int
	}{
		{"no fault", callback, 200},
		{"four minutes late", append([]string{"oauth_timestamp", now(-4 * time.Minute)}, callback...), 200},
		{"six minutes late", append([]string{"oauth_timestamp", now(-6 * time.Minute)}, callback...), 401},
		{"six minutes early", append([]string{"oauth_timestamp", now(6 * time.Minute)}, callback...), 401},
		{"no time", append([]string{"oauth_timestamp", "soon"}, callback...), 401},
		{"no nonce", append([]string{"oauth_nonce", ""}, callback...), 401},
		{"another signature", append([]string{"oauth_signature", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="}, callback...), 401},
		{"no signature", append([]string{"oauth_signature", ""}, callback...), 401},
		{"unsigned method", append([]string{"oauth_signature_method", "PLAINTEXT"}, callback...), 401},
		{"another version", append([]string{"oauth_version", "2.0"}, callback...), 401},
		{"another consumer", append([]string{"oauth_consumer_key", "other"}, callback...), 401},
		{"another callback", []string{"oauth_callback", "https://evil.test/"}, 403},
		{"out of band", []string{"oauth_callback", "oob"}, 403},
		{"no callback", nil, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			more := url.Values{}
			for pair := range slices.Chunk(tt.more, 2) {
				more.Set(pair[0], pair[1])
			}
			c := newConsumer(t, idp)
			req := c.request(http.MethodPost, idp.URL(authtest.OAuth1RequestTokenEndpoint), c.Credentials, more)
			if signature, given := more["oauth_signature"]; given {
				header := signatureField.ReplaceAllLiteralString(req.Header.Get("Authorization"), `oauth_signature="`+url.QueryEscape(signature[0])+`"`)
				req.Header.Set("Authorization", header)
			}
			if resp := do(t, req); resp.StatusCode != tt.want {
				t.Errorf("%s: %s; want %d", resp.Status, body(t, resp), tt.want)
			}
			if tt.want == 200 {
				if resp := do(t, req); resp.StatusCode != 401 {
					t.Errorf("the same request again: %s, want 401", resp.Status)
				}
			}
		})
	}
	for _, header := range []string{"", "Bearer x", "OAuth", "OAuth x", `OAuth a="%zz"`, `OAuth a="1", a="2"`, `OAuth a=""b"`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, idp.URL(authtest.OAuth1RequestTokenEndpoint), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", header)
		if resp := do(t, req); resp.StatusCode != 401 {
			t.Errorf("Authorization %q: %s, want 401", header, resp.Status)
		}
	}
}

func TestOAuth1TokensAreBoundToTheirConsumer(t *testing.T) {
	other := authtest.Client{ID: "other", Secret: "x", RedirectURIs: app.RedirectURIs}
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app, other}})
	mine, theirs := newConsumer(t, idp), newConsumer(t, idp)
	theirs.ConsumerKey, theirs.ConsumerSecret = other.ID, other.Secret
	token, secret, err := mine.requestToken()
	if err != nil {
		t.Fatal(err)
	}
	verifier := answerOf(t, get(t, idp.URL(authtest.OAuth1AuthorizationEndpoint)+"?oauth_token="+token)).Get("oauth_verifier")
	if _, _, err := theirs.accessToken(token, secret, verifier); err == nil {
		t.Error("another consumer exchanged the temporary credentials")
	}
}

func TestOAuth1NeedsAVerifierOfItsOwn(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app}})
	c := newConsumer(t, idp)
	token, secret, err := c.requestToken()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.accessToken(token, secret, ""); err == nil {
		t.Error("an access token before consent")
	}
	verifier := answerOf(t, get(t, idp.URL(authtest.OAuth1AuthorizationEndpoint)+"?"+url.Values{"oauth_token": {token}}.Encode())).Get("oauth_verifier")
	if _, _, err := c.accessToken(token, secret, verifier+"x"); err == nil {
		t.Error("an access token with another verifier")
	}
	if _, _, err := c.accessToken(token, secret+"x", verifier); err == nil {
		t.Error("an access token with another token secret")
	}
	if _, _, err := c.accessToken(token, secret, verifier); err != nil {
		t.Error(err)
	}
}
