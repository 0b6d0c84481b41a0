package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/internal/clientaddr"
	"github.com/pintleauth/pintle/internal/csrf"
	"github.com/pintleauth/pintle/internal/lifetime"
	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/publicnet"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/tokenhash"
)

const (
	defaultMaxAge    = 30 * 24 * time.Hour
	defaultUpdateAge = 24 * time.Hour

	// minSecret prevents a brute-force search for the secret of a hash or
	// token: 32 characters are at least 128 bits even when they are
	// hexadecimal.
	minSecret = 32

	// outgoingTimeout bounds a request to a provider when the host sets no
	// client.
	outgoingTimeout = 10 * time.Second
)

// settings is a Config that was completed, checked and turned into what
// requests need. It does not change.
type settings struct {
	Config

	// base is the base path without a trailing slash: "/auth", or "" when the
	// routes are at the root.
	base       string
	baseSource string // what set it
	origins    *origin.Resolver
	previews   origin.Hosts // of RedirectProxyHosts
	log        logger

	providers []*provider
	byID      map[string]*provider

	sessions sessions
	lifetime lifetime.Policy

	// states seals the state parameter, and challenges what the challenge cookie
	// holds sealed once more.
	states, challenges *sealed.Box

	records    *records
	jwtSecrets []string
	hashes     tokenhash.Hasher
	csrf       csrf.Tokens

	spent *spent

	plain, secure *cookieSet
	languages     []language // the first is that of Config.Texts

	accountKeys *seal.Keys

	notices notices

	// refusedTargets are the origins that the redirect rules have kept browsers
	// from.
	refusedTargets onceEach

	// reached reports that a request for a route has come, and unreached counts
	// the browsers that were sent to the sign-in page before.
	reached   atomic.Bool
	unreached atomic.Int32

	refreshes refreshes

	// fault is what makes this configuration unusable. It is what New returns;
	// a configuration made for a request answers with it.
	fault *Error

	// home are the tenants of which this is one, and key its key. home is nil for
	// the configuration of [New].
	home *tenants
	key  string
}

// isSame reports whether two configurations are those of one Auth and, with
// [NewFunc], of one tenant. A tenant's is made again after it was forgotten.
func (s *settings) isSame(other *settings) bool {
	return s == other || s.home != nil && s.home == other.home && s.key == other.key
}

// resolve completes and checks cfg. It always returns settings; those of a
// faulty configuration can still show an error page.
func resolve(cfg Config) *settings {
	env := cfg.environment()
	given := cfg.BasePath
	env.fill(&cfg)
	s := &settings{Config: cfg, baseSource: baseSource(given, cfg.BasePath), log: newLogger(&cfg), byID: map[string]*provider{}, spent: newSpent()}
	s.Session.MaxAge = cmp.Or(s.Session.MaxAge, defaultMaxAge)
	s.Session.UpdateAge = cmp.Or(s.Session.UpdateAge, defaultUpdateAge)
	s.JWT.MaxAge = cmp.Or(s.JWT.MaxAge, s.Session.MaxAge)
	if s.HTTPClient == nil {
		s.HTTPClient = &http.Client{Timeout: outgoingTimeout}
		if s.PublicNetworkOnly {
			s.HTTPClient.Transport = publicnet.Transport(nil)
		}
	}
	if s.ClientAddress == nil {
		s.ClientAddress = clientaddr.Forwarded(s.TrustedProxies...)
	}
	s.Session.RotateAtSignIn = s.Session.RotateAtSignIn || s.Session.RecordAuthentication
	s.lifetime = lifetime.Policy{
		MaxAge: s.Session.MaxAge, TokenMaxAge: s.JWT.MaxAge, UpdateAge: s.Session.UpdateAge, AbsoluteMaxAge: s.Session.AbsoluteMaxAge,
	}
	s.records = newRecords(s.Store, s.log)
	unknownStrategy := s.chooseSessions()

	// The order is that in which the reference reports what is wrong.
	for _, step := range []func() *Error{
		func() *Error { return checkHTTPClient(cfg) },
		s.resolvePaths,
		s.resolveSecrets,
		env.checkSwitches,
		s.resolveAccountKeys,
		s.resolveBoxes,
		s.checkNil,
		func() *Error { return s.resolveProviders(env) },
		s.resolveStore,
		func() *Error { return unknownStrategy },
		s.checkFeatures,
		s.checkProviders,
		s.resolveCookies,
		s.checkTheme,
		s.checkPages,
		s.checkSession,
		s.resolveRedirectProxy,
		s.checkClients,
	} {
		if fault := step(); fault != nil && s.fault == nil {
			s.fault = fault
		}
	}
	return s
}

// chooseSessions decides where sessions live.
func (s *settings) chooseSessions() *Error {
	strategy := s.Session.Strategy
	if s.records != nil && s.records.can.Sessions {
		strategy = cmp.Or(strategy, StrategyDatabase)
	}
	switch cmp.Or(strategy, StrategyJWT) {
	case StrategyJWT:
		s.sessions = tokenSessions{s}
	case StrategyDatabase:
		s.sessions = dbSessions{s}
	default:
		s.sessions = tokenSessions{s} // for the settings that report the fault
		return fail(codeUnsupportedStrategy, fmt.Errorf("Config.Session.Strategy is %q: use StrategyJWT or StrategyDatabase", strategy))
	}
	return nil
}

