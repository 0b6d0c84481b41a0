package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/clientaddr"
	"github.com/pintleauth/pintle/internal/csrf"
	"github.com/pintleauth/pintle/internal/lifetime"
	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/tokenhash"
)

func (s *settings) resolveAccountKeys() *Error {
	if len(s.Secrets) == 0 {
		return nil // resolveSecrets reports it
	}
	keys, err := seal.New(s.Secrets, accountSalt)
	if err != nil {
		return fail(CodeConfiguration, err)
	}
	s.accountKeys = keys
	return nil
}

// checkFeatures checks that the store has the features that the configuration
// needs.
func (s *settings) checkFeatures() *Error {
	if s.records == nil {
		return nil // resolveStore has reported it, if that is a fault
	}
	if mail := s.mailProvider(); mail != nil {
		if err := s.records.missing("a mail provider", featureVerifications); err != nil {
			return &Error{Code: codeMissingAdapterMethods, Provider: mail.id, Err: err}
		}
	}
	if s.Callbacks.Hold != nil {
		if err := s.records.missing("Callbacks.Hold", featureVerifications); err != nil {
			return fail(codeMissingAdapterMethods, err)
		}
	}
	if s.sessions.needStoredUser() {
		if err := s.records.missing("StrategyDatabase in Config.Session.Strategy", featureSessions); err != nil {
			return fail(codeMissingAdapterMethods, err)
		}
	}
	return nil
}

// resolveStore checks that there is a store if the configuration needs one.
func (s *settings) resolveStore() *Error {
	mail := s.mailProvider()
	switch {
	case mail != nil && s.records == nil:
		return &Error{
			Code: codeMissingAdapter, Provider: mail.id,
			Err: errors.New("a mail provider needs Config.Store, to keep links and users in"),
		}
	case s.sessions.needStoredUser() && s.records == nil:
		return fail(codeMissingAdapter,
			errors.New("database sessions need Config.Store; without one set Config.Session.Strategy to StrategyJWT"))
	case s.Callbacks.SyncUser != nil && s.records == nil:
		return fail(codeMissingAdapter, errors.New("Callbacks.SyncUser changes stored users and needs "+
			"Config.Store; without one Callbacks.JWT puts a role into each token"))
	case s.Callbacks.SignUp != nil && s.records == nil:
		return fail(codeMissingAdapter, errors.New("Callbacks.SignUp decides about new stored users and needs "+
			"Config.Store; without one no user is new, and Callbacks.SignIn decides who may sign in"))
	case s.Callbacks.Hold != nil && s.records == nil:
		return fail(codeMissingAdapter, errors.New("Callbacks.Hold needs Config.Store, where a sign-in that waits "+
			"is noted so that it is completed once: set it, for example to memstore.New() for a program of one process"))
	}
	return nil
}

// observeStores lets the observer see the calls of what the configuration stores things in. A nil
// pointer stays one, which is a mistake that [New] reports.
func observeStores(cfg *Config) *Error {
	o := &cfg.Observer
	return cmp.Or(
		observeStore("Store", o.Store, &cfg.Store),
		observeStore("SharedState", o.SharedState, &cfg.SharedState),
		observeStore("Revocation", o.Revocation, &cfg.Session.Revocation),
	)
}

// observeStore puts what wrap returns in the place of a store. Without the store sessions would be
// tokens, and without the list no session would end, so nil is an error.
func observeStore[T any](field string, wrap func(T) T, store *T) *Error {
	if wrap == nil || isNil(*store) {
		return nil
	}
	wrapped := wrap(*store)
	if isNil(wrapped) {
		return fail(CodeConfiguration, fmt.Errorf("the function Observer.%s returned nil: return what is to be called in the place of the argument, or the argument", field))
	}
	*store = wrapped
	return nil
}

