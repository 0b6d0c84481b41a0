package pintle_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// The tests of the OpenID Foundation for relying parties that concern ID tokens,
// keys and userinfo, passed by a site with the algorithm that each of them asks
// for. The profile is that of userinfo, so that both are looked at.
//
// https://www.certification.openid.net/
func TestFoundationSuite(t *testing.T) {
	faults := func(f ...authtest.Fault) []authtest.Fault { return f }
	tests := []struct {
		name      string
		algorithm string
		faults    []authtest.Fault
		accept    bool
	}{
		{"oidcc-client-test", authtest.RS256, nil, true},
		{"oidcc-client-test-nonce-invalid", authtest.ES256, faults(authtest.IDTokenWrongNonce), false},
		{"oidcc-client-test-invalid-iss", authtest.ES256, faults(authtest.IDTokenWrongIssuer), false},
		{"oidcc-client-test-missing-sub", authtest.ES256, faults(authtest.IDTokenWithoutSubject), false},
		{"oidcc-client-test-invalid-aud", authtest.ES256, faults(authtest.IDTokenWrongAudience), false},
		{"oidcc-client-test-missing-aud", authtest.ES256, faults(authtest.IDTokenWithoutAudience), false},
		{"oidcc-client-test-missing-iat", authtest.ES256, faults(authtest.IDTokenWithoutIssuedAt), false},
		{"oidcc-client-test-invalid-athash", authtest.ES256, faults(authtest.IDTokenWrongAccessHash), false},
		{"oidcc-client-test-kid-absent-single-jwks", authtest.ES256, faults(authtest.IDTokenWithoutKeyID), true},
		{"oidcc-client-test-kid-absent-multiple-jwks", authtest.ES256, faults(authtest.IDTokenWithoutKeyID, authtest.JWKSSeveralKeys), true},
		{"oidcc-client-test-idtoken-sig-rs256", authtest.RS256, nil, true},
		{"oidcc-client-test-idtoken-sig-none", authtest.ES256, faults(authtest.IDTokenUnsigned), false},
		{"oidcc-client-test-invalid-sig-rs256", authtest.RS256, faults(authtest.IDTokenWrongSignature), false},
		{"oidcc-client-test-invalid-sig-es256", authtest.ES256, faults(authtest.IDTokenWrongSignature), false},
		{"oidcc-client-test-invalid-sig-hs256", authtest.RS256, faults(authtest.IDTokenHS256PublicKey), false},
		{"oidcc-client-test-userinfo-invalid-sub", authtest.ES256, faults(authtest.UserInfoWrongSubject), false},
		{"oidcc-client-test-userinfo-signed", authtest.ES256, faults(authtest.UserInfoSigned), true},
		{"oidcc-client-test-aggregated-claims", authtest.ES256, faults(authtest.UserInfoAggregatedClaims), true},
		{"oidcc-client-test-distributed-claims", authtest.ES256, faults(authtest.UserInfoDistributedClaims), true},
		{"oidcc-client-test-discovery-issuer-mismatch", authtest.ES256, faults(authtest.DiscoveryForeignIssuer), false},
		{"oidcc-client-test-signing-key-rotation-just-before-signing", authtest.ES256, faults(authtest.KeysRotateBeforeSigning), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				if tt.algorithm != authtest.ES256 {
					s.idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, RequirePKCE: true, Algorithm: tt.algorithm})
					s.idp.Issuer = "https://idp.example"
					s.net[strings.TrimPrefix(s.idp.Issuer, "https://")] = s.idp
				}
				p := s.idp.OIDC("acme")
				p.ProfileFromUserInfo = true
				s.Providers = []pintle.Provider{p}
			})
			s.idp.Break(tt.faults...)
			b := s.browser()
			b.attempt("acme")
			want := "anonymous"
			if tt.accept {
				want = "Ada Lovelace"
			}
			if got := b.who(); got != want {
				t.Errorf("signed in as %q, want %q:\n%s", got, want, s.log)
			}
			if got := s.idp.Requests(authtest.DistributedClaimsEndpoint); len(got) > 0 {
				t.Errorf("RP-14 %d requests for distributed claims", len(got))
			}
		})
	}
}
