package authtest_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

// sightings detect each fault. An honest provider must show none of them.
func sightings() map[authtest.Fault]func(*visit) bool {
	const foreign = "https://another-issuer.example.test"
	key := func(v *visit) map[string]any { return v.keys[0] }
	list := func(items ...any) []any { return items }
	return map[authtest.Fault]func(*visit) bool{
		authtest.DiscoveryForeignIssuer:   func(v *visit) bool { return v.discovered("issuer", foreign) },
		authtest.DiscoveryIssuerWithSlash: func(v *visit) bool { return v.discovered("issuer", v.idp.Issuer+"/") },
		authtest.DiscoveryWithoutIssuer:   func(v *visit) bool { return v.lacks(v.discovery, "issuer") },
		authtest.DiscoveryMalformedIssuer: func(v *visit) bool { return v.discovered("issuer", "not a url") },
		authtest.DiscoveryPlainHTTPEndpoints: func(v *visit) bool {
			return v.discovered("token_endpoint", "http://idp.example.test/token") && v.discovered("jwks_uri", "http://idp.example.test/jwks")
		},
		authtest.DiscoveryLinkLocalEndpoints: func(v *visit) bool {
			return v.discovered("userinfo_endpoint", "http://169.254.169.254/latest/userinfo")
		},
		authtest.DiscoveryWithoutAuthorization: func(v *visit) bool { return v.lacks(v.discovery, "authorization_endpoint") },
		authtest.DiscoveryWithoutToken:         func(v *visit) bool { return v.lacks(v.discovery, "token_endpoint") },
		authtest.DiscoveryWithoutUserInfo:      func(v *visit) bool { return v.lacks(v.discovery, "userinfo_endpoint") },
		authtest.DiscoveryWithoutJWKS:          func(v *visit) bool { return v.lacks(v.discovery, "jwks_uri") },
		authtest.DiscoveryWithoutAlgorithms:    func(v *visit) bool { return v.lacks(v.discovery, "id_token_signing_alg_values_supported") },
		authtest.DiscoveryForeignAlgorithm:     func(v *visit) bool { return v.discovered("id_token_signing_alg_values_supported", list("PS512")) },
		authtest.DiscoveryListsNone: func(v *visit) bool {
			return v.discovered("id_token_signing_alg_values_supported", list("ES256", "none"))
		},
		authtest.DiscoveryListsHS256: func(v *visit) bool {
			return v.discovered("id_token_signing_alg_values_supported", list("ES256", "HS256"))
		},
		authtest.DiscoveryWithoutPKCE: func(v *visit) bool { return v.lacks(v.discovery, "code_challenge_methods_supported") },
		authtest.DiscoveryPlainPKCE:   func(v *visit) bool { return v.discovered("code_challenge_methods_supported", list("plain")) },
		authtest.DiscoveryWithoutIssuerParameter: func(v *visit) bool {
			return v.lacks(v.discovery, "authorization_response_iss_parameter_supported") && !v.answer.Has("iss")
		},

		authtest.JWKSEmpty:           func(v *visit) bool { return len(v.keys) == 0 },
		authtest.JWKSSeveralKeys:     func(v *visit) bool { return len(v.keys) == 2 && v.keys[1]["kid"] == v.header["kid"] },
		authtest.JWKSSymmetricKey:    func(v *visit) bool { return key(v)["kty"] == "oct" && key(v)["kid"] == v.header["kid"] },
		authtest.JWKSEncryptionKey:   func(v *visit) bool { return key(v)["use"] == "enc" },
		authtest.JWKSWithoutKeyID:    func(v *visit) bool { return v.lacks(key(v), "kid") },
		authtest.JWKSForeignKey:      func(v *visit) bool { return key(v)["kid"] == v.header["kid"] && !verifies(v) },
		authtest.JWKSMalformedMember: func(v *visit) bool { return len(v.keys) == 2 && key(v)["kty"] == "QUANTUM" },
		authtest.KeysRotateBeforeSigning: func(v *visit) bool {
			// The exchanges after the first have changed the key again.
			return v.header["kid"] != nil && key(v)["kid"] != v.header["kid"]
		},

		authtest.ResponseWithoutState: func(v *visit) bool { return !v.answer.Has("state") && v.answer.Has("code") },
		authtest.ResponseWrongState:   func(v *visit) bool { return v.answer.Get("state") == "changeds" },
		authtest.ResponseEmptyState:   func(v *visit) bool { return v.answer.Has("state") && v.answer.Get("state") == "" },
		authtest.ResponseWithoutIssuer: func(v *visit) bool {
			return !v.answer.Has("iss") && v.discovered("authorization_response_iss_parameter_supported", true)
		},
		authtest.ResponseWrongIssuer:     func(v *visit) bool { return v.answer.Get("iss") == foreign },
		authtest.ResponseWithoutCode:     func(v *visit) bool { return !v.answer.Has("code") && v.answer.Has("state") },
		authtest.ResponseEmptyCode:       func(v *visit) bool { return v.answer.Has("code") && v.answer.Get("code") == "" },
		authtest.ResponseUnknownCode:     func(v *visit) bool { return v.answer.Get("code") != "" && v.tokenStatus == 400 },
		authtest.ResponseErrorBesideCode: func(v *visit) bool { return v.answer.Has("code") && v.answer.Has("error") },
		authtest.ResponseIDToken:         func(v *visit) bool { return v.answer.Has("code") && v.answer.Has("id_token") },
		authtest.ResponseJARM:            func(v *visit) bool { return len(v.answer) == 1 && v.answer.Has("response") },
		authtest.ResponseAccessDenied: func(v *visit) bool {
			return v.answer.Get("error") == "access_denied" && v.answer.Get("error_description") != ""
		},
		authtest.ResponseLoginRequired: func(v *visit) bool { return v.answer.Get("error") == "login_required" },
		authtest.ResponseServerError:   func(v *visit) bool { return v.answer.Get("error") == "server_error" },
		authtest.ResponseUnavailable: func(v *visit) bool {
			return v.answer.Get("error") == "temporarily_unavailable" && !v.answer.Has("code")
		},
		authtest.ResponseHostileError: func(v *visit) bool { return strings.Contains(v.answer.Get("error_description"), "<img") },
		authtest.ResponseTwice:        func(v *visit) bool { return len(v.answer["code"]) == 2 && len(v.answer["state"]) == 2 },

		authtest.PKCEIgnored:              func(v *visit) bool { return v.unproved == 200 },
		authtest.CodeReplayAllowed:        func(v *visit) bool { return v.replayed == 200 },
		authtest.RefreshTokenReuseAllowed: func(v *visit) bool { return v.refreshedTwice == 200 },
		authtest.TokenInvalidGrant:        func(v *visit) bool { return v.token["error"] == "invalid_grant" && v.answer.Has("code") },
		authtest.TokenInvalidClient:       func(v *visit) bool { return v.token["error"] == "invalid_client" && v.tokenStatus == 401 },
		authtest.TokenHostileError:        func(v *visit) bool { return v.token["error"] == "<script>alert(1)</script>" },
		authtest.TokenErrorWithStatus200:  func(v *visit) bool { return v.refused == 200 },
		authtest.TokenFormEncoded:         func(v *visit) bool { return v.tokenType == "application/x-www-form-urlencoded" },
		authtest.AccessTokenMissing:       func(v *visit) bool { return v.lacks(v.token, "access_token") && v.token["token_type"] != nil },
		authtest.AccessTokenEmpty:         func(v *visit) bool { return v.token["access_token"] == "" },
		authtest.AccessTokenObject:        func(v *visit) bool { _, ok := v.token["access_token"].(map[string]any); return ok },
		authtest.TokenTypeMissing:         func(v *visit) bool { return v.lacks(v.token, "token_type") && v.token["access_token"] != nil },
		authtest.TokenTypeOdd:             func(v *visit) bool { return v.token["token_type"] == "mac" },
		authtest.TokenTypeUppercase:       func(v *visit) bool { return v.token["token_type"] == "BEARER" },
		authtest.ExpiresInString:          func(v *visit) bool { return v.token["expires_in"] == "3600" },
		authtest.ExpiresInNegative:        func(v *visit) bool { return v.token["expires_in"] == -5.0 },
		authtest.ExpiresInNonsense:        func(v *visit) bool { return v.token["expires_in"] == "soon" },
		authtest.ExpiresInHuge:            func(v *visit) bool { return v.token["expires_in"] == 1e300 },
		authtest.ExpiresInMissing:         func(v *visit) bool { return v.lacks(v.token, "expires_in") && v.token["access_token"] != nil },
		authtest.ScopeList:                func(v *visit) bool { _, ok := v.token["scope"].([]any); return ok },
		authtest.RefreshTokenMissing:      func(v *visit) bool { return v.lacks(v.token, "refresh_token") && v.token["access_token"] != nil },
		authtest.RefreshTokenNumber:       func(v *visit) bool { return v.token["refresh_token"] == 5.0 },

		authtest.IDTokenMissing:   func(v *visit) bool { return v.lacks(v.token, "id_token") && v.token["access_token"] != nil },
		authtest.IDTokenEmpty:     func(v *visit) bool { return v.token["id_token"] == "" },
		authtest.IDTokenNotText:   func(v *visit) bool { _, ok := v.token["id_token"].(map[string]any); return ok },
		authtest.IDTokenGarbage:   func(v *visit) bool { return strings.Count(v.idToken, ".") == 1 },
		authtest.IDTokenNotJSON:   func(v *visit) bool { return strings.Count(v.idToken, ".") == 2 && v.header == nil },
		authtest.IDTokenEncrypted: func(v *visit) bool { return strings.Count(v.idToken, ".") == 4 },
		authtest.IDTokenManyDots:  func(v *visit) bool { return strings.Count(v.idToken, ".") == 1_000_000 },

		authtest.IDTokenWrongIssuer:      func(v *visit) bool { return v.claims["iss"] == foreign },
		authtest.IDTokenIssuerWithSlash:  func(v *visit) bool { return v.claims["iss"] == v.idp.Issuer+"/" },
		authtest.IDTokenWithoutIssuer:    func(v *visit) bool { return v.lacks(v.claims, "iss") },
		authtest.IDTokenWrongAudience:    func(v *visit) bool { return v.claims["aud"] == "another-client" },
		authtest.IDTokenWithoutAudience:  func(v *visit) bool { return v.lacks(v.claims, "aud") },
		authtest.IDTokenEmptyAudience:    func(v *visit) bool { return reflect.DeepEqual(v.claims["aud"], []any{}) },
		authtest.IDTokenObjectAudience:   func(v *visit) bool { return reflect.DeepEqual(v.claims["aud"], map[string]any{"app": true}) },
		authtest.IDTokenAudiencesWithout: func(v *visit) bool { return reflect.DeepEqual(v.claims["aud"], list("another-client", "third-client")) },
		authtest.IDTokenAudienceList:     func(v *visit) bool { return reflect.DeepEqual(v.claims["aud"], list("app")) },
		authtest.IDTokenWithoutAuthorizedParty: func(v *visit) bool {
			return reflect.DeepEqual(v.claims["aud"], list("app", "another-client")) && v.lacks(v.claims, "azp")
		},
		authtest.IDTokenForeignAuthorizedParty: func(v *visit) bool { return v.claims["azp"] == "another-client" },
		authtest.IDTokenExpired:                func(v *visit) bool { return v.claims != nil && v.age("exp") > time.Minute && v.age("exp") < time.Hour },
		authtest.IDTokenWithoutExpiry:          func(v *visit) bool { return v.lacks(v.claims, "exp") },
		authtest.IDTokenTextExpiry:             func(v *visit) bool { _, ok := v.claims["exp"].(string); return ok },
		authtest.IDTokenFutureNotBefore:        func(v *visit) bool { return v.claims["nbf"] != nil && v.age("nbf") < -time.Hour },
		authtest.IDTokenFutureIssuedAt:         func(v *visit) bool { return v.claims != nil && v.age("iat") < -5*time.Minute },
		authtest.IDTokenOldIssuedAt:            func(v *visit) bool { return v.claims["iat"] != nil && v.age("iat") > 2*time.Hour },
		authtest.IDTokenWithoutIssuedAt:        func(v *visit) bool { return v.lacks(v.claims, "iat") },
		authtest.IDTokenFractionalTimes: func(v *visit) bool {
			at, _ := v.claims["iat"].(float64)
			return at != float64(int64(at))
		},
		authtest.IDTokenWithoutNonce:   func(v *visit) bool { return v.lacks(v.claims, "nonce") },
		authtest.IDTokenWrongNonce:     func(v *visit) bool { return v.claims["nonce"] == "another-nonce" },
		authtest.IDTokenWithoutSubject: func(v *visit) bool { return v.lacks(v.claims, "sub") },
		authtest.IDTokenEmptySubject:   func(v *visit) bool { return v.claims["sub"] == "" },
		authtest.IDTokenNumericSubject: func(v *visit) bool { return v.claims["sub"] == 12345.0 },
		authtest.IDTokenWrongAccessHash: func(v *visit) bool {
			return v.claims != nil && v.claims["at_hash"] != leftHash(v.token["access_token"], authtest.ES256)
		},
		authtest.IDTokenOldAuthTime:           func(v *visit) bool { return v.claims["auth_time"] != nil && v.age("auth_time") > time.Hour },
		authtest.IDTokenWithoutAuthTime:       func(v *visit) bool { return v.lacks(v.claims, "auth_time") },
		authtest.RemembersItsUser:             func(v *visit) bool { return v.claims["auth_time"] != nil && v.age("auth_time") > time.Hour },
		authtest.IDTokenWeakContextClass:      func(v *visit) bool { return v.claims["acr"] == "0" },
		authtest.RefreshedIDTokenWrongIssuer:  func(v *visit) bool { return v.refreshed["iss"] == foreign && v.claims["iss"] == v.idp.Issuer },
		authtest.RefreshedIDTokenWrongSubject: func(v *visit) bool { return v.refreshed["sub"] == "another-subject" && v.claims["sub"] == "1001" },

		authtest.IDTokenUnsigned:        func(v *visit) bool { return v.header["alg"] == "none" && strings.HasSuffix(v.idToken, ".") },
		authtest.IDTokenUnsignedOddCase: func(v *visit) bool { return v.header["alg"] == "nOnE" && strings.HasSuffix(v.idToken, ".") },
		authtest.IDTokenEmptySignature:  func(v *visit) bool { return v.header["alg"] == "ES256" && strings.HasSuffix(v.idToken, ".") },
		authtest.IDTokenWrongSignature:  func(v *visit) bool { return v.header["kid"] == key(v)["kid"] && !verifies(v) },
		authtest.IDTokenForeignKey:      func(v *visit) bool { return v.header["kid"] == key(v)["kid"] && !verifies(v) },
		authtest.IDTokenUnknownKey:      func(v *visit) bool { return v.header["kid"] != nil && v.header["kid"] != key(v)["kid"] },
		authtest.IDTokenEmbeddedKey:     func(v *visit) bool { return v.header["jwk"] != nil },
		authtest.IDTokenWithoutKeyID:    func(v *visit) bool { return v.lacks(v.header, "kid") },
		authtest.IDTokenCriticalHeader:  func(v *visit) bool { return v.header["crit"] != nil },
		authtest.IDTokenHS256PublicKey: func(v *visit) bool {
			return v.header["alg"] == "HS256" && macVerifies(v.idToken, publicPEM(v))
		},
		authtest.IDTokenHS256ClientKey:   func(v *visit) bool { return v.header["alg"] == "HS256" && macVerifies(v.idToken, []byte(app.Secret)) },
		authtest.IDTokenForeignAlgorithm: func(v *visit) bool { return v.header["alg"] == "PS512" },

		authtest.EmailMissing: func(v *visit) bool { return v.lacks(v.claims, "email", "email_verified") && v.user["email"] == nil },
		authtest.EmailUppercase: func(v *visit) bool {
			return v.claims["email"] == "ADA@EXAMPLE.COM" && v.account["email"] == "ADA@EXAMPLE.COM"
		},
		authtest.EmailUnverified: func(v *visit) bool {
			return v.claims["email_verified"] == false && v.userInfo["email_verified"] == false
		},
		authtest.EmailNull:            func(v *visit) bool { return v.claims != nil && !v.lacks(v.claims, "email") && v.claims["email"] == nil },
		authtest.EmailVerifiedMissing: func(v *visit) bool { return v.lacks(v.claims, "email_verified") && v.claims["email"] != nil },
		authtest.EmailVerifiedText:    func(v *visit) bool { return v.claims["email_verified"] == "true" },
		authtest.EmailUnverifiedText:  func(v *visit) bool { return v.claims["email_verified"] == "false" },
		authtest.EmailVerifiedNumber:  func(v *visit) bool { return v.claims["email_verified"] == 1.0 },
		authtest.NameHostile:          func(v *visit) bool { return v.claims["name"] == `<script>alert("name")</script>` },
		authtest.NameMissing:          func(v *visit) bool { return v.lacks(v.claims, "name") && v.user["name"] == nil },

		authtest.ProfileWithoutID:   func(v *visit) bool { return v.lacks(v.user, "id") && v.lacks(v.account, "id", "id_str") },
		authtest.ProfileNullID:      func(v *visit) bool { return v.user != nil && !v.lacks(v.user, "id") && v.user["id"] == nil },
		authtest.ProfileEmptyID:     func(v *visit) bool { return v.user["id"] == "" && v.account["id_str"] == "" },
		authtest.ProfileZeroID:      func(v *visit) bool { return v.user["id"] == 0.0 },
		authtest.ProfileUndefinedID: func(v *visit) bool { return v.user["id"] == "undefined" },
		authtest.ProfileNilID:       func(v *visit) bool { return v.user["id"] == "<nil>" },
		authtest.ProfileObjectID:    func(v *visit) bool { _, ok := v.user["id"].(map[string]any); return ok },
		authtest.ProfileHugeID:      func(v *visit) bool { id, _ := v.user["id"].(float64); return id >= 1<<53 },
		authtest.ProfileTextID:      func(v *visit) bool { return v.user["id"] == "1001" },
		authtest.ProfileError:       func(v *visit) bool { return v.user["error"] != nil && v.lacks(v.user, "id") },

		authtest.UserInfoWrongSubject:   func(v *visit) bool { return v.userInfo["sub"] == "another-subject" && v.claims["sub"] == "1001" },
		authtest.UserInfoWithoutSubject: func(v *visit) bool { return v.lacks(v.userInfo, "sub") && v.userInfo["email"] != nil },
		authtest.UserInfoEmptySubject:   func(v *visit) bool { return v.userInfo["sub"] == "" },
		authtest.UserInfoSigned:         func(v *visit) bool { return v.userInfoType == "application/jwt" },
		authtest.UserInfoAggregatedClaims: func(v *visit) bool {
			return strings.Contains(stringify(v.userInfo["_claim_sources"]), "JWT")
		},
		authtest.UserInfoDistributedClaims: func(v *visit) bool {
			return strings.Contains(stringify(v.userInfo["_claim_sources"]), v.idp.URL(authtest.DistributedClaimsEndpoint))
		},

		authtest.OAuth1CallbackUnconfirmed: func(v *visit) bool { return v.temporary.Get("oauth_callback_confirmed") == "false" },
		authtest.OAuth1WithoutToken:        func(v *visit) bool { return !v.temporary.Has("oauth_token") && v.temporary.Has("oauth_token_secret") },
		authtest.OAuth1WithoutSecret:       func(v *visit) bool { return v.temporary.Has("oauth_token") && !v.temporary.Has("oauth_token_secret") },
		authtest.OAuth1WrongToken:          func(v *visit) bool { return v.verified.Get("oauth_token") == "another-token" },
		authtest.OAuth1WithoutVerifier:     func(v *visit) bool { return v.verified.Has("oauth_token") && !v.verified.Has("oauth_verifier") },
		authtest.OAuth1WithoutAccessToken:  func(v *visit) bool { return v.granted.Has("user_id") && !v.granted.Has("oauth_token") },

		authtest.LogoutWithoutState: func(v *visit) bool { return !v.logout.Has("state") },
		authtest.LogoutWrongState:   func(v *visit) bool { return v.logout.Get("state") == "another-state" },
	}
}

func stringify(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestEveryFaultCanBeSeen(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	seen := sightings()
	honest := look(t, idp)
	for fault, see := range seen {
		if see(honest) {
			t.Errorf("an honest provider is seen as one that %s", fault)
		}
	}
	for _, fault := range authtest.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			see, ok := seen[fault]
			if !ok {
				t.Fatal("no sighting detects this fault")
			}
			idp.Break(fault)
			t.Cleanup(idp.Repair)
			if v := look(t, idp); !see(v) {
				t.Errorf("not seen in %+v", v)
			}
		})
	}
}

// TestFaultsAreListed compares the list with the constants of the source.
func TestFaultsAreListed(t *testing.T) {
	listed := authtest.Faults()
	slices.Sort(listed)
	if unique := slices.Compact(slices.Clone(listed)); len(unique) != len(listed) {
		t.Errorf("%d faults with %d texts", len(listed), len(unique))
	}
	constants := 0
	names, err := fs.Glob(os.DirFS("."), "*fault.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Fault" {
					constants += len(spec.Names)
				}
			}
			return true
		})
	}
	if constants == 0 || constants != len(listed) {
		t.Errorf("Faults() lists %d of %d constants", len(listed), constants)
	}
}
