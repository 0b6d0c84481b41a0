package pintle

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// environment is the only access to environment variables.
type environment func(string) string

func (c *Config) environment() environment {
	get := os.Getenv
	if c.Getenv != nil {
		get = c.Getenv
	}
	return func(name string) string {
		value := get(name)
		if strings.TrimSpace(value) == "" {
			return "" // what a template or a form of a hosting service left empty
		}
		return value
	}
}

// fill completes cfg from the variables that Auth.js reads, so that a
// deployment can be moved without touching its environment. It returns the names
// of the variables that the secrets come from.
func (env environment) fill(cfg *Config) (secretNames map[string]string) {
	secretNames = make(map[string]string)
	// A higher number is newer, and the newest secret writes.
	for _, names := range [][]string{{"AUTH_SECRET_3", "AUTH_SECRET_2", "AUTH_SECRET_1", "AUTH_SECRET"}, {"NEXTAUTH_SECRET"}} {
		if cfg.Secrets = nonEmpty(cfg.Secrets); len(cfg.Secrets) > 0 {
			break
		}
		for _, name := range names {
			cfg.Secrets = append(cfg.Secrets, env(name))
			secretNames[env(name)] = name
		}
	}
	cfg.Secrets = nonEmpty(cfg.Secrets)
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL"} {
		cfg.URL = cmp.Or(cfg.URL, env(name))
	}
	if cfg.BasePath == "" {
		cfg.BasePath = pathOf(cfg.URL)
	}
	if !cfg.TrustHost {
		cfg.TrustHost, _ = readSwitch(env("AUTH_TRUST_HOST"))
	}
	cfg.RedirectProxyURL = cmp.Or(cfg.RedirectProxyURL, env("AUTH_REDIRECT_PROXY_URL"))
	return secretNames
}

// fillOAuth completes a provider from the variables named after it.
func (env environment) fillOAuth(p *OAuth) {
	prefix := "AUTH_" + envName(p) + "_"
	p.ClientID = cmp.Or(p.ClientID, env(prefix+"ID"))
	p.ClientSecret = cmp.Or(p.ClientSecret, env(prefix+"SECRET"))
	p.Issuer = cmp.Or(p.Issuer, env(prefix+"ISSUER"))
	p.ClientAssertionFile = cmp.Or(p.ClientAssertionFile, env(prefix+"ASSERTION_FILE"))
	// A platform sets the variable for every program that it starts, those with a secret
	// included.
	if name := p.Quirks.AssertionFileVariable; name != "" && !p.hasCredential() {
		p.ClientAssertionFile = env(name)
	}
}

// fillEmail completes a provider from the variable named after it.
func (env environment) fillEmail(p *Email) {
	p.APIKey = cmp.Or(p.APIKey, env("AUTH_"+envPart(p.base().id)+"_KEY"))
}

// envName is the part of environment variable names that stands for p.
func envName(p *OAuth) string { return cmp.Or(p.Env, envPart(p.ID)) }

// envPart spells an id as environment variables have it.
func envPart(id string) string { return strings.ReplaceAll(strings.ToUpper(id), "-", "_") }

// pathOf returns the path of a URL, or nothing for the root.
func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

// checkSwitches rejects a switch that means neither yes nor no: either reading
// could be the opposite of what the operator means.
func (env environment) checkSwitches() *Error {
	const name = "AUTH_TRUST_HOST"
	if _, ok := readSwitch(env(name)); !ok {
		return fail(CodeConfiguration, fmt.Errorf("%s is %q: set it to true, yes, on or 1, or to false, no, off or 0", name, env(name)))
	}
	return nil
}

// readSwitch reads a switch. Auth.js takes any text for true, also "false".
func readSwitch(value string) (on, ok bool) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "1", "yes", "on":
		return true, true
	case "", "false", "0", "no", "off":
		return false, true
	}
	return false, false
}

func nonEmpty(list []string) []string {
	var kept []string
	for _, text := range list {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}
