package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A shownUser is a user in JSON. It has no secret.
type shownUser struct {
	ID            string     `json:"id"`
	Email         string     `json:"email,omitempty"`
	EmailVerified *time.Time `json:"emailVerified,omitempty"`
	Name          string     `json:"name,omitempty"`
	Created       *time.Time `json:"created,omitempty"`
	Roles         []string   `json:"roles,omitempty"`
	BannedUntil   *time.Time `json:"bannedUntil,omitempty"`
	BanReason     string     `json:"banReason,omitempty"`
	DeleteAt      *time.Time `json:"deleteAt,omitempty"`
	Must          []string   `json:"must,omitempty"`
	Factors       []string   `json:"factors,omitempty"`
	Accounts      []string   `json:"accounts,omitempty"`
}

// known is a time, or nil for none.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func shown(u *pintle.User, s *accountstore.State) *shownUser {
	return &shownUser{
		ID: u.ID, Email: u.Email, EmailVerified: known(u.EmailVerified), Name: u.Name, Roles: s.Roles,
		BannedUntil: known(s.BannedUntil), BanReason: s.BanReason, DeleteAt: known(s.DeleteAt), Must: strings.Fields(s.Must),
	}
}

func showUser(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("users show", flag.ContinueOnError)
	var o usersFlags
	o.register(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	if err := withoutDatabase(flags.Args()); err != nil {
		return err
	}
	switch {
	case flags.NArg() == 0:
		return usagef("which user? Give one id or address, after the options")
	case flags.NArg() > 1:
		return usagef("which user? Give one id or address, after the options: %s", shownArguments(flags.Args()))
	}
	store, db, err := o.open()
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	u, err := findUser(ctx, store, flags.Arg(0))
	if err != nil {
		return err
	}
	rows := store.AccountStore()
	state, err := rows.State(ctx, u.ID)
	if err != nil {
		return err
	}
	s := shown(u, state)
	factors, err := rows.Factors(ctx, u.ID)
	if err != nil {
		return err
	}
	for _, f := range factors {
		if f.Kind != pictureKind {
			s.Factors = append(s.Factors, f.Kind)
		}
	}
	accounts, err := store.UserAccounts(ctx, u.ID)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		s.Accounts = append(s.Accounts, a.Provider)
	}
	if o.json {
		return jsonTo(w).Encode(s)
	}
	return s.print(w)
}

// print writes a line for each thing that is known.
func (s *shownUser) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", name, printable(value))
		}
	}
	line("id", s.ID)
	line("address", s.Email)
	if s.Email != "" {
		line("proven", orNever(s.EmailVerified))
	}
	line("name", s.Name)
	line("roles", strings.Join(s.Roles, ", "))
	if s.BannedUntil != nil {
		if s.BannedUntil.Before(accountstore.Forever) {
			line("banned until", orNever(s.BannedUntil))
		} else {
			line("banned", "without an end")
		}
		line("reason", s.BanReason)
	}
	if s.DeleteAt != nil {
		line("deleted on", orNever(s.DeleteAt))
	}
	line("must", strings.Join(s.Must, ", "))
	line("factors", strings.Join(s.Factors, ", "))
	line("accounts", strings.Join(s.Accounts, ", "))
	return table.Flush()
}

