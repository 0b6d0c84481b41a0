// Package origin answers two questions every redirect and every cookie name
// depends on: at which origin the browser sees this application, and whether a
// URL from a request leads back to it.
//
// A [Resolver] answers the first: the configured origin if there is one, else
// that of the request. Forwarded headers are read only on demand, and every
// host is checked before it is used.
//
// [Redirect] answers the second. It reads a URL as a browser does and not as
// [net/url] does, and what it returns is put together from the origin and a
// normalised path, so that no browser can read it in another way (SH-12, W-31).
package origin
