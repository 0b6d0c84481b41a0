// Package provider is the catalogue of services that people can sign in with.
//
//	pintle.Config{Providers: []pintle.Provider{
//		provider.GitHub(provider.Options{}),
//		provider.Google(provider.Options{}),
//	}}
//
// Every function returns a provider made of facts: addresses, scopes, what the
// service deviates in. Client id and secret that are not given come from the
// environment, as AUTH_GITHUB_ID and AUTH_GITHUB_SECRET. What is registered at
// the service is the callback URL, https://example.com/auth/callback/github for
// an application at https://example.com.
//
// The result is a plain [pintle.OAuth], whose fields may be changed before it is
// given to [pintle.New]:
//
//	github := provider.GitHub(provider.Options{})
//	github.AllowDangerousEmailAccountLinking = true
//
// A service that is not here needs no package: with an OpenID Connect issuer use
// [OpenIDConnect], and otherwise fill in a [pintle.OAuth].
//
// A provider has an EmailVerified function if the documentation of its service
// says which addresses the service has checked. Without one, no address of the
// service counts as verified.
package provider
