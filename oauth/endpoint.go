package oauth

// An Endpoint is a URL of a provider with the parameters always sent to it.
type Endpoint struct {
	// URL may be empty when the issuer of the provider is set: it is then discovered.
	URL string

	// Params are added to the query of URL. The parameter "scope" of an
	// authorization endpoint belongs here, in the service's own separator.
	Params map[string]string
}
