package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/passkey"
)

// settings is the configuration file of the contract.
type settings struct {
	Host, Instance, RecordFile, BasePath string
	Port                                 int
	Secret                               oneOrMany
	TrustHost                            bool
	AuthURL                              string `json:"authUrl"`
	UseSecureCookies                     *bool
	Cookies                              map[string]struct {
		Name    string
		Options cookieOptions
	}
	Session struct {
		Strategy  string
		MaxAge    *float64
		UpdateAge *float64
	}
	JWT struct {
		MaxAge *float64
	}
	Pages            pintle.Pages
	Theme            pages.Theme
	Debug            bool
	SkipCSRFCheck    bool
	RedirectProxyURL string `json:"redirectProxyUrl"`
	Adapter          adapterSettings
	Email            mailSettings
	Providers        []json.RawMessage
	Callbacks        map[string]string
	Events           struct{ Throwing []string }
	Experimental     struct{ EnableWebAuthn bool }
}

type cookieOptions struct {
	HTTPOnly *bool `json:"httpOnly"`
	Secure   *bool
	SameSite string
	Path     string
	Domain   string
	MaxAge   float64
}

// oneOrMany is a text or a list of texts.
type oneOrMany []string

func (o *oneOrMany) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]string)(o))
	}
	var one string
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*o = oneOrMany{one}
	return nil
}

// config is the same for Pintle.
func (s *settings) config(rec *recorder, store *memory) (pintle.Config, error) {
	callbacks, err := canned(s.Callbacks, rec)
	if err != nil {
		return pintle.Config{}, err
	}
	cfg := pintle.Config{
		BasePath: s.BasePath, Secrets: s.Secret, TrustHost: s.TrustHost,
		Cookies:          s.cookies(),
		Session:          pintle.SessionConfig{Strategy: pintle.SessionStrategy(s.Session.Strategy), MaxAge: age(s.Session.MaxAge), UpdateAge: age(s.Session.UpdateAge)},
		JWT:              pintle.JWTConfig{MaxAge: age(s.JWT.MaxAge)},
		Pages:            s.Pages,
		Theme:            s.Theme,
		Debug:            s.Debug,
		RedirectProxyURL: s.RedirectProxyURL,
		// The contract has one deployment behind a proxy, on plain HTTP.
		RedirectProxyHosts: []string{"http://preview.example.test"},
		Callbacks:          callbacks,
		Events:             handlers(s.Events.Throwing, rec),
		Logger:             slog.New(logHandler{rec}),
		Getenv:             func(string) string { return "" },

		DangerouslySkipCSRFCheck: s.SkipCSRFCheck,
		ExperimentalPasskeys:     s.Experimental.EnableWebAuthn,
	}
	if s.UseSecureCookies != nil {
		cfg.SecureCookies = pintle.SecureNever
		if *s.UseSecureCookies {
			cfg.SecureCookies = pintle.SecureAlways
		}
	}
	if s.AuthURL != "" {
		// Only the origin of AUTH_URL counts in the contract.
		u, err := url.Parse(s.AuthURL)
		if err != nil {
			return cfg, err
		}
		cfg.URL = u.Scheme + "://" + u.Host
	}
	switch s.Adapter.Kind {
	case "memory":
		cfg.Store = store
	case "postgres":
		if cfg.Store, err = shared(s.Adapter.URL); err != nil {
			return cfg, err
		}
	}
	for _, raw := range s.Providers {
		p, err := s.provider(raw)
		if err != nil {
			return cfg, err
		}
		cfg.Providers = append(cfg.Providers, p)
	}
	return cfg, nil
}

// age turns the contract's seconds into a duration. Zero means "every time"
// there and is a negative duration here.
func age(n *float64) time.Duration {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return seconds(*n)
}

