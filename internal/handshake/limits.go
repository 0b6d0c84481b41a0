package handshake

import "time"

// Limits on the resources that a provider or a browser can consume.
const (
	defaultTimeout = 10 * time.Second // one request to a provider, body included

	maxUnderWay = 64          // requests to one provider at a time
	placeWait   = time.Second // for one of them to end

	maxBody             = 1 << 20  // any response; a JWKS with long certificate chains has some 100 KiB
	maxIDToken          = 64 << 10 // Entra ID tokens with groups reach 10 KiB
	maxParam            = 8 << 10  // one parameter of a callback; codes of Entra ID have about 2 KiB
	maxAuthorizationURL = 16 << 10 // servers reject longer request lines
	maxKeys             = 64       // keys of a JWKS that are read
	maxMetadataMembers  = 200      // of a discovery document; large ones have some 60
	maxMetadataText     = 2 << 10  // bytes of one text in it
	maxPublicURL        = 512      // bytes of an address that a customer chose, directly or by metadata
	maxErrorText        = 300      // bytes of a provider's text repeated in an error

	metadataAge   = time.Hour       // a discovery document is fresh this long
	metadataStale = 24 * time.Hour  // and serves this long while the provider does not answer
	minKeysAge    = 5 * time.Minute // keys are fresh as long as their Cache-Control says: at least this long
	keysAge       = time.Hour       // and at most this long
	keysStale     = 4 * time.Hour   // keys serve this long while the provider does not answer

	slowFetch  = 3 * time.Second // from a request for metadata or keys to the use of an older copy, or to another request
	maxFetches = 4               // requests for one document at a time

	maxTries = 8 // keys that are tried for one signature

	keysPause       = 10 * time.Second // between two fetches forced by unknown key ids
	failurePause    = time.Second      // from the first failure to the next fetch
	maxFailurePause = time.Minute      // each failure doubles the pause, up to this
	warnPause       = 10 * time.Minute // between two warnings that an older copy serves

	maxUnsolicited   = 16 << 10    // a token that anyone can send
	unsolicitedTries = 2           // keys that are tried for its signature
	unsolicitedPause = time.Minute // between two fetches forced by the key ids of such tokens
	unsolicitedYoung = time.Minute // age of the keys before such a fetch

	clockSkew     = 30 * time.Second // between our clock and the provider's
	maxClockSkew  = 2 * time.Minute  // that a configuration may have
	fapiClockSkew = time.Minute      // that one with FAPI 2.0 may have
	assertionLife = 60 * time.Second // of a client assertion; RFC 7523 recommends a short one

	maxAssertion     = 16 << 10         // bytes of an assertion that was made elsewhere
	assertionFileAge = 5 * time.Second  // a file with an assertion is read once in this time
	assertionTimeout = 10 * time.Second // for a function to make an assertion

	openIDNonceAge = 5 * time.Minute // of an OpenID 2.0 assertion, and how long its nonce is remembered
	maxNonces      = 10000           // OpenID 2.0 nonces remembered at once
)
