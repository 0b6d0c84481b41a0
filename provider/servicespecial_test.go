package provider_test

import (
	"crypto/hmac"
	"crypto/md5" // the signature of Last.fm
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// longSecret is a client secret that is long enough to be a key of HS256.
const longSecret = "a secret of thirty-two characters"

// secret is the client secret the service expects.
func (s *service) secret() string {
	if s.fact.ID == "line" {
		return longSecret
	}
	return clientSecret
}

// authorizeSpecial checks authorization requests with proprietary parameters.
func (s *service) authorizeSpecial(u *url.URL) (back url.Values, mine bool) {
	sent := u.Query()
	expect := func(want map[string]string) {
		for name, value := range want {
			if sent.Get(name) != value {
				s.errorf("the authorization URL has %s=%q, want %q", name, sent.Get(name), value)
			}
		}
	}
	switch {
	case s.fact.Protocol == "oauth1a":
		expect(map[string]string{"oauth_token": "temporary"})
		return url.Values{"oauth_token": {"temporary"}, "oauth_verifier": {"verifier"}}, true
	case s.fact.Protocol == "openid2":
		want := maps.Clone(s.fact.Authorization.Params)
		want["openid.realm"] = sent.Get("openid.realm") // the origin, with or without a slash
		want["openid.return_to"] = sent.Get("openid.return_to")
		expect(want)
		if !strings.HasPrefix(want["openid.return_to"], s.redirectURI()+"?") || !strings.HasPrefix(want["openid.realm"], "https://app.example") {
			s.errorf("the authorization URL returns to %q in %q", want["openid.return_to"], want["openid.realm"])
		}
		id := "https://steamcommunity.com/openid/id/" + steamID(s.who)
		to, _ := url.Parse(want["openid.return_to"])
		back = to.Query()
		for name, value := range map[string]string{
			"ns": want["openid.ns"], "mode": "id_res", "op_endpoint": s.fact.Authorization.URL, "claimed_id": id, "identity": id,
			"return_to": want["openid.return_to"], "response_nonce": now() + "x", "assoc_handle": "1",
			"signed": "signed,op_endpoint,claimed_id,identity,return_to,response_nonce,assoc_handle", "sig": "sig",
		} {
			back.Set("openid."+name, value)
		}
		return back, true
	case s.fact.ID == "lastfm":
		callback, _ := url.Parse(sent.Get("cb"))
		if sent.Get("api_key") != clientID || len(sent) != 2 || !strings.HasPrefix(sent.Get("cb"), s.redirectURI()+"?state=") {
			s.errorf("the authorization URL is %v", sent)
		}
		return url.Values{"state": {callback.Query().Get("state")}, "token": {code}}, true
	case s.fact.ID == "wechat", s.fact.ID == "wecom":
		want := s.fillAll(s.fact.Authorization.Params)
		want["response_type"], want["redirect_uri"] = "code", s.redirectURI()
		expect(want)
		if s.fact.ID == "wechat" && u.Fragment != "wechat_redirect" {
			s.errorf("the fragment is %q", u.Fragment)
		}
		return url.Values{"code": {code}, "state": {sent.Get("state")}}, true
	}
	return nil, false
}

// returning adds parameters to the callback.
func (s *service) returning(back url.Values) {
	switch s.fact.ID {
	case "vk-id":
		back.Set("device_id", "device")
	case "apple":
		back.Set("user", `{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"forged@example.com"}`)
	case "shopify":
		back.Set("shop", "example.myshopify.com")
		back.Set("timestamp", "1795113600")
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(back)) {
			pairs = append(pairs, name+"="+back.Get(name))
		}
		mac := hmac.New(sha256.New, []byte(clientSecret))
		mac.Write([]byte(strings.Join(pairs, "&")))
		back.Set("hmac", hex.EncodeToString(mac.Sum(nil)))
	}
}

// adapt changes the expected token request.
func (s *service) adapt(want map[string]string, form url.Values) {
	switch s.fact.ID {
	case "azure-devops":
		delete(want, "code")
		want["grant_type"] = "urn:ietf:params:oauth:grant-type:jwt-bearer"
		want["assertion"] = code
		want["client_assertion_type"] = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
		want["client_assertion"] = clientSecret
	case "tiktok":
		want["client_key"] = clientID
	case "vk-id":
		want["device_id"], want["state"] = "device", s.authorized.Get("state")
	case "facebook", "github":
		if form.Get("client_secret") != "" {
			s.errorf("the secret is in the body too")
		}
	}
}