func (s *settings) cookies() pintle.Cookies {
	var c pintle.Cookies
	for name, field := range map[string]*pintle.Cookie{
		"sessionToken": &c.SessionToken, "callbackUrl": &c.CallbackURL, "csrfToken": &c.CSRFToken,
		"pkceCodeVerifier": &c.PKCECodeVerifier, "state": &c.State, "nonce": &c.Nonce,
	} {
		given, ok := s.Cookies[name]
		if !ok {
			continue
		}
		o := given.Options
		*field = pintle.Cookie{Name: given.Name, Domain: o.Domain, Path: o.Path, SameSite: sameSite(o.SameSite), MaxAge: seconds(o.MaxAge)}
		if o.HTTPOnly != nil {
			field.DangerouslyAllowScripts = !*o.HTTPOnly
		}
		if o.Secure != nil {
			field.Secure = pintle.SecureNever
			if *o.Secure {
				field.Secure = pintle.SecureAlways
			}
		}
	}
	return c
}

func sameSite(value string) http.SameSite {
	switch strings.ToLower(value) {
	case "strict":
		return http.SameSiteStrictMode
	case "none":
		return http.SameSiteNoneMode
	default:
		return http.SameSiteLaxMode
	}
}

// entry is one of the providers.
type entry struct {
	Kind, ID, Name string

	Fields         json.RawMessage
	Users          []person
	MaxAge         float64
	Secret         string
	FixedToken     string
	Normalizer     string
	Issuer         string
	ClientID       string `json:"clientId"`
	ClientSecret   string
	Checks         []oauth.Check
	Authorization  endpoint
	Token          endpoint
	Userinfo       endpoint
	IDToken        *bool `json:"idToken"`
	Client         clientSettings
	Profile        string
	Account        string
	RedirectProxy  string `json:"redirectProxyUrl"`
	AllowDangerous bool   `json:"allowDangerousEmailAccountLinking"`
}

type clientSettings struct {
	AuthMethod string `json:"token_endpoint_auth_method"`
	SigningAlg string `json:"id_token_signed_response_alg"`
}

// endpoint is a text or an object with url and params.
type endpoint struct {
	URL    string
	Params map[string]any
}

func (e *endpoint) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &e.URL)
	}
	type plain endpoint
	return json.Unmarshal(data, (*plain)(e))
}

func (e endpoint) pintle() oauth.Endpoint {
	out := oauth.Endpoint{URL: e.URL}
	for name, value := range e.Params {
		if out.Params == nil {
			out.Params = map[string]string{}
		}
		text, isText := value.(string)
		if !isText {
			encoded, _ := json.Marshal(value) // it came from JSON
			text = string(encoded)
		}
		out.Params[name] = text
	}
	return out
}

func (s *settings) provider(raw json.RawMessage) (pintle.Provider, error) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("read a provider: %w", err)
	}
	switch e.Kind {
	case "credentials":
		return e.credentials()
	case "email":
		return e.email(s.Email), nil
	case "oidc", "oauth2":
		return e.oauth()
	case "builtin":
		return e.builtin()
	case "passkey":
		p := passkey.New(passkey.Options{})
		p.ID, p.Name = e.ID, e.Name
		return p, nil
	}
	return nil, fmt.Errorf("unknown kind of provider %q", e.Kind)
}

// person is a row of a credentials provider's users.
type person struct {
	Username, Password string
	User               *pintle.User
	Outcome, Code      string
}

func (e *entry) credentials() (pintle.Provider, error) {
	p := &pintle.Credentials{ID: e.ID, Name: e.Name}
	fields, err := formFields(e.Fields)
	if err != nil {
		return nil, err
	}
	p.Fields = fields
	p.Authorize = func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
		for _, u := range e.Users {
			if given, isText := s.Fields["username"].(string); !isText || u.Username != given {
				continue
			}
			switch {
			case u.Outcome == "credentialsSignin":
				return nil, &pintle.Error{Code: pintle.CodeCredentials, Detail: u.Code}
			case u.Outcome == "error":
				return nil, errors.New("conformance: authorize failed")
			case s.Fields["password"] != u.Password:
				return nil, nil
			}
			user := *u.User
			return &user, nil
		}
		return nil, nil
	}
	return p, nil
}

