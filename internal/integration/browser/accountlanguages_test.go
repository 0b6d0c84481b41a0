package browser_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// eachText calls a function with every text of two tables, and the name of its place.
func eachText(place string, english, other reflect.Value, report func(place, english, other string)) {
	switch english.Kind() {
	case reflect.String:
		report(place, english.String(), other.String())
	case reflect.Struct:
		for i := range english.NumField() {
			eachText(place+"."+english.Type().Field(i).Name, english.Field(i), other.Field(i), report)
		}
	case reflect.Slice:
		for i := range english.Len() {
			text := reflect.Zero(english.Type().Elem())
			if i < other.Len() {
				text = other.Index(i)
			}
			eachText(fmt.Sprintf("%s[%d]", place, i), english.Index(i), text, report)
		}
	case reflect.Map:
		for _, key := range english.MapKeys() {
			text := other.MapIndex(key)
			if !text.IsValid() {
				text = reflect.Zero(english.Type().Elem())
			}
			eachText(fmt.Sprintf("%s[%q]", place, key), english.MapIndex(key), text, report)
		}
	}
}

var latin = regexp.MustCompile(`[A-Za-z]+`)

// pageWords is the script that returns what a page says, by sight and by ear.
const pageWords = `(() => {
	const said = [document.title];
	for (const element of document.querySelectorAll("*"))
		for (const name of ["aria-label", "alt", "title", "placeholder"])
			if (element.hasAttribute(name)) said.push(element.getAttribute(name));
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const node = walker.currentNode, parent = node.parentElement;
		if (parent.closest("script, style, noscript, .picture") || !node.data.trim()) continue;
		said.push(node.data.trim());
	}
	return said;
})()`

// pageData is what is the same in every language: addresses, hosts, keys, codes.
var pageData = regexp.MustCompile(`[\w-]+@[\w.]+\w|127\.0\.0\.1:\d+|\b[0-9A-Z]{4}([ -][0-9A-Z]{4})+\b|\b(PNG|JPEG|GIF|WebP)\b`)

// speaks checks that the page is in one language, and says nothing of english.
func (v *tour) speaks(texts pages.Texts, english []string, what string) {
	v.t.Helper()
	root := read(v.browserUser, chromedp.Evaluate[[]string](`[document.documentElement.lang, document.documentElement.dir]`))
	if !slices.Equal(root, []string{texts.Lang, texts.Dir}) {
		v.t.Errorf("%s: the page is in %q, want %s and %s", what, root, texts.Lang, texts.Dir)
	}
	said := read(v.browserUser, chromedp.Evaluate[[]string](pageWords))
	if len(said) < 3 {
		v.t.Errorf("%s: the page says %q", what, said)
	}
	for _, text := range said {
		left := pageData.ReplaceAllString(text, "")
		if texts.Dir == "rtl" && latin.MatchString(left) || slices.ContainsFunc(english, func(word string) bool { return contains(left, word) }) {
			v.t.Errorf("%s: the page says %q", what, text)
		}
	}
}

// contains finds a sentence in a text, and a word that is the whole text.
func contains(text, english string) bool {
	if strings.Contains(english, " ") {
		return strings.Contains(text, english)
	}
	return text == english
}

// englishOf returns the English texts, in their parts around a value, which another
// language does not have.
func englishOf(texts pages.Texts) []string {
	var english, others []string
	parts := func(text string) (list []string) {
		for part := range strings.SplitSeq(text, "%s") {
			if part = strings.Trim(part, " .,:"); len(part) > 2 {
				list = append(list, part)
			}
		}
		return list
	}
	eachText("", reflect.ValueOf(pages.Texts(page.English())), reflect.ValueOf(texts), func(place, said, other string) {
		english, others = append(english, parts(said)...), append(others, parts(other)...)
	})
	english = append(english, nameLabel, newsLabel, "GitHub") // words of the configuration
	return slices.DeleteFunc(english, func(text string) bool { return slices.Contains(others, text) })
}

// backwards is the script that returns what runs from right to left though it is written
// with Latin letters and digits: addresses, codes, keys and dates. It compares where the
// characters of a word are on the screen.
const backwards = `(() => {
	const wrong = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode;
		if (text.parentElement.closest("script, style")) continue;
		for (const word of text.data.matchAll(/[A-Za-z0-9][A-Za-z0-9@.:\/+ -]*[A-Za-z0-9]/g)) {
			let before;
			for (let i = word.index; i < word.index + word[0].length; i++) {
				const range = document.createRange();
				range.setStart(text, i);
				range.setEnd(text, i + 1);
				const at = range.getBoundingClientRect();
				if (before && at.width && Math.abs(at.top - before.top) < 2 && at.left < before.left) {
					wrong.push(word[0]);
					break;
				}
				if (at.width) before = at;
			}
		}
	}
	for (const element of document.querySelectorAll("input[name=email], input[name=code], .codes code"))
		if (getComputedStyle(element).direction !== "ltr") wrong.push(element.name || element.textContent);
	return wrong;
})()`

// outside is the script that returns the elements that are partly beside the window.
const outside = `Array.from(document.querySelectorAll("body *")).filter((element) => {
	const {left, right, width} = element.getBoundingClientRect();
	return width && (left < -1 || right > innerWidth + 1);
}).map((element) => element.outerHTML.slice(0, 120))`

// fits checks that the page needs no scrolling to the side on a small phone.
//
// https://www.w3.org/TR/WCAG22/#reflow
func (v *tour) fits(what string) {
	v.t.Helper()
	v.emulate(320, "light")
	if over := read(v.browserUser, chromedp.Evaluate[float64]("document.documentElement.scrollWidth - document.documentElement.clientWidth")); over > 0 {
		v.t.Errorf("%s: the page is %.0f pixels wider than the window", what, over)
	}
	for _, element := range read(v.browserUser, chromedp.Evaluate[[]string](outside)) {
		v.t.Errorf("%s: this is beside the window: %s", what, element)
	}
}

// mirroredPages are those that have a picture in a language that is written from right to left, too.
var mirroredPages = []string{
	"account, with all of them", "confirm, by an app", "devices, two", "factors, with two apps", "passkeys, with one",
	"recovery-codes, new codes", "second-factor-passkey, a passkey", "sign-up, no name",
}

// AT-85: a host replaces all words, and the pages fit a small phone in each language and
// each direction of writing. Pages of the second look as their pictures.
func TestThePagesOfAnAccountAreInTheLanguageOfTheHost(t *testing.T) {
	for _, texts := range []pages.Texts{german, arabic} {
		t.Run(texts.Lang, func(t *testing.T) {
			looks, english := album{folder: "account-" + texts.Lang}, englishOf(texts)
			tourAll(t, texts, func(v *tour, what string) {
				if page := v.at + ", " + what; texts.Dir == "rtl" && slices.Contains(mirroredPages, page) {
					looks.keep(v.browserUser, page)
				}
				v.speaks(texts, english, what)
				v.fits(what)
				for _, word := range read(v.browserUser, chromedp.Evaluate[[]string](backwards)) {
					v.t.Errorf("%s: this runs from right to left: %s", what, word)
				}
			})
			if texts.Dir == "rtl" {
				looks.looksAsItDid(t)
			}
		})
	}
}
