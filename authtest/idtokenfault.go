package authtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"time"
)

// Faults of the claims in the ID token.
const (
	IDTokenWrongIssuer      Fault = "names another issuer in the ID token"
	IDTokenIssuerWithSlash  Fault = "adds a slash to the issuer in the ID token"
	IDTokenWithoutIssuer    Fault = "names no issuer in the ID token"
	IDTokenWrongAudience    Fault = "addresses the ID token to another client"
	IDTokenWithoutAudience  Fault = "sends an ID token without an audience"
	IDTokenEmptyAudience    Fault = "addresses the ID token to an empty list"
	IDTokenObjectAudience   Fault = "addresses the ID token to an object"
	IDTokenAudiencesWithout Fault = "addresses the ID token to several clients, not to this one"
	IDTokenAudienceList     Fault = "addresses the ID token to a list of this client only" // honest

	// IDTokenWithoutAuthorizedParty has a second audience, so that azp
	// would be needed.
	IDTokenWithoutAuthorizedParty Fault = "addresses the ID token to a second client and names no authorized party"
	IDTokenForeignAuthorizedParty Fault = "names another client as the authorized party"

	IDTokenExpired          Fault = "sends an ID token that expired two minutes ago"
	IDTokenWithoutExpiry    Fault = "sends an ID token that never expires"
	IDTokenTextExpiry       Fault = "sends the expiry of the ID token as text"
	IDTokenFutureNotBefore  Fault = "sends an ID token that is not valid until tomorrow"
	IDTokenFutureIssuedAt   Fault = "sends an ID token issued ten minutes from now"
	IDTokenOldIssuedAt      Fault = "sends an ID token issued yesterday"
	IDTokenWithoutIssuedAt  Fault = "sends an ID token without the time of issue"
	IDTokenFractionalTimes  Fault = "sends times with a fraction in the ID token" // honest
	IDTokenWithoutNonce     Fault = "drops the nonce"
	IDTokenWrongNonce       Fault = "changes the nonce"
	IDTokenWithoutSubject   Fault = "names no subject in the ID token"
	IDTokenEmptySubject     Fault = "names an empty subject in the ID token"
	IDTokenNumericSubject   Fault = "names a subject that is a number in the ID token"
	IDTokenWrongAccessHash  Fault = "sends an at_hash of another access token"
	IDTokenOldAuthTime      Fault = "reports that the user signed in there yesterday"
	IDTokenWithoutAuthTime  Fault = "does not report when the user signed in there"
	IDTokenWeakContextClass Fault = "reports that the user signed in with a weaker method than requested"

	// RemembersItsUser is a provider with a session in which the user signed in 24 hours
	// ago. The user signs in anew for prompt=login, and for a max_age of less than a day.
	RemembersItsUser Fault = "remembers its user, who signed in there yesterday" // honest

	// These two leave the first ID token alone and spoil the ones that come
	// with a refresh.
	RefreshedIDTokenWrongIssuer  Fault = "names another issuer in a refreshed ID token"
	RefreshedIDTokenWrongSubject Fault = "names another subject in a refreshed ID token"
)

// Faults of the signature of the ID token.
const (
	IDTokenUnsigned         Fault = "does not sign the ID token, alg none"
	IDTokenUnsignedOddCase  Fault = "does not sign the ID token, alg nOnE"
	IDTokenEmptySignature   Fault = "leaves out the signature of the ID token"
	IDTokenWrongSignature   Fault = "changes the signature of the ID token"
	IDTokenForeignKey       Fault = "signs with another key under the id of its key"
	IDTokenUnknownKey       Fault = "signs with a key it does not show"
	IDTokenEmbeddedKey      Fault = "signs with a key it does not show and sends that key along"
	IDTokenWithoutKeyID     Fault = "does not name the key it signed with" // honest
	IDTokenCriticalHeader   Fault = "sends an unknown critical header"
	IDTokenHS256PublicKey   Fault = "signs with HMAC, using the public key as the secret"
	IDTokenHS256ClientKey   Fault = "signs with HMAC, using the client secret"
	IDTokenForeignAlgorithm Fault = "claims an algorithm it did not sign with"
)

