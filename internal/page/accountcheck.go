package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// checkAccount returns what is wrong with the texts of accounts. A name that no page has
// would be shown nowhere, and its page would stay English. A page that has lost its %s would
// not name the address of the account that it makes. The reader of a mail that an attacker
// has caused needs to see that address.
func (t *Texts) checkAccount() []error {
	english := englishAccount()
	errs := slices.Concat(
		unknownNames("Pages", t.Account.Pages, english.Pages),
		unknownNames("Words", t.Account.Words, english.Words),
		unknownNames("Notices", t.Account.Notices, english.Notices),
		unknownNames("Activity", t.Account.Activity, english.Activity),
		unknownNames("Mails", t.Account.Mails, english.Mails),
	)
	wrong := func(of, name, text string, want int) {
		if strings.Count(text, "%s") == want {
			return
		}
		if want == 0 {
			errs = append(errs, fmt.Errorf("page: texts: Account.%s[%q] has a %%s, and nothing belongs there: %q", of, name, text))
			return
		}
		errs = append(errs, fmt.Errorf("page: texts: Account.%s[%q] must have %%s once, as in English: %q", of, name, text))
	}
	all := func(texts []string) string { return strings.Join(texts, "\n") }
	for _, name := range sorted(t.Account.Pages) {
		here, there := t.Account.Pages[name], english.Pages[name]
		wrong("Pages", name, all(here.Text), strings.Count(all(there.Text), "%s"))
		wrong("Pages", name, all([]string{here.Heading, here.Button, here.Hint}), 0)
	}
	for _, name := range sorted(t.Account.Words) {
		wrong("Words", name, t.Account.Words[name], strings.Count(english.Words[name], "%s"))
	}
	if moment := t.Account.Words["time_utc"]; strings.Count(moment, clock) != 1 {
		errs = append(errs, fmt.Errorf("page: texts: Account.Words[\"time_utc\"] must have %s once, where the time of day belongs: %q", clock, moment))
	}
	for _, code := range sorted(t.Account.Problems) { // the application may have codes beside those of the pages
		wrong("Problems", code, t.Account.Problems[code], strings.Count(english.Problems[code], "%s"))
	}
	for _, code := range sorted(t.Account.Notices) {
		wrong("Notices", code, t.Account.Notices[code], 0)
	}
	for _, kind := range sorted(t.Account.Activity) {
		wrong("Activity", kind, t.Account.Activity[kind], 0)
	}
	for _, name := range sorted(t.Account.Mails) {
		here, there := t.Account.Mails[name], english.Mails[name]
		wrong("Mails", name, all(here.Text), strings.Count(all(there.Text), "%s"))
		wrong("Mails", name, all([]string{here.Heading, here.Button, here.Ignore}), 0)
		if strings.Contains(here.Subject, "%s") { // an application may write its name itself
			wrong("Mails", name, here.Subject, 1)
		}
		if strings.ContainsFunc(here.Subject, unicode.IsControl) {
			errs = append(errs, fmt.Errorf("page: texts: the Subject of Account.Mails[%q] must be one line: %q", name, here.Subject))
		}
	}
	if n := len(t.Account.Months); n != 12 {
		errs = append(errs, fmt.Errorf("page: texts: Account.Months has %d names, and a year has 12 months", n))
	}
	return errs
}

func unknownNames[V any](of string, texts, english map[string]V) (errs []error) {
	for _, name := range sorted(texts) {
		if _, known := english[name]; !known {
			errs = append(errs, fmt.Errorf("page: texts: Account.%s has %q, which is no name of a text; the names are %s",
				of, name, strings.Join(sorted(english), ", ")))
		}
	}
	return errs
}

func sorted[V any](texts map[string]V) []string { return slices.Sorted(maps.Keys(texts)) }