// resolve completes and checks cfg. It always returns settings; those of a
// faulty configuration can still show an error page. attach calls the Attach of
// [Config.Accounts].
func resolve(cfg Config, attach func(*Config) (http.Handler, error)) *settings {
	env := cfg.environment()
	given := cfg.BasePath
	secretNames := env.fill(&cfg)
	source := baseSource(given, cfg.BasePath)
	hostStore := cfg.Store
	unobserved := observeStores(&cfg)
	accounts, unattached := attachAccounts(&cfg, attach)
	s := &settings{
		Config: cfg, baseSource: source, log: newLogger(&cfg), accounts: accounts,
		byID: map[string]*provider{}, spent: newSpent(), hostStore: hostStore,
	}
	s.Session.MaxAge = cmp.Or(s.Session.MaxAge, defaultMaxAge)
	s.Session.UpdateAge = cmp.Or(s.Session.UpdateAge, defaultUpdateAge)
	s.JWT.MaxAge = cmp.Or(s.JWT.MaxAge, s.Session.MaxAge)
	if s.HTTPClient == nil {
		s.HTTPClient = &http.Client{Timeout: outgoingTimeout}
		if s.PublicNetworkOnly {
			s.HTTPClient = s.publicClient()
		}
	}
	if s.ownClientAddress = s.ClientAddress != nil; !s.ownClientAddress {
		s.ClientAddress = clientaddr.Forwarded(s.TrustedProxies...)
	}
	s.Session.RotateAtSignIn = s.Session.RotateAtSignIn || s.Session.RecordAuthentication
	s.lifetime = lifetime.Policy{
		MaxAge: s.Session.MaxAge, TokenMaxAge: s.JWT.MaxAge, UpdateAge: s.Session.UpdateAge, AbsoluteMaxAge: s.Session.AbsoluteMaxAge,
	}
	s.records, s.shared = newRecords(s.Store, s.log), newSharing(&s.Config, s.log)
	s.counts = newCounts(s)
	unknownStrategy := s.chooseSessions()

	// The order is that in which the reference reports what is wrong.
	for _, step := range []func() *Error{
		func() *Error { return unobserved },
		func() *Error { return unattached },
		func() *Error { return checkHTTPClient(cfg) },
		s.resolvePaths,
		func() *Error { return s.resolveSecrets(secretNames) },
		env.checkSwitches,
		s.resolveAccountKeys,
		s.resolveBoxes,
		func() *Error { return checkNil(&cfg) },
		func() *Error { return s.resolveProviders(env) },
		s.resolveClientKeys,
		s.resolveConnections,
		s.resolveStore,
		func() *Error { return unknownStrategy },
		s.checkFeatures,
		s.checkProviders,
		s.resolveCookies,
		s.checkTheme,
		s.checkPages,
		s.checkSession,
		s.checkNative,
		s.resolveRedirectProxy,
		s.checkClients,
	} {
		if fault := step(); fault != nil && s.fault == nil {
			s.fault = fault
		}
	}
	return s
}

