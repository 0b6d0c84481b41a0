package provider_test

import (
	"crypto/hmac"
	"crypto/sha1" // HMAC-SHA1 is the signature of OAuth 1.0a
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// oauth1 plays a service of OAuth 1.0a: three requests, each with the signature
// of RFC 5849 section 3.4.
func (s *service) oauth1(req *http.Request, address string) any {
	switch address {
	case s.fact.RequestToken:
		s.asked = append(s.asked, "request token")
		if s.signed(req, "")["oauth_callback"] != s.redirectURI() {
			s.errorf("the request token is for another callback")
		}
		return "oauth_token=temporary&oauth_token_secret=temporary%26secret&oauth_callback_confirmed=true"
	case s.fact.Token.URL:
		s.asked = append(s.asked, "token")
		sent := s.signed(req, "temporary&secret")
		if sent["oauth_token"] != "temporary" || sent["oauth_verifier"] != "verifier" {
			s.errorf("the token request is for %q with %q", sent["oauth_token"], sent["oauth_verifier"])
		}
		return "oauth_token=lasting&oauth_token_secret=lasting%26secret&user_id=1"
	case s.fact.UserInfo.Requests[0].URL:
		s.asked = append(s.asked, "profile 0")
		if sent := s.signed(req, "lasting&secret"); sent["oauth_token"] != "lasting" {
			s.errorf("the profile request has %q", sent["oauth_token"])
		}
		for name, value := range s.fact.UserInfo.Requests[0].Params {
			if req.URL.Query().Get(name) != value {
				s.errorf("the profile request has %s=%q, want %q", name, req.URL.Query().Get(name), value)
			}
		}
		return s.claims()
	}
	s.errorf("a request for %s, which is not among the facts", address)
	return nil
}

// signed checks the signature of a request and returns its parameters.
func (s *service) signed(req *http.Request, tokenSecret string) map[string]string {
	params := map[string]string{}
	credentials, _ := strings.CutPrefix(req.Header.Get("Authorization"), "OAuth ")
	for pair := range strings.SplitSeq(credentials, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		params[name], _ = url.PathUnescape(strings.Trim(value, `"`))
	}
	signature := params["oauth_signature"]
	var pairs []string
	for name, value := range params {
		if name != "oauth_signature" {
			pairs = append(pairs, rfc3986(name)+"="+rfc3986(value))
		}
	}
	for name, values := range req.URL.Query() {
		pairs = append(pairs, rfc3986(name)+"="+rfc3986(values[0]))
	}
	slices.Sort(pairs)
	address := *req.URL
	address.RawQuery = ""
	base := req.Method + "&" + rfc3986(address.String()) + "&" + rfc3986(strings.Join(pairs, "&"))
	mac := hmac.New(sha1.New, []byte(rfc3986(clientSecret)+"&"+rfc3986(tokenSecret)))
	mac.Write([]byte(base))
	if want := base64.StdEncoding.EncodeToString(mac.Sum(nil)); signature != want || params["oauth_consumer_key"] != clientID {
		s.errorf("the signature of %s is wrong", address.String())
	}
	return params
}

// rfc3986 encodes as section 2.1 of RFC 3986 describes and RFC 5849 requires.
func rfc3986(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
