package account

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// activityPage is how many events the page of a user has.
const activityPage = 20

// ownEvent is what a user may know of an event about them, or nil. Who the operator is, where
// they were and what they wrote is for operators; of an act users see how it ended.
func ownEvent(e *accountstore.Event) *accountstore.Event {
	c := *e
	c.Subject = accountstore.Hash{}
	if e.Actor == "" {
		return &c
	}
	hidden := outcomeBegun
	if e.Kind == actingBegun {
		// Without the record of the beginning no operator acts, and the one after it may be lost.
		hidden = outcomeOK
	}
	if e.Outcome == hidden {
		return nil
	}
	c.Actor, c.Detail = "support", nil
	return &c
}

// userActivity returns a page of the events that a user sees. The store has others between them:
// it is read until the page is full, and then up to the next event that the user sees, so that no
// page is empty.
func (v *visit) userActivity(userID, after string) (events []*accountstore.Event, next string, err error) {
	of := v.boxes.listOf("activity of user", userID)
	q := accountstore.ActivityQuery{UserID: userID}
	if q.After, err = v.boxes.openPlace(after, of); err != nil {
		return nil, "", err
	}
	for len(events) < activityPage {
		var read []*accountstore.Event
		q.Limit = activityPage - len(events)
		if read, q.After, err = v.rows.Activity(v.ctx, q); err != nil {
			return nil, "", err
		}
		for _, e := range read {
			if own := ownEvent(e); own != nil {
				events = append(events, own)
			}
		}
		if q.After == "" {
			return events, "", nil
		}
	}
	if next, err = v.boxes.sealPlace(q.After, of); err != nil {
		return nil, "", err
	}
	q.Limit = activityPage
	for e, err := range accountstore.AllEvents(v.ctx, v.rows, q) {
		if err != nil {
			return nil, "", err
		}
		if ownEvent(e) != nil {
			return events, next, nil
		}
	}
	return events, "", nil
}

// showActivity is the page of what has happened to the account of the session's user.
func (v *visit) showActivity() (*view, error) {
	events, next, err := v.userActivity(v.session.User.ID, v.r.URL.Query().Get("cursor"))
	if errors.Is(err, ErrCursor) {
		p := problemOf("invalid")
		p.status = http.StatusBadRequest
		return nil, p
	}
	if err != nil {
		return nil, unavailable(err)
	}
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	p := v.newPage("activity", "")
	list := make([]map[string]any, 0, len(events))
	var g page.Group
	for _, e := range events {
		g.Rows = append(g.Rows, v.activityRow(e))
		list = append(list, describeEvent(e))
	}
	if len(events) == 0 {
		g.Text = page.Plain(v.word("activity_none"))
	}
	if next != "" {
		g.Links = []page.Link{v.link("activity", "activity_older", "cursor", next)}
	}
	p.Groups = []page.Group{g}
	// A new password ends all other sessions. A user without one ends them on the page of devices.
	has, err := v.hasPassword(u)
	if err != nil {
		return nil, err
	}
	if has {
		p.Links = append(p.Links, v.link("password", "activity_not_me"))
	}
	others := page.Link{URL: v.site.path("devices"), Text: v.pageText("devices-others").Button}
	p.Links = append(p.Links, others, v.link("", "back"))
	data := map[string]any{"activity": list, "next": nil}
	if next != "" {
		data["next"] = next
	}
	return &view{page: p, data: data}, nil
}

// activityRow is an event in words: what, how often, when, in which browser, and where.
func (v *visit) activityRow(e *accountstore.Event) page.Row {
	row := page.Row{Title: page.Line{Before: v.activityText(e)}, Icon: "alert", Warns: isFailure(e)}
	if !row.Warns {
		about, _, _ := strings.Cut(e.Kind, "_")
		row.Icon = cmp.Or(activityIcons[about], "activity")
	}
	if e.Count > 1 {
		row.Badges = []string{strings.Replace(v.word("activity_times"), "%s", strconv.Itoa(e.Count), 1)}
	}
	row.Lines = []page.Line{page.Texts(v.texts).Moment("%s", e.At)}
	for _, name := range []string{detailDevice, detailNetwork} {
		if text := e.Detail[name]; text != "" {
			row.Lines = append(row.Lines, page.Line{Value: text})
		}
	}
	return row
}

// activityIcons are the drawings of events that are no failures, by the first word of their kind.
var activityIcons = map[string]string{
	"sign": "devices", "session": "devices", "device": "devices", "profile": "profile", "address": "mail", "password": "password", "reset": "password",
	"factor": "second-factor", "recovery": "second-factor", "confirmed": "second-factor", "passkey": "passkeys", "account": "accounts",
	"exported": "data", "deletion": "delete",
}

// activityText is what an event is called. A kind without a text gets a general one.
func (v *visit) activityText(e *accountstore.Event) string {
	texts := v.texts.Account.Activity
	text := texts[e.Kind]
	if text == "" {
		return texts[""]
	}
	if _, isOwn := attempts[e.Kind]; !isOwn && isFailure(e) {
		return strings.Replace(v.word("activity_attempt"), "%s", text, 1)
	}
	return text
}

// attempts are the kinds whose texts say that something failed.
var attempts = map[string]bool{
	kindSignInFailed: true, "second_factor_failed": true, "confirm_failed": true, "passkey_cloned": true, kindAddressTaken: true,
	"mail_failed": true, "breach_check_failed": true,
}

// describeEvent is an event for scripts.
func describeEvent(e *accountstore.Event) map[string]any {
	data := map[string]any{"id": e.ID, "at": wireTime(e.At), "kind": e.Kind, "outcome": e.Outcome, "count": e.Count}
	if e.Actor != "" {
		data["actor"] = e.Actor
	}
	for _, name := range []string{detailProvider, detailMethods, detailDevice, detailNetwork} {
		if text := e.Detail[name]; text != "" {
			data[name] = text
		}
	}
	return data
}
