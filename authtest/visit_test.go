package authtest_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

// A visit has all responses of a provider to a client that checks nothing.
type visit struct {
	idp       *authtest.IdentityProvider
	discovery map[string]any
	keys      []map[string]any
	answer    url.Values // of the authorization

	tokenStatus int
	tokenType   string // the media type
	token       map[string]any
	replayed    int // status of the same exchange again
	unproved    int // status of an exchange without verifier
	refused     int // status for an unknown code

	idToken           string
	header, claims    map[string]any
	refreshed         map[string]any
	refreshedTwice    int
	userInfoType      string
	userInfo, user    map[string]any
	temporary         url.Values // of OAuth 1.0a
	verified, granted url.Values
	account           map[string]any
	logout            url.Values
}

func parts(jwt any) (header, claims map[string]any) {
	text, _ := jwt.(string)
	if strings.Count(text, ".") != 2 {
		return nil, nil
	}
	split := strings.Split(text, ".")
	for i, into := range []*map[string]any{&header, &claims} {
		decoded, err := base64.RawURLEncoding.DecodeString(split[i])
		if err != nil || json.Unmarshal(decoded, into) != nil {
			return nil, nil
		}
	}
	return header, claims
}

// object reads JSON, nil when it is no object.
func object(t *testing.T, resp *http.Response) map[string]any {
	t.Helper()
	var v map[string]any
	if json.Unmarshal([]byte(body(t, resp)), &v) != nil {
		return nil
	}
	return v
}

func look(t *testing.T, idp *authtest.IdentityProvider) *visit {
	t.Helper()
	v := &visit{idp: idp}
	v.discovery = object(t, get(t, idp.URL(authtest.DiscoveryEndpoint)))
	v.visitOIDC(t)
	v.visitOAuth1(t)
	resp := get(t, idp.URL(authtest.EndSessionEndpoint)+"?"+url.Values{
		"client_id": {app.ID}, "post_logout_redirect_uri": {appURL + "/bye"}, "state": {"out"},
	}.Encode())
	v.logout = answerOf(t, resp)
	return v
}

func (v *visit) visitOIDC(t *testing.T) {
	t.Helper()
	verifier := newVerifier()
	ask := validRequest()
	ask.Set("scope", "openid profile email offline_access")
	ask.Set("nonce", "the nonce")
	ask.Set("acr_values", "phr")
	ask.Set("code_challenge", challenge(verifier))
	authorize := func() url.Values {
		return answerOf(t, get(t, v.idp.URL(authtest.AuthorizationEndpoint)+"?"+ask.Encode()))
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "redirect_uri": {app.RedirectURIs[0]}, "code_verifier": {verifier},
		"client_id": {app.ID}, "client_secret": {app.Secret},
	}
	with := func(name, value string) url.Values {
		changed := maps.Clone(form)
		changed.Set(name, value)
		return changed
	}

	v.answer = authorize()
	resp := redeem(t, v.idp, with("code", v.answer.Get("code")))
	v.tokenStatus, v.tokenType = resp.StatusCode, resp.Header.Get("Content-Type")
	v.token = object(t, resp)
	v.idToken, _ = v.token["id_token"].(string)
	v.header, v.claims = parts(v.idToken)
	v.refused = redeem(t, v.idp, with("code", "unknown")).StatusCode

	bare := with("code", authorize().Get("code"))
	bare.Del("code_verifier")
	v.unproved = redeem(t, v.idp, bare).StatusCode
	again := with("code", authorize().Get("code"))
	redeem(t, v.idp, again)
	v.replayed = redeem(t, v.idp, again).StatusCode

	set := object(t, get(t, v.idp.URL(authtest.JWKSEndpoint)))
	for _, key := range set["keys"].([]any) {
		v.keys = append(v.keys, key.(map[string]any))
	}

	access, _ := v.token["access_token"].(string)
	info := do(t, withBearer(t, v.idp.URL(authtest.UserInfoEndpoint), access))
	v.userInfoType = info.Header.Get("Content-Type")
	v.userInfo = object(t, info)
	v.user = object(t, do(t, withBearer(t, v.idp.URL(authtest.UserEndpoint), access)))

	refresh, _ := v.token["refresh_token"].(string)
	more := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {app.ID}, "client_secret": {app.Secret},
	}
	_, v.refreshed = parts(object(t, redeem(t, v.idp, more))["id_token"])
	v.refreshedTwice = redeem(t, v.idp, more).StatusCode
}

func (v *visit) visitOAuth1(t *testing.T) {
	t.Helper()
	c := newConsumer(t, v.idp)
	v.temporary, _ = c.form(authtest.OAuth1RequestTokenEndpoint, c.Credentials, url.Values{"oauth_callback": {c.callback}})
	token, secret := v.temporary.Get("oauth_token"), v.temporary.Get("oauth_token_secret")
	if token == "" || secret == "" {
		return
	}
	v.verified = answerOf(t, get(t, v.idp.URL(authtest.OAuth1AuthorizationEndpoint)+"?oauth_token="+token))
	if v.verified.Get("oauth_verifier") == "" {
		return
	}
	v.granted, _ = c.form(authtest.OAuth1AccessTokenEndpoint, c.with(token, secret), url.Values{"oauth_verifier": {v.verified.Get("oauth_verifier")}})
	v.account = object(t, do(t, c.request(http.MethodGet, v.idp.URL(authtest.OAuth1AccountEndpoint), c.with(v.granted.Get("oauth_token"), v.granted.Get("oauth_token_secret")), nil)))
}

func (v *visit) discovered(name string, want any) bool {
	return reflect.DeepEqual(v.discovery[name], want)
}

func (v *visit) lacks(m map[string]any, names ...string) bool {
	return m != nil && !slices.ContainsFunc(names, func(n string) bool { _, ok := m[n]; return ok })
}

// age returns the age of the time in a claim.
func (v *visit) age(name string) time.Duration {
	seconds, _ := v.claims[name].(float64)
	return time.Since(time.Unix(int64(seconds), 0))
}
