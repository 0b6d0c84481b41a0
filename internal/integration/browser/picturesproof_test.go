package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/browser/barfont"
	"github.com/pintleauth/pintle/internal/integration/browser/mosaic"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// examplePages are some pages of sign-ins and of accounts, in both directions of writing.
func examplePages(t *testing.T) *album {
	t.Helper()
	var a album
	for _, texts := range []pages.Texts{pages.Texts(page.English()), arabic} {
		a.pages = append(a.pages, albumPage{"sign-in in " + texts.Lang, steady(string(builtInPages(t, texts)["sign-in, refused"].Body))})
	}
	v, _ := inSettings(t, pages.Texts{})
	for _, path := range []string{"/profile", "/passkeys"} {
		v.goes("/auth/account" + path)
		a.keep(v.browserUser, path)
	}
	return &a
}

// What the pictures rest on: they are equal in a browser that has other fonts, puts letters elsewhere
// and speaks another language.
func TestPicturesAreEqualOnOtherMachines(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "other.ttf"), barfont.New(300), 0o600); err != nil {
		t.Fatal(err)
	}
	fonts := filepath.Join(dir, "fonts.conf")
	if err := os.WriteFile(fonts, fmt.Appendf(nil, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
		<dir>%s</dir><cachedir>%[1]s</cachedir>
		<match target="font"><edit name="hintstyle" mode="assign"><const>hintfull</const></edit></match>
	</fontconfig>`, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	a := examplePages(t)
	here := newEasel(newTab(t))
	there := newEasel(newBrowserUser(t,
		chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-font-subpixel-positioning", true), chromedp.Flag("lang", "de"),
		chromedp.Env("FONTCONFIG_FILE="+fonts, "LANGUAGE=de"),
	))
	want, got := here.paint(a.pages), there.paint(a.pages)
	for i := range want {
		if how := mosaic.Unlike(want[i], got[i]); how != "" {
			t.Errorf("%s: %s", a.pages[i].name, how)
		}
	}
	// The browsers do differ: their own text has other places.
	const own = `(() => {
		document.body.innerHTML = "<span style='font: 16px system-ui'>iiii</span>";
		return document.querySelector("span").getBoundingClientRect().width;
	})()`
	if width := read(here.browserUser, chromedp.Evaluate[float64](own)); width == read(there.browserUser, chromedp.Evaluate[float64](own)) {
		t.Errorf("in both browsers text of their own font is %v pixels wide", width)
	}
}

// What the pictures rest on: two runs of a test have the same pages.
func TestPagesOfAnAlbumAreEqualInEveryRun(t *testing.T) {
	at := func(port int, date, script string) string {
		return steady(fmt.Sprintf(`<p>127.0.0.1:%d, <time>%s</time>, <input autofocus=""><script>%s</script>`, port, date, script))
	}
	if a, b := at(1, "23 November 2026", ""), at(65535, "1 May 2027", "\nlet a = 1\n"); a != b || strings.Contains(a, "autofocus") {
		t.Errorf("the page is %s and %s", a, b)
	}
}

// What the pictures rest on: pages that are broken differ from their pictures.
func TestPicturesShowWhatIsBroken(t *testing.T) {
	a := examplePages(t)
	e := newEasel(newTab(t))
	want := e.paint(a.pages)
	style := func(rules string) func(string) string {
		return func(source string) string {
			return strings.Replace(source, "</head>", "<style>"+rules+"</style></head>", 1)
		}
	}
	const signIn, arabicSignIn, profile, passkeys = 0, 1, 2, 3
	for _, way := range []struct {
		what   string
		page   int
		broken func(string) string
	}{
		{"the main button is missing", signIn, style(`.primary { visibility: hidden }`)},
		{"a button beside it is missing", signIn, style(`.button:not(.primary) { visibility: hidden }`)},
		{"a button of a row is missing", passkeys, style(`.row-forms .grave { visibility: hidden }`)},
		{"a button has the colour of others", passkeys, style(`.grave { color: inherit }`)},
		{"the card has the colour of the page", signIn, style(`.card { background: none }`)},
		{"the panels have the colour of the page", profile, style(`.panel { background: none }`)},
		{"a dark page is white", signIn, style(`@media (prefers-color-scheme: dark) { body { background: #fff } }`)},
		{"a dark card is white", signIn, style(`@media (prefers-color-scheme: dark) { .card { background: #fff } }`)},
		{"a page is always light", passkeys, func(s string) string {
			return strings.Replace(s, `class="__next-auth-theme-auto`, `class="__next-auth-theme-light`, 1)
		}},
		{"the text of an error has the colour of other text", signIn, style(`.card .error { color: inherit }`)},
		{"the error has no colour behind it", signIn, style(`.card .error { background: none }`)},
		{"text is smaller", signIn, style(`.lead { font-size: .75rem }`)},
		{"a heading is not bold", profile, style(`h1 { font-weight: 400 }`)},
		{"the page runs the other way", arabicSignIn, func(s string) string { return strings.Replace(s, `dir="rtl"`, `dir="ltr"`, 1) }},
		{"the page runs the other way", passkeys, func(s string) string { return strings.Replace(s, `dir="ltr"`, `dir="rtl"`, 1) }},
		{"a column is wider than its place", signIn, style(`.card { inline-size: 130% }`)},
		{"the navigation is over the page", profile, style(`@media (min-width: 52rem) { .settings { grid-template-columns: 4rem minmax(0, 1fr) } }`)},
		{"a part is over another", signIn, style(`.primary { margin-block-start: -2rem }`)},
		{"icons are missing", profile, style(`.nav svg { visibility: hidden }`)},
		{"a picture is missing", profile, style(`.picture { visibility: hidden }`)},
		{"fields are missing", signIn, style(`input { visibility: hidden }`)},
		{"all is two pixels lower", signIn, style(`.page { position: relative; inset-block-start: 2px }`)},
		{"the styles are missing", profile, func(s string) string { return strings.ReplaceAll(s, "<style>", `<style media="none">`) }},
	} {
		source := way.broken(a.pages[way.page].html)
		if source == a.pages[way.page].html {
			t.Errorf("%s: the page is as before", way.what)
		}
		if got := e.paint([]albumPage{{way.what, source}})[0]; mosaic.Unlike(want[way.page], got) == "" {
			t.Errorf("%s: the picture of %s does not show it", way.what, a.pages[way.page].name)
		}
	}
}