// attachAccounts lets [Config.Accounts] complete a configuration, and returns the
// handler of its pages. The lists are copied: the host may use its own for other
// configurations.
func attachAccounts(cfg *Config, attach func(*Config) (http.Handler, error)) (http.Handler, *Error) {
	if cfg.Accounts == nil {
		return nil, nil
	}
	cfg.BasePath = cmp.Or(cfg.BasePath, defaultBasePath)
	cfg.Providers, cfg.Secrets, cfg.Languages = slices.Clone(cfg.Providers), slices.Clone(cfg.Secrets), slices.Clone(cfg.Languages)
	// The routes of a faulty configuration are known, and answer as every route of one.
	if len(cfg.Secrets) == 0 {
		return http.NotFoundHandler(), nil // resolveSecrets says where a secret comes from
	}
	if fault := checkNil(cfg); fault != nil { // Attach would panic
		return http.NotFoundHandler(), fault
	}
	handler, err := attach(cfg)
	if err != nil {
		return http.NotFoundHandler(), classified(fmt.Errorf("Config.Accounts: %w", err))
	}
	return handler, nil
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

// newProvider copies and completes a provider. It is the only place that knows the
// kinds there are.
func (s *settings) newProvider(given Provider, env environment) (*provider, *Error) {
	switch given := given.(type) {
	case *OAuth:
		return s.newOAuthFlow(*given, env, nil)
	case *Email:
		return s.newMailFlow(*given, env)
	case *Credentials:
		return newFormFlow(*given, s.Config.Pages.SignIn != "")
	case *WebAuthn:
		return newPasskeyFlow(*given)
	}
	panic("unreachable: the set of provider kinds is closed")
}

// resolveProviders copies and completes the providers and checks them.
func (s *settings) resolveProviders(env environment) *Error {
	var fault *Error
	note := func(e *Error) {
		if e != nil && fault == nil {
			fault = e
		}
	}
	for i, given := range s.Config.Providers {
		if isNil(given) {
			note(fail(CodeConfiguration, fmt.Errorf("Config.Providers[%d] is nil: set it to a provider, or remove it", i)))
			continue
		}
		p, err := s.newProvider(given, env)
		note(err)
		if err := checkProviderID(p.id); err != nil {
			note(&Error{Code: CodeConfiguration, Provider: p.id, Err: err})
		}
		if _, taken := s.byID[p.id]; taken {
			// One of them would be unreachable: routes and accounts know a
			// provider by its id.
			note(&Error{
				Code: CodeConfiguration, Provider: p.id,
				Err: fmt.Errorf("Config.Providers[%d] has the ID %q, as a provider before it: set the field ID of "+
					"one of them to another name", i, p.id),
			})
			continue
		}
		s.byID[p.id] = p
		s.providers = append(s.providers, p)
		s.endsAtProvider = s.endsAtProvider || p.endSession != nil
		s.endsByProvider = s.endsByProvider || p.backChannel != nil || p.refusedUser != nil
		s.follows = s.follows || p.followEvery > 0
		s.revokesLeft = s.revokesLeft || p.revokesLeft
		s.tied = s.endsByProvider || s.follows || s.revokesLeft
	}
	note(s.checkKinds())
	return fault
}

// checkProviders checks what providers need around them, once the store is known.
func (s *settings) checkProviders() *Error {
	for _, p := range s.providers {
		if p.check == nil {
			continue
		}
		if fault := p.check(s); fault != nil {
			return fault
		}
	}
	return nil
}

// checkKinds rejects combinations of providers and sessions that cannot work.
func (s *settings) checkKinds() *Error {
	if fault := s.checkAutofill(); fault != nil {
		return fault
	}
	others := slices.ContainsFunc(s.providers, func(p *provider) bool { return !p.hostUsers })
	if s.sessions.needStoredUser() && s.Accounts == nil && s.Connections.Source == nil && len(s.providers) > 0 && !others {
		from := "which are the default with a Config.Store"
		if s.Session.Strategy != "" {
			from = "which Config.Session.Strategy asks for"
		}
		return fail(codeUnsupportedStrategy, fmt.Errorf("credentials providers alone cannot use database sessions, "+
			"%s: set Config.Session.Strategy to StrategyJWT", from))
	}
	return nil
}

// checkClients rejects OAuth providers whose credentials are not set, so that a
// deployment that lost a variable does not start. Without the check the error
// would appear only when a user chooses the provider.
func (s *settings) checkClients() *Error {
	var first *Error
	var missing []error
	for _, p := range s.providers {
		if p.checkClient == nil {
			continue
		}
		if err := p.checkClient(); err != nil {
			missing = append(missing, err) // which names its provider
			if first == nil {
				first = &Error{Code: codeInvalidEndpoints, Provider: p.id, Err: err}
			}
		}
	}
	if len(missing) > 1 {
		return fail(codeInvalidEndpoints, errors.Join(missing...))
	}
	return first
}

// checkAutofill rejects a second provider in the browser's autofill list: a
// browser runs one ceremony at a time.
func (s *settings) checkAutofill() *Error {
	var first *provider
	for _, p := range s.providers {
		switch {
		case !p.autofill:
		case first != nil:
			return &Error{
				Code: codeDuplicateConditional, Provider: p.id,
				Err: fmt.Errorf("the passkeys of %q are in the autofill list already: set DisableAutofill for one "+
					"of the two", first.id),
			}
		default:
			first = p
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
			return fail(CodeConfiguration,
				fmt.Errorf("Config.Pages.%s is %q: it must be a path that begins with / or an http(s) URL", name, page))
		}
	}
	return s.checkPageLoops()
}

// checkPageLoops rejects a page of the application that is a built-in page
// which leads back to it: browsers would be redirected until they give up.
func (s *settings) checkPageLoops() *Error {
	own := map[action]string{
		actionSignIn: s.Pages.SignIn, actionSignOut: s.Pages.SignOut, actionError: s.Pages.Error,
		actionVerifyRequest: s.Pages.VerifyRequest,
	}
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
				return fail(CodeConfiguration, fmt.Errorf("Config.Pages: %q is the built-in page that it takes the "+
					"place of, so that browsers would be redirected to it again and again: leave it empty, or set "+
					"it to a page of the application", own[first]))
			}
		}
	}
	return nil
}

