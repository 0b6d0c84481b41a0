// Package origin answers two questions every redirect and every cookie name
// depends on: at which origin the browser sees this application, and whether a
// URL a stranger offers leads back to it.
//
// The first is a [Resolver]'s: the configured origin when there is one, else
// what the request says, with forwarded headers read only on demand and every
// host checked before it is believed.
//
// The second is [Redirect]'s. It reads a URL as a browser does and not as
// [net/url] does, and what it returns is put together from the origin and a
// normalised path, so that no browser can read it in another way (SH-12, W-31).
package origin
