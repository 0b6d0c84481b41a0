package oauth

// A Check protects a flow against the response of another flow, which an
// attacker could have a victim's browser open.
type Check string

// The checks that the field Checks of a provider lists.
const (
	// CheckPKCE binds the code to this browser's flow with an S256 challenge, at
	// services that compare it.
	//
	// https://www.rfc-editor.org/rfc/rfc7636
	CheckPKCE Check = "pkce"

	// CheckState binds the response to this browser. Every flow has a state, listed
	// or not, because some services accept any code verifier. Listing it
	// matters if Auth.js serves the same site: a flow begun there is then
	// rejected unless it has a state, too.
	//
	// https://www.rfc-editor.org/rfc/rfc6749#section-10.12
	CheckState Check = "state"

	// CheckNonce binds the ID token to this browser's flow.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#NonceNotes
	CheckNonce Check = "nonce"

	// CheckNone, alone in the list, turns PKCE and the nonce off, for services
	// that reject them. The state stays. A flow that began at Auth.js with its
	// "none" leaves no proof in the browser, and cannot be completed here: the
	// user signs in again.
	//
	// For a service that does not return the state parameter, [oauth.Quirks.Leave] and
	// [oauth.Quirks.Return] can carry the state in another place, such as the callback
	// URL.
	CheckNone Check = "none"
)
