package pintle_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// attempt signs in with a provider that may fail at any step, and returns the
// answer that ends it.
func (b *browser) attempt(provider string) *reply {
	b.t.Helper()
	r := b.post("/auth/signin/" + provider).want(http.StatusFound)
	for hops := 0; !strings.HasPrefix(r.location(), b.site.url); hops++ {
		if hops == 5 {
			b.t.Fatalf("the browser is sent around: %s", r.location())
		}
		r = b.get(r.location()).want(http.StatusFound)
	}
	if strings.HasPrefix(r.location(), b.site.url+"/auth/callback/") {
		r = b.get(r.location())
	}
	return r
}

// threeProviders gives a site with a store three providers, one for each
// protocol: "acme" is OpenID Connect, "hub" OAuth 2 and "old" OAuth 1.0a.
func threeProviders(s *site) {
	for _, id := range []string{"acme", "hub", "old"} {
		s.idp.Register(authtest.Client{ID: id, Secret: id + " client secret :%+/", RedirectURIs: []string{s.url + "/auth/callback/" + id}})
	}
	s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
	s.Providers = []pintle.Provider{s.idp.OIDC("acme"), s.idp.OAuth2("hub"), s.idp.OAuth1("old")}
}

// The pages on which a sign-in with a provider ends.
const (
	welcome  = ""                   // home, and signed in
	retry    = "OAuthCallbackError" // on the sign-in page
	operator = "Configuration"      // on the error page
)

