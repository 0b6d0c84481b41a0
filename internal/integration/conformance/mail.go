package main

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strconv"

	"github.com/pintleauth/pintle"
)

// mailSettings is the kit's mail sink, which has neither TLS nor passwords.
type mailSettings struct {
	Host string
	Port int
	From string
}

func (s mailSettings) send(_ context.Context, m *pintle.Message) error {
	sender, err := mail.ParseAddress(m.From)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	fmt.Fprintf(&body, "From: %s\r\nTo: <%s>\r\nSubject: %s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=%s\r\n\r\n",
		sender, m.To, mime.QEncoding.Encode("utf-8", m.Subject), parts.Boundary())
	for _, part := range []struct{ kind, text string }{{"text/plain", m.Text}, {"text/html", m.HTML}} {
		w, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Type":              {part.kind + "; charset=utf-8"},
			"Content-Transfer-Encoding": {"quoted-printable"},
		})
		if err != nil {
			return err
		}
		q := quotedprintable.NewWriter(w)
		if _, err := q.Write([]byte(part.text)); err != nil {
			return err
		}
		if err := q.Close(); err != nil {
			return err
		}
	}
	if err := parts.Close(); err != nil {
		return err
	}
	return smtp.SendMail(net.JoinHostPort(s.Host, strconv.Itoa(s.Port)), nil, sender.Address, []string{m.To}, body.Bytes())
}