var idTokenChanges = []change[*idToken]{
	{IDTokenWrongIssuer, claim("iss", foreignIssuer)},
	{IDTokenIssuerWithSlash, func(t *idToken) { t.claims["iss"] = t.claims["iss"].(string) + "/" }},
	{IDTokenWithoutIssuer, withoutClaim("iss")},
	{IDTokenWrongAudience, claim("aud", "another-client")},
	{IDTokenWithoutAudience, withoutClaim("aud")},
	{IDTokenEmptyAudience, claim("aud", []string{})},
	{IDTokenObjectAudience, func(t *idToken) { t.claims["aud"] = map[string]any{t.client.ID: true} }},
	{IDTokenAudiencesWithout, claim("aud", []string{"another-client", "third-client"})},
	{IDTokenAudienceList, func(t *idToken) { t.claims["aud"] = []string{t.client.ID} }},
	{IDTokenWithoutAuthorizedParty, func(t *idToken) { t.claims["aud"] = []string{t.client.ID, "another-client"} }},
	{IDTokenForeignAuthorizedParty, func(t *idToken) {
		t.claims["aud"] = []string{t.client.ID, "another-client"}
		t.claims["azp"] = "another-client"
	}},
	{IDTokenExpired, func(t *idToken) {
		t.claims["iat"] = fromNow(-time.Hour)
		t.claims["exp"] = fromNow(-2 * time.Minute)
	}},
	{IDTokenWithoutExpiry, withoutClaim("exp")},
	{IDTokenTextExpiry, claim("exp", "9999999999")},
	{IDTokenFutureNotBefore, func(t *idToken) { t.claims["nbf"] = fromNow(24 * time.Hour) }},
	{IDTokenFutureIssuedAt, func(t *idToken) { t.claims["iat"] = fromNow(10 * time.Minute) }},
	{IDTokenOldIssuedAt, func(t *idToken) { t.claims["iat"] = fromNow(-24 * time.Hour) }},
	{IDTokenWithoutIssuedAt, withoutClaim("iat")},
	{IDTokenFractionalTimes, func(t *idToken) {
		t.claims["iat"] = float64(fromNow(0)) + 0.25
		t.claims["exp"] = float64(fromNow(time.Hour)) + 0.75
	}},
	{IDTokenWithoutNonce, withoutClaim("nonce")},
	{IDTokenWrongNonce, claim("nonce", "another-nonce")},
	{IDTokenWithoutSubject, withoutClaim("sub")},
	{IDTokenEmptySubject, claim("sub", "")},
	{IDTokenNumericSubject, claim("sub", 12345)},
	{IDTokenWrongAccessHash, func(t *idToken) { t.claims["at_hash"] = accessTokenHash(t.key.alg, "another") }},
	{IDTokenOldAuthTime, func(t *idToken) { t.claims["auth_time"] = fromNow(-24 * time.Hour) }},
	{IDTokenWithoutAuthTime, withoutClaim("auth_time")},
	{IDTokenWeakContextClass, claim("acr", "0")},
	{RefreshedIDTokenWrongIssuer, whenRefreshed(claim("iss", foreignIssuer))},
	{RefreshedIDTokenWrongSubject, whenRefreshed(claim("sub", "another-subject"))},

	{IDTokenUnsigned, unsigned("none")},
	{IDTokenUnsignedOddCase, unsigned("nOnE")},
	{IDTokenEmptySignature, func(t *idToken) { t.sign = func([]byte) []byte { return nil } }},
	{IDTokenWrongSignature, func(t *idToken) {
		t.sign = func(input []byte) []byte {
			signature := t.key.sign(input)
			signature[0] ^= 0xff
			return signature
		}
	}},
	{IDTokenForeignKey, func(t *idToken) { t.sign = t.foreign().sign }},
	{IDTokenUnknownKey, func(t *idToken) {
		t.header["kid"] = t.foreign().id
		t.sign = t.foreign().sign
	}},
	{IDTokenEmbeddedKey, func(t *idToken) {
		k := t.foreign()
		t.header["kid"], t.header["jwk"] = k.id, k.public()
		t.sign = k.sign
	}},
	{IDTokenWithoutKeyID, func(t *idToken) { delete(t.header, "kid") }},
	{IDTokenCriticalHeader, func(t *idToken) {
		t.header["crit"] = []string{"https://example.test/must-understand"}
		t.header["https://example.test/must-understand"] = true
	}},
	{IDTokenHS256PublicKey, func(t *idToken) { t.hmac(t.key.publicPEM()) }},
	{IDTokenHS256ClientKey, func(t *idToken) { t.hmac([]byte(t.client.Secret)) }},
	{IDTokenForeignAlgorithm, func(t *idToken) { t.header["alg"] = "PS512" }},
}

func claim(name string, value any) func(*idToken) {
	return func(t *idToken) { t.claims[name] = value }
}

func withoutClaim(name string) func(*idToken) {
	return func(t *idToken) { delete(t.claims, name) }
}

func whenRefreshed(apply func(*idToken)) func(*idToken) {
	return func(t *idToken) {
		if t.refreshed {
			apply(t)
		}
	}
}

func unsigned(alg string) func(*idToken) {
	return func(t *idToken) {
		t.header["alg"] = alg
		delete(t.header, "kid")
		t.sign = func([]byte) []byte { return nil }
	}
}

// hmac signs with a secret instead of the private key.
func (t *idToken) hmac(secret []byte) {
	t.header["alg"] = "HS256"
	t.sign = func(input []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(input)
		return mac.Sum(nil)
	}
}

// publicPEM is the form in which libraries that fall for the confusion of
// algorithms hold the key.
//
// https://www.rfc-editor.org/rfc/rfc8725#section-2.1
func (k signingKey) publicPEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		panic("authtest: encode our own public key: " + err.Error()) // unreachable
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func fromNow(d time.Duration) int64 { return time.Now().Add(d).Unix() }
