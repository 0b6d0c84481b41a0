package account

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// deviceDemand is what the end of sessions demands. A user who is afraid of a thief has to get
// there easily.
var deviceDemand = Demand{MaxAge: 24 * time.Hour}

// deviceList returns a part of the sessions of the user, and whether there are more.
func (v *visit) deviceList(from int) (list []*pintle.Device, more bool, err error) {
	n := 0
	for d, err := range v.auth.Devices(v.ctx, v.session) {
		if err != nil {
			return nil, false, unavailable(err)
		}
		if n++; n <= from {
			continue
		}
		if len(list) == maxListed {
			return list, true, nil
		}
		list = append(list, d)
	}
	return list, false, nil
}

func (v *visit) describeDevices(list []*pintle.Device) []map[string]any {
	all := []map[string]any{}
	for _, d := range list {
		all = append(all, map[string]any{
			"handle": d.Handle, "created": wireTime(d.Created), "lastUsed": wireTime(d.LastUsed), "expires": wireTime(d.Expires), "current": d.Current,
			"name": textOrNil(v.nameOf(d)),
		})
	}
	return all
}

// nameOf is how the application has described a device, and the name of a native application:
// see [pintle.Config].Native. The data of a session has more than that.
func (v *visit) nameOf(d *pintle.Device) string {
	facts := map[string]any{"application": d.Data["application"]}
	if v.describeDevice != nil {
		for name := range v.describeDevice(v.r) {
			facts[name] = d.Data[name]
		}
	}
	return deviceName(facts)
}

// deviceName is how the application describes a device: the texts of
// [pintle.SessionConfig].Describe, in the order of their names.
func deviceName(data map[string]any) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if text, is := data[name].(string); is && text != "" {
			texts = append(texts, text)
		}
	}
	return oneLine(strings.Join(texts, ", "), maxDevice)
}

// showDevices lists where the user is signed in.
func (v *visit) showDevices() (*view, error) {
	list, more, err := v.deviceList(v.from())
	if err != nil {
		return nil, err
	}
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	p, err := v.newPageOf(u, "devices")
	if err != nil {
		return nil, err
	}
	g := page.Group{Links: v.pageLinksOf(more)}
	for _, d := range list {
		g.Rows = append(g.Rows, v.deviceRow(d))
	}
	p.Groups = []page.Group{g}
	others := func(name, field string) page.Form {
		f := v.formTo("end-devices", name)
		f.Heading.Before, f.Secondary = v.pageText(name).Heading, true
		f.Hidden = hidden(field, "1")
		return f
	}
	if v.tokens || len(list) > 1 || v.from() > 0 {
		p.Forms = append(p.Forms, others("devices-others", "others"))
	}
	p.Forms = append(p.Forms, others("devices-all", "all"))
	data := map[string]any{"devices": v.describeDevices(list)}
	if more {
		data["next"] = v.from() + maxListed
	}
	return &view{page: p, data: data}, nil
}

func (v *visit) deviceRow(d *pintle.Device) page.Row {
	row := page.Row{Title: page.Line{Value: v.nameOf(d)}, Icon: "devices"}
	if row.Title.Value == "" {
		row.Title = page.Line{Before: v.word("browser")}
	}
	if d.Current {
		row.Badges = []string{v.word("this_browser")}
	}
	if !d.Created.IsZero() {
		row.Lines = append(row.Lines, v.moment("signed_in_since", d.Created))
	}
	if !d.LastUsed.IsZero() && !d.Current {
		row.Lines = append(row.Lines, v.when("last_used", d.LastUsed)) // the time of day would be that of an extension
	}
	if d.Handle != "" && !d.Current {
		row.Forms = []page.Form{{
			Action: v.site.path("end-devices"), Hidden: hidden("handle", d.Handle), Button: v.pageText("devices").Button, Secondary: true,
		}}
	}
	return row
}

// endDevices ends one session of the user, all others, or all.
func (v *visit) endDevices() (next string, err error) {
	if err := v.demand(deviceDemand); err != nil {
		return "", err
	}
	done := func(notice string) string { return withQuery(v.pageURL("devices"), "notice", notice) }
	switch {
	case v.form["all"] != "":
		return v.endAllDevices()
	case v.form["others"] != "":
		if err := v.endOtherDevices(); err != nil {
			return "", err
		}
		return done("devices_ended"), nil
	case v.form["handle"] == "":
		return "", problemOf("invalid")
	}
	err = v.auth.EndDevice(v.ctx, v.session, v.form["handle"])
	if errors.Is(err, pintle.ErrNotFound) {
		return "", problemOf("not_found")
	}
	if err != nil {
		return "", unavailable(err)
	}
	v.note("session_ended", v.session.User.ID)
	return done("device_ended"), nil
}

// endOtherDevices ends all sessions but this one. What was begun in the other browsers ends,
// too: a thief could otherwise go on with a sign-in that waits for a page.
func (v *visit) endOtherDevices() error {
	u, err := v.user()
	if err != nil {
		return err
	}
	before := v.session.Authentication
	v.seeThrough()
	if err := v.endSessions(v.ctx, u.ID); err != nil {
		return err
	}
	v.note("session_ended", u.ID)
	return v.startAgain(u, before)
}

// endAllDevices ends all sessions of the user, this one included.
func (v *visit) endAllDevices() (next string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	v.seeThrough()
	if err := v.endSessions(v.ctx, u.ID); err != nil {
		return "", err
	}
	v.note("session_ended", u.ID)
	signIn := v.site.signIn("notice", "ended_everywhere")
	if _, err := v.auth.SignOut(v.w, v.r.WithContext(v.ctx), pintle.SignOutOptions{RedirectTo: signIn}); err != nil {
		return "", unavailable(err)
	}
	return signIn, nil
}
