package handshake

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/internal/oauth1"
	"github.com/pintleauth/pintle/internal/query"
)

// stampOf returns stamps with this nonce and the current time.
func stampOf(nonce string) func() oauth1.Stamp {
	return func() oauth1.Stamp { return oauth1.Stamp{Nonce: nonce, Time: time.Now()} }
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The two published examples, byte for byte, through the whole of Begin and
// Finish: same clock, same nonces, same signatures.
func TestOAuth1SignsThePublishedExamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Unix(1795113600, 0)))
		signatures := make(map[string]string)
		o := &OAuth1{
			ID: "twitter-oauth1", ConsumerKey: "consumer-key", ConsumerSecret: "consumer&secret",
			RequestTokenURL: "https://api.x.com/oauth/request_token",
			Authorize:       Endpoint{URL: "https://api.x.com/oauth/authenticate"},
			AccessTokenURL:  "https://api.x.com/oauth/access_token",
			UserInfo: Endpoint{URL: "https://api.x.com/1.1/account/verify_credentials.json", Params: query.Values{
				{Key: "include_email", Value: "true"}, {Key: "include_entities", Value: "false"}, {Key: "skip_status", Value: "true"},
			}},
			stamp: stampOf("nonce123"),
			Client: &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
				_, after, _ := strings.Cut(r.Header.Get("Authorization"), `oauth_signature="`)
				signatures[r.URL.Path], _, _ = strings.Cut(after, `"`)
				body := map[string]string{
					"/oauth/request_token":                 "oauth_token=t&oauth_token_secret=s&oauth_callback_confirmed=true",
					"/oauth/access_token":                  "oauth_token=123-token&oauth_token_secret=token%2Fsecret~%C3%A9",
					"/1.1/account/verify_credentials.json": `{"id_str":"1"}`,
				}[r.URL.Path]
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})},
		}
		if _, err := o.Begin(t.Context(), BeginOptions{RedirectURI: "https://app.example.com/auth/callback/twitter?x=1&y=a b"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		o.stamp = stampOf("nonce456")
		if _, err := o.Finish(t.Context(), OAuth1Return{
			Params: query.Values{{Key: "oauth_token", Value: "t"}, {Key: "oauth_verifier", Value: "v"}}, Token: "t", Secret: "s",
		}); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			"/oauth/request_token":                 "gels%2Ft9TLClIkyevIGy8DD9Pk04%3D",
			"/1.1/account/verify_credentials.json": "CEfSP2Amk9HYGLVlDnSxz4C%2F9ts%3D",
		} {
			if signatures[path] != want {
				t.Errorf("%s: signature %q, want %q", path, signatures[path], want)
			}
		}
	})
}