// verdicts say what comes of a provider that misbehaves over OpenID Connect,
// OAuth 2 and OAuth 1.0a, if the fault is one that the protocol can have.
//
// The names of the OpenID Foundation's tests for relying parties are beside the
// faults that put us in their situation.
var verdicts = []struct {
	fault          authtest.Fault
	oidc, hub, old string
}{
	// Metadata and keys. SH-24, RP-16, RP-17, ASVS-10.5.3, BCP-18.
	{authtest.DiscoveryForeignIssuer, operator, welcome, welcome}, // oidcc-client-test-discovery-issuer-mismatch
	{authtest.DiscoveryIssuerWithSlash, operator, welcome, welcome},
	{authtest.DiscoveryWithoutIssuer, operator, welcome, welcome},
	{authtest.DiscoveryMalformedIssuer, operator, welcome, welcome},
	{authtest.DiscoveryPlainHTTPEndpoints, operator, welcome, welcome}, // W-19, SH-81
	{authtest.DiscoveryLinkLocalEndpoints, operator, welcome, welcome}, // SH-24
	{authtest.DiscoveryWithoutAuthorization, operator, welcome, welcome},
	{authtest.DiscoveryWithoutToken, operator, welcome, welcome},
	{authtest.DiscoveryWithoutUserInfo, welcome, welcome, welcome}, // Q15
	{authtest.DiscoveryWithoutJWKS, operator, welcome, welcome},
	{authtest.DiscoveryWithoutAlgorithms, operator, welcome, welcome}, // RP-7: RS256 is the default, and this one signs with ES256
	{authtest.DiscoveryForeignAlgorithm, operator, welcome, welcome},
	{authtest.DiscoveryListsNone, welcome, welcome, welcome}, // SH-28: it is not used, as the signed token shows
	{authtest.DiscoveryListsHS256, welcome, welcome, welcome},
	{authtest.DiscoveryWithoutPKCE, welcome, welcome, welcome},
	{authtest.DiscoveryPlainPKCE, welcome, welcome, welcome}, // BCP-4: S256 is sent all the same
	{authtest.DiscoveryWithoutIssuerParameter, welcome, welcome, welcome},
	{authtest.JWKSEmpty, operator, welcome, welcome},
	{authtest.JWKSSeveralKeys, welcome, welcome, welcome},
	{authtest.JWKSSymmetricKey, operator, welcome, welcome},
	{authtest.JWKSEncryptionKey, operator, welcome, welcome},
	{authtest.JWKSWithoutKeyID, welcome, welcome, welcome},
	{authtest.JWKSForeignKey, operator, welcome, welcome},
	{authtest.JWKSMalformedMember, welcome, welcome, welcome},
	{authtest.KeysRotateBeforeSigning, welcome, welcome, welcome}, // oidcc-client-test-signing-key-rotation-just-before-signing

	// The way back. SH-06, SH-79, BCP-3, BCP-8, ASVS-10.2.1, ASVS-10.2.2.
	{authtest.ResponseWithoutState, operator, operator, welcome},
	{authtest.ResponseWrongState, operator, operator, welcome},
	{authtest.ResponseEmptyState, operator, operator, welcome},
	{authtest.ResponseWithoutIssuer, operator, welcome, welcome},
	{authtest.ResponseWrongIssuer, operator, welcome, welcome},
	{authtest.ResponseWithoutCode, operator, operator, welcome},
	{authtest.ResponseEmptyCode, operator, operator, welcome},
	{authtest.ResponseUnknownCode, operator, operator, welcome},
	{authtest.ResponseErrorBesideCode, retry, retry, welcome},
	{authtest.ResponseIDToken, operator, operator, welcome}, // BCP-9
	{authtest.ResponseJARM, operator, operator, welcome},
	{authtest.ResponseAccessDenied, retry, retry, welcome}, // RP-3
	{authtest.ResponseLoginRequired, retry, retry, welcome},
	{authtest.ResponseServerError, retry, retry, welcome},
	{authtest.ResponseUnavailable, retry, retry, welcome},
	{authtest.ResponseHostileError, retry, retry, welcome}, // SH-90
	{authtest.ResponseTwice, operator, operator, welcome},

	// The token response. RP-5, Q13.
	{authtest.TokenInvalidGrant, operator, operator, welcome},
	{authtest.TokenInvalidClient, operator, operator, welcome},
	{authtest.TokenHostileError, operator, operator, welcome},
	{authtest.TokenErrorWithStatus200, welcome, welcome, welcome}, // there is no error here
	{authtest.TokenFormEncoded, operator, operator, welcome},
	{authtest.AccessTokenMissing, operator, operator, welcome},
	{authtest.AccessTokenEmpty, operator, operator, welcome},
	{authtest.AccessTokenObject, operator, operator, welcome},
	{authtest.TokenTypeMissing, operator, operator, welcome},
	{authtest.TokenTypeOdd, operator, operator, welcome},
	{authtest.TokenTypeUppercase, welcome, welcome, welcome},
	{authtest.ExpiresInString, welcome, welcome, welcome},
	{authtest.ExpiresInNegative, operator, operator, welcome},
	{authtest.ExpiresInNonsense, operator, operator, welcome},
	{authtest.ExpiresInHuge, operator, operator, welcome},
	{authtest.ExpiresInMissing, welcome, welcome, welcome},
	{authtest.ScopeList, operator, operator, welcome},
	{authtest.RefreshTokenMissing, welcome, welcome, welcome},
	{authtest.RefreshTokenNumber, operator, operator, welcome},
	{authtest.PKCEIgnored, welcome, welcome, welcome},
	{authtest.CodeReplayAllowed, welcome, welcome, welcome},
	{authtest.RefreshTokenReuseAllowed, welcome, welcome, welcome},

	// The ID token. SH-28, SH-49, SH-51, SH-52, SH-54, RP-6 to RP-11, Q9,
	// ASVS-6.8.2, ASVS-9.1.2, ASVS-9.1.3, ASVS-9.2.3, ASVS-10.5.1, ASVS-10.5.4.
	{authtest.IDTokenMissing, operator, welcome, welcome},
	{authtest.IDTokenEmpty, operator, operator, welcome},
	{authtest.IDTokenNotText, operator, operator, welcome},
	{authtest.IDTokenGarbage, operator, welcome, welcome},
	{authtest.IDTokenNotJSON, operator, welcome, welcome},
	{authtest.IDTokenEncrypted, operator, welcome, welcome},
	{authtest.IDTokenManyDots, operator, welcome, welcome},
	{authtest.IDTokenWrongIssuer, operator, welcome, welcome}, // oidcc-client-test-invalid-iss
	{authtest.IDTokenIssuerWithSlash, operator, welcome, welcome},
	{authtest.IDTokenWithoutIssuer, operator, welcome, welcome},
	{authtest.IDTokenWrongAudience, operator, welcome, welcome},   // oidcc-client-test-invalid-aud
	{authtest.IDTokenWithoutAudience, operator, welcome, welcome}, // oidcc-client-test-missing-aud
	{authtest.IDTokenEmptyAudience, operator, welcome, welcome},
	{authtest.IDTokenObjectAudience, operator, welcome, welcome},
	{authtest.IDTokenAudiencesWithout, operator, welcome, welcome},
	{authtest.IDTokenAudienceList, welcome, welcome, welcome},
	{authtest.IDTokenWithoutAuthorizedParty, operator, welcome, welcome},
	{authtest.IDTokenForeignAuthorizedParty, operator, welcome, welcome},
	{authtest.IDTokenExpired, operator, welcome, welcome},
	{authtest.IDTokenWithoutExpiry, operator, welcome, welcome},
	{authtest.IDTokenTextExpiry, operator, welcome, welcome},
	{authtest.IDTokenFutureNotBefore, operator, welcome, welcome},
	{authtest.IDTokenFutureIssuedAt, operator, welcome, welcome},
	{authtest.IDTokenOldIssuedAt, welcome, welcome, welcome},
	{authtest.IDTokenWithoutIssuedAt, operator, welcome, welcome}, // oidcc-client-test-missing-iat
	{authtest.IDTokenFractionalTimes, welcome, welcome, welcome},
	{authtest.IDTokenWithoutNonce, operator, welcome, welcome},
	{authtest.IDTokenWrongNonce, operator, welcome, welcome},     // oidcc-client-test-nonce-invalid
	{authtest.IDTokenWithoutSubject, operator, welcome, welcome}, // oidcc-client-test-missing-sub
	{authtest.IDTokenEmptySubject, operator, welcome, welcome},
	{authtest.IDTokenNumericSubject, operator, welcome, welcome},
	{authtest.IDTokenWrongAccessHash, operator, welcome, welcome}, // oidcc-client-test-invalid-athash
	{authtest.IDTokenOldAuthTime, welcome, welcome, welcome},
	{authtest.IDTokenWithoutAuthTime, welcome, welcome, welcome},
	{authtest.RemembersItsUser, welcome, welcome, welcome},
	{authtest.IDTokenWeakContextClass, welcome, welcome, welcome},
	{authtest.IDTokenUnsigned, operator, welcome, welcome}, // oidcc-client-test-idtoken-sig-none
	{authtest.IDTokenUnsignedOddCase, operator, welcome, welcome},
	{authtest.IDTokenEmptySignature, operator, welcome, welcome},
	{authtest.IDTokenWrongSignature, operator, welcome, welcome}, // oidcc-client-test-invalid-sig-es256
	{authtest.IDTokenForeignKey, operator, welcome, welcome},
	{authtest.IDTokenUnknownKey, operator, welcome, welcome},
	{authtest.IDTokenEmbeddedKey, operator, welcome, welcome},
	{authtest.IDTokenWithoutKeyID, welcome, welcome, welcome}, // oidcc-client-test-kid-absent-single-jwks
	{authtest.IDTokenCriticalHeader, operator, welcome, welcome},
	{authtest.IDTokenHS256PublicKey, operator, welcome, welcome}, // oidcc-client-test-invalid-sig-hs256
	{authtest.IDTokenHS256ClientKey, operator, welcome, welcome},
	{authtest.IDTokenForeignAlgorithm, operator, welcome, welcome},

	// What is said about the person. SH-37, SH-83, Q11, Q12, RP-12 to RP-14. The
	// profile of OpenID Connect is the ID token, so userinfo does not matter.
	{authtest.EmailMissing, welcome, welcome, welcome},
	{authtest.EmailUppercase, welcome, welcome, welcome},
	{authtest.EmailUnverified, welcome, welcome, welcome},
	{authtest.EmailNull, welcome, welcome, welcome},
	{authtest.EmailVerifiedMissing, welcome, welcome, welcome},
	{authtest.EmailVerifiedText, welcome, welcome, welcome},
	{authtest.EmailUnverifiedText, welcome, welcome, welcome},
	{authtest.EmailVerifiedNumber, welcome, welcome, welcome},
	{authtest.NameHostile, welcome, welcome, welcome},
	{authtest.NameMissing, welcome, welcome, welcome},
	{authtest.ProfileWithoutID, welcome, retry, retry},
	{authtest.ProfileNullID, welcome, retry, retry},
	{authtest.ProfileEmptyID, welcome, retry, retry},
	{authtest.ProfileZeroID, welcome, retry, retry},
	{authtest.ProfileUndefinedID, welcome, retry, retry},
	{authtest.ProfileNilID, welcome, retry, retry},
	{authtest.ProfileObjectID, welcome, retry, retry},
	{authtest.ProfileHugeID, welcome, welcome, welcome},
	{authtest.ProfileTextID, welcome, welcome, welcome},
	{authtest.ProfileError, welcome, retry, retry},
	{authtest.UserInfoWrongSubject, welcome, welcome, welcome},
	{authtest.UserInfoWithoutSubject, welcome, welcome, welcome},
	{authtest.UserInfoEmptySubject, welcome, welcome, welcome},
	{authtest.UserInfoSigned, welcome, welcome, welcome},
	{authtest.UserInfoAggregatedClaims, welcome, welcome, welcome},
	{authtest.UserInfoDistributedClaims, welcome, welcome, welcome},

	// OAuth 1.0a.
	{authtest.OAuth1CallbackUnconfirmed, welcome, welcome, operator},
	{authtest.OAuth1WithoutToken, welcome, welcome, operator},
	{authtest.OAuth1WithoutSecret, welcome, welcome, operator},
	{authtest.OAuth1WrongToken, welcome, welcome, operator},
	{authtest.OAuth1WithoutVerifier, welcome, welcome, operator},
	{authtest.OAuth1WithoutAccessToken, welcome, welcome, operator},

	// Faults that no sign-in meets.
	{authtest.RefreshedIDTokenWrongIssuer, welcome, welcome, welcome},
	{authtest.RefreshedIDTokenWrongSubject, welcome, welcome, welcome},
	{authtest.LogoutWithoutState, welcome, welcome, welcome},
	{authtest.LogoutWrongState, welcome, welcome, welcome},
}

