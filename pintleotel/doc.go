// Package pintleotel has traces and metrics of sign-ins and sessions for OpenTelemetry. An
// application that has set up OpenTelemetry adds one line:
//
//	auth, err := pintle.New(pintle.Config{
//		Observer: pintleotel.New(pintleotel.Options{}),
//		…
//	})
//
// There is a span for each request to a route, and below it one for each request to a
// provider, each call of the store, the shared state and the revocation list, and each
// mail. The metrics are histograms of durations, whose counts are the rates, and the
// counters [SignIns] and [Throttled]. docs/observability.md lists all of them with their
// attributes. The directories grafana and prometheus have a dashboard and alert rules.
//
// No span and no metric has an address, an id of a user, a token, an IP address, a URL or the
// text of an error. The values of all attributes come from the configuration and from lists
// of this module, so that clients cannot add time series. Attributes are those of
// the semantic conventions 1.43.0 where these have one: http.*, db.*, server.* and
// error.type. url.full is left out: it may hold what a provider calls a user.
package pintleotel
