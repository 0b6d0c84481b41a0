package authtest

import (
	"io"
	"strings"
	"time"
)

// mail, recipient and data are the three steps of a mail transaction.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-3.3
func (s *smtpSession) mail(rest string) bool {
	from, ok := path(rest, "FROM:")
	switch {
	case !s.greeted || s.hasFrom:
		return s.reply(503, "5.5.1 not now")
	case s.offersTLS():
		return s.reply(530, "5.7.0 only after STARTTLS")
	case s.box.opts.Username != "" && s.username == "":
		return s.reply(530, "5.7.0 only after AUTH")
	case !ok:
		return s.reply(501, "5.5.4 malformed sender")
	case s.box.has(MailRefusesSender):
		return s.reply(550, "5.7.1 sender rejected")
	}
	s.from, s.hasFrom = from, true
	return s.reply(250, "2.1.0 go on")
}

func (s *smtpSession) recipient(rest string) bool {
	to, ok := path(rest, "TO:")
	switch {
	case !s.hasFrom:
		return s.reply(503, "5.5.1 not now")
	case !ok || to == "":
		return s.reply(501, "5.5.4 malformed recipient")
	case len(s.to) == maxTo:
		return s.reply(452, "4.5.3 too many recipients")
	case s.box.has(MailRefusesRecipient):
		return s.reply(550, "5.1.1 no such mailbox")
	case s.box.has(MailDefersRecipient):
		return s.reply(450, "4.2.0 come back later")
	}
	s.to = append(s.to, to)
	return s.reply(250, "2.1.5 go on")
}

func (s *smtpSession) data() bool {
	if len(s.to) == 0 {
		return s.reply(503, "5.5.1 to whom?")
	}
	if !s.reply(354, "end with a dot") {
		return false
	}
	s.conn.SetDeadline(time.Now().Add(commandTimeout))
	s.limit.N = maxMail
	if s.box.has(MailDrops) {
		_, _ = s.text.ReadLine() // so that the client is in the middle
		return false
	}
	raw, err := io.ReadAll(s.text.DotReader())
	if err != nil {
		return false // cut off, or larger than announced in SIZE
	}
	switch {
	case s.box.has(MailHangsAfterMessage):
		return s.hang()
	case s.box.has(MailRefusesMessage):
		s.reset()
		return s.reply(554, "5.6.0 not that")
	}
	message, err := readMessage(raw)
	if err != nil {
		s.reset()
		return s.reply(554, "5.6.0 "+printable(err.Error()))
	}
	message.From, message.To = s.from, s.to
	message.Encrypted, message.Username = s.secure, s.username
	s.box.put(message)
	s.reset()
	return s.reply(250, "2.0.0 kept")
}

// printable prevents the text of a client from becoming further replies.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 400)] // a reply line has at most 512 octets
}

// path returns the text between the angle brackets of "FROM:<…> SIZE=1". A bracket
// inside a quoted local part does not end it.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-4.1.2
func path(rest, keyword string) (string, bool) {
	if len(rest) < len(keyword) || !strings.EqualFold(rest[:len(keyword)], keyword) {
		return "", false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(rest[len(keyword):], " "), "<")
	if !ok {
		return "", false
	}
	quoted := false
	for i := 0; i < len(rest); i++ {
		switch {
		case quoted && rest[i] == '\\':
			i++
		case rest[i] == '"':
			quoted = !quoted
		case rest[i] == '>' && !quoted:
			after := rest[i+1:]
			return rest[:i], after == "" || after[0] == ' '
		}
	}
	return "", false
}
