package account

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// Export are the rules for users who download what is stored about them.
type Export struct {
	// More returns what the application has of a user, for the member "application" of
	// the JSON file. Nil adds nothing.
	More func(ctx context.Context, u *pintle.User) (any, error)

	// Off takes the page out.
	Off bool
}

// exportKind remembers that a user has downloaded the data. A thief of a session, or a
// script, does not collect them again and again.
var exportKind = kind{name: "export", life: time.Hour}

func (v *visit) showExport() (*view, error) {
	p := v.newPage("export", "")
	p.Forms = []page.Form{v.formTo("export", "export")}
	p.Links = []page.Link{v.link("", "back")}
	return &view{page: p}, nil
}

// exportData answers with the data of the user of the session as a file.
func (v *visit) exportData() (*view, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	if err := v.notBanned(u.ID); err != nil {
		return nil, err
	}
	if err := v.mayExport(u); err != nil { // before the work
		return nil, err
	}
	data, err := v.dataOf(u)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		return nil, unavailable(err)
	}
	if err := v.onceAnHour(u); err != nil {
		return nil, err
	}
	v.notify("exported", u, "", "forgot")
	return &view{file: &file{name: "account.json", kind: "application/json", text: string(text) + "\n"}}, nil
}

// mayExport returns what keeps a user from another download in the hour after one.
func (v *visit) mayExport(u *pintle.User) error {
	switch f, err := v.findFlow(v.ctx, exportKind, v.boxes.idOf(exportKind, u.ID)); {
	case err == nil:
		return tooMany(time.Until(f.Expires))
	case !isProblem(err, "link_expired"):
		return err
	}
	return nil
}

// onceAnHour counts a download. The row decides between requests of the same moment.
func (v *visit) onceAnHour(u *pintle.User) error {
	id := v.boxes.idOf(exportKind, u.ID)
	for range 2 {
		_, err := v.createFlow(v.ctx, exportKind, id, u.ID, payload{})
		if !errors.Is(err, pintle.ErrConflict) {
			return err
		}
		if err := v.mayExport(u); err != nil {
			return err
		}
		// The row of one that has expired is not swept yet.
		if _, err := v.rows.UseFlow(v.ctx, id, exportKind.name); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return unavailable(err)
		}
	}
	return tooMany(exportKind.life)
}

// maxExported is the most events in an export, and exportedPage how many are read at a time.
const (
	maxExported  = 10_000
	exportedPage = 500
)

// exportedActivity are the events of a user as the page "activity" shows them, the newest first.
func (v *visit) exportedActivity(userID string) ([]map[string]any, error) {
	list := []map[string]any{}
	for e, err := range accountstore.AllEvents(v.ctx, v.rows, accountstore.ActivityQuery{UserID: userID, Limit: exportedPage}) {
		if err != nil {
			return nil, err
		}
		if own := ownEvent(e); own != nil {
			list = append(list, describeEvent(own))
		}
		if len(list) == maxExported {
			break
		}
	}
	return list, nil
}

// dataOf is what is stored about a user: no hash, secret, token or code. Of the further
// fields of the user only those that the user has entered at the sign-up are in it: a table
// of the application may have others beside them.
func (v *visit) dataOf(u *pintle.User) (map[string]any, error) {
	s, err := v.standing()
	if err != nil {
		return nil, err
	}
	data := v.describe(s)
	delete(data, "session") // of this request, and no data of the user
	if err := v.addLists(data); err != nil {
		return nil, err
	}
	devices := []*pintle.Device{}
	for d, err := range v.auth.Devices(v.ctx, v.session) { // addLists has those of one page
		if err != nil {
			return nil, unavailable(err)
		}
		devices = append(devices, d)
	}
	data["devices"] = v.describeDevices(devices)
	fields := map[string]any{}
	for _, f := range v.o.SignUp.Fields {
		if value, there := u.Extra[f.Name]; there {
			fields[f.Name] = value
		}
	}
	data["fields"], data["exported"] = fields, wireTime(time.Now())
	remembered := []map[string]any{}
	rows, err := v.rows.Factors(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, row := range rows {
		if row.Kind == factorDevice {
			remembered = append(remembered, map[string]any{
				"name": row.Name, "created": wireTime(row.Created), "lastUsed": wireTime(row.LastUsed), "expires": wireTime(row.Expires),
			})
		}
	}
	data["rememberedDevices"] = remembered
	pictures, err := v.linkedPictures(u)
	if err != nil {
		return nil, err
	}
	data["pictures"] = describePictures(pictures)
	if data["activity"], err = v.exportedActivity(u.ID); err != nil {
		return nil, unavailable(err)
	}
	if v.o.Export.More != nil {
		if data["application"], err = v.o.Export.More(v.ctx, copyOf(u)); err != nil {
			return nil, unavailable(err)
		}
	}
	return data, nil
}
