package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/pages"
)

// showsNewCodes leads to the page with new recovery codes.
func (v *tour) showsNewCodes() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/totp")
	v.sends("/account/totp", "code", v.app().code(), "name", "")
	v.codes()
}

// visible is the script that tells which of the selectors have something that is shown.
const visible = `((...selectors) => selectors.filter((selector) =>
	Array.from(document.querySelectorAll(selector)).some((element) => element.checkVisibility())))`

// AC-113
func TestRecoveryCodesCanBePrinted(t *testing.T) {
	v := newTour(t, newPagesSite(t, pages.Texts{}, "database"), map[string]bool{}, func(*tour, string) {})
	v.showsNewCodes()
	v.do("watch the printer", chromedp.Evaluate[chromedp.Void](`window.print = () => document.title += ", printed"; undefined`))
	v.do("press the button", chromedp.Click(`//button[. = "Print the codes"]`))
	if got := read(v.browserUser, chromedp.Evaluate[string]("document.title")); got == "" || got[max(0, len(got)-9):] != ", printed" {
		t.Errorf("the button prints nothing: the title is %q", got)
	}

	// On paper: the codes and what they are for, black, also where the screen is dark.
	setting(v.browserUser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	got := read(v.browserUser, chromedp.Evaluate[[]string](visible+`("h1", ".codes", ".message", "form", "button", "a")`))
	if len(got) != 3 || got[0] != "h1" || got[1] != ".codes" || got[2] != ".message" {
		t.Errorf("on paper there are %q, want the heading, the codes and the text", got)
	}
	for _, selector := range []string{"h1", ".codes code", ".message"} {
		if got := read(v.browserUser, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("`+selector+`")).color`)); got != "rgb(0, 0, 0)" {
			t.Errorf("on paper %s is %s, want black", selector, got)
		}
	}
}

// A button that does nothing is not shown. The text of the page says what to do.
func TestWithoutScriptsTheCodesHaveNoButtonToPrint(t *testing.T) {
	v := newTour(t, newPagesSite(t, pages.Texts{}, "database"), map[string]bool{}, func(*tour, string) {})
	v.showsNewCodes()
	v.withoutScripts()
	v.goes("/auth/account/recovery-codes")
	v.sees("Print them, or save them where only you can read them.")
	if got := read(v.browserUser, chromedp.Evaluate[[]string](visible+`(".codes", "[data-print]")`)); len(got) != 1 || got[0] != ".codes" {
		t.Errorf("the page shows %q, want no button to print", got)
	}
}
