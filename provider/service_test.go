package provider_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A person is an account at a service.
type person struct {
	ID    any
	Name  string
	Email string
}

// A service is a fake of one service of the catalogue, as its facts describe it:
// any other request fails the test. It is the transport of the application's
// requests, so none leaves the machine.
type service struct {
	t    *testing.T
	fact *fact
	who  person

	// anonymous leaves the id out of every response.
	anonymous bool

	// tenant, if set, is the tenant of the user at Microsoft, and "none" leaves it out.
	tenant string

	// spoil, if set, changes the service's profile of the user.
	spoil func(doc map[string]any)

	// changeBack, if set, spoils the parameters of the callback.
	changeBack func(url.Values)

	values map[string]string // the texts in the braces of the facts

	authorized url.Values // the parameters the browser came with
	asked      []string   // the endpoints that the application requested
}

const (
	clientID     = "client"
	clientSecret = "a secret & more?"
	accessToken  = "access/token+1"
	code         = "code 1"
)

func newService(t *testing.T, f *fact, who person) *service {
	issuer := f.Issuer
	if strings.Contains(issuer, "{") || issuer == "" {
		issuer = "https://server.example"
	}
	s := &service{t: t, fact: f, who: who}
	s.values = map[string]string{
		"issuer": issuer, "clientId": clientID, "clientSecret": clientSecret, "access_token": accessToken,
		"accountID": "1234567", "userinfo": "https://1234567.restlets.api.netsuite.com/me",
		"shop": "example", "domain": "cloud.influxdata.com", "corpId": clientID, "agentId": "1000002",
		"user_id": "ada lovelace", "membershipId": "4611686018467260757", "stripe_user_id": "acct_1",
		"userid": "ada", "steamid": steamID(who), "login": "ada", "key": clientSecret, "clientIdOption": clientID,
	}
	switch f.ID {
	case "asgardeo":
		s.values["issuer"] += "/oauth2/token"
	case "onelogin":
		s.values["issuer"] += "/oidc/2"
	case "descope":
		s.values["issuer"] = "https://api.descope.com/" + clientID
	case "workos", "osso":
		s.values["issuer"] += "/"
		if f.ID == "workos" {
			s.values["issuer"] = "https://api.workos.com/"
		}
	}
	return s
}

func (s *service) fill(text string) string { return fill(text, s.values) }

func (s *service) fillAll(m map[string]string) map[string]string {
	filled := map[string]string{}
	for name, value := range m {
		filled[name] = s.fill(value)
	}
	return filled
}

func (s *service) errorf(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf(s.fact.ID+": "+format, args...)
}

// RoundTrip answers a request of the application.
func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	at := *req.URL
	at.RawQuery = ""
	address := at.String()
	var answer any
	header := http.Header{"Content-Type": {"application/json"}}
	switch {
	case s.fact.Protocol == "oauth1a":
		answer = s.oauth1(req, address)
	case address == s.discovery():
		s.asked = append(s.asked, "discovery")
		answer = s.metadata()
	case address == s.at("jwks"):
		answer = s.keys()
	case s.special(req, address, &answer):
	case address == s.tokenURL() && s.fact.ID != "lastfm":
		s.asked = append(s.asked, "token")
		answer = s.token(req)
	default:
		answer = s.profile(req, address)
	}
	var body []byte
	switch a := answer.(type) {
	case nil:
		return &http.Response{StatusCode: http.StatusNotFound, Header: header, Body: http.NoBody, Request: req}, nil
	case string:
		body = []byte(a)
		header.Set("Content-Type", "text/plain")
		if strings.Count(a, ".") == 2 {
			header.Set("Content-Type", "application/jwt")
		}
	default:
		var err error
		if body, err = json.Marshal(a); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// authorize checks the authorization request of a browser and returns the
// parameters of the callback.
func (s *service) authorize(location string) url.Values {
	s.t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		s.t.Fatal(err)
	}
	sent := u.Query()
	s.authorized = sent
	for name, values := range sent {
		if len(values) > 1 {
			s.errorf("the authorization URL repeats %s", name)
		}
	}
	at := *u
	at.RawQuery, at.Fragment = "", ""
	if want := s.authorizationURL(); at.String() != want {
		s.errorf("the browser was sent to %s, want %s", at.String(), want)
	}
	if back, mine := s.authorizeSpecial(u); mine {
		return back
	}
	want := s.fillAll(s.fact.Authorization.Params)
	delete(want, "scope")
	if s.fact.Scope != "" {
		want["scope"] = s.fact.Scope
	}
	if want["response_type"] == "" {
		want["response_type"] = "code"
	}
	want["client_id"], want["redirect_uri"] = clientID, s.redirectURI()
	given := map[string]string{}
	for name := range sent {
		given[name] = sent.Get(name)
	}
	for _, check := range []struct{ name, param string }{{"pkce", "code_challenge"}, {"state", "state"}, {"nonce", "nonce"}} {
		wanted := slices.Contains(s.fact.Checks, check.name) || check.name == "state" // which every flow has
		if (given[check.param] != "") != wanted {
			s.errorf("the authorization URL has %s %q, want one: %t", check.param, given[check.param], wanted)
		}
		delete(given, check.param)
	}
	if method := given["code_challenge_method"]; method != "" && method != "S256" {
		s.errorf("code_challenge_method is %q", method)
	}
	delete(given, "code_challenge_method")
	if !maps.Equal(given, want) {
		s.errorf("the authorization URL has %v, want %v", given, want)
	}
	back := url.Values{"code": {code}}
	if state := sent.Get("state"); state != "" {
		back.Set("state", state)
	}
	return back
}

