package authtest_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dghubble/oauth1"
	"github.com/pintleauth/pintle/authtest"
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
	idp := authtest.Start(t, authtest.Options{Path: "/tenant", Clients: []authtest.Client{client}})
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
	page := get(t, authorize.String())
	answer := answerOf(t, press(t, formsOf(body(t, page))[0], "person", "1002", nil))
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
	account := decode(t, resp)
	if account["id_str"] != "1002" || account["id"] != 1002.0 || account["screen_name"] != "grace" || account["email"] != "grace@example.com" {
		t.Errorf("account = %v, want Grace Hopper's", account)
	}
}

func TestOAuth1ConsentCanBeRefused(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	config := oauth1Config(idp)
	token, _, err := config.RequestToken()
	if err != nil {
		t.Fatal(err)
	}
	ask := idp.URL(authtest.OAuth1AuthorizationEndpoint) + "?oauth_token=" + token
	answer := answerOf(t, press(t, formsOf(body(t, get(t, ask)))[2], "deny", "yes", nil))
	if answer.Get("denied") != token {
		t.Errorf("answer = %v, want denied", answer)
	}
	if resp := get(t, ask); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the refused token again: %s, want 400", resp.Status)
	}
}

// A signer writes OAuth 1.0a headers by hand where the library would not.
type signer struct{ *oauth1.Config }

func (s signer) sign(t *testing.T, r *http.Request, token, tokenSecret string, more ...string) {
	t.Helper()
	p := map[string]string{
		"oauth_consumer_key": s.ConsumerKey, "oauth_signature_method": "HMAC-SHA1", "oauth_version": "1.0",
		"oauth_timestamp": strconv.FormatInt(time.Now().Unix(), 10), "oauth_nonce": strconv.FormatInt(time.Now().UnixNano(), 36),
	}
	if token != "" {
		p["oauth_token"] = token
	}
	for i := 0; i+1 < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	if _, given := p["oauth_signature"]; !given {
		signature, err := (&oauth1.HMACSigner{ConsumerSecret: s.ConsumerSecret}).Sign(tokenSecret, baseString(r, p))
		if err != nil {
			t.Fatal(err)
		}
		p["oauth_signature"] = signature
	}
	var header []string
	for name, value := range p {
		header = append(header, oauth1.PercentEncode(name)+`="`+oauth1.PercentEncode(value)+`"`)
	}
	r.Header.Set("Authorization", "OAuth "+strings.Join(header, ", "))
}

func TestOAuth1RequestsMustBeSignedFreshAndNew(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	callback := []string{"oauth_callback", app.RedirectURIs[0]}
	now := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	tests := []struct {
		name string
		more []string
		want int
	}{
		{"nothing wrong", callback, 200},
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
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, idp.URL(authtest.OAuth1RequestTokenEndpoint), nil)
			if err != nil {
				t.Fatal(err)
			}
			signer{oauth1Config(idp)}.sign(t, req, "", "", tt.more...)
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
	mine, theirs := oauth1Config(idp), oauth1Config(idp)
	theirs.ConsumerKey, theirs.ConsumerSecret = other.ID, other.Secret
	token, secret, err := mine.RequestToken()
	if err != nil {
		t.Fatal(err)
	}
	verifier := answerOf(t, get(t, idp.URL(authtest.OAuth1AuthorizationEndpoint)+"?oauth_token="+token)).Get("oauth_verifier")
	if _, _, err := theirs.AccessToken(token, secret, verifier); err == nil {
		t.Error("another consumer exchanged the temporary credentials")
	}
}

func TestOAuth1NeedsAVerifierOfItsOwn(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app}})
	config := oauth1Config(idp)
	token, secret, err := config.RequestToken()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.AccessToken(token, secret, ""); err == nil {
		t.Error("an access token before anybody agreed")
	}
	verifier := answerOf(t, get(t, idp.URL(authtest.OAuth1AuthorizationEndpoint)+"?"+url.Values{"oauth_token": {token}}.Encode())).Get("oauth_verifier")
	if _, _, err := config.AccessToken(token, secret, verifier+"x"); err == nil {
		t.Error("an access token with another verifier")
	}
	if _, _, err := config.AccessToken(token, secret+"x", verifier); err == nil {
		t.Error("an access token with another token secret")
	}
	if _, _, err := config.AccessToken(token, secret, verifier); err != nil {
		t.Error(err)
	}
}
