package oauth

// A SecurityProfile is a set of rules for clients and providers. The zero value is the
// rules of OAuth 2 and OpenID Connect.
type SecurityProfile int

// FAPI2 is the FAPI 2.0 Security Profile, with signed assertions and DPoP.
//
// https://openid.net/specs/fapi-security-profile-2_0-final.html
const FAPI2 SecurityProfile = 1
