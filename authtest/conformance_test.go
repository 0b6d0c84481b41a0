package authtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/pintleauth/pintle/authtest"
	"golang.org/x/oauth2"
)

// signIn does what a careful application does with x/oauth2 and go-oidc,
// the checks included that go-oidc leaves to its caller.
func signIn(ctx context.Context, idp *authtest.IdentityProvider, a *attempt) error {
	provider, err := oidc.NewProvider(ctx, idp.Issuer)
	if err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	a.oidc = provider
	resp, err := browser.Get(a.url())
	if err != nil {
		return err
	}
	resp.Body.Close()
	location, err := resp.Location()
	if err != nil {
		return err
	}
	answer := location.Query()
	if answer.Get("state") != a.state || answer.Get("iss") != idp.Issuer || answer.Has("error") {
		return fmt.Errorf("authorization response %v", answer)
	}
	token, err := a.exchangeWith(ctx, answer.Get("code"))
	if err != nil {
		return fmt.Errorf("exchange: %w", err)
	}
	idToken, err := a.verify(ctx, token)
	if err != nil {
		return fmt.Errorf("ID token: %w", err)
	}
	switch {
	case idToken.Nonce != a.nonce:
		return errors.New("another nonce")
	case idToken.Subject == "":
		return errors.New("no subject")
	case idToken.IssuedAt.IsZero():
		return errors.New("no time of issue")
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("userinfo: %w", err)
	}
	if info.Subject != idToken.Subject {
		return errors.New("userinfo of another subject")
	}
	return nil
}

