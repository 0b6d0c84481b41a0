package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// quietSettings is such a page without a word.
var quietSettings = page.FormPage{
	Site: site, Name: "passkeys", CSRFToken: csrf,
	Nav: &page.Nav{
		Label: "≡", Skip: "↓", SignOut: page.Form{Action: "/auth/signout", Button: "⏻"},
		Links: []page.NavLink{{Link: page.Link{URL: "/auth/account", Text: "⌂"}, Icon: "overview", Current: "page"}},
	},
	Groups: []page.Group{{Rows: []page.Row{
		{Title: page.Line{Value: "⚷"}, Icon: "passkeys", Forms: []page.Form{{
			Action: "/auth/account/passkey", Fold: "✎", Button: "→", Inputs: []page.Input{{Name: "name", Label: "✎"}},
		}}},
		{Title: page.Line{Value: "⚷"}, Provider: &page.Provider{ID: "github", Style: page.Style{BrandColor: "#24292f"}}},
	}}},
	Forms: []page.Form{{Action: "/auth/callback/passkey", PasskeyOptionsURL: "/auth/webauthn-options/passkey", Button: "+"}},
}

// settingsPage has one of everything that such a page can have.
var settingsPage = page.FormPage{
	Site: site, Name: "passkeys", CSRFToken: csrf, Heading: "Passkeys", Notice: "Done.",
	Nav: &page.Nav{
		Label: "Your account", Skip: "Skip", SignOut: page.Form{Action: "/auth/signout", Button: "Sign out"},
		Links: []page.NavLink{
			{Link: page.Link{URL: "/auth/account", Text: "Overview"}, Icon: "overview"},
			{Link: page.Link{URL: "/auth/account/passkeys", Text: "Passkeys"}, Icon: "passkeys", Current: "page"},
		},
	},
	Groups: []page.Group{
		{
			Rows: []page.Row{
				{
					Title: page.Line{Value: "Laptop"}, Badges: []string{"Synchronised"}, Icon: "passkeys",
					Lines: []page.Line{page.English().When("added %s", time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC))},
					Forms: []page.Form{
						{
							Action: "/auth/account/passkey", Fold: "Rename", Button: "Save", Secondary: true,
							Inputs: []page.Input{{Name: "name", Label: "Name"}},
						},
						{Action: "/auth/account/passkey", Button: "Remove", Secondary: true, Grave: true},
					},
				},
				{Title: page.Line{Value: "GitHub"}, Provider: &github},
				{Title: page.Line{Value: "Ada"}, URL: "/auth/account/profile", Picture: "https://pictures.example/1", Initials: "A"},
			},
		},
		{Heading: "More", Text: page.Plain("Nothing."), Links: []page.Link{{URL: "/auth/account", Text: "Go"}}},
	},
	Forms: []page.Form{{Action: "/auth/callback/passkey", PasskeyOptionsURL: "/auth/webauthn-options/passkey", Button: "Add"}},
}

func TestARowNamesWhatItsButtonsAreAbout(t *testing.T) {
	body := string(newPages(t, page.Theme{}, page.Texts{}).Form(settingsPage).Body)
	for _, want := range []string{
		`<p class="row-title" id="row-1"><bdi>Laptop</bdi>`, `<p class="row-lines" id="row-1-lines">`,
		`aria-describedby="row-1 row-1-lines">Rename</summary>`, `aria-describedby="row-1 row-1-lines">Remove</button>`,
		`<time datetime="2026-11-03T00:00:00Z">3 November 2026</time>`, `<section class="panel" aria-labelledby="group-2">`, `<h2 id="group-2">More</h2>`,
		`href="/auth/account/passkeys" aria-current="page"`, `src="https://pictures.example/1" alt="" referrerpolicy="no-referrer"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s:\n%s", want, body)
		}
	}
	// The fields of rows are not what the user came for.
	if strings.Contains(body, "autofocus") {
		t.Error("a field of a row has the focus")
	}
}

// AC-88: browsers send the bytes of a file only in a form of this type.
func TestAFormWithAFileIsSentInParts(t *testing.T) {
	d := settingsPage
	d.Forms = []page.Form{
		{Action: "/auth/account/profile", Button: "Save", Inputs: []page.Input{{Name: "name", Label: "Name", Value: "Ada"}}},
		{Action: "/auth/account/picture", Button: "Upload", Inputs: []page.Input{{Name: "picture", Label: "Picture", Type: "file", Accept: "image/png"}}},
	}
	body := string(newPages(t, page.Theme{}, page.Texts{}).Form(d).Body)
	for _, want := range []string{
		`<form action="/auth/account/profile" method="post">`, `<form action="/auth/account/picture" method="post" enctype="multipart/form-data">`,
		`name="picture" type="file" accept="image/png">`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s:\n%s", want, body)
		}
	}
}

// AC-162
func TestADayIsWrittenAsInTheLanguageOfThePage(t *testing.T) {
	at := time.Date(2026, 3, 31, 23, 30, 0, 0, time.FixedZone("", -3600)) // April in UTC
	months := strings.Fields("I II III IV V VI VII VIII IX X XI XII")
	texts := page.Texts{Account: pages.AccountTexts{Date: "2. January 2006", Months: months}}
	if l := texts.When("since %s!", at); l.Before != "since " || l.Value != "1. IV 2026" || l.After != "!" || l.Stamp() != "2026-04-01T00:30:00Z" {
		t.Errorf("the line is %+v", l)
	}
	if day := page.English().Day(at); day != "1 April 2026" {
		t.Errorf("the English day is %q", day)
	}
	texts.Account.Words = map[string]string{"time_utc": "%s um 15:04 Uhr UTC"}
	if l := texts.Moment("on %s!", at); l.Before != "on " || l.Value != "1. IV 2026 um 00:30 Uhr UTC" || l.After != "!" || l.Stamp() != "2026-04-01T00:30:00Z" {
		t.Errorf("the line with a time is %+v", l)
	}
	if l := page.English().Moment("%s", at); l.Value != "1 April 2026, 00:30 UTC" {
		t.Errorf("the English time is %q", l.Value)
	}
	texts.Account.Months = months[1:]
	if _, err := page.New(page.Theme{}, texts); err == nil || !strings.Contains(err.Error(), "11 names") {
		t.Errorf("a year of eleven months: %v", err)
	}
}

// A break between the parts of an address would be read as a space: "gus@ example. com".
func TestAnAddressIsReadAsOneWord(t *testing.T) {
	for value, want := range map[string]string{
		"gus@example.com": "<bdi>gus@example.com</bdi>",
		`<b>"@x.y`:        "<bdi>&lt;b&gt;&#34;@x.y</bdi>",
	} {
		body := string(newPages(t, page.Theme{}, page.Texts{}).Form(page.FormPage{
			Site: site, Name: "account", Nav: &page.Nav{}, Groups: []page.Group{{Rows: []page.Row{
				{Title: page.Line{Value: value}, URL: "/auth/account/address", Lines: []page.Line{{Value: value}}},
			}}},
		}).Body)
		if strings.Count(body, want) != 2 {
			t.Errorf("%q is not shown twice as %s in %s", value, want, body)
		}
	}
}