// Each fault of a provider has its verdict: those of the metadata (BCP-18), of the
// way back (ASVS-10.2.2, a mix-up of providers) and of the ID token, whose
// algorithm (ASVS-9.1.2) and audience (ASVS-9.2.3, ASVS-9.2.4) are checked.
func TestAProviderThatMisbehavesSignsNoUserIn(t *testing.T) {
	for _, v := range verdicts {
		for provider, want := range map[string]string{"acme": v.oidc, "hub": v.hub, "old": v.old} {
			t.Run(provider+" "+string(v.fault), func(t *testing.T) {
				t.Parallel()
				s := newSite(t, threeProviders)
				s.idp.Break(v.fault)
				b := s.browser()
				r := b.attempt(provider)
				switch want {
				case welcome:
					r.goesTo(s.url)
				case retry:
					r.fails("/auth/signin", retry)
				case operator:
					r.fails("/auth/error", operator)
				}
				if who := b.who(); (who != "anonymous") != (want == welcome) {
					t.Errorf("%s is signed in", who)
				}
				if want != welcome && b.session() != nil {
					t.Error("there is a session")
				}
				if want == operator && !strings.Contains(s.log.String(), `"msg":"pintle: request failed"`) {
					t.Error("the log does not say why")
				}
				if asked := s.idp.Requests(authtest.ElsewhereEndpoint, authtest.DistributedClaimsEndpoint); len(asked) > 0 {
					t.Errorf("a request went to %s", asked[0].Endpoint)
				}
			})
		}
	}
}