func orNever(t *time.Time) string {
	switch {
	case t == nil:
		return "no"
	case !t.Before(accountstore.Forever):
		return "for ever"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// printUsers prints the users of a query, in pages, up to a number; 0 is all.
func printUsers(w io.Writer, rows accountstore.Store, q accountstore.UserQuery, most int, asJSON bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !asJSON {
		_, _ = fmt.Fprintln(table, "ID\tADDRESS\tNAME\tCREATED\tROLES\tREMARKS")
	}
	q.Limit = 200
	if most > 0 {
		q.Limit = min(q.Limit, most)
	}
	count := 0
	for u, err := range accountstore.AllUsers(context.Background(), rows, q) {
		if err != nil {
			return err
		}
		if asJSON {
			err = jsonTo(w).Encode(listedUser(u))
		} else {
			err = listUser(table, u, q.At)
		}
		if err != nil {
			return err
		}
		if count++; count == most {
			break
		}
	}
	return table.Flush()
}

// listUser prints the line of a user.
func listUser(w io.Writer, u *accountstore.User, now time.Time) error {
	created := ""
	if at := createdAt(u); !at.IsZero() {
		created = at.Format(time.DateOnly)
	}
	_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(u.ID), printable(u.Email), printable(u.Name), created,
		printable(strings.Join(u.State.Roles, " ")), remarks(u, now))
	return err
}

func listedUser(u *accountstore.User) *shownUser {
	s := shown(&pintle.User{ID: u.ID, Email: u.Email, EmailVerified: u.EmailVerified, Name: u.Name}, &u.State)
	s.Created = known(createdAt(u))
	if u.SecondFactor {
		s.Factors = []string{"totp"}
	}
	return s
}

// createdAt is when a user was created. For an imported user the state has the time of the other
// system, and the users' table that of the import, or nothing: tables of Auth.js have no such
// column.
func createdAt(u *accountstore.User) time.Time {
	if at := u.State.Created; !at.IsZero() && (u.Created.IsZero() || at.Before(u.Created)) {
		return at
	}
	return u.Created
}

// remarks are what an operator should see at a glance.
func remarks(u *accountstore.User, now time.Time) string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{
		{u.State.BannedUntil.After(now), "banned"},
		{!u.State.DeleteAt.IsZero() && u.State.Claim == "", "deleting"},
		{u.Email != "" && u.EmailVerified.IsZero(), "unproved"},
		{u.SecondFactor, "second factor"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

// exportUser prints what is stored about a user. It has no hash, secret, token or code.
func exportUser(w io.Writer, args []string) error {
	return act("export", w, args, nil, "the id or the address of a user", 1, nil, func(a *acting, args []string) error {
		u, err := findUser(a.ctx, a.store, args[0])
		if err != nil {
			return err
		}
		return a.ops.RecordExport(a.ctx, u.ID, func() error { return a.printAll(w, u) })
	})
}

// pictureKind is the kind of the rows of pictures of linked accounts, which stand among the factors.
const pictureKind = "picture"

// printAll prints what is stored about a user.
func (a *acting) printAll(w io.Writer, u *pintle.User) error {
	rows := a.store.AccountStore()
	state, err := rows.State(a.ctx, u.ID)
	if err != nil {
		return err
	}
	factors, err := rows.Factors(a.ctx, u.ID)
	if err != nil {
		return err
	}
	accounts, err := a.store.UserAccounts(a.ctx, u.ID)
	if err != nil {
		return err
	}
	type row = map[string]any
	lists := map[string][]row{}
	add := func(list string, r row) { lists[list] = append(lists[list], r) }
	for _, f := range factors {
		if f.Kind == pictureKind {
			add("pictures", row{"provider": f.Name, "image": f.Secret})
			continue
		}
		add("factors", row{"kind": f.Kind, "name": f.Name, "created": known(f.Created), "lastUsed": known(f.LastUsed)})
	}
	for _, linked := range accounts {
		add("accounts", row{"provider": linked.Provider, "id": linked.ProviderAccountID})
	}
	for device, err := range a.ops.Devices(a.ctx, u.ID) {
		if err != nil {
			return err
		}
		add("devices", row{"created": known(device.Created), "lastUsed": known(device.LastUsed), "data": device.Data})
	}
	for e, err := range accountstore.AllEvents(a.ctx, rows, accountstore.ActivityQuery{UserID: u.ID}) {
		if err != nil {
			return err
		}
		add("activity", row{"at": e.At, "kind": e.Kind, "outcome": e.Outcome, "detail": e.Detail, "count": e.Count})
	}
	data := map[string]any{"user": shown(u, state)}
	for _, name := range []string{"factors", "accounts", "devices", "activity", "pictures"} {
		data[name] = lists[name]
	}
	encoder := jsonTo(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(data)
}
