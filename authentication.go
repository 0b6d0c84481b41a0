package pintle

import (
	"time"

	"github.com/pintleauth/pintle/internal/wire"
)

// An Authentication says when and how the user of a session proved who they are.
type Authentication struct {
	// Time is when; zero where it is not recorded. It is when the request came that
	// completed the sign-in here. A provider may have asked its user earlier.
	Time time.Time

	// Provider is the id of the provider; empty where it is not recorded.
	Provider string

	// Methods are the methods, as values of the amr claim (RFC 8176), where the RFC
	// has one; nil where not recorded. They are "pwd" for [Credentials], and "mail"
	// for [Email]. For a passkey they are "pop" and "user", and "mfa" if the
	// authenticator verified its user, by a PIN or a biometric.
	//
	// For [OAuth] they are "fed", and the values of the claim amr in the verified ID
	// token, each after "fed:". What a provider reports can therefore not pass for
	// what this package has checked. At most eight values of at most 32 bytes are
	// kept.
	Methods []string
}

// The claims of a token, and the members of [StoredSession.Data], that record an
// [Authentication] beside claimSignedIn and [StoredSession.Created].
//
// Applications of Auth.js often keep the provider in a claim "provider".
//
// https://www.rfc-editor.org/rfc/rfc8176#section-1
const (
	claimMethods  = "amr"
	claimProvider = "auth_provider"
)

// reservedClaims are those in which [NewClaim] keeps no data of the host: the
// registered claims, and those that record or will record how a session began.
//
// https://www.rfc-editor.org/rfc/rfc7519#section-4.1
var reservedClaims = []string{
	"", "sub", "exp", "iat", "nbf", "jti", "iss", "aud",
	claimSignedIn, claimStarted, claimSession, claimMethods, claimProvider, "acr", "act", "proofs", "roles",
}

// The methods of the providers of this package.
const (
	methodPassword = "pwd"
	methodMail     = "mail" // not registered
	methodProvider = "fed"  // not registered
	methodKey      = "pop"
	methodPresence = "user"
	methodMultiple = "mfa"
)

// Bounds of what a provider or a token may report.
const (
	maxMethods    = 16
	maxMethod     = 64
	maxReported   = 8
	maxReport     = 32
	maxProviderID = 256
)

// reportedMethods returns the methods of a sign-in with a provider, of which claim
// is the claim amr of the ID token. Values that are too long or no text are left
// out, and so are values after the eighth.
func reportedMethods(claim any) []string {
	values, _ := claim.([]any)
	methods := []string{methodProvider}
	for _, value := range values {
		if method, ok := value.(string); ok && method != "" && len(method) <= maxReport && len(methods) <= maxReported {
			methods = append(methods, methodProvider+":"+method)
		}
	}
	return methods
}

// recordedProvider and recordedMethods read what a session records. Another server
// that shares tokens or tables may have written anything: what this package does
// not write counts as not recorded.
func recordedProvider(claim any) (id string, ok bool) {
	id, ok = claim.(string)
	return id, ok && len(id) <= maxProviderID
}

func recordedMethods(claim any) []string {
	values, _ := claim.([]any)
	if len(values) > maxMethods {
		return nil
	}
	var methods []string
	for _, value := range values {
		method, ok := value.(string)
		if !ok || method == "" || len(method) > maxMethod {
			return nil
		}
		methods = append(methods, method)
	}
	return methods
}

// recordedTime reads a time of a token. It is zero if the time is not a number of
// Unix seconds or has not come yet.
func recordedTime(claim any) time.Time {
	seconds, ok := wire.Seconds(claim)
	if at := time.Unix(seconds, 0); ok && seconds > 0 && !at.After(time.Now().Add(clockTolerance)) {
		return at
	}
	return time.Time{}
}

// encodable returns the methods in the form in which encoding/json decodes them,
// so that they can be compared with those of a token.
func encodable(methods []string) any {
	if len(methods) == 0 {
		return nil
	}
	values := make([]any, len(methods))
	for i, method := range methods {
		values[i] = method
	}
	return values
}
