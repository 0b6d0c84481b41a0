package page_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"github.com/pintleauth/pintle/internal/page"
)

// The rules are those of Unicode, as x/text has them.
func TestPluralCategoriesAreThoseOfUnicode(t *testing.T) {
	names := map[plural.Form]string{
		plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
	}
	for lang := range strings.FieldsSeq("ar de en es fr hi it ja ko nl pl pt-BR ru tr uk zh-Hans") {
		tag := language.MustParse(lang)
		for n := range 1500 {
			want := names[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]
			if got := page.PluralCategory(lang, n); got != want {
				t.Errorf("%s: %d is %q, want %q", lang, n, got, want)
			}
		}
	}
}

func TestALinkWorksNoShorterThanItsPageSays(t *testing.T) {
	russian := page.Texts{
		Lang: "ru", LinkLifetime: "%s.",
		Minutes: map[string]string{"one": "%s минуту", "few": "%s минуты", "many": "%s минут", "other": "%s минуты"},
		Hours:   map[string]string{"one": "час", "other": "%s ч"},
	}
	for _, tt := range []struct {
		texts page.Texts
		given time.Duration
		want  string
	}{
		{page.English(), time.Minute, "1 minute"},
		{page.English(), 90 * time.Second, "1 minute"},
		{page.English(), 59*time.Minute + 59*time.Second, "59 minutes"},
		{page.English(), time.Hour, "1 hour"},
		{page.English(), 90 * time.Minute, "90 minutes"},
		{page.English(), 2*time.Hour + 59*time.Minute, "2 hours"},
		{page.English(), 24 * time.Hour, "1 day"},
		{page.English(), 47 * time.Hour, "47 hours"},
		{page.English(), 48 * time.Hour, "2 days"},
		{page.English(), 71 * time.Hour, "71 hours"},
		{page.English(), 7 * 24 * time.Hour, "7 days"},
		{page.English(), 200 * time.Hour, "8 days"},
		{russian, 21 * time.Minute, "21 минуту"},
		{russian, 22 * time.Minute, "22 минуты"},
		{russian, 15 * time.Minute, "15 минут"},
		{russian, time.Hour, "час"},
		{russian, 22 * time.Hour, "22 ч"}, // without a form for few
		{page.Texts{Lang: "gsw"}, time.Hour, "1 hour"},
	} {
		p := newPages(t, page.Theme{}, tt.texts)
		texts := p.Texts()
		got := strings.TrimSuffix(strings.TrimPrefix(texts.Lifetime(tt.given), "The link works for "), ".")
		if got != tt.want {
			t.Errorf("%v in %s is %q, want %q", tt.given, tt.texts.Lang, got, tt.want)
		}
	}
}

func TestNewRefusesFormsOfNumbersWithoutANumber(t *testing.T) {
	for want, texts := range map[string]page.Texts{
		`Hours["other"] "" must`:             {Hours: map[string]string{"one": "%s hour"}},
		`Days["other"] "days" must`:          {Days: map[string]string{"other": "days"}},
		`Minutes["one"] "%s of %s" has`:      {Minutes: map[string]string{"one": "%s of %s", "other": "%s"}},
		`Minutes has "several", which is no`: {Minutes: map[string]string{"several": "%s", "other": "%s"}},
		`LinkLifetime "for ever" must`:       {LinkLifetime: "for ever"},
	} {
		if _, err := page.New(page.Theme{}, texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New gave error %v, want one with %s", err, want)
		}
	}
}