// spoilTokens makes the token response that of the real service.
func (s *service) spoilTokens(answer map[string]any) {
	switch s.fact.ID {
	case "vk":
		answer["email"], answer["user_id"] = s.who.Email, s.who.ID
		delete(answer, "token_type")
	case "instagram", "threads":
		delete(answer, "token_type")
	case "wechat":
		answer["openid"] = "open"
		delete(answer, "token_type")
	case "shopify", "deezer":
		delete(answer, "token_type")
		answer["expires"] = answer["expires_in"]
	case "twitch":
		answer["scope"] = []string{"openid", "user:read:email"}
	case "yammer":
		answer["access_token"] = map[string]any{"token": accessToken}
		delete(answer, "token_type")
	case "nextcloud":
		answer["user_id"] = s.values["user_id"]
	case "bungie":
		answer["membership_id"] = s.values["membershipId"]
	case "stripe":
		answer["stripe_user_id"] = s.values["stripe_user_id"]
	case "eveonline":
		claims, _ := json.Marshal(map[string]any{"sub": fmt.Sprintf("CHARACTER:EVE:%v", s.who.ID), "name": s.who.Name, "owner": "8PmzCeTKb4VFUDrHLc/AeZXDSWM="})
		answer["access_token"] = "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".c2ln"
	}
}

// adaptProfileRequest changes the expected profile request.
func (s *service) adaptProfileRequest(params, headers map[string]string) {
	switch s.fact.ID {
	case "wechat":
		params["access_token"], params["openid"], params["lang"] = accessToken, "open", "zh_CN"
		delete(headers, "Authorization")
	case "foursquare":
		params["oauth_token"] = accessToken
		delete(headers, "Authorization")
	case "steam":
		params["key"], params["steamids"] = clientSecret, steamID(s.who)
	}
}

// special answers requests of protocols that only one service has.
func (s *service) special(req *http.Request, address string, answer *any) bool {
	var text []byte
	if req.Body != nil && (s.fact.ID == "dingtalk" || s.fact.ID == "lark" || s.fact.ID == "steam") {
		text, _ = io.ReadAll(req.Body)
	}
	var sent map[string]string
	_ = json.Unmarshal(text, &sent)
	query := req.URL.Query()
	wants := func(what string, got, want map[string]string) {
		s.asked = append(s.asked, what)
		if !maps.Equal(got, want) {
			s.errorf("%s has %v, want %v", what, got, want)
		}
	}
	flat := map[string]string{}
	for name := range query {
		flat[name] = query.Get(name)
	}
	switch s.fact.ID + " " + address {
	case "dingtalk " + s.fact.Token.URL:
		wants("token", sent, map[string]string{"clientId": clientID, "clientSecret": clientSecret, "code": code, "grantType": "authorization_code"})
		*answer = map[string]any{"accessToken": accessToken, "refreshToken": "refresh", "expireIn": 7200}
	case "lark https://open.feishu.cn/open-apis/auth/v3/app_access_token/internal":
		wants("application token", sent, map[string]string{"app_id": clientID, "app_secret": clientSecret})
		*answer = map[string]any{"code": 0, "app_access_token": "application"}
	case "lark " + s.fact.Token.URL:
		wants("token", sent, map[string]string{"grant_type": "authorization_code", "code": code})
		if req.Header.Get("Authorization") != "Bearer application" {
			s.errorf("the token request has %q", req.Header.Get("Authorization"))
		}
		*answer = map[string]any{"code": 0, "data": map[string]any{"access_token": accessToken, "token_type": "Bearer", "expires_in": 7200}}
	case "wechat " + s.fact.Token.URL:
		wants("token", flat, map[string]string{"appid": clientID, "secret": clientSecret})
		*answer = s.tokens()
	case "wecom " + s.fact.Token.URL:
		wants("application token", flat, map[string]string{"corpid": clientID, "corpsecret": clientSecret})
		*answer = map[string]any{"errcode": 0, "errmsg": "ok", "access_token": accessToken, "expires_in": 7200}
	case "wecom https://qyapi.weixin.qq.com/cgi-bin/user/getuserinfo":
		wants("member", flat, map[string]string{"access_token": accessToken, "code": code})
		*answer = map[string]any{"errcode": 0, "UserId": s.values["userid"]}
	case "lastfm " + s.fact.Token.URL:
		if flat["method"] != "auth.getSession" {
			return false
		}
		sum := md5.Sum([]byte("api_key" + clientID + "methodauth.getSessiontoken" + code + clientSecret))
		wants("token", flat, map[string]string{
			"method": "auth.getSession", "api_key": clientID, "token": code, "format": "json", "api_sig": hex.EncodeToString(sum[:]),
		})
		*answer = map[string]any{"session": map[string]any{"name": s.values["login"], "key": accessToken, "subscriber": 0}}
	case "steam " + s.fact.Token.URL:
		s.asked = append(s.asked, "token")
		form, _ := url.ParseQuery(string(text))
		if form.Get("openid.mode") != "check_authentication" || form.Get("openid.sig") != "sig" {
			s.errorf("the assertion is checked with %v", form)
		}
		*answer = "ns:http://specs.openid.net/auth/2.0\nis_valid:true\n"
	default:
		return false
	}
	return true
}
