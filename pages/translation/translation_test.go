package translation_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/pages/translation"
)

// A text is one of the texts in one language.
type text struct{ english, other string }

// pair calls report with every text that either language has, and its place. Of a text that
// a language lacks the other one is empty.
func pair(place string, english, other reflect.Value, report func(string, text)) {
	switch english.Kind() {
	case reflect.String:
		report(place, text{english.String(), other.String()})
	case reflect.Struct:
		for i := range english.NumField() {
			pair(strings.TrimPrefix(place+"."+english.Type().Field(i).Name, "."), english.Field(i), other.Field(i), report)
		}
	case reflect.Slice:
		at := func(list reflect.Value, i int) reflect.Value {
			if i < list.Len() {
				return list.Index(i)
			}
			return reflect.Zero(list.Type().Elem())
		}
		for i := range max(english.Len(), other.Len()) {
			pair(fmt.Sprintf("%s[%d]", place, i), at(english, i), at(other, i), report)
		}
	case reflect.Map:
		at := func(m, key reflect.Value) reflect.Value {
			if value := m.MapIndex(key); value.IsValid() {
				return value
			}
			return reflect.Zero(m.Type().Elem())
		}
		keys := map[string]reflect.Value{}
		for _, key := range slices.Concat(english.MapKeys(), other.MapKeys()) {
			keys[key.String()] = key
		}
		for name, key := range keys {
			pair(fmt.Sprintf("%s[%q]", place, name), at(english, key), at(other, key), report)
		}
	}
}

// faults returns what is wrong with the texts of a language.
func faults(texts pages.Texts) (found []string) {
	for name, forms := range map[string]map[string]string{"Minutes": texts.Minutes, "Hours": texts.Hours, "Days": texts.Days} {
		want := map[string]bool{"other": true}
		for n := range 200 {
			want[page.PluralCategory(texts.Lang, n)] = true
		}
		if got := slices.Sorted(maps.Keys(forms)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			found = append(found, fmt.Sprintf("%s: there are forms for %q, and the language has %q", name, got, slices.Sorted(maps.Keys(want))))
		}
	}
	pair("", reflect.ValueOf(pages.Texts(page.English())), reflect.ValueOf(texts), func(place string, t text) {
		say := func(format string, values ...any) {
			found = append(found, fmt.Sprintf("%s: %s", place, fmt.Sprintf(format, values...)))
		}
		switch of, _, _ := strings.Cut(place, "["); of {
		case "Lang", "Dir", "Account.Date", "Minutes", "Hours", "Days": // each language has its own
			return
		}
		switch {
		case t.other == "" && t.english != "":
			say("the text is missing; in English it is %q", t.english)
			return
		case t.english == "" && t.other != "":
			say("English has no such text as %q", t.other)
			return
		case strings.Count(t.english, "%s") != strings.Count(t.other, "%s"):
			say("%q needs %%s as often as %q", t.other, t.english)
		case t.english == t.other && t.english != "" && !slices.Contains(slices.Concat(sameWord[""], sameWord[texts.Lang]), t.other):
			say("%q is English", t.other)
		}
		if strings.ContainsFunc(t.other, unicode.IsControl) || strings.TrimSpace(t.other) != t.other || strings.Contains(t.other, "  ") {
			say("%q has a control character or a space too many", t.other)
		}
		if !strings.HasSuffix(place, "Placeholder") && !latinScript(texts.Lang) {
			for _, word := range latin.FindAllString(strings.ReplaceAll(t.other, "%s", ""), -1) {
				if !slices.Contains(names, word) {
					say("%q has the English word %q", t.other, word)
				}
			}
		}
		if ends := strings.HasSuffix(t.english, "."); ends != sentenceEnd.MatchString(t.other) && !strings.HasSuffix(t.english, "?") {
			say("%q and %q must both be sentences with a full stop, or neither", t.english, t.other)
		}
	})
	return found
}

var (
	latin       = regexp.MustCompile(`[A-Za-z]+`)
	sentenceEnd = regexp.MustCompile(`[.。।]$`)
	// names are written in Latin letters in every language.
	names = []string{"JavaScript", "Cookie", "cookie", "SSO", "PIN", "PNG", "JPEG", "GIF", "WebP", "MB", "UTC"}
)

// sameWord are the words that a language has in common with English; "" stands for all
// languages.
var sameWord = map[string][]string{
	"":   {"SSO", "%s, 15:04 UTC"},
	"de": {"Logo", "Passkey", "Code", "April", "August", "September", "November"},
	"fr": {"Logo", "Code"},
	"it": {"Logo", "Passkey", "Password"},
	"nl": {"Logo", "Passkey", "Passkeys", "Code"},
	"pl": {"Logo"},
	"tr": {"Logo"},
}

func latinScript(lang string) bool {
	return !slices.Contains([]string{"ar", "hi", "ja", "ko", "ru", "uk", "zh-Hans"}, lang)
}

