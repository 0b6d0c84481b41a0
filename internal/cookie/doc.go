// Package cookie reads and writes cookies byte for byte as Auth.js does, so
// that each side can read what the other wrote.
//
// [net/http] cannot be used for this: it strips quotes, rejects bytes that
// Auth.js accepts, never percent-encodes a value and writes the attributes in
// another order.
//
// A configuration is checked once with [Check]; after that [Line], [ClearLine]
// and [WriteChunked] return the values of Set-Cookie headers, and [Get] and
// [ReadChunked] read values from a request. All functions may be called
// concurrently.
package cookie
