package handshake_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
)

func parse(t testing.TB, raw string) query.Values {
	t.Helper()
	v, err := query.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// staticProvider is configured completely, so that it makes no requests.
func staticProvider() *handshake.Provider {
	return &handshake.Provider{
		ID: "op", Issuer: "https://op.example.test", ClientID: clientID, ClientSecret: clientSecret, State: true,
		Authorization: handshake.Endpoint{URL: "https://op.example.test/authorize"},
		Token:         handshake.Endpoint{URL: "https://op.example.test/token"},
		UserInfo:      handshake.Endpoint{URL: "https://op.example.test/userinfo"},
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name, params string
		code, want   string // exactly one is set
	}{
		{"a code with the right state", "code=c1&state=s1", "c1", ""},
		{"a code with the right issuer", "code=c1&state=s1&iss=https%3A%2F%2Fop.example.test", "c1", ""},
		{"the last of repeated parameters counts", "code=x&code=c1&state=y&state=s1", "c1", ""},
		{"unknown parameters are ignored", "code=c1&state=s1&session_state=x&scope=y", "c1", ""},
		{"SH-06 no state", "code=c1", "", "state does not match"},
		{"SH-06 another state", "code=c1&state=s2", "", "state does not match"},
		{"SH-06 an empty state", "code=c1&state=", "", "state does not match"},
		{"SH-06 the right state first and a wrong one last", "code=c1&state=s1&state=s2", "", "state does not match"},
		{"BCP-8 RFC 9207 response of another issuer", "code=c1&state=s1&iss=https%3A%2F%2Fevil.example", "", "response of issuer"},
		{"BCP-8 the issuer with a slash is another", "code=c1&state=s1&iss=https%3A%2F%2Fop.example.test%2F", "", "response of issuer"},
		{"BCP-8 an empty issuer is another", "code=c1&state=s1&iss=", "", "response of issuer"},
		{"BCP-9 an unsolicited ID token", "code=c1&state=s1&id_token=x", "", "id_token in the response"},
		{"BCP-9 an unsolicited token", "code=c1&state=s1&token=", "", "token in the response"},
		{"a JWT-secured response", "response=x&code=c1&state=s1", "", "JWT-secured"},
		{"no code", "state=s1", "", "code is missing"},
		{"an empty code", "state=s1&code=", "", "code is missing"},
		{"BCP-21 a code longer than any provider's", "state=s1&code=" + strings.Repeat("x", 9<<10), "", "longer than"},
		{"BCP-21 an error longer than any provider's", "error=" + strings.Repeat("x", 9<<10), "", "longer than"},
		{"nothing", "", "", "state does not match"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, err := staticProvider().Validate(t.Context(), parse(t, tt.params), "s1")
			if tt.want != "" {
				wantError(t, err, tt.want)
			} else if err != nil {
				t.Fatal(err)
			}
			if code != tt.code {
				t.Errorf("code = %q, want %q", code, tt.code)
			}
		})
	}
}

func TestProviderErrorsAreReportedOnlyAfterStateAndIssuerAreChecked(t *testing.T) {
	const said = "error=access_denied&error_description=no+thanks&error_uri=https%3A%2F%2Fop.example.test%2Fe"
	tests := []struct {
		name, params string
		reported     bool
	}{
		{"RP-3 with the right state", said + "&state=s1", true},
		{"beside a code", said + "&state=s1&code=c1", true},
		{"with a wrong state", said + "&state=s2", false},
		{"without a state", said, false},
		{"BCP-8 from another issuer", said + "&state=s1&iss=https%3A%2F%2Fevil.example", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, err := staticProvider().Validate(t.Context(), parse(t, tt.params), "s1")
			if err == nil || code != "" {
				t.Fatalf("Validate = %q, %v, want an error", code, err)
			}
			e, ok := errors.AsType[*handshake.ResponseError](err)
			if ok != tt.reported {
				t.Fatalf("error %v is a ResponseError: %t, want %t", err, ok, tt.reported)
			}
			if ok && (e.Code != "access_denied" || e.Description != "no thanks" || e.URI != "https://op.example.test/e") {
				t.Errorf("ResponseError = %+v", e)
			}
		})
	}
}

