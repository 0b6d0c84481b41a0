package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/pages"
)

// AC-80: a box shows what was typed, where scripts run. The form does not send it.
func TestABoxShowsThePasswordThatWasTyped(t *testing.T) {
	s := newPagesSite(t, pages.Texts{}, "database")
	ada := s.seed("ada@example.com", firstPassword, true)
	v := newTour(t, s, map[string]bool{}, func(*tour, string) {})
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/password")
	types := func() string {
		return read(v.browserUser, chromedp.Evaluate[string](`Array.from(document.querySelectorAll("#input-current, #input-password"), (i) => i.type).join(" ")`))
	}
	if got := types(); got != "password password" {
		t.Fatalf("the fields are %q", got)
	}
	if n := read(v.browserUser, chromedp.Evaluate[int](`document.querySelectorAll("[data-show]:not([hidden])").length`)); n != 2 {
		t.Fatalf("%d boxes are shown", n)
	}
	v.do("tick the box", chromedp.Click(`[data-show=input-password] label`))
	if got := types(); got != "password text" {
		t.Errorf("with a tick the fields are %q", got)
	}
	v.do("take the tick away", chromedp.Click(`[data-show=input-password] input`))
	if got := types(); got != "password password" {
		t.Errorf("without the tick the fields are %q", got)
	}
	// Browsers store what is sent in a text field.
	v.do("tick the box again", chromedp.Click(`[data-show=input-password] input`))
	sent := read(v.browserUser, chromedp.Evaluate[string](`(() => {
		const field = document.getElementById("input-password");
		let seen = "";
		field.form.noValidate = true;
		field.form.addEventListener("submit", (event) => {
			event.preventDefault();
			seen = field.type + " " + [...new FormData(field.form).keys()].sort().join(" ");
		});
		field.form.requestSubmit();
		return seen;
	})()`))
	if sent != "password csrfToken current password" {
		t.Errorf("the form is sent as %q", sent)
	}

	// Without scripts there is no box, and the page works.
	w := newTour(t, s, map[string]bool{}, func(*tour, string) {})
	w.withoutScripts()
	w.becomes(ada.Email, "0s", "pwd")
	w.goes("/auth/account/password")
	w.is("password", "without scripts")
	if n := read(w.browserUser, chromedp.Evaluate[int](`Array.from(document.querySelectorAll("[data-show]")).filter((part) => part.offsetParent).length`)); n != 0 {
		t.Errorf("without scripts %d boxes are shown", n)
	}
}
