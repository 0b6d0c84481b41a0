// Package cookie reads and writes cookies byte for byte as Auth.js does, so
// that either side can read what the other wrote.
//
// [net/http] cannot be used for this: it strips quotes, refuses bytes that
// Auth.js accepts, never percent-encodes a value and writes the attributes in
// another order.
//
// A configuration is checked once with [Check]; after that [Line], [ClearLine]
// and [WriteChunked] produce the values of Set-Cookie headers, and [Get] and
// [ReadChunked] take values out of a request. All functions may be called
// concurrently.
package cookie
