package mail

import (
	"bytes"
	"cmp"
	_ "embed" // for the template
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/pintleauth/pintle/internal/page/color"
)

// Data is the content of one mail. The address it goes to is not part of it: an
// attacker may have typed an address that reads like a message (SH-10).
type Data struct {
	// URL is the link. Its host, with a port that is not the default one, is
	// the name of the site in the mail, unless Site is set.
	URL string

	// Site is the name of the site, one line.
	Site string

	// Brand is the colour of the button, ButtonText that of the text on it.
	Brand, ButtonText color.Color

	// ColorScheme is "light", "dark" or "auto", which follows the reader.
	// Empty means auto.
	ColorScheme string

	// Lang and Dir are the language and direction of the texts. Empty means
	// "en" and "ltr".
	Lang, Dir string

	// Lifetime says how long the link works. Empty leaves it out. The plain text, whose
	// form is that of Auth.js, does not have it.
	Lifetime string

	Texts Texts
}

// palette has the colours of one scheme.
type palette struct {
	Page, Card, Text, Muted, Line color.Color
}

var (
	light = palette{
		Page: color.Color{R: 0xf4, G: 0xf5, B: 0xf8}, Card: color.White, Text: color.Color{R: 0x16, G: 0x18, B: 0x1d},
		Muted: color.Color{R: 0x5b, G: 0x62, B: 0x70}, Line: color.Color{R: 0xe2, G: 0xe5, B: 0xea},
	}
	dark = palette{
		Page: color.Color{R: 0x0e, G: 0x10, B: 0x14}, Card: color.Color{R: 0x17, G: 0x1a, B: 0x20}, Text: color.Color{R: 0xee, G: 0xf0, B: 0xf4},
		Muted: color.Color{R: 0xa3, G: 0xab, B: 0xb9}, Line: color.Color{R: 0x2b, G: 0x30, B: 0x39},
	}
)

//go:embed mail.html
var htmlText string

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("mail").Parse(htmlText))
})

type view struct {
	Lang, Dir, Align  string
	Schemes           string
	Colors            palette
	Dark              *palette // nil where the mail has one scheme only
	Brand, ButtonText color.Color
	Before, After     string // the heading around the host
	Host              template.HTML
	Href              template.HTMLAttr
	Texts             Texts
	Lifetime          string
}

// Render writes the mail. It rejects a URL that is not an absolute http or
// https one with an ordinary host, and texts that [Texts.Check] rejects.
func Render(d Data) (subject, text, html string, err error) {
	texts := d.Texts.complete()
	if err := texts.Check(); err != nil {
		return "", "", "", err
	}
	host, err := linkHost(d.URL)
	if err != nil {
		return "", "", "", err
	}
	if strings.ContainsFunc(d.Site, unicode.IsControl) {
		return "", "", "", errSite
	}
	v := d.look()
	v.Host, v.Texts, v.Href, v.Lifetime = spelled(cmp.Or(d.Site, host)), texts, hrefOf(d.URL), d.Lifetime
	v.Before, v.After, _ = strings.Cut(texts.Heading, "%s")
	var body bytes.Buffer
	if err := htmlTemplate().Execute(&body, v); err != nil {
		return "", "", "", fmt.Errorf("mail: %w", err) // unreachable: every view fits the template
	}
	subject = strings.Replace(texts.Subject, "%s", cmp.Or(d.Site, host), 1)
	return subject, subject + "\n" + d.URL + "\n\n", body.String(), nil
}

var (
	errURL  = errors.New("mail: the link is not an absolute http or https URL")
	errSite = errors.New("mail: the name of the site is not one line")
	errHost = errors.New("mail: the host of the link has characters that no host has; write it in ASCII")

	// plainURL leaves out spaces and control characters, which would end the
	// link in the text, and quotes and angle brackets, which are never in a
	// URL that was put together properly.
	plainURL = regexp.MustCompile("^https?://[^\\x00-\\x20\"<>\\\\^`{|}\\x7f-\\x{10ffff}]+$")
	// plainHost is a name or an address. Other characters could begin a header
	// field or an element.
	plainHost = regexp.MustCompile(`^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
)

// linkHost returns the host of a link as browsers show it. Its errors do not
// repeat the link, with which a reader of the log could sign in.
func linkHost(link string) (string, error) {
	if !plainURL.MatchString(link) {
		return "", errURL
	}
	u, err := url.Parse(link)
	if err != nil || u.User != nil {
		return "", errURL
	}
	host := strings.ToLower(u.Host)
	if !plainHost.MatchString(host) {
		return "", errHost
	}
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, port) {
		host = strings.TrimSuffix(host, port)
	}
	return host, nil
}

// spelled returns the host, or the name of the site, with a zero-width space before each dot, so that
// mail programs do not make a second link of it.
func spelled(host string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(host), ".", "&#8203;.")) //nolint:gosec // escaped
}

// look is the part of a view that the theme and the language decide.
func (d Data) look() view {
	v := view{
		Lang: cmp.Or(d.Lang, "en"), Dir: "ltr", Align: "left",
		Schemes: "light dark", Colors: light, Dark: &dark,
		Brand: d.Brand, ButtonText: d.ButtonText,
	}
	switch d.ColorScheme {
	case "light":
		v.Schemes, v.Dark = "light", nil
	case "dark":
		v.Schemes, v.Colors, v.Dark = "dark", dark, nil
	}
	if d.Dir == "rtl" {
		v.Dir, v.Align = "rtl", "right"
	}
	return v
}

// hrefOf is a link whose host was checked. The template would write a "+" of the query
// as a reference, which programs that look for links with a pattern do not undo.
func hrefOf(link string) template.HTMLAttr {
	return template.HTMLAttr(`href="` + template.HTMLEscapeString(link) + `"`) //nolint:gosec // scheme checked, value escaped
}
