package oauth

// DPoP says whether access tokens are bound to a key of this application, so that a stolen
// one is of no use. The zero value is bearer tokens.
//
// https://www.rfc-editor.org/rfc/rfc9449
type DPoP int

// The values beside zero.
const (
	// DPoPRequired sends a proof of the key with every request, and accepts only
	// tokens that are bound to it.
	DPoPRequired DPoP = iota + 1

	// DPoPWhenOffered does so where the metadata of the provider says that it can, and
	// accepts bearer tokens, too.
	DPoPWhenOffered
)
