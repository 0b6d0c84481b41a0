package origin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/origin"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestProxiesThatContradictTheHostHeader(t *testing.T) {
	tests := []struct {
		name    string
		headers http.Header
		says    string // empty where nothing contradicts http://localhost:3000
	}{
		{"no proxy", headers(), ""},
		{"another host", headers("X-Forwarded-Host", "app.example"), `X-Forwarded-Host: "app.example"`},
		{"another port", headers("X-Forwarded-Host", "localhost:5173"), `X-Forwarded-Host: "localhost:5173"`},
		{"the same host", headers("X-Forwarded-Host", "LOCALHOST:3000", "X-Forwarded-Proto", "http"), ""},
		{"another scheme", headers("X-Forwarded-Proto", "https"), `X-Forwarded-Proto: "https"`},
		{"the same host and another scheme", headers("X-Forwarded-Host", "localhost:3000", "X-Forwarded-Proto", "https"), `X-Forwarded-Host: "localhost:3000"`},
		{"an unknown scheme", headers("X-Forwarded-Proto", "gopher"), `X-Forwarded-Proto: "gopher"`},
		{"a chain, whose first entry is nearest to the browser", headers("X-Forwarded-Host", "localhost:3000, inner"), ""},
		{"the same host and a client elsewhere, as a container has", headers("X-Forwarded-Host", "localhost:3000", "X-Forwarded-For", "172.18.0.1"), ""},
		{"a client elsewhere", headers("X-Forwarded-For", "203.0.113.5"), `X-Forwarded-For: "203.0.113.5"`},
		{"a client elsewhere, with a port", headers("X-Forwarded-For", "203.0.113.5:40000"), `X-Forwarded-For: "203.0.113.5:40000"`},
		{"a client whose address is hidden", headers("X-Forwarded-For", "unknown"), `X-Forwarded-For: "unknown"`},
		{"a client on this machine", headers("X-Forwarded-For", "127.0.0.1"), ""},
		{"a client on this machine, over IPv6", headers("X-Forwarded-For", "::1"), ""},
		{"another header for the client", headers("X-Real-IP", "203.0.113.5"), `X-Real-Ip: "203.0.113.5"`},
		{"the standard header", headers("Forwarded", `for=192.0.2.1;host="app.example";proto=https`), `Forwarded: `},
		{"the standard header, about the same host", headers("Forwarded", `For=192.0.2.1; Host="localhost:3000"`), ""},
		{"the standard header with a scheme alone", headers("Forwarded", `proto=https`), `Forwarded: "proto=https"`},
		{"the standard header with a client alone", headers("Forwarded", `for="[2001:db8::1]:4711"`), `Forwarded: "[2001:db8::1]:4711"`},
		{"the standard header with a client on this machine", headers("Forwarded", `for="[::1]:4711"`), ""},
		{"a header without content", headers("X-Forwarded-Host", "", "Forwarded", ""), ""},
		{"a very long host", headers("X-Forwarded-Host", strings.Repeat("a", 5000)), "(5000 bytes)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := origin.PassedOn(tt.headers, "http://localhost:3000")
			if ok != (tt.says != "") || !strings.Contains(got, tt.says) || len(got) > 300 {
				t.Errorf("PassedOn = %q, %t, want %q", got, ok, tt.says)
			}
		})
	}
}

func TestWhereABrowserHasTheApplication(t *testing.T) {
	const page = "https://app.example/members?x=1"
	tests := []struct {
		name    string
		headers http.Header
		want    origin.Origin
	}{
		{"a link on a page of the same origin", headers("Sec-Fetch-Site", "same-origin", "Referer", page), "https://app.example"},
		{"a form on a page of the same origin", headers("Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:3000", "Referer", page), "http://localhost:3000"},
		{"a page that hides its origin", headers("Sec-Fetch-Site", "same-origin", "Origin", "null", "Referer", page), "https://app.example"},
		{"a page without a referrer", headers("Sec-Fetch-Site", "same-origin"), ""},
		{"a page of another port", headers("Sec-Fetch-Site", "same-site", "Origin", "http://localhost:5173"), ""},
		{"a page of another site", headers("Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"), ""},
		{"an address that was typed", headers("Sec-Fetch-Site", "none"), ""},
		{"a browser that does not say", headers("Origin", "https://evil.example", "Referer", page), ""},
		{"a referrer that is no address", headers("Sec-Fetch-Site", "same-origin", "Referer", "about:client"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := origin.OfBrowser(tt.headers); got != tt.want || ok != (tt.want != "") {
				t.Errorf("OfBrowser = %q, %t, want %q", got, ok, tt.want)
			}
		})
	}
	if origin.OverTLS(headers("Sec-Fetch-Mode", "cors")) || !origin.OverTLS(headers("Sec-Fetch-Site", "none")) {
		t.Error("OverTLS goes by another header: fetch of Node.js sends Sec-Fetch-Mode anywhere")
	}
}

// It runs for every session check of an application without a URL.
func TestARequestWithoutAProxyIsReadWithoutAllocations(t *testing.T) {
	r := request("localhost:3000", false, "User-Agent", "a browser")
	if n := testing.AllocsPerRun(100, func() {
		if _, elsewhere := origin.PassedOn(r.Header, "http://localhost:3000"); elsewhere {
			t.Error("the request was passed on from elsewhere")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
