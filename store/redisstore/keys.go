package redisstore

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
)

// keys makes the names of keys. Several families share a prefix, user:, in the
// layout of the adapter; the comment of each function states how its keys differ
// from the others.
type keys Options

func newKeys(o Options) keys {
	base := func(prefix, byDefault string) string { return o.BaseKeyPrefix + cmp.Or(prefix, byDefault) }
	return keys{
		UserKeyPrefix:              base(o.UserKeyPrefix, "user:"),
		EmailKeyPrefix:             base(o.EmailKeyPrefix, "user:email:"),
		AccountKeyPrefix:           base(o.AccountKeyPrefix, "user:account:"),
		AccountByUserIDPrefix:      base(o.AccountByUserIDPrefix, "user:account:by-user-id:"),
		SessionKeyPrefix:           base(o.SessionKeyPrefix, "user:session:"),
		SessionByUserIDKeyPrefix:   base(o.SessionByUserIDKeyPrefix, "user:session:by-user-id:"),
		VerificationTokenKeyPrefix: base(o.VerificationTokenKeyPrefix, "user:token:"),
		AuthenticatorKeyPrefix:     base(o.AuthenticatorKeyPrefix, "authenticator:"),
		AuthenticatorUserKeyPrefix: base(o.AuthenticatorUserKeyPrefix, "authenticator:by-user-id:"),
		AccountSetKeyPrefix:        base(o.AccountSetKeyPrefix, "user:accounts:"),
		SessionSetKeyPrefix:        base(o.SessionSetKeyPrefix, "user:sessions:"),
		UnlinkingKeyPrefix:         base(o.UnlinkingKeyPrefix, "user:unlinking:"),
		AccountStoreKeyPrefix:      base(o.AccountStoreKeyPrefix, "pintle:"),
	}
}

const byUserID = "by-user-id"

// isUserID reports whether id can be a user's. One with a colon would be a key
// of another family: the session of a token, the owner of an address.
func isUserID(id string) bool { return id != "" && !strings.Contains(id, ":") }

func (k keys) user(id string) string { return k.UserKeyPrefix + id }

func (k keys) email(address string) string { return k.EmailKeyPrefix + address }

func (k keys) accountSet(userID string) string  { return k.AccountSetKeyPrefix + userID }
func (k keys) removals(userID string) string    { return k.UnlinkingKeyPrefix + userID }
func (k keys) lastAccount(userID string) string { return k.AccountByUserIDPrefix + userID }

// A colon in the name of a provider would make the border to the account id
// ambiguous, and with it whose account a key holds.
var inProvider = strings.NewReplacer("%", "%25", ":", "%3A")

func (k keys) account(provider, accountID string) string {
	if provider == byUserID {
		provider = "%62y-user-id"
	} else {
		provider = inProvider.Replace(provider)
	}
	return k.AccountKeyPrefix + provider + ":" + accountID
}

// session returns the key of a session. No session has a token that begins
// like the keys of a user's last session.
func (k keys) session(token string) (key string, ok bool) {
	return k.SessionKeyPrefix + token, token != "" && !strings.HasPrefix(token, byUserID)
}

func (k keys) sessionSet(userID string) string  { return k.SessionSetKeyPrefix + userID }
func (k keys) lastSession(userID string) string { return k.SessionByUserIDKeyPrefix + userID }

// verification returns the key of a mail link. Hashed tokens have no colons,
// so the last colon is the border.
func (k keys) verification(identifier, token string) (key string, ok bool) {
	return k.VerificationTokenKeyPrefix + identifier + ":" + token, !strings.Contains(token, ":")
}

func (k keys) passkeys(userID string) string { return k.AuthenticatorUserKeyPrefix + userID }

func (k keys) state(userID string) string   { return k.AccountStoreKeyPrefix + "state:" + userID }
func (k keys) factors(userID string) string { return k.AccountStoreKeyPrefix + "factors:" + userID }
func (k keys) flows(subject string) string  { return k.AccountStoreKeyPrefix + "flows:" + subject }
func (k keys) flow(name string) string      { return k.AccountStoreKeyPrefix + "flow:" + name }

// events returns the keys of the events of a user. Braces in the id would end the tag.
func (k keys) events(userID string) eventList { return k.eventList(url.QueryEscape(userID)) }

// allEvents returns the keys of all events. No id of a user is escaped with an asterisk or a
// number sign.
func (k keys) allEvents() eventList { return k.eventList("*") }

// subjectEvents returns the keys of the events of a hash.
func (k keys) subjectEvents(subject string) eventList { return k.eventList("#" + subject) }

func (k keys) eventList(of string) eventList {
	key := k.AccountStoreKeyPrefix + "activity:{" + of + "}"
	return eventList{rows: key, at: key + ":at", ends: key + ":ends"}
}

// users is the sorted set of all users.
func (k keys) users() string { return k.AccountStoreKeyPrefix + "users" }

// factor returns the field of a factor in the hash of its user. The kind has no
// colon in it, so the first colon is the border.
func (k keys) factor(kind, id string) string { return kindField(kind) + ":" + id }

func kindField(kind string) string { return inProvider.Replace(kind) }

var slashes = regexp.MustCompile(`:+`)

// passkey returns the key of a passkey as unstorage changes it: slashes become
// colons, runs of colons one, and those at the ends go. An invalid credential id
// gets a key that no valid one has.
func (k keys) passkey(credentialID string) string {
	if _, err := base64.StdEncoding.Strict().DecodeString(credentialID); err != nil {
		return k.AuthenticatorKeyPrefix + "%" + url.QueryEscape(credentialID)
	}
	key := k.AuthenticatorKeyPrefix + strings.ReplaceAll(credentialID, "/", ":")
	return strings.Trim(slashes.ReplaceAllString(key, ":"), ":")
}
