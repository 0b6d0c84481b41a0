package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// show writes what to register at a service and what to set here, with the
// addresses of the application and the id of the provider in it.
func show(w io.Writer, e entry, site, as string) error {
	base, err := routes(site)
	if err != nil {
		return err
	}
	id := e.ID
	if as != "" {
		id = as
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", e.Name)
	if e.Deprecated != "" {
		wrap(&b, "Deprecated: "+e.Deprecated)
		b.WriteByte('\n')
	}
	for paragraph := range strings.SplitSeq(e.Doc, "\n") {
		wrap(&b, paragraph)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "Use:\n    %s\n", call(e, as))
	if !e.mail() {
		fmt.Fprintf(&b, "\nRegister:\n    %s/callback/%s\n", base, id)
	}
	b.WriteString("\nSet:\n")
	for _, v := range e.Variables {
		fmt.Fprintf(&b, "    %s=\n", renamed(v, e.ID, id))
	}
	if e.Scope != "" {
		fmt.Fprintf(&b, "\nScopes:\n    %s\n", e.Scope)
	}
	if !e.mail() {
		fmt.Fprintf(&b, "\nVerified address:\n    %s\n", cmp.Or(strings.ReplaceAll(e.Verified, "`", ""), "not known, so none counts as verified"))
	}
	fmt.Fprintf(&b, "\nRead:\n    %s\n", e.Link)
	_, err = w.Write(b.Bytes())
	return err
}

// routes returns the address below which the routes of an application are: the
// path of its URL, or /auth if the URL has no path.
func routes(site string) (string, error) {
	u, err := url.Parse(site)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", usagef("-url is not an address such as https://example.com")
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	u.Path = strings.TrimRight(u.Path, "/")
	if u.Path == "" {
		u.Path = "/auth"
	}
	return u.String(), nil
}

// call is the function call that makes the provider.
func call(e entry, as string) string {
	inside := ""
	if as != "" {
		inside = fmt.Sprintf("ID: %q", as)
	}
	if common := common(e); common != e.Options {
		if as != "" {
			inside = fmt.Sprintf("%s: provider.%s{%s}", common, common, inside)
		}
		for _, field := range e.Fields {
			if inside != "" {
				inside += ", "
			}
			inside += field + ": …"
		}
	}
	return fmt.Sprintf("provider.%s(provider.%s{%s})", e.Func, e.Options, inside)
}

// common is the type of the options every provider of its kind has.
func common(e entry) string {
	if e.mail() {
		return "MailOptions"
	}
	return "Options"
}

// renamed is a variable of one id for another.
func renamed(variable, from, to string) string {
	part := func(id string) string { return "AUTH_" + strings.ReplaceAll(strings.ToUpper(id), "-", "_") + "_" }
	return part(to) + strings.TrimPrefix(variable, part(from))
}

// wrap writes text in lines that fit a terminal.
func wrap(b *bytes.Buffer, text string) {
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
		case width+1+len(word) > 78:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	b.WriteByte('\n')
}
