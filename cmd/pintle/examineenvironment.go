package main

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// environment is the variables an application of package pintle reads.
type environment struct {
	get func(name string) string
	all []string // NAME=value
}

// shortest is the least length of a secret in characters: an attacker who holds
// one cookie can find a shorter one by brute force.
const shortest = 32

func (e environment) examineSecrets(r *report) {
	found := false
	for _, name := range []string{"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3", "NEXTAUTH_SECRET"} {
		value := e.get(name)
		n := utf8.RuneCountInString(value)
		switch {
		case value == "":
			continue
		case n < shortest:
			r.problem("%s has %d characters: with fewer than %d an attacker who holds one cookie can find it by brute force", name, n, shortest)
		case strings.TrimSpace(value) != value || strings.ContainsAny(value, "\"'"):
			r.problem("%s has white space at an end, or quotes: they are part of the secret for the application", name)
		default:
			r.good("%s has %d characters", name, n)
			found = true
			continue
		}
		r.fix("run: pintle secret")
		found = true
	}
	if !found {
		r.problem("AUTH_SECRET is not set: the application does not start without a secret")
		r.fix("run: pintle secret")
	}
}

// publicURL returns the configured address of the application, nil if it is not
// set.
func (e environment) publicURL() (name string, u *url.URL, err error) {
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL"} {
		if raw := e.get(name); raw != "" {
			u, err := url.Parse(raw)
			return name, u, err
		}
	}
	return "", nil, nil
}

func (e environment) examineAddress(ctx context.Context, r *report) {
	name, u, err := e.publicURL()
	switch {
	case name == "":
		if trusted := e.get("AUTH_TRUST_HOST"); trusted != "" {
			r.good("AUTH_TRUST_HOST is %s: the address of the application comes from the proxy's headers", trusted)
			return
		}
		r.note("AUTH_URL is not set: the address of the application comes from each request, which is wrong behind a proxy")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		r.problem("%s is not an address such as https://app.example.com", name)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.problem("%s has more than a scheme, a host and a path", name)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		r.problem("%s begins with http: cookies are sent without TLS, where anyone on the way reads them", name)
	case u.Scheme == "http":
		r.note("%s is %s: that is for development, no other machine reaches it", name, u)
	default:
		r.good("%s is %s", name, u)
		examineHost(ctx, r, name, u.Hostname())
	}
}

// lookupHost returns the addresses of a host.
var lookupHost = net.DefaultResolver.LookupHost

// examineHost looks for the addresses of a host. Their absence is a note, since the name may be
// known to the clients of a private network only.
func examineHost(ctx context.Context, r *report, variable, host string) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	_, err := lookupHost(ctx, host)
	if failed, ok := errors.AsType[*net.DNSError](err); ok && failed.IsNotFound {
		r.note("the host %s of %s has no address: is it written correctly, and is its DNS record there?", host, variable)
	} else if err != nil {
		r.note("the host %s of %s was not looked up: the DNS server does not answer", host, variable)
	}
}

// routes is the address below which the routes of the application are.
func (e environment) routes() string {
	_, u, err := e.publicURL()
	if err != nil || u == nil {
		return "https://your.site/auth"
	}
	base, err := routes(u.String())
	if err != nil {
		return "https://your.site/auth"
	}
	return base
}

// examineProviders looks at the providers that have a client id in the
// environment, and at the metadata of those that have an issuer.
func (e environment) examineProviders(ctx context.Context, r *report) {
	entries, err := readCatalogue()
	if err != nil {
		r.problem("%v", err)
		return
	}
	var names []string
	for _, variable := range e.all {
		name, value, _ := strings.Cut(variable, "=")
		part, found := strings.CutPrefix(name, "AUTH_")
		if id, is := strings.CutSuffix(part, "_ID"); found && is && id != "" && strings.TrimSpace(value) != "" {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		id, known := providerID(entries, name)
		if meant, found := strings.CutSuffix(name, "_CLIENT"); found && !known {
			if _, known := providerID(entries, meant); known {
				r.problem("AUTH_%s_ID is not read: did you mean AUTH_%s_ID?", name, meant)
				r.fix("rename it to AUTH_" + meant + "_ID, and AUTH_" + name + "_SECRET to AUTH_" + meant + "_SECRET")
				continue
			}
		}
		r.good("AUTH_%s_ID is set: register the callback URL %s/callback/%s", name, e.routes(), id)
		if !known {
			r.note("%s is not in the catalogue; its callback URL assumes the id %s", name, id)
		}
		if e.get("AUTH_"+name+"_SECRET") == "" {
			r.note("AUTH_%s_SECRET is not set: the application does not start with that provider, unless it sets the client secret itself or its client has none", name)
		}
	}
	e.examineLoneSecrets(r, entries)
	for _, variable := range slices.Sorted(slices.Values(e.all)) {
		name, issuer, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "AUTH_") && strings.HasSuffix(name, "_ISSUER") && issuer != "" {
			examineIssuer(ctx, r, name, issuer)
		}
	}
}

// examineLoneSecrets looks for providers with a client secret and no client id.
func (e environment) examineLoneSecrets(r *report, entries []entry) {
	for _, variable := range slices.Sorted(slices.Values(e.all)) {
		variable, value, _ := strings.Cut(variable, "=")
		part, found := strings.CutPrefix(variable, "AUTH_")
		name, is := strings.CutSuffix(part, "_SECRET")
		if !found || !is || strings.TrimSpace(value) == "" || strings.TrimSpace(e.get("AUTH_"+name+"_ID")) != "" {
			continue
		}
		if _, known := providerID(entries, name); known {
			r.note("%s is set, and AUTH_%s_ID is not: the application does not start with that provider, unless it sets the client id itself", variable, name)
		}
	}
}

// providerID returns the id of the provider whose variables have a name. It reports
// whether the catalogue has the provider.
func providerID(entries []entry, name string) (id string, known bool) {
	for _, e := range entries {
		if slices.Contains(e.Variables, "AUTH_"+name+"_ID") {
			return e.ID, true
		}
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", "-")), false
}
