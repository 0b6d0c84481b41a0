package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// categories are those of Unicode.
//
// https://www.unicode.org/reports/tr35/tr35-numbers.html#Language_Plural_Rules
var categories = []string{"zero", "one", "two", "few", "many", "other"}

// PluralCategory returns the category of a whole number in a language, by the rules of
// Unicode for the languages of package translation. Tags of regions and scripts follow their
// language. In other languages 1 is "one", and every other number "other".
//
// https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html
func PluralCategory(lang string, n int) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")
	tens, hundreds := n%10, n%100
	few := tens >= 2 && tens <= 4 && (hundreds < 12 || hundreds > 14)
	switch base {
	case "ja", "ko", "zh":
		return "other"
	case "fr", "hi", "pt":
		if n < 2 {
			return "one"
		}
	case "pl":
		switch {
		case n == 1:
			return "one"
		case few:
			return "few"
		}
		return "many"
	case "ru", "uk":
		switch {
		case tens == 1 && hundreds != 11:
			return "one"
		case few:
			return "few"
		}
		return "many"
	case "ar":
		switch {
		case n <= 2:
			return categories[n]
		case hundreds >= 3 && hundreds <= 10:
			return "few"
		case hundreds >= 11:
			return "many"
		}
	default:
		if n == 1 {
			return "one"
		}
	}
	return "other"
}

// Lifetime says how long a link works.
func (t *Texts) Lifetime(d time.Duration) string { return fill(t.LinkLifetime, t.duration(d)) }

// duration writes a length of time in the unit in which it is read best. What does not fill a
// unit is left out, so that nothing works shorter than the text says.
func (t *Texts) duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && (d%day == 0 || d >= 7*day):
		return t.plural(t.Days, int(d/day))
	case d >= 2*time.Hour || d == time.Hour:
		return t.plural(t.Hours, int(d/time.Hour))
	}
	return t.plural(t.Minutes, max(int(d/time.Minute), 1))
}

func (t *Texts) plural(forms map[string]string, n int) string {
	text, there := forms[PluralCategory(t.Lang, n)]
	if !there {
		text = forms["other"]
	}
	return fill(text, strconv.Itoa(n))
}

// checkPlurals returns what is wrong with the forms of words behind a number.
func (t *Texts) checkPlurals() (errs []error) {
	for _, of := range []struct {
		name  string
		forms map[string]string
	}{{"Minutes", t.Minutes}, {"Hours", t.Hours}, {"Days", t.Days}} {
		if strings.Count(of.forms["other"], "%s") != 1 {
			errs = append(errs, fmt.Errorf("page: texts: %s[%q] %q must have %%s once, where the number belongs", of.name, "other", of.forms["other"]))
		}
		for _, category := range sorted(of.forms) {
			if !slices.Contains(categories, category) {
				errs = append(errs, fmt.Errorf("page: texts: %s has %q, which is no category; the categories are %s",
					of.name, category, strings.Join(categories, ", ")))
			}
			if strings.Count(of.forms[category], "%s") > 1 {
				errs = append(errs, fmt.Errorf("page: texts: %s[%q] %q has %%s more than once", of.name, category, of.forms[category]))
			}
		}
	}
	return errs
}