func (s *service) redirectURI() string { return "https://app.example/auth/callback/" + s.fact.ID }

// at is an address that discovery leads to.
func (s *service) at(what string) string {
	return strings.TrimSuffix(s.values["issuer"], "/") + "/discovered/" + what
}

func (s *service) discovery() string {
	switch s.fact.ID {
	case "frontegg":
		return s.values["issuer"] + "/oauth/.well-known/openid-configuration"
	case "paybin":
		return s.values["issuer"] + "/.well-known/openid-configuration"
	}
	return strings.ReplaceAll(s.fill(s.fact.Discovery), "//.well", "/.well")
}

func (s *service) authorizationURL() string {
	if s.fact.Authorization.URL == "" {
		return s.at("authorize")
	}
	return s.fill(s.fact.Authorization.URL)
}

func (s *service) tokenURL() string {
	if s.fact.Token.URL == "" {
		return s.at("token")
	}
	return s.fill(s.fact.Token.URL)
}

// token answers a token request once it is right in every way.
func (s *service) token(req *http.Request) any {
	if req.Method != http.MethodPost {
		s.errorf("the token request is a %s", req.Method)
	}
	media, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	if media != "application/x-www-form-urlencoded" || req.Header.Get("Accept") != "application/json" {
		s.errorf("the token request is %s and accepts %s", req.Header.Get("Content-Type"), req.Header.Get("Accept"))
	}
	text, _ := io.ReadAll(req.Body)
	form, err := url.ParseQuery(string(text))
	if err != nil {
		s.errorf("the form cannot be read: %v", err)
	}
	query := req.URL.Query()
	for name, value := range s.fillAll(s.fact.Token.Params) {
		if query.Get(name) != value {
			s.errorf("the token URL has %s=%q, want %q", name, query.Get(name), value)
		}
		query.Del(name)
	}
	if len(query) > 0 {
		s.errorf("the token URL has too much: %v", query)
	}
	s.authenticated(req, form)
	want := map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": s.redirectURI()}
	s.adapt(want, form)
	for name, value := range want {
		if form.Get(name) != value {
			s.errorf("the token request has %s=%q, want %q", name, form.Get(name), value)
		}
		form.Del(name)
	}
	if challenge := s.authorized.Get("code_challenge"); challenge != "" {
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
			s.errorf("the verifier does not fit the challenge")
		}
		form.Del("code_verifier")
	}
	if len(form) > 0 {
		s.errorf("the token request has too much: %v", slices.Collect(maps.Keys(form)))
	}
	return s.tokens()
}

// authenticated checks how the client authenticated, and removes its credentials.
func (s *service) authenticated(req *http.Request, form url.Values) {
	user, password, basic := req.BasicAuth()
	user, _ = url.QueryUnescape(user)
	password, _ = url.QueryUnescape(password)
	switch method := s.fact.Token.AuthMethod; {
	case basic && (method == "client_secret_basic" || method == "auto"):
		if user != clientID || password != s.secret() {
			s.errorf("the client is %q with %q", user, password)
		}
	case !basic && (method == "client_secret_post" || method == "auto"):
		if form.Get("client_id") != clientID || form.Get("client_secret") != s.secret() {
			s.errorf("the client is %q with %q", form.Get("client_id"), form.Get("client_secret"))
		}
		form.Del("client_id")
		form.Del("client_secret")
	case method == "assertion", s.fact.ID == "wechat":
	default:
		s.errorf("the client did not authenticate with %s", method)
	}
}

