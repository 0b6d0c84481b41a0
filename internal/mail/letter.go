package mail

import (
	"bytes"
	_ "embed" // for the template
	"errors"
	"fmt"
	"html/template"
	"strings"
	"sync"
	"unicode"
)

// A Letter is a mail about an account: what has happened, a code, a link, or several of
// these. Its texts are complete.
type Letter struct {
	// Data is the look and the language. Its URL is the link of the button, and its
	// Texts are not used.
	Data

	// Subject and Heading are one line each.
	Subject, Heading string

	// Text and Facts have one paragraph per entry. Facts are when and where it
	// happened.
	Text, Facts []string

	// Code is shown large, to be typed. Empty leaves it out.
	Code string

	// Button labels the link. Empty leaves the link out.
	Button string

	// Link labels a second link, to LinkURL, below the button. Empty leaves it out.
	Link, LinkURL string

	// Ignore is for readers who did not ask for the mail.
	Ignore string
}

//go:embed letter.html
var letterText string

var letterTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("letter").Parse(letterText))
})

type letterView struct {
	view
	Letter   Letter
	LinkHref template.HTMLAttr
}

// Render writes the letter. It rejects a URL that is not an absolute http or https one
// with an ordinary host, and a subject of several lines.
func (l Letter) Render() (subject, text, html string, err error) {
	if strings.ContainsFunc(l.Subject, unicode.IsControl) {
		return "", "", "", errors.New("mail: the subject must be one line")
	}
	v := letterView{view: l.look(), Letter: l}
	if l.Button != "" {
		if _, err := linkHost(l.URL); err != nil {
			return "", "", "", err
		}
		v.Href = hrefOf(l.URL)
	}
	if l.Link != "" {
		if _, err := linkHost(l.LinkURL); err != nil {
			return "", "", "", err
		}
		v.LinkHref = hrefOf(l.LinkURL)
	}
	var body bytes.Buffer
	if err := letterTemplate().Execute(&body, v); err != nil {
		return "", "", "", fmt.Errorf("mail: %w", err) // unreachable: every view fits the template
	}
	return l.Subject, l.plain(), body.String(), nil
}

// plain is the letter as text.
func (l Letter) plain() string {
	var b strings.Builder
	paragraph := func(texts ...string) {
		for _, text := range texts {
			if text != "" {
				b.WriteString(text + "\n\n")
			}
		}
	}
	paragraph(l.Heading)
	paragraph(l.Text...)
	paragraph(l.Code)
	link := func(label, to string) {
		if label == "" {
			return
		}
		if !strings.HasSuffix(label, "?") {
			label += ":"
		}
		paragraph(label + "\n" + to)
	}
	link(l.Button, l.URL)
	link(l.Link, l.LinkURL)
	paragraph(l.Facts...)
	paragraph(l.Ignore)
	return strings.TrimSuffix(b.String(), "\n")
}