// A language that lacks a text shows it in English.
func TestEveryLanguageHasEveryText(t *testing.T) {
	for _, texts := range translation.All() {
		for _, fault := range faults(texts) {
			t.Errorf("%s: %s", texts.Lang, fault)
		}
	}
}

// Each fault that the test above is to find is found.
func TestTheCheckOfTheTextsFindsFaults(t *testing.T) {
	for want, spoil := range map[string]func(*pages.Texts){
		`Account.Words["code"]: the text is missing; in English it is "Code"`:        func(p *pages.Texts) { delete(p.Account.Words, "code") },
		`Account.Words["cod"]: English has no such text as "x"`:                      func(p *pages.Texts) { p.Account.Words["cod"] = "x" },
		`BackTo: "Weiter" needs %s as often as "Go to %s"`:                           func(p *pages.Texts) { p.BackTo = "Weiter" },
		`SignOutButton: "Sign out" is English`:                                       func(p *pages.Texts) { p.SignOutButton = "Sign out" },
		`Hours: there are forms for ["other"], and the language has ["one" "other"]`: func(p *pages.Texts) { delete(p.Hours, "one") },
		`Or: "oder " has a control character or a space too many`:                    func(p *pages.Texts) { p.Or = "oder " },
		`Or: "od\u0007er" has a control character or a space too many`:               func(p *pages.Texts) { p.Or = "od\aer" },
		`Account.Pages["forgot"].Text[0]: the text is missing; in English it is "Type your address. We send you a link to choose a new password."`: func(p *pages.Texts) {
			forgot := p.Account.Pages["forgot"]
			forgot.Text = nil
			p.Account.Pages["forgot"] = forgot
		},
		`MailText: "Press the button to finish signing in. It works once." and "Knopf" must both be sentences with a full stop, or neither`: func(p *pages.Texts) { p.MailText = "Knopf" },
	} {
		german := translation.German()
		spoil(&german)
		if got := strings.ReplaceAll(strings.Join(faults(german), "\n"), `\a`, `\u0007`); got != want {
			t.Errorf("want %s\ngot  %s", want, got)
		}
	}
	russian := translation.Russian()
	russian.Or = "или or"
	if got := faults(russian); !slices.Equal(got, []string{`Or: "или or" has the English word "or"`}) {
		t.Errorf("found %q", got)
	}
}

// The plain text of a mail has a link and no button.
func TestNoMailOfAnAccountSpeaksOfAButton(t *testing.T) {
	button := map[string]string{
		"ar": `زر`, "de": `Knopf|Schaltfläche`, "en": `button`, "es": `botón`, "fr": `bouton`, "hi": `बटन`, "it": `pulsante`, "ja": `ボタン`, "ko": `버튼`,
		"nl": `knop`, "pl": `przycisk`, "pt": `botão`, "ru": `кнопк`, "tr": `düğme`, "uk": `кнопк`, "zh-Hans": `按钮`,
	}
	for _, texts := range append(translation.All(), pages.Texts(page.English())) {
		word := regexp.MustCompile(`(?i)` + button[texts.Lang])
		if !word.MatchString(texts.MailText) { // of the HTML part
			t.Errorf("%s: %q is no text with a button", texts.Lang, texts.MailText)
		}
		for kind, mail := range texts.Account.Mails {
			for _, text := range append(mail.Text, mail.Ignore) {
				if word.MatchString(text) {
					t.Errorf("%s: the mail %q says %q", texts.Lang, kind, text)
				}
			}
		}
	}
}

// The sixteen languages, each of which a page can be made in.
func TestTheLanguagesAreSixteen(t *testing.T) {
	got := map[string]string{}
	for _, texts := range append(translation.All(), translation.English()) {
		got[texts.Lang] = texts.Dir
		if _, err := page.New(page.Theme{}, page.Texts(texts)); err != nil {
			t.Errorf("%s: %v", texts.Lang, err)
		}
		if texts.Site != "" {
			t.Errorf("%s: the site has the name %q", texts.Lang, texts.Site)
		}
	}
	want := map[string]string{"ar": "rtl"}
	for lang := range strings.SplitSeq("de en es fr hi it ja ko nl pl pt ru tr uk zh-Hans", " ") {
		want[lang] = "ltr"
	}
	if !maps.Equal(got, want) {
		t.Errorf("the languages are %v", got)
	}
}

// What a host changes is its own.
func TestTheTextsAreNewAtEachCall(t *testing.T) {
	german := translation.German()
	german.Account.Words["code"] = "Ziffern"
	german.Account.Months[0] = "Jänner"
	if again := translation.German(); again.Account.Words["code"] != "Code" || again.Account.Months[0] != "Januar" {
		t.Errorf("the next call returns %q and %q", again.Account.Words["code"], again.Account.Months[0])
	}
}