// tokens is the token response.
func (s *service) tokens() any {
	answer := map[string]any{"access_token": accessToken, "token_type": "Bearer", "expires_in": 3600}
	if s.fact.Type == "oidc" {
		answer["id_token"] = s.idToken()
	}
	s.spoilTokens(answer)
	return answer
}

// profile answers a request for a profile, if it is one of the facts.
func (s *service) profile(req *http.Request, address string) any {
	for i, r := range s.fact.UserInfo.Requests {
		if r.URL == "" {
			r.URL = s.at("userinfo")
		}
		if s.requestURL(r) != address {
			continue
		}
		s.asked = append(s.asked, fmt.Sprintf("profile %d", i))
		s.checkProfileRequest(req, r)
		if i > 0 || r.Method == "GET" && strings.HasPrefix(r.URL, "https://graph.microsoft.com/") {
			return s.further()
		}
		return s.wrap(s.claims())
	}
	s.errorf("a request for %s, which is not among the facts", address)
	return nil
}

func (s *service) requestURL(r profileRequest) string {
	escaped := maps.Clone(s.values)
	for _, name := range []string{"access_token", "user_id", "membershipId", "stripe_user_id"} {
		escaped[name] = url.PathEscape(s.values[name])
	}
	return fill(r.URL, escaped)
}

func (s *service) checkProfileRequest(req *http.Request, r profileRequest) {
	if req.Method != r.Method {
		s.errorf("the profile request has %s, want %s", req.Method, r.Method)
	}
	params, headers := s.fillAll(r.Params), s.fillAll(r.Headers)
	delete(headers, "Accept")
	if headers["User-Agent"] == "authjs" {
		delete(headers, "User-Agent") // any will do
	}
	var body url.Values
	switch how, where, _ := strings.Cut(r.Auth, ":"); how {
	case "query":
		params[where] = accessToken
		if where == "key" {
			params[where] = clientSecret
		}
		delete(headers, "Authorization")
	case "header":
		headers[where] = accessToken
	case "basic":
		headers["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(accessToken+":"))
	case "body":
		body = url.Values{"client_id": {clientID}, "access_token": {accessToken}}
	case "bearer":
		headers["Authorization"] = "Bearer " + accessToken
	}
	s.adaptProfileRequest(params, headers)
	for name, value := range headers {
		if req.Header.Get(name) != value && !(name == "Content-Type" && req.Body == http.NoBody) {
			s.errorf("the profile request has %s: %q, want %q", name, req.Header.Get(name), value)
		}
	}
	if headers["Authorization"] == "" && req.Header.Get("Authorization") != "" {
		s.errorf("the profile request has an Authorization header")
	}
	given := map[string]string{}
	for name := range req.URL.Query() {
		given[name] = req.URL.Query().Get(name)
	}
	if !maps.Equal(given, params) {
		s.errorf("the profile request has %v, want %v", given, params)
	}
	s.checkBody(req, r, body)
}

func (s *service) checkBody(req *http.Request, r profileRequest, form url.Values) {
	text := []byte(nil)
	if req.Body != nil {
		text, _ = io.ReadAll(req.Body)
	}
	switch {
	case form != nil:
		if got, err := url.ParseQuery(string(text)); err != nil || got.Encode() != form.Encode() {
			s.errorf("the profile request has the form %q, want %q", text, form.Encode())
		}
	case r.Body == nil && len(text) > 0:
		s.errorf("the profile request has a body")
	case s.fact.ID == "linear":
		var sent struct{ Query string }
		if json.Unmarshal(text, &sent) != nil || !strings.Contains(sent.Query, "viewer") {
			s.errorf("the query is %q", text)
		}
	case r.Body != nil:
		want, _ := json.Marshal(r.Body)
		var a, b any
		if json.Unmarshal(text, &a) != nil || json.Unmarshal(want, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			s.errorf("the profile request has %s, want %s", text, want)
		}
	}
}

var _ http.RoundTripper = (*service)(nil)
