package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// maxActivity is how many events are read at a time.
const maxActivity = 500

// activity lists the events of a database.
func activity(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("activity", flag.ContinueOnError)
	var tables tableFlags
	var q accountstore.ActivityQuery
	tables.register(flags)
	flags.StringVar(&q.UserID, "user", "", "the `id` of the user whom the events are about, or the address")
	flags.StringVar(&q.Actor, "actor", "", "the `id` of the operator who acted")
	flags.StringVar(&q.Kind, "kind", "", "the `kind` of the events, such as sign_in_failed; the message about an unknown one lists all")
	flags.StringVar(&q.Outcome, "outcome", "", "the `outcome` of the events: ok, refused, failed, or begun for acts of operators")
	flags.Func("since", "the `time` of the first event: "+forms(ago), moment(&q.Since, ago))
	flags.Func("until", "the `time` before which the last event was, in the same forms", moment(&q.Until, ago))
	limit := flags.Int("limit", 100, "how many events are listed at most; 0 lists all")
	asJSON := flags.Bool("json", false, "print a JSON object for each event, one a line")
	if err := parse(flags, args); err != nil {
		return err
	}
	if outcomes := []string{"", "ok", "refused", "failed", "begun"}; !slices.Contains(outcomes, q.Outcome) {
		return usagef("-outcome is %q: want ok, refused, failed or begun", q.Outcome)
	}
	if err := checkKind(q.Kind); err != nil {
		return err
	}
	if !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return usagef("-until is not after -since: no event is listed")
	}
	if *limit < 0 {
		return usagef("-limit is negative: 0 lists all")
	}
	if err := tables.check(); err != nil {
		return err
	}
	tables.accounts = tables.layout != "" // the tables beside those of the layout
	address, err := tables.address(flags.Args())
	if err != nil {
		return err
	}
	db, dialect, err := openDatabase(address, mustExist)
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := tables.store(context.Background(), db, dialect)
	if err != nil {
		return err
	}
	if strings.Contains(q.UserID, "@") {
		user, err := findUser(context.Background(), store, q.UserID)
		if err != nil {
			return err
		}
		q.UserID = user.ID
	}
	list := listEvents
	if *asJSON {
		list = listEventsAsJSON
	}
	return list(w, func(print func(*accountstore.Event) error) error {
		return eachEvent(context.Background(), store.AccountStore(), q, *limit, print)
	})
}

// checkKind rejects a kind that no event has: an empty list would say that nothing has happened.
func checkKind(kind string) error {
	kinds := account.ActivityKinds()
	if kind == "" || slices.Contains(kinds, kind) {
		return nil
	}
	text := fmt.Sprintf("there is no kind %q", kind)
	if near := nearestName(kinds, kind); near != "" {
		text += ": did you mean " + near + "?"
	}
	return usagef("%s\nthe kinds are: %s", text, strings.Join(kinds, ", "))
}

// eachEvent calls print with the events of a query, the newest first, up to a number; 0 is all.
func eachEvent(ctx context.Context, rows accountstore.Store, q accountstore.ActivityQuery, limit int, print func(*accountstore.Event) error) error {
	q.Limit = maxActivity
	if limit > 0 {
		q.Limit = min(maxActivity, limit)
	}
	listed := 0
	for e, err := range accountstore.AllEvents(ctx, rows, q) {
		if err != nil {
			return err
		}
		if err := print(e); err != nil {
			return err
		}
		if listed++; listed == limit {
			break
		}
	}
	return nil
}

// listEvents prints a table.
func listEvents(w io.Writer, each func(print func(*accountstore.Event) error) error) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "TIME\tKIND\tOUTCOME\tCOUNT\tUSER\tACTOR\tDETAIL")
	err := each(func(e *accountstore.Event) error {
		var details []string
		for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
			details = append(details, name+"="+printable(e.Detail[name]))
		}
		_, err := fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", e.At.UTC().Format(time.RFC3339), printable(e.Kind), printable(e.Outcome),
			e.Count, printable(cmp.Or(e.UserID, subjectText(e.Subject))), printable(cmp.Or(e.Actor, "-")), strings.Join(details, " "))
		return err
	})
	return errors.Join(err, t.Flush())
}

// subjectText is the keyed hash of an event without a user, and "-" without one.
func subjectText(h accountstore.Hash) string {
	if h == (accountstore.Hash{}) {
		return "-"
	}
	return "#" + base64.RawURLEncoding.EncodeToString(h[:9])
}

// An eventLine is an event as JSON.
type eventLine struct {
	ID      string            `json:"id"`
	At      time.Time         `json:"at"`
	Kind    string            `json:"kind"`
	Outcome string            `json:"outcome"`
	Count   int               `json:"count"`
	UserID  string            `json:"user,omitempty"`
	Actor   string            `json:"actor,omitempty"`
	Subject string            `json:"subject,omitempty"`
	Detail  map[string]string `json:"detail,omitempty"`
}

func listEventsAsJSON(w io.Writer, each func(print func(*accountstore.Event) error) error) error {
	lines := bufio.NewWriter(w)
	encoder := jsonTo(lines)
	err := each(func(e *accountstore.Event) error {
		line := eventLine{
			ID: e.ID, At: e.At.UTC(), Kind: e.Kind, Outcome: e.Outcome, Count: e.Count, UserID: e.UserID, Actor: e.Actor, Detail: e.Detail,
		}
		if e.Subject != (accountstore.Hash{}) {
			line.Subject = base64.RawURLEncoding.EncodeToString(e.Subject[:])
		}
		return encoder.Encode(line)
	})
	return errors.Join(err, lines.Flush())
}