func (s *settings) resolvePaths() *Error {
	base := cmp.Or(s.BasePath, "/auth")
	s.base = strings.TrimRight(base, "/")
	var err error
	if s.origins, err = origin.New(origin.Config{URL: s.URL, TrustForwarded: s.TrustHost}); err != nil {
		s.origins, _ = origin.New(origin.Config{}) // which has nothing that could be wrong
		return fail(CodeConfiguration, fmt.Errorf("Config.URL (AUTH_URL) is %q: %w: set it to the public URL of the application, such as https://app.example.com", s.URL, err))
	}
	if !strings.HasPrefix(base, "/") || strings.HasPrefix(base, "//") || strings.ContainsAny(base, "?#%\\ ") {
		return fail(CodeConfiguration, fmt.Errorf("Config.BasePath is %q: it must be a plain path that begins with one /", base))
	}
	return nil
}

func (s *settings) resolveSecrets() *Error {
	s.jwtSecrets = s.JWT.Secrets
	if len(s.jwtSecrets) == 0 {
		s.jwtSecrets = s.Secrets
	}
	if len(s.Secrets) == 0 {
		return fail(codeMissingSecret, errors.New("there is no secret: set AUTH_SECRET or Config.Secrets to the output of \"openssl rand -base64 33\""))
	}
	s.hashes = tokenhash.New(s.Secrets...)
	s.csrf = csrf.New(s.hashes)
	for name, list := range map[string][]string{"Config.Secrets (AUTH_SECRET)": s.Secrets, "Config.JWT.Secrets": s.JWT.Secrets} {
		for i, secret := range list {
			if len(secret) < minSecret && !s.DangerouslyAllowShortSecrets {
				return fail(codeMissingSecret, fmt.Errorf("%s: secret %d has %d characters, at least %d are needed: use the output of \"openssl rand -base64 33\"", name, i+1, len(secret), minSecret))
			}
		}
	}
	return nil
}

func (s *settings) checkPages() *Error {
	for name, page := range map[string]string{
		"SignIn": s.Pages.SignIn, "SignOut": s.Pages.SignOut, "Error": s.Pages.Error,
		"VerifyRequest": s.Pages.VerifyRequest, "NewUser": s.Pages.NewUser, "Account": s.Pages.Account,
		"SignUp": s.Pages.SignUp, "ForgotPassword": s.Pages.ForgotPassword,
	} {
		if page == "" {
			continue
		}
		u, err := url.Parse(page)
		local := err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(page, "/")
		absolute := err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
		if !local && !absolute {
			return fail(CodeConfiguration, fmt.Errorf("Config.Pages.%s is %q: it must be a path that begins with / or an http(s) URL", name, page))
		}
	}
	return s.checkPageLoops()
}

// checkPageLoops rejects a page of the application that is a built-in page
// which leads back to it: browsers would be redirected until they give up.
func (s *settings) checkPageLoops() *Error {
	own := map[action]string{actionSignIn: s.Pages.SignIn, actionSignOut: s.Pages.SignOut, actionError: s.Pages.Error, actionVerifyRequest: s.Pages.VerifyRequest}
	for _, first := range []action{actionSignIn, actionSignOut, actionError, actionVerifyRequest} {
		at := first
		for range len(own) {
			u, err := url.Parse(own[at])
			if err != nil || u.Host != "" && !strings.EqualFold(u.Host, s.origins.Host()) {
				break
			}
			next, _, ok := s.parsePath(u.EscapedPath())
			if !ok {
				break
			}
			if at = next; at == first {
				return fail(CodeConfiguration, fmt.Errorf("Config.Pages: %q is the built-in page that it takes the place of, so that browsers would be redirected to it again and again: leave it empty, or set it to a page of the application", own[first]))
			}
		}
	}
	return nil
}

func (s *settings) checkSession() *Error {
	switch {
	case s.Session.MaxAge < time.Second || s.JWT.MaxAge < time.Second:
		return fail(CodeConfiguration, errors.New("Config.Session.MaxAge and Config.JWT.MaxAge must be at least one second; zero means 30 days"))
	case s.Session.AbsoluteMaxAge < 0:
		return fail(CodeConfiguration, errors.New("Config.Session.AbsoluteMaxAge must not be negative; zero means no limit"))
	case s.SharedSessions && s.Tenant != "":
		return fail(CodeConfiguration, errors.New("Config.SharedSessions and Config.Tenant contradict each other: set one of them"))
	case (s.JWT.Encode == nil) != (s.JWT.Decode == nil):
		return fail(CodeConfiguration, errors.New("Config.JWT.Encode and Config.JWT.Decode must be set together"))
	}
	return nil
}

// cookieSet returns the cookies for a site that is reached over https or not.
func (s *settings) cookieSet(secure bool) *cookieSet {
	if secure {
		return s.secure
	}
	return s.plain
}

// checkHTTPClient rejects a client of the host's that would bypass
// [Config.PublicNetworkOnly].
func checkHTTPClient(cfg Config) *Error {
	if cfg.PublicNetworkOnly && cfg.HTTPClient != nil {
		return fail(CodeConfiguration, errors.New("Config.PublicNetworkOnly has no effect on Config.HTTPClient: leave one of them out"))
	}
	return nil
}

// clientAddress returns the address of the client that sent a request, for the
// log and for limits. An unknown address is invalid.
func (s *settings) clientAddress(r *http.Request) netip.Addr {
	return clientaddr.Normal(s.ClientAddress(r))
}
