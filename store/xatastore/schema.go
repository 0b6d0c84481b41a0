package xatastore

import (
	"encoding/json"
	"slices"
)

// A table of the database, in the form of a schema file of Xata.
type table struct {
	Name    string   `json:"name"`
	Columns []column `json:"columns"`
}

type column struct {
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Link   *columnLink `json:"link,omitempty"`
	Unique bool        `json:"unique,omitempty"`

	also      string // another type that will do, "" for none
	extension bool   // Auth.js's tables do not have it
	without   string // what comes of a column that is not unique, or of the other type
}

type columnLink struct {
	Table string `json:"table"`
}

// Schema returns the tables that a store with Options.Extended wants, as the
// file that `xata init --schema` takes. An empty prefix means "nextauth".
//
// They are those of Auth.js's adapter with the same columns and more: what has
// to be unique is, long texts have room, and there is a table for passkeys.
func Schema(prefix string) []byte {
	if prefix == "" {
		prefix = "nextauth"
	}
	text, err := json.MarshalIndent(map[string][]table{"tables": tables(prefix, true)}, "", "  ")
	if err != nil {
		panic("xatastore: " + err.Error()) // unreachable: the tables are texts
	}
	return append(text, '\n')
}

// tables returns what a store needs, in an order in which they can be made.
func tables(prefix string, extended bool) []table {
	n := namesOf(prefix)
	text := func(name string) column { return column{Name: name, Type: "string"} }
	long := func(name, without string) column {
		return column{Name: name, Type: "text", also: "string", without: without}
	}
	at := func(name string) column { return column{Name: name, Type: "datetime"} }
	to := func(name, table string) column {
		return column{Name: name, Type: "link", Link: &columnLink{table}}
	}
	unique := func(name, without string) column {
		return column{Name: name, Type: "string", Unique: true, without: without}
	}
	added := func(c column) column {
		c.extension = true
		return c
	}
	const short = "it ends at 2048 characters, and a longer one is refused"
	email := unique("email", "two sign-ins at once can make two users with one address")
	email.also = "email"

	list := []table{
		{n.users, []column{email, at("emailVerified"), text("name"), long("image", short), added(long("extra", short))}},
		{n.accounts, []column{
			to("user", n.users), text("type"), text("provider"), text("providerAccountId"),
			long("refresh_token", short), long("access_token", short),
			{Name: "expires_at", Type: "int"},
			text("token_type"),
			long("scope", short), long("id_token", short), long("session_state", short),
			added(text("verified_email")), added(long("oauth_token", short)), added(long("oauth_token_secret", short)), added(long("extra", short)),
		}},
		{n.verifications, []column{text("identifier"), text("token"), at("expires")}},
		{n.userAccounts, []column{to("user", n.users), to("account", n.accounts)}},
		{n.sessions, []column{
			unique("sessionToken", "each request of a signed-in browser may read the whole table"),
			at("expires"), to("user", n.users), added(at("created")), added(long("data", short)),
		}},
		{n.userSessions, []column{to("user", n.users), to("session", n.sessions)}},
		{n.passkeys, []column{
			added(unique("credentialID", "")), added(to("user", n.users)), added(text("providerAccountId")),
			added(long("credentialPublicKey", short)), added(column{Name: "counter", Type: "int"}),
			added(text("credentialDeviceType")), added(column{Name: "credentialBackedUp", Type: "bool"}), added(text("transports")),
			added(text("name")), added(at("created")), added(at("lastUsed")),
		}},
	}
	if extended {
		return list
	}
	for i := range list {
		list[i].Columns = slices.DeleteFunc(list[i].Columns, func(c column) bool { return c.extension })
	}
	return slices.DeleteFunc(list, func(t table) bool { return len(t.Columns) == 0 })
}