func (s *settings) resolvePaths() *Error {
	base := cmp.Or(s.BasePath, defaultBasePath)
	s.base = strings.TrimRight(base, "/")
	var err error
	if s.origins, err = origin.New(origin.Config{URL: s.URL, TrustForwarded: s.TrustHost}); err != nil {
		s.origins, _ = origin.New(origin.Config{}) // which has nothing that could be wrong
		// The error of Parse has the value and the fix.
		return fail(CodeConfiguration, fmt.Errorf("Config.URL (AUTH_URL) has to be the public URL of the application: %s",
			strings.TrimPrefix(err.Error(), "origin: ")))
	}
	if !strings.HasPrefix(base, "/") || strings.HasPrefix(base, "//") || strings.ContainsAny(base, "?#%\\ ") {
		return fail(CodeConfiguration, fmt.Errorf("Config.BasePath is %q: it must be a plain path that begins with one /", base))
	}
	return nil
}

// resolveSecrets checks the secrets, and makes what hashes with them. names are the variables that
// [Config.Secrets] come from.
func (s *settings) resolveSecrets(names map[string]string) *Error {
	s.jwtSecrets = s.JWT.Secrets
	if len(s.jwtSecrets) == 0 {
		s.jwtSecrets = s.Secrets
	}
	if len(s.Secrets) == 0 {
		return fail(codeMissingSecret,
			errors.New("there is no secret: set AUTH_SECRET or Config.Secrets to the output of \"openssl rand -base64 33\""))
	}
	s.hashes = tokenhash.New(s.Secrets...)
	s.csrf = csrf.New(s.hashes)
	for i, secret := range s.Secrets {
		if fault := s.checkSecret(cmp.Or(names[secret], fmt.Sprintf("Config.Secrets: secret %d", i+1)), secret); fault != nil {
			return fault
		}
	}
	for i, secret := range s.JWT.Secrets {
		if fault := s.checkSecret(fmt.Sprintf("Config.JWT.Secrets: secret %d", i+1), secret); fault != nil {
			return fault
		}
	}
	return nil
}

// checkSecret rejects a short secret.
func (s *settings) checkSecret(name, secret string) *Error {
	if len(secret) >= minSecret || s.DangerouslyAllowShortSecrets {
		return nil
	}
	return fail(codeMissingSecret, fmt.Errorf("%s has %d characters, at least %d are needed: use the output of "+
		"\"openssl rand -base64 33\"", name, len(secret), minSecret))
}

func (s *settings) checkSession() *Error {
	switch {
	case s.Session.MaxAge < time.Second || s.JWT.MaxAge < time.Second:
		return fail(CodeConfiguration,
			errors.New("Config.Session.MaxAge and Config.JWT.MaxAge must be at least one second; zero means 30 days"))
	case s.Session.AbsoluteMaxAge < 0:
		return fail(CodeConfiguration, errors.New("Config.Session.AbsoluteMaxAge must not be negative; zero means no limit"))
	case s.SharedSessions && s.Tenant != "":
		return fail(CodeConfiguration, errors.New("Config.SharedSessions and Config.Tenant contradict each other: set one of them"))
	case (s.JWT.Encode == nil) != (s.JWT.Decode == nil):
		return fail(CodeConfiguration, errors.New("Config.JWT.Encode and Config.JWT.Decode must be set together"))
	}
	return nil
}

// checkNative rejects applications that could not get a session, or not keep it.
func (s *settings) checkNative() *Error {
	seen := map[string]bool{}
	for _, app := range s.Native {
		if err := app.Check(); err != nil {
			return fail(CodeConfiguration, fmt.Errorf("Config.Native: %w", err))
		}
		if seen[app.ID] {
			return fail(CodeConfiguration, fmt.Errorf("Config.Native has two applications with the ID %q", app.ID))
		}
		seen[app.ID] = true
	}
	switch {
	case len(s.Native) == 0:
		return nil
	case !s.Session.AllowBearer:
		return fail(CodeConfiguration, errors.New("Config.Native needs Config.Session.AllowBearer: applications send no cookies"))
	case !s.sessions.needStoredUser():
		return fail(codeUnsupportedStrategy, errors.New("Config.Native needs database sessions, of which one ends without the others: "+
			"set Config.Session.Strategy to StrategyDatabase"))
	case s.records == nil:
		return nil // resolveStore reports it
	}
	if err := s.records.missing("Config.Native", featureVerifications); err != nil {
		return fail(codeMissingAdapterMethods, err)
	}
	return nil
}

// checkHTTPClient rejects a client of the host's that would bypass
// [Config.PublicNetworkOnly].
func checkHTTPClient(cfg Config) *Error {
	if cfg.PublicNetworkOnly && cfg.HTTPClient != nil {
		return fail(CodeConfiguration, errors.New("Config.PublicNetworkOnly has no effect on Config.HTTPClient: leave one of them out"))
	}
	return nil
}
