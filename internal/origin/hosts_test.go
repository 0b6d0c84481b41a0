package origin_test

import (
	"testing"

	"github.com/pintleauth/pintle/internal/origin"
)

// SH-62: a domain in a list ends at a dot, and its port counts.
func TestHostsOfAList(t *testing.T) {
	tests := []struct {
		entry string
		in    []origin.Origin
		out   []origin.Origin
	}{
		{
			"app.example.com",
			[]origin.Origin{"https://app.example.com"},
			[]origin.Origin{
				"http://app.example.com", "https://app.example.com:8443", "https://evilapp.example.com", "https://a.app.example.com",
				"https://example.com", "https://app.example.com.evil.example", "https://app.example.co", "",
			},
		},
		{
			"*.preview.example.com",
			[]origin.Origin{"https://a.preview.example.com", "https://a.b.preview.example.com"},
			[]origin.Origin{
				"https://preview.example.com", "https://evilpreview.example.com", "https://a.preview.example.com:8443",
				"http://a.preview.example.com", "https://a.preview.example.com.evil.example", "https://.preview.example.com.evil",
			},
		},
		{"APP.Example.com:443", []origin.Origin{"https://app.example.com"}, []origin.Origin{"https://app.example.com:8443"}},
		{"*.example.com:8443", []origin.Origin{"https://a.example.com:8443"}, []origin.Origin{"https://a.example.com", "https://a.example.com:84430"}},
		{"http://preview.test", []origin.Origin{"http://preview.test"}, []origin.Origin{"https://preview.test", "http://preview.test:8080"}},
		{"https://preview.test", []origin.Origin{"https://preview.test"}, []origin.Origin{"http://preview.test"}},
		{"http://*.preview.test:8080", []origin.Origin{"http://a.preview.test:8080"}, []origin.Origin{"http://a.preview.test"}},
		{"[::1]:3000", []origin.Origin{"https://[::1]:3000"}, []origin.Origin{"https://[::1]"}},
		{"192.0.2.1", []origin.Origin{"https://192.0.2.1"}, []origin.Origin{"https://192.0.2.10"}},
		{"*.localhost:3000", []origin.Origin{"https://a.localhost:3000"}, []origin.Origin{"https://localhost:3000"}},
	}
	for _, tt := range tests {
		t.Run("SH-62 "+tt.entry, func(t *testing.T) {
			hosts, err := origin.ParseHosts([]string{"other.example", tt.entry})
			if err != nil {
				t.Fatal(err)
			}
			for _, site := range tt.in {
				if !hosts.Match(site) {
					t.Errorf("%s is not in it", site)
				}
			}
			for _, site := range tt.out {
				if hosts.Match(site) {
					t.Errorf("%s is in it", site)
				}
			}
		})
	}
	for _, entry := range []string{
		"", "*", "*.", "*.*.example.com", "*.com", "a.*.example.com", "*example.com", "ftp://a.example", "https://", "https://a.example/",
		"a.example/path", "user@a.example", "a.example:0", "a.example:99999", ".example.com", "a..example", "a.example.", "*.192.0.2.1",
		"*.[::1]", "a b", "münchen.example", "https://https://a.example",
	} {
		if _, err := origin.ParseHosts([]string{entry}); err == nil {
			t.Errorf("%q is accepted", entry)
		}
	}
	if hosts, err := origin.ParseHosts(nil); err != nil || hosts.Match("https://a.example") {
		t.Errorf("an empty list: %v, %v", hosts, err)
	}
}
