package authtest

import "strings"

// Faults of the token endpoint.
const (
	// PKCEIgnored accepts any verifier or no verifier, so that a test can check
	// whether the client detects that.
	PKCEIgnored Fault = "does not check PKCE"
	// CodeReplayAllowed redeems a code any number of times.
	CodeReplayAllowed Fault = "lets a code be used twice"
	// RefreshTokenReuseAllowed redeems refresh tokens it has replaced.
	RefreshTokenReuseAllowed Fault = "lets a refresh token be used twice"

	TokenInvalidGrant       Fault = "rejects every code and refresh token"
	TokenInvalidClient      Fault = "rejects every client"
	TokenHostileError       Fault = "describes a token error in HTML"
	TokenErrorWithStatus200 Fault = "reports token errors with status 200"
	TokenFormEncoded        Fault = "answers token requests in form encoding"

	AccessTokenMissing  Fault = "sends no access token"
	AccessTokenEmpty    Fault = "sends an empty access token"
	AccessTokenObject   Fault = "sends an access token that is not text"
	TokenTypeMissing    Fault = "sends no token type"
	TokenTypeOdd        Fault = "sends an unknown token type"
	TokenTypeUppercase  Fault = "sends the token type in capitals"
	ExpiresInString     Fault = "sends the life of the token as text"
	ExpiresInNegative   Fault = "sends a negative life of the token"
	ExpiresInNonsense   Fault = "sends a life of the token that is not a number"
	ExpiresInHuge       Fault = "sends a life of the token that overflows 64 bits"
	ExpiresInMissing    Fault = "does not report how long the token lives"
	ScopeList           Fault = "sends the scope as a list"
	RefreshTokenMissing Fault = "sends no refresh token"
	RefreshTokenNumber  Fault = "sends a refresh token that is not text"
)

var tokenErrorChanges = []change[**protocolError]{
	{TokenInvalidGrant, refuseWith("invalid_grant", "the grant is no longer valid")},
	{TokenInvalidClient, refuseWith("invalid_client", "the client is not known here")},
	{TokenHostileError, refuseWith("<script>alert(1)</script>", `<img src=x onerror="alert(1)">`)},
}

func refuseWith(code, description string) func(**protocolError) {
	return func(e **protocolError) { *e = &protocolError{code, description} }
}

var tokenChanges = []change[map[string]any]{
	{AccessTokenMissing, drop("access_token")},
	{AccessTokenEmpty, set("access_token", "")},
	{AccessTokenObject, set("access_token", map[string]any{"value": "at"})},
	{TokenTypeMissing, drop("token_type")},
	{TokenTypeOdd, set("token_type", "mac")},
	{TokenTypeUppercase, set("token_type", "BEARER")},
	{ExpiresInString, set("expires_in", "3600")},
	{ExpiresInNegative, set("expires_in", -5)},
	{ExpiresInNonsense, set("expires_in", "soon")},
	{ExpiresInHuge, set("expires_in", 1e300)},
	{ExpiresInMissing, drop("expires_in")},
	{ScopeList, func(b map[string]any) {
		scope, _ := b["scope"].(string)
		b["scope"] = strings.Fields(scope)
	}},
	{RefreshTokenMissing, drop("refresh_token")},
	{RefreshTokenNumber, set("refresh_token", 5)},
}

// Faults of the place where the ID token should be.
const (
	IDTokenMissing   Fault = "sends no ID token"
	IDTokenEmpty     Fault = "sends an empty ID token"
	IDTokenNotText   Fault = "sends an ID token that is not text"
	IDTokenGarbage   Fault = "sends an ID token that is no JWT"
	IDTokenNotJSON   Fault = "sends an ID token without JSON inside"
	IDTokenEncrypted Fault = "encrypts the ID token for another recipient"
	// IDTokenManyDots costs a careless parser memory: a million parts.
	IDTokenManyDots Fault = "sends an ID token of a million dots"
)

var idTokenForms = []change[map[string]any]{
	{IDTokenMissing, drop("id_token")},
	{IDTokenEmpty, set("id_token", "")},
	{IDTokenNotText, set("id_token", map[string]any{"jwt": true})},
	{IDTokenGarbage, set("id_token", "not.a-jwt")},
	{IDTokenNotJSON, set("id_token", "bm90.anNvbg.c2ln")},
	{IDTokenEncrypted, set("id_token", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..a.b.c")},
	{IDTokenManyDots, func(b map[string]any) { b["id_token"] = strings.Repeat(".", 1_000_000) }},
}
