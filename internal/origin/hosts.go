package origin

import (
	"errors"
	"fmt"
	"strings"
)

// Hosts is a list of sites: exact ones, and all below a domain.
type Hosts []hostRule

type hostRule struct {
	scheme, name, port string
	below              bool // every name that ends in "." + name, and not name itself
}

// ParseHosts reads a list of hosts. An entry is a host name or IP address, with
// "*." before it for every name below it, and with a port unless that is the
// default of its scheme: "app.example.com", "*.preview.example.com",
// "localhost:3000". The scheme is https unless the entry begins with "http://".
//
// An entry that would match every host below a top-level domain is an error.
func ParseHosts(entries []string) (Hosts, error) {
	hosts := make(Hosts, 0, len(entries))
	for _, entry := range entries {
		rule, err := parseHostRule(entry)
		if err != nil {
			return nil, fmt.Errorf("%.100q: %w", entry, err)
		}
		hosts = append(hosts, rule)
	}
	return hosts, nil
}

func parseHostRule(entry string) (hostRule, error) {
	rule := hostRule{scheme: "https"}
	host := entry
	if scheme, rest, found := strings.Cut(entry, "://"); found {
		if scheme != "http" && scheme != "https" {
			return rule, errors.New("the scheme must be http or https")
		}
		rule.scheme, host = scheme, rest
	}
	host, rule.below = strings.CutPrefix(host, "*.")
	host, err := normalHost(host, rule.scheme == "https")
	if err != nil {
		return rule, err
	}
	rule.name, rule.port = cutPort(host)
	if rule.below && rule.name != "localhost" && (!strings.Contains(rule.name, ".") || numeric(rule.name[strings.LastIndexByte(rule.name, '.')+1:])) {
		return rule, errors.New("*. must stand before a domain of at least two labels")
	}
	return rule, nil
}

// Match reports whether a site is in the list.
func (h Hosts) Match(site Origin) bool {
	scheme, host, _ := strings.Cut(string(site), "://")
	name, port := cutPort(host)
	for _, rule := range h {
		if rule.scheme != scheme || rule.port != port {
			continue
		}
		// The dot keeps evilpreview.example.com out of preview.example.com.
		if name == rule.name && !rule.below || rule.below && strings.HasSuffix(name, "."+rule.name) {
			return true
		}
	}
	return false
}

// cutPort splits a normal host from its port, which is empty for the default.
func cutPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i], host[i+1:]
	}
	return host, ""
}
