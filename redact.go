package pintle

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
)

// Hosts print the values that callbacks and events receive. Package fmt prints
// the fields of a struct, and so do handlers of log/slog: a log would have
// tokens, passwords and mail links, with which its readers can sign in. The
// types below have a LogValue for log/slog and a Format for every verb of
// package fmt.

// redacted writes the attributes of v in place of its fields.
func redacted(to fmt.State, name string, v slog.LogValuer) {
	_, _ = io.WriteString(to, "pintle."+name+v.LogValue().String()) // fmt has no place for an error
}

// logUser is the attribute of a user, who may be nil.
func logUser(key string, u *User) slog.Attr {
	if u == nil {
		return slog.Attr{} // which handlers ignore
	}
	return slog.String(key, u.ID)
}

// logPart is the attribute of a part that redacts itself, and may be nil.
func logPart[T any, P interface {
	*T
	slog.LogValuer
}](key string, part P) slog.Attr {
	if part == nil {
		return slog.Attr{}
	}
	return slog.Any(key, part.LogValue())
}

// group is a group without empty attributes.
func group(attrs ...slog.Attr) slog.Value {
	return slog.GroupValue(slices.DeleteFunc(attrs, func(a slog.Attr) bool { return a.Equal(slog.Attr{}) })...)
}

// Format prints what LogValue returns, whatever the verb.
func (a Account) Format(to fmt.State, _ rune) { redacted(to, "Account", a) }

// Format prints what LogValue returns, whatever the verb.
func (s Session) Format(to fmt.State, _ rune) { redacted(to, "Session", &s) }

// Format prints what String returns, whatever the verb.
func (s StoredSession) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, s.String()) }

// LogValue names the device without its handle and data.
func (d Device) LogValue() slog.Value {
	return group(slog.Bool("current", d.Current), slog.Time("created", d.Created), slog.Time("expires", d.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (d Device) Format(to fmt.State, _ rune) { redacted(to, "Device", d) }

// LogValue names the user and the account without what was typed.
func (s SignInAttempt) LogValue() slog.Value {
	return group(logUser("user", s.User), logPart("account", s.Account), logUser("linkTo", s.LinkTo),
		slog.Bool("verificationRequest", s.VerificationRequest))
}

// Format prints what LogValue returns, whatever the verb.
func (s SignInAttempt) Format(to fmt.State, _ rune) { redacted(to, "SignInAttempt", s) }

// LogValue names the user and the account without the request and its cookies.
func (p PendingSignIn) LogValue() slog.Value {
	return group(logUser("user", p.User), logPart("account", p.Account), slog.Time("expires", p.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (p PendingSignIn) Format(to fmt.State, _ rune) { redacted(to, "PendingSignIn", p) }

// LogValue names what caused the change, without claims.
func (t TokenChange) LogValue() slog.Value {
	return group(slog.String("trigger", string(t.Trigger)), logUser("user", t.User), logPart("account", t.Account))
}

// Format prints what LogValue returns, whatever the verb.
func (t TokenChange) Format(to fmt.State, _ rune) { redacted(to, "TokenChange", t) }

// LogValue names the session without claims and data.
func (v SessionView) LogValue() slog.Value {
	return group(slog.String("trigger", string(v.Trigger)), logPart("session", v.Session))
}

// Format prints what LogValue returns, whatever the verb.
func (v SessionView) Format(to fmt.State, _ rune) { redacted(to, "SessionView", v) }

// LogValue names the user and the account.
func (e SignInEvent) LogValue() slog.Value {
	return group(logUser("user", e.User), logPart("account", e.Account))
}

// Format prints what LogValue returns, whatever the verb.
func (e SignInEvent) Format(to fmt.State, _ rune) { redacted(to, "SignInEvent", e) }

// LogValue names the user without claims.
func (e SignOutEvent) LogValue() slog.Value {
	subject, _ := e.Claims["sub"].(string)
	return group(slog.String("sub", subject), logPart("session", e.Session))
}

// Format prints what LogValue returns, whatever the verb.
func (e SignOutEvent) Format(to fmt.State, _ rune) { redacted(to, "SignOutEvent", e) }

// LogValue names the user and the account.
func (e LinkAccountEvent) LogValue() slog.Value {
	return group(logUser("user", e.User), logPart("account", e.Account))
}

// Format prints what LogValue returns, whatever the verb.
func (e LinkAccountEvent) Format(to fmt.State, _ rune) { redacted(to, "LinkAccountEvent", e) }

// LogValue names the user without claims.
func (e SessionEvent) LogValue() slog.Value {
	subject, _ := e.Claims["sub"].(string)
	return group(slog.String("sub", subject))
}

// Format prints what LogValue returns, whatever the verb.
func (e SessionEvent) Format(to fmt.State, _ rune) { redacted(to, "SessionEvent", e) }

// LogValue describes the mail without its link.
func (m Message) LogValue() slog.Value {
	return group(slog.String("to", m.To), slog.String("subject", m.Subject), slog.String("provider", m.Provider), slog.Time("expires", m.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (m Message) Format(to fmt.State, _ rune) { redacted(to, "Message", m) }

// LogValue names the fields without what was typed into them.
func (s Submission) LogValue() slog.Value {
	return group(slog.Any("fields", slices.Sorted(maps.Keys(s.Fields))), slog.String("client", s.Client.String()))
}

// Format prints what LogValue returns, whatever the verb.
func (s Submission) Format(to fmt.State, _ rune) { redacted(to, "Submission", s) }

// LogValue names the address without the hash of the token.
func (v Verification) LogValue() slog.Value {
	return group(slog.String("identifier", v.Identifier), slog.Time("expires", v.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (v Verification) Format(to fmt.State, _ rune) { redacted(to, "Verification", v) }

// LogValue names the provider without its client secret.
func (p OAuth) LogValue() slog.Value {
	return group(slog.String("id", p.ID), slog.String("issuer", p.Issuer), slog.String("clientId", p.ClientID))
}

// Format prints what LogValue returns, whatever the verb.
func (p OAuth) Format(to fmt.State, _ rune) { redacted(to, "OAuth", p) }

// LogValue names the provider without its secrets.
func (p Email) LogValue() slog.Value {
	return group(slog.String("id", p.base().id), slog.String("from", p.From))
}

// Format prints what LogValue returns, whatever the verb.
func (p Email) Format(to fmt.State, _ rune) { redacted(to, "Email", p) }

// LogValue names the site without its secrets.
func (c Config) LogValue() slog.Value {
	ids := []string{}
	for _, p := range c.Providers {
		if !isNil(p) {
			ids = append(ids, p.base().id)
		}
	}
	return group(slog.String("url", c.URL), slog.String("basePath", c.BasePath), slog.Any("providers", ids))
}

// Format prints what LogValue returns, whatever the verb.
func (c Config) Format(to fmt.State, _ rune) { redacted(to, "Config", c) }