func TestAStateThatWasSentIsComparedWithoutTheCheck(t *testing.T) {
	p := staticProvider()
	p.State = false
	if code, err := p.Validate(t.Context(), parse(t, "code=c1&state=s1"), "s1"); code != "c1" || err != nil {
		t.Errorf("Validate = %q, %v", code, err)
	}
	for _, params := range []string{"code=c1&state=s2", "code=c1&state=", "code=c1"} {
		if _, err := p.Validate(t.Context(), parse(t, params), "s1"); err == nil {
			t.Errorf("SA-H2 %s matched another state", params)
		}
	}
	if code, err := p.Validate(t.Context(), parse(t, "code=c1&state=whatever"), ""); code != "c1" || err != nil {
		t.Errorf("Validate = %q, %v", code, err)
	}
	p.State = true
	if _, err := p.Validate(t.Context(), parse(t, "code=c1&state="), ""); err == nil {
		t.Error("SH-06 an empty state matched a missing sealed state")
	}
}

func TestPromisedIssuerParameterIsRequired(t *testing.T) {
	o := newOP(t)
	o.document = func(d map[string]any) { d["authorization_response_iss_parameter_supported"] = true }
	p := o.provider()
	if code, err := p.Validate(t.Context(), query.Values{{Key: "code", Value: "c"}, {Key: "state", Value: "s"}, {Key: "iss", Value: o.issuer}}, "s"); code != "c" || err != nil {
		t.Errorf("BCP-8 with it, Validate = %q, %v", code, err)
	}
	_, err := p.Validate(t.Context(), parse(t, "code=c&state=s"), "s")
	wantError(t, err, "promises an iss parameter")
}

func TestIssuerParameterWithoutAnIssuerToCompareWith(t *testing.T) {
	p := staticProvider()
	p.Issuer = ""
	if code, err := p.Validate(t.Context(), parse(t, "code=c&state=s&iss=https%3A%2F%2Fanyone.example"), "s"); code != "c" || err != nil {
		t.Errorf("Validate = %q, %v", code, err)
	}
}

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{
		"code=c1&state=s1", "code=c1&state=s2", "error=e&state=s1", "iss=https%3A%2F%2Fop.example.test&code=c&state=s1",
		"response=&code=c&state=s1", "id_token=&code=c&state=s1", "code=%00&state=s1", "state=s1&code=a&code=", "&&=&%",
	} {
		f.Add(seed, "s1")
	}
	f.Add("code=c&state=", "")
	p := staticProvider()
	p.Client = &http.Client{Transport: direct{http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		f.Error("a request left for the provider")
	})}}
	f.Fuzz(func(t *testing.T, raw, state string) {
		params, err := query.Parse(raw)
		if err != nil {
			return
		}
		code, err := p.Validate(t.Context(), params, state)
		if (code == "") != (err != nil) {
			t.Fatalf("Validate = %q, %v, want exactly one of them", code, err)
		}
		if err != nil {
			if len(err.Error()) > 4000 {
				t.Fatalf("error of %d bytes", len(err.Error()))
			}
			return
		}
		if got, _ := params.Last("state"); got != state || state == "" {
			t.Fatalf("accepted state %q for %q", got, state)
		}
		if got, _ := params.Last("code"); got != code {
			t.Fatalf("code = %q, want %q", code, got)
		}
		for _, name := range []string{"response", "id_token", "token"} {
			if _, ok := params.Last(name); ok {
				t.Fatalf("accepted a response with %s", name)
			}
		}
		if iss, ok := params.Last("iss"); ok && iss != p.Issuer {
			t.Fatalf("accepted a response of %q", iss)
		}
		if e, _ := params.Last("error"); e != "" {
			t.Fatalf("accepted a response with error %q", e)
		}
	})
}
