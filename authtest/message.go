package authtest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Message is one mail that arrived.
type Message struct {
	From string   // of the envelope
	To   []string // of the envelope, as the client wrote them

	Header  mail.Header // as it was sent; Subject is decoded
	Subject string
	Text    string // the text/plain part, decoded
	HTML    string // the text/html part, decoded
	Raw     []byte

	// Code is the code that the user types, of a mail of package account that came by
	// [Mailbox.Send]. A mail that came by SMTP has it in Text.
	Code string

	Time      time.Time // of arrival
	Encrypted bool      // it came through STARTTLS
	Username  string    // the authenticated sender, "" without AUTH
}

// readMessage parses a mail. It is stricter than real mail servers, which forward
// almost anything: the mail of a test should be valid.
func readMessage(raw []byte) (*Message, error) {
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read the header of the mail: %w", err)
	}
	m := &Message{Header: parsed.Header, Raw: raw, Time: time.Now()}
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		return nil, fmt.Errorf("decode the subject: %w", err)
	}
	if err := m.readPart(parsed.Header, parsed.Body, 0); err != nil {
		return nil, err
	}
	if m.Text == "" && m.HTML == "" {
		return nil, errors.New("the mail has neither a text/plain nor a text/html part")
	}
	return m, nil
}

// header is the common method of mail.Header and textproto.MIMEHeader.
type header interface{ Get(name string) string }

// maxDepth is how deep parts may be in one another.
const maxDepth = 8

// readPart reads the text and the HTML of a part, or of the parts inside it.
func (m *Message) readPart(h header, body io.Reader, depth int) error {
	kind := h.Get("Content-Type")
	if kind == "" {
		kind = "text/plain; charset=us-ascii"
	}
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		return fmt.Errorf("read the Content-Type %q: %w", kind, err)
	}
	if strings.HasPrefix(media, "multipart/") {
		if depth == maxDepth {
			return errors.New("parts are nested too deeply")
		}
		return m.readParts(body, params["boundary"], depth)
	}
	if disposition, _, _ := mime.ParseMediaType(h.Get("Content-Disposition")); disposition == "attachment" {
		return nil
	}
	var into *string
	switch media {
	case "text/plain":
		into = &m.Text
	case "text/html":
		into = &m.HTML
	default:
		return nil
	}
	text, err := decodeText(body, h.Get("Content-Transfer-Encoding"), params["charset"])
	if err != nil {
		return fmt.Errorf("decode the %s part: %w", media, err)
	}
	*into += text
	return nil
}

func (m *Message) readParts(body io.Reader, boundary string, depth int) error {
	parts := multipart.NewReader(body, boundary)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the parts of the mail: %w", err)
		}
		if err := m.readPart(part.Header, part, depth+1); err != nil {
			return err
		}
	}
}

// decodeText undoes the encodings of a text, and makes line ends "\n".
func decodeText(body io.Reader, encoding, charset string) (string, error) {
	switch strings.ToLower(encoding) {
	case "", "7bit", "8bit", "binary":
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body) // skips line ends
	default:
		return "", fmt.Errorf("the transfer encoding %q is unknown", encoding)
	}
	decoded, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	text := string(decoded)
	switch strings.ToLower(charset) {
	case "", "us-ascii", "utf-8":
		if !utf8.ValidString(text) {
			return "", errors.New("the text is not UTF-8")
		}
	case "iso-8859-1":
		runes := make([]rune, len(decoded)) // its characters are the first 256 of Unicode
		for i, b := range decoded {
			runes[i] = rune(b)
		}
		text = string(runes)
	default:
		return "", fmt.Errorf("the charset %q is unknown", charset)
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

var (
	linkInText = regexp.MustCompile(`https?://[^\s<>"]+`)
	linkInHTML = regexp.MustCompile(`(?i)<a\s[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// Links returns the http and https addresses that a reader of the mail could
// follow, each once: those of the text first, then those of the HTML.
func (m *Message) Links() []string {
	var links []string
	add := func(link string) {
		if !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	for _, link := range linkInText.FindAllString(m.Text, -1) {
		add(strings.TrimRight(link, ".,;:!?)]}'")) // the sentence around it
	}
	for _, match := range linkInHTML.FindAllStringSubmatch(m.HTML, -1) {
		link := html.UnescapeString(match[1] + match[2])
		if strings.HasPrefix(link, "http://") || strings.HasPrefix(link, "https://") {
			add(link)
		}
	}
	return links
}
