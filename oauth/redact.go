package oauth

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
)

// Functions of [oauth.Quirks] print what they receive. Package fmt prints the fields of
// a struct, and so do handlers of log/slog: a log would have tokens and client
// secrets. The types below have a LogValue for log/slog and a Format for every
// verb of package fmt.

// redacted writes the attributes of v in place of its fields.
func redacted(to fmt.State, name string, v slog.LogValuer) {
	_, _ = io.WriteString(to, "oauth."+name+v.LogValue().String()) // fmt has no place for an error
}

// LogValue names the key without its private half.
func (k ClientKey) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", k.ID), slog.String("algorithm", string(k.Algorithm)))
}

// Format prints what LogValue returns, whatever the verb.
func (k ClientKey) Format(to fmt.State, _ rune) { redacted(to, "ClientKey", k) }

// LogValue names the endpoint without the credentials that it is sent.
func (r TokenRequest) LogValue() slog.Value { return slog.GroupValue(slog.String("url", r.URL)) }

// Format prints what LogValue returns, whatever the verb.
func (r TokenRequest) Format(to fmt.State, _ rune) { redacted(to, "TokenRequest", r) }

// LogValue names the status without the tokens.
func (r TokenResponse) LogValue() slog.Value { return slog.GroupValue(slog.Int("status", r.Status)) }

// Format prints what LogValue returns, whatever the verb.
func (r TokenResponse) Format(to fmt.State, _ rune) { redacted(to, "TokenResponse", r) }

// LogValue names the members of the profile without the tokens and its values.
func (a Answer) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("profile", slices.Sorted(maps.Keys(a.Profile))))
}

// Format prints what LogValue returns, whatever the verb.
func (a Answer) Format(to fmt.State, _ rune) { redacted(to, "Answer", a) }