// formFields reads an object of input attributes by field name, keeping its
// order. Absent means the library's default, null means no form.
func formFields(raw json.RawMessage) ([]pintle.Field, error) {
	if raw == nil {
		return nil, nil
	}
	fields := []pintle.Field{}
	if string(raw) == "null" {
		return fields, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var attributes map[string]any
		if err := d.Decode(&attributes); err != nil {
			return nil, err
		}
		f := pintle.Field{Name: fmt.Sprint(name), Attributes: map[string]string{}}
		for attribute, value := range attributes {
			text := fmt.Sprint(value)
			switch attribute {
			case "label":
				f.Label = text
			case "type":
				f.Type = text
			case "placeholder":
				f.Placeholder = text
			default:
				f.Attributes[attribute] = text
			}
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func (e *entry) email(server mailSettings) pintle.Provider {
	p := &pintle.Email{ID: e.ID, Name: e.Name, From: server.From, MaxAge: seconds(e.MaxAge), Secret: e.Secret, Send: server.send}
	if e.FixedToken != "" {
		p.GenerateToken = func() (string, error) { return e.FixedToken, nil }
	}
	if e.Normalizer == "lowercase" {
		p.Normalize = func(address string) (string, error) { return strings.ToLower(address), nil }
	}
	return p
}

func (e *entry) oauth() (pintle.Provider, error) {
	p := &pintle.OAuth{
		ID: e.ID, Name: e.Name, Issuer: e.Issuer, ClientID: e.ClientID, ClientSecret: e.ClientSecret,
		Checks: e.Checks, Authorization: e.Authorization.pintle(), Token: e.Token.pintle(), UserInfo: e.Userinfo.pintle(),
		ClientAuth: oauth.ClientAuth(e.Client.AuthMethod), SigningAlg: oauth.Algorithm(e.Client.SigningAlg),
		ProfileFromUserInfo:    e.IDToken != nil && !*e.IDToken,
		RedirectProxyURL:       e.RedirectProxy,
		DangerouslyLinkByEmail: e.AllowDangerous,
	}
	if e.Kind == "oidc" {
		p.Protocol = oauth.OIDC
	}
	var err error
	if p.Profile, err = profileMapping(e.Profile); err != nil {
		return nil, err
	}
	switch e.Account {
	case "", "default":
	case "accessTokenOnly":
		p.StoreAccount = func(a *pintle.Account) *pintle.Account { return &pintle.Account{AccessToken: a.AccessToken} }
	case "nothing":
		p.StoreAccount = func(*pintle.Account) *pintle.Account { return nil }
	default:
		return nil, fmt.Errorf("unknown account mapping %q", e.Account)
	}
	return p, nil
}

type profileFunc = func(pintle.Profile, *pintle.Account) (*pintle.User, error)

func profileMapping(name string) (profileFunc, error) {
	switch name {
	case "", "default":
		return nil, nil
	case "loginName":
		return func(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
			name := p["name"]
			if name == nil {
				name = p["login"]
			}
			user := object{"id": p.ID("id"), "name": name, "email": p["email"]}
			if image, sent := p["avatar_url"]; sent {
				user["image"] = image
			}
			return userOf(user)
		}, nil
	case "withoutId":
		return func(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
			return userOf(object{"name": p["name"], "email": p["email"]})
		}, nil
	case "sparse":
		return func(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
			return &pintle.User{ID: p.ID("sub")}, nil
		}, nil
	case "throw":
		return func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return nil, failed("profile callback") }, nil
	}
	return nil, fmt.Errorf("unknown profile mapping %q", name)
}

// userOf makes a user of JSON members, so that null and absent stay apart.
func userOf(members object) (*pintle.User, error) {
	u := new(pintle.User)
	return u, remarshal(members, u)
}