// TestFoundationSuite puts go-oidc through the tests of the OpenID Foundation
// that the package comment lists.
func TestFoundationSuite(t *testing.T) {
	tests := []struct {
		name      string
		algorithm string
		faults    []authtest.Fault
		accept    bool
	}{
		{"oidcc-client-test", authtest.RS256, nil, true},
		{"oidcc-client-test-nonce-invalid", authtest.ES256, []authtest.Fault{authtest.IDTokenWrongNonce}, false},
		{"oidcc-client-test-invalid-iss", authtest.ES256, []authtest.Fault{authtest.IDTokenWrongIssuer}, false},
		{"oidcc-client-test-missing-sub", authtest.ES256, []authtest.Fault{authtest.IDTokenWithoutSubject}, false},
		{"oidcc-client-test-invalid-aud", authtest.ES256, []authtest.Fault{authtest.IDTokenWrongAudience}, false},
		{"oidcc-client-test-missing-aud", authtest.ES256, []authtest.Fault{authtest.IDTokenWithoutAudience}, false},
		{"oidcc-client-test-missing-iat", authtest.ES256, []authtest.Fault{authtest.IDTokenWithoutIssuedAt}, false},
		{"oidcc-client-test-invalid-athash", authtest.ES256, []authtest.Fault{authtest.IDTokenWrongAccessHash}, false},
		{"oidcc-client-test-kid-absent-single-jwks", authtest.ES256, []authtest.Fault{authtest.IDTokenWithoutKeyID}, true},
		{"oidcc-client-test-kid-absent-multiple-jwks", authtest.ES256, []authtest.Fault{authtest.IDTokenWithoutKeyID, authtest.JWKSSeveralKeys}, true},
		{"oidcc-client-test-idtoken-sig-rs256", authtest.RS256, nil, true},
		{"oidcc-client-test-idtoken-sig-none", authtest.ES256, []authtest.Fault{authtest.IDTokenUnsigned}, false},
		{"oidcc-client-test-invalid-sig-rs256", authtest.RS256, []authtest.Fault{authtest.IDTokenWrongSignature}, false},
		{"oidcc-client-test-invalid-sig-es256", authtest.ES256, []authtest.Fault{authtest.IDTokenWrongSignature}, false},
		{"oidcc-client-test-invalid-sig-hs256", authtest.RS256, []authtest.Fault{authtest.IDTokenHS256PublicKey}, false},
		{"oidcc-client-test-userinfo-invalid-sub", authtest.ES256, []authtest.Fault{authtest.UserInfoWrongSubject}, false},
		{"oidcc-client-test-userinfo-signed", authtest.ES256, []authtest.Fault{authtest.UserInfoSigned}, true}, // go-oidc verifies it
		{"oidcc-client-test-aggregated-claims", authtest.ES256, []authtest.Fault{authtest.UserInfoAggregatedClaims}, true},
		{"oidcc-client-test-distributed-claims", authtest.ES256, []authtest.Fault{authtest.UserInfoDistributedClaims}, true},
		{"oidcc-client-test-discovery-issuer-mismatch", authtest.ES256, []authtest.Fault{authtest.DiscoveryForeignIssuer}, false},
		{"oidcc-client-test-signing-key-rotation-just-before-signing", authtest.ES256, []authtest.Fault{authtest.KeysRotateBeforeSigning}, true},
		{"RFC 9207 wrong issuer", authtest.ES256, []authtest.Fault{authtest.ResponseWrongIssuer}, false},
		{"RFC 9207 no issuer", authtest.ES256, []authtest.Fault{authtest.ResponseWithoutIssuer}, false},
		{"state dropped", authtest.ES256, []authtest.Fault{authtest.ResponseWithoutState}, false},
		{"SH-28 alg nOnE", authtest.ES256, []authtest.Fault{authtest.IDTokenUnsignedOddCase}, false},
		{"ASVS-9.1.3 embedded key", authtest.ES256, []authtest.Fault{authtest.IDTokenEmbeddedKey}, false},
		{"ASVS-6.8.2 foreign key", authtest.ES256, []authtest.Fault{authtest.IDTokenForeignKey}, false},
		{"SH-52 empty audience", authtest.ES256, []authtest.Fault{authtest.IDTokenEmptyAudience}, false},
		{"SH-49 a million dots", authtest.ES256, []authtest.Fault{authtest.IDTokenManyDots}, false},
		{"RP-5 no access token", authtest.ES256, []authtest.Fault{authtest.AccessTokenMissing}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			idp := authtest.Start(t, authtest.Options{Algorithm: tt.algorithm, AutoConsent: true, Clients: []authtest.Client{app}})
			a := newRelyingParty(t, idp).begin()
			idp.Break(tt.faults...)
			err := signIn(t.Context(), idp, a)
			if tt.accept && err != nil {
				t.Errorf("refused: %v", err)
			}
			if !tt.accept && err == nil {
				t.Error("accepted")
			}
			if got := idp.Requests(authtest.DistributedClaimsEndpoint); len(got) != 0 {
				t.Errorf("%d requests for distributed claims", len(got))
			}
		})
	}
}

func TestKeyRotationIsFollowed(t *testing.T) { // RP-17, oidcc-client-test-signing-key-rotation
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	rp := newRelyingParty(t, idp)
	for range 2 {
		a := rp.begin()
		token, err := a.exchange(a.approve().Get("code"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rp.verify(t.Context(), token); err != nil {
			t.Error(err)
		}
		idp.RotateKeys()
	}
	if n := len(idp.Requests(authtest.JWKSEndpoint)); n != 2 {
		t.Errorf("%d requests for keys, want one per key", n)
	}
}

// TestPackageCommentNamesRealFaults keeps the table in doc.go true.
func TestPackageCommentNamesRealFaults(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := ""
	for _, name := range []string{
		"discoveryfault.go", "responsefault.go", "tokenfault.go", "idtokenfault.go", "profilefault.go", "logoutfault.go",
	} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources += string(source)
	}
	rows := regexp.MustCompile(`(?m)^//\toidcc\S+ +(.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 30 {
		t.Fatalf("%d rows in the table of the package comment", len(rows))
	}
	for _, row := range rows {
		for _, name := range regexp.MustCompile(`\b(?:IDToken|JWKS|UserInfo|Response|Discovery|Keys|RefreshedIDToken|Logout)[A-Z]\w+`).FindAllString(row[1], -1) {
			if !strings.Contains(sources, "\t"+name+" ") {
				t.Errorf("the package comment names %s, which does not exist", name)
			}
		}
	}
}
