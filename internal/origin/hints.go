package origin

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/pintleauth/pintle/internal/clip"

	"github.com/pintleauth/pintle/internal/loopback"
)

// PassedOn reports whether the headers of a proxy show that the browser sees the
// application at another address than site, and returns the header that shows
// it. It is for requests whose Host header is trusted because it names
// this machine: a proxy that puts its upstream's address there makes every
// request look local.
//
// A proxy that repeats the address of the request, as on a developer's machine,
// contradicts nothing. If the headers name no host, the address of the client
// decides.
func PassedOn(h http.Header, site Origin) (header string, ok bool) {
	host, proto := firstEntry(h["X-Forwarded-Host"]), firstEntry(h["X-Forwarded-Proto"])
	if host != "" || proto != "" {
		if !site.isAt(host, proto) {
			if host != "" {
				return "X-Forwarded-Host: " + clip.Quote(host), true
			}
			return "X-Forwarded-Proto: " + clip.Quote(proto), true
		}
	}
	forwarded := firstEntry(h["Forwarded"])
	otherHost, otherProto := parameter(forwarded, "host"), parameter(forwarded, "proto")
	if !site.isAt(otherHost, otherProto) {
		return "Forwarded: " + clip.Quote(forwarded), true
	}
	if host != "" || otherHost != "" {
		return "", false
	}
	for _, client := range []struct{ header, address string }{
		{"X-Forwarded-For", firstEntry(h["X-Forwarded-For"])},
		{"X-Real-Ip", firstEntry(h["X-Real-Ip"])},
		{"Forwarded", parameter(forwarded, "for")},
	} {
		if client.address != "" && !isLoopbackAddress(client.address) {
			return client.header + ": " + clip.Quote(client.address), true
		}
	}
	return "", false
}

// IsForwarded reports whether a header of a proxy shows that it passed a request
// on.
func IsForwarded(h http.Header) bool {
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For", "X-Real-Ip", "Forwarded"} {
		if firstEntry(h[name]) != "" {
			return true
		}
	}
	return false
}

// Said returns the host that a request names, the header that names it, and the scheme
// if a proxy tells it. The host is that of a proxy, or else that of the Host header. Any
// client can write all of them: they are compared with the address of the site, and
// decide nothing.
func Said(r *http.Request) (host, scheme, header string) {
	forwarded := firstEntry(r.Header["Forwarded"])
	scheme = firstEntry(r.Header["X-Forwarded-Proto"])
	if scheme == "" {
		scheme = parameter(forwarded, "proto")
	}
	if host = firstEntry(r.Header["X-Forwarded-Host"]); host != "" {
		return host, scheme, "X-Forwarded-Host"
	}
	if host = parameter(forwarded, "host"); host != "" {
		return host, scheme, "Forwarded"
	}
	return r.Host, scheme, "Host"
}

// Elsewhere reports whether a host and a scheme, as [Said] returns them, are those of
// another site than o. A host without a port may be at any: $host of nginx drops the
// port. Of the schemes only https where the site is http shows another address: behind
// a proxy that ends the TLS connection, the next one says http.
func (o Origin) Elsewhere(host, scheme string) bool {
	said, err := normalHost(host, o.Secure())
	if err != nil {
		return false // which no browser sends
	}
	if !o.Secure() && strings.EqualFold(scheme, "https") {
		return true
	}
	name, port := cutPort(said)
	ownName, ownPort := cutPort(o.Host())
	return name != ownName || port != "" && port != ownPort
}

// isAt reports whether a host and a scheme, where they are known, are those of o.
func (o Origin) isAt(host, proto string) bool {
	if host == "" && proto == "" {
		return true // as for every request without a proxy
	}
	scheme, own, _ := strings.Cut(string(o), "://")
	if proto == "" {
		proto = scheme
	}
	if host == "" {
		host = own
	}
	other, err := Parse(proto + "://" + host)
	return err == nil && other == o
}

// parameter returns a parameter of one element of a Forwarded header.
//
// https://www.rfc-editor.org/rfc/rfc7239#section-4
func parameter(element, name string) string {
	if element == "" {
		return "" // as for every session check without a proxy
	}
	for pair := range strings.SplitSeq(element, ";") {
		if key, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(value, ` "`)
		}
	}
	return ""
}

// isLoopbackAddress reports whether an address of a client, with or without a
// port, is on this machine. Anything else, such as "unknown", is not.
func isLoopbackAddress(text string) bool {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return loopback.Host(with.Addr().Unmap().String())
	}
	return loopback.Host(strings.Trim(text, "[]"))
}

// OfBrowser returns the origin at which a browser has the application, as far as
// a request proves it: with Sec-Fetch-Site: same-origin, the page that sent the
// request has the origin that the request was for. Pages of other sites cannot
// make a browser send that. A client that is no browser can send anything.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func OfBrowser(h http.Header) (o Origin, ok bool) {
	if h.Get("Sec-Fetch-Site") != "same-origin" {
		return "", false
	}
	for _, sender := range []string{h.Get("Origin"), h.Get("Referer")} {
		if o, err := Parse(sender); err == nil {
			return o, true
		}
	}
	return "", false
}

// OverTLS reports whether a browser sent the request to an address with TLS or on
// its own machine: to others it does not send the header.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func OverTLS(h http.Header) bool { return h.Get("Sec-Fetch-Site") != "" }