// A fault that is added to the provider needs a verdict.
func TestEveryFaultHasAVerdict(t *testing.T) {
	for _, fault := range authtest.Faults() {
		if !slices.ContainsFunc(verdicts, func(v struct {
			fault          authtest.Fault
			oidc, hub, old string
		},
		) bool {
			return v.fault == fault
		}) {
			t.Errorf("nothing is said about a provider that %s", fault)
		}
	}
}

// RP-12, RP-13: if the profile comes from userinfo, its subject must be that of
// the ID token; otherwise the sign-in fails.
func TestAProfileFromUserInfoIsOfTheSamePerson(t *testing.T) {
	for fault, want := range map[authtest.Fault]string{
		"":                                 welcome,
		authtest.UserInfoWrongSubject:      operator, // oidcc-client-test-userinfo-invalid-sub
		authtest.UserInfoWithoutSubject:    operator,
		authtest.UserInfoEmptySubject:      operator,
		authtest.UserInfoSigned:            welcome, // oidcc-client-test-userinfo-signed, which is verified
		authtest.UserInfoAggregatedClaims:  welcome, // oidcc-client-test-aggregated-claims
		authtest.UserInfoDistributedClaims: welcome, // oidcc-client-test-distributed-claims
		authtest.DiscoveryWithoutUserInfo:  operator,
	} {
		t.Run(string(fault), func(t *testing.T) {
			s := newSite(t, func(s *site) {
				p := s.idp.OIDC("acme")
				p.ProfileFromUserInfo = true
				s.Providers = []pintle.Provider{p}
			})
			s.idp.Break(fault)
			b := s.browser()
			r := b.attempt("acme")
			if got := r.errorCode(); got != want {
				t.Errorf("the browser is told %q, want %q", got, want)
			}
			if who := b.who(); (who == "Ada Lovelace") != (want == welcome) {
				t.Errorf("%s is signed in", who)
			}
			if asked := s.idp.Requests(authtest.DistributedClaimsEndpoint); len(asked) > 0 {
				t.Error("RP-14 claims were fetched from elsewhere")
			}
		})
	}
}

