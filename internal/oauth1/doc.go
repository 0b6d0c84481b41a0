// Package oauth1 signs requests as a client of OAuth 1.0a, with HMAC-SHA1 and
// the protocol parameters in the Authorization header.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3
package oauth1
