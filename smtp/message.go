package smtp

import (
	"crypto/rand"
	"fmt"
	stdmail "net/mail"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/pintleauth/pintle"
)

// compose makes a mail with a text and an HTML part of m.
func (s *Sender) compose(m *pintle.Message) (*mail.Msg, error) {
	from := m.From
	if from == "" {
		from = s.opts.From
	}
	if from == "" {
		return nil, fmt.Errorf("there is no sender: set From of pintle.Email or account.Options, or smtp.Options.From")
	}
	sender, err := parseSender(from)
	if err != nil {
		return nil, fmt.Errorf("pintle.Email.From or account.Options.From: %w", err)
	}
	if err := checkAddress(m.To); err != nil {
		return nil, fmt.Errorf("the recipient %w", err)
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(sender)
	msg.ToMailAddress(&stdmail.Address{Address: m.To})
	msg.Subject(oneLine(m.Subject))
	msg.SetDate()
	// Made here because a default would publish the name of this machine.
	_, domain, _ := strings.Cut(sender.Address, "@")
	msg.SetMessageIDWithValue(rand.Text() + "@" + domain)
	// Prevents automatic replies.
	//
	// https://www.rfc-editor.org/rfc/rfc3834#section-5
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	switch {
	case m.Text != "" && m.HTML != "":
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
		msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	case m.HTML != "":
		msg.SetBodyString(mail.TypeTextHTML, m.HTML)
	default:
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
	}
	return msg, nil
}

// oneLine keeps a subject from becoming further header fields.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\r' || c == '\n' {
			return ' '
		}
		return c
	}, text)
}