// RP-17, oidcc-client-test-signing-key-rotation: new keys are found.
func TestAProviderMayChangeItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		for range 3 {
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			s.idp.RotateKeys()
			time.Sleep(10 * time.Second) // unknown keys are looked for no more often
		}
	})
}

// BCP-21, ASVS-16.5.3: an endpoint that is down, floods or hangs ends the
// sign-in, in bounded time and memory.
func TestAnEndpointThatFailsEndsTheSignIn(t *testing.T) {
	endpoints := map[string][]authtest.Endpoint{
		"acme": {authtest.DiscoveryEndpoint, authtest.JWKSEndpoint, authtest.TokenEndpoint},
		"hub":  {authtest.TokenEndpoint, authtest.UserEndpoint},
		"old":  {authtest.OAuth1RequestTokenEndpoint, authtest.OAuth1AccessTokenEndpoint, authtest.OAuth1AccountEndpoint},
	}
	outages := []authtest.Outage{
		authtest.ServerError, authtest.Unavailable, authtest.Unauthorized, authtest.NotFound, authtest.RateLimited, authtest.HTMLBody,
		authtest.EmptyBody, authtest.CutOffJSON, authtest.JSONArray, authtest.JSONNull, authtest.NoContent, authtest.Drops,
		authtest.HugeBody, authtest.Hangs, authtest.Redirects,
	}
	for provider, list := range endpoints {
		for _, endpoint := range list {
			for _, outage := range outages {
				t.Run(provider+" "+string(endpoint)+" "+string(outage), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := newSite(t, threeProviders)
						s.idp.Break(authtest.At(endpoint, outage))
						b := s.browser()
						start := time.Now()
						r := b.attempt(provider)
						if code := r.errorCode(); code != operator && code != retry {
							t.Errorf("the browser is sent to %q", r.location())
						}
						if who := b.who(); who != "anonymous" {
							t.Errorf("%s is signed in", who)
						}
						if took := time.Since(start); took > 25*time.Second {
							t.Errorf("it takes %v", took)
						}
						if asked := s.idp.Requests(authtest.ElsewhereEndpoint); len(asked) > 0 {
							t.Error("the request was sent to where the endpoint redirects")
						}
						s.idp.Repair()
						time.Sleep(10 * time.Second) // before keys are asked for again
						b.attempt(provider).goesTo(s.url)
					})
				})
			}
		}
	}
}

// The provider is reached again a second after it failed for the first time, also
// where its metadata had been asked for in vain.
func TestAShortOutageIsForgottenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		s.idp.Break(authtest.At(authtest.DiscoveryEndpoint, authtest.ServerError))
		b.attempt("acme").fails("/auth/error", operator)
		s.idp.Repair()
		time.Sleep(time.Second)
		b.attempt("acme").goesTo(s.url)
	})
}

// SH-37, Q12: without a store, a mapping may leave the id out, but not everything.
func TestAnErrorInPlaceOfAProfileSignsNoUserIn(t *testing.T) {
	for fault, want := range map[authtest.Fault]string{authtest.ProfileError: retry, authtest.ProfileNullID: welcome} {
		s := newSite(t, threeProviders, func(s *site) { s.Store = nil })
		s.idp.Break(fault)
		b := s.browser()
		if got := b.attempt("hub").errorCode(); got != want {
			t.Errorf("a provider that %s: the browser is told %q, want %q", fault, got, want)
		}
		if session := b.session(); (session != nil) != (want == welcome) {
			t.Errorf("a provider that %s: the session is %v", fault, session)
		}
	}
}
