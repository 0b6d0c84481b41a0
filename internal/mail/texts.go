package mail

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Texts are the texts of a sign-in mail. Empty fields are filled from [English].
type Texts struct {
	// Subject is the subject and the first line of the text; %s is the host.
	Subject string
	// Heading stands above the button; %s is the host.
	Heading string
	// Text explains what the button does.
	Text string
	// Button labels the link.
	Button string
	// Ignore is for readers who did not request the mail.
	Ignore string
}

// English returns the texts that are used if the host application sets no others.
func English() Texts {
	return Texts{
		Subject: "Sign in to %s",
		Heading: "Sign in to %s",
		Text:    "Press the button to finish signing in. It works once.",
		Button:  "Sign in",
		Ignore:  "If you did not ask for this mail, you can ignore it.",
	}
}

func (t Texts) complete() Texts {
	english := English()
	return Texts{
		Subject: cmp.Or(t.Subject, english.Subject),
		Heading: cmp.Or(t.Heading, english.Heading),
		Text:    cmp.Or(t.Text, english.Text),
		Button:  cmp.Or(t.Button, english.Button),
		Ignore:  cmp.Or(t.Ignore, english.Ignore),
	}
}

// Check reports what is wrong with the texts: a placeholder that is missing or
// repeated, or a line break in the subject, which would begin another header
// field.
func (t Texts) Check() error {
	t = t.complete()
	var errs []error
	for _, f := range []struct{ name, text string }{{"Subject", t.Subject}, {"Heading", t.Heading}} {
		if strings.Count(f.text, "%s") != 1 {
			errs = append(errs, fmt.Errorf("mail: texts: %s %q must have %%s once, where the host belongs", f.name, f.text))
		}
	}
	if strings.ContainsFunc(t.Subject, unicode.IsControl) {
		errs = append(errs, fmt.Errorf("mail: texts: Subject %q must be one line", t.Subject))
	}
	return errors.Join(errs...)
}
