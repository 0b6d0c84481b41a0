package smtp

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// FromURL returns a sender for a server that is described by a URL, as
// environment variables hold them:
//
//	smtps://user:password@mail.example.com       TLS from the start, port 465
//	smtp://user:password@mail.example.com:587    STARTTLS, which the server must offer
//	smtp://localhost:1025                        like ByPort: for development
//
// Characters of user and password that are special in URLs are written as %40 and
// the like. There are no parameters: use [Options] for other settings.
func FromURL(raw string) (*Sender, error) {
	o, err := parseURL(raw)
	if err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	return New(o)
}

// parseURL returns errors that repeat no part of the URL, since it holds a
// password, whose place in a malformed URL is unknown.
func parseURL(raw string) (o Options, err error) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return o, errors.New("the URL of the mail server is empty: set it to smtps://user:password@host")
	case err != nil:
		return o, errors.New("the URL of the mail server cannot be read: it must look like smtps://user:password@host:465, with @ / : ? # and % of user and password percent-encoded")
	case u.Scheme == "smtps":
		o.Encryption = ImplicitTLS
	case u.Scheme != "smtp":
		return o, errors.New("the URL of the mail server must begin with smtps:// or smtp://")
	}
	switch {
	case u.Hostname() == "":
		return o, errors.New("the URL of the mail server names no host")
	case (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "":
		return o, errors.New("the URL of the mail server has something after the host: percent-encode @ / : ? # and % of user and password, and set what is no part of the URL in smtp.Options")
	}
	o.Host = u.Hostname()
	if port := u.Port(); port != "" {
		if o.Port, err = strconv.Atoi(port); err != nil || o.Port < 1 || o.Port > 65535 {
			return o, errors.New("the port in the URL of the mail server is not between 1 and 65535")
		}
	}
	o.Username = u.User.Username()
	o.Password, _ = u.User.Password()
	return o, nil
}
