// Package provider is the catalogue of services for sign-in.
//
//	pintle.Config{Providers: []pintle.Provider{
//		provider.GitHub(provider.Options{}),
//		provider.Google(provider.Options{}),
//	}}
//
// Every function returns a provider made of facts: addresses, scopes, deviations
// of the service from the standards. Client id and secret that are not set come
// from the environment, as AUTH_GITHUB_ID and AUTH_GITHUB_SECRET. Register the
// callback URL at the service, https://example.com/auth/callback/github for an
// application at https://example.com.
//
// The result is a plain [pintle.OAuth], whose fields may be changed before it is
// passed to [pintle.New]:
//
//	github := provider.GitHub(provider.Options{})
//	github.DangerouslyLinkByEmail = true
//
// For a service that is not here use [OpenIDConnect] if it has an OpenID Connect
// issuer, and otherwise fill in a [pintle.OAuth].
//
// A provider has an EmailVerified function if the documentation of its service
// states which addresses the service has verified. Without one, no address of the
// service counts as verified.
package provider
