// Package oauth describes how an OAuth, OpenID Connect or OpenID 2.0 provider is
// spoken to: the values in the fields of pintle.OAuth. It only has data; package
// pintle speaks the protocols.
package oauth
