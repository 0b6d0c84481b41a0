package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// leeway is how much the clock of this machine may differ from a
	// provider's. Tokens are accepted for about as long before their time.
	leeway = 30 * time.Second

	maxMetadata = 1 << 20
)

// examineIssuer fetches the metadata of a provider, and compares the clocks.
//
// https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
// https://openid.net/specs/openid-connect-core-1_0.html#Terminology
func examineIssuer(ctx context.Context, r *report, variable, issuer string) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		r.problem("%s is not an address that begins with https://", variable)
		return
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// The value is not printed: reports are copied into tickets.
		r.problem("%s has more than a scheme, a host and a path: no issuer has a user name, a password, a query or a fragment", variable)
		return
	}
	metadata, offset, err := fetchMetadata(ctx, issuer)
	if err != nil {
		r.problem("%s: the metadata of %s cannot be read: %v", variable, issuer, err)
		return
	}
	// Microsoft's metadata for several tenants leaves the place of one open.
	if strings.TrimRight(metadata.Issuer, "/") != strings.TrimRight(issuer, "/") && !strings.Contains(metadata.Issuer, "{tenantid}") {
		r.problem("%s is %s, but the metadata names %s: every sign-in fails", variable, issuer, metadata.Issuer)
	} else {
		r.good("%s: the provider answers", variable)
	}
	if offset.Abs() > leeway {
		r.problem("the clock of this machine differs from that of %s by %s: tokens are rejected as expired, or as not valid yet", u.Host, offset.Round(time.Second))
		r.fix("set the clock by NTP")
	}
}

// A metadata document has the members of a provider's metadata that sign-in needs.
type metadata struct {
	Issuer   string `json:"issuer"`
	Endpoint string `json:"authorization_endpoint"`
}

// fetchMetadata returns the metadata of a provider, and how far its clock is
// ahead of this machine's.
func fetchMetadata(ctx context.Context, issuer string) (m metadata, ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(issuer, "/")+"/.well-known/openid-configuration", http.NoBody)
	if err != nil {
		return m, 0, err
	}
	began := time.Now()
	resp, err := new(http.Client).Do(req)
	if err != nil {
		if fetch, ok := errors.AsType[*url.Error](err); ok {
			err = fetch.Err
		}
		return m, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return m, 0, fmt.Errorf("it answers %s", resp.Status)
	}
	// The answer was written at some time between the request and now.
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		now := time.Now()
		switch {
		case date.Before(began.Add(-time.Second)): // Date has whole seconds
			ahead = date.Sub(began)
		case date.After(now):
			ahead = date.Sub(now)
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMetadata)).Decode(&m); err != nil {
		return m, 0, fmt.Errorf("it is no JSON: %w", err)
	}
	if m.Issuer == "" || m.Endpoint == "" {
		return m, 0, errors.New("it names no issuer or no authorization endpoint")
	}
	return m, ahead, nil
}
