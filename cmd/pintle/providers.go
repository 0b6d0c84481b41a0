package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// providers lists the catalogue, searches it or shows one of its entries.
func providers(w io.Writer, args []string) error {
	entries, err := readCatalogue()
	if err != nil {
		return err
	}
	verb := "list"
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "list":
		if len(args) > 0 {
			return usagef("list takes no argument, but got %q", args[0])
		}
		return list(w, entries)
	case "search":
		if len(args) != 1 {
			return usagef("search takes one word, such as: pintle providers search git")
		}
		return search(w, entries, args[0])
	case "show":
		return showOne(w, entries, args)
	case "help", "-h", "-help", "--help":
		_, err := fmt.Fprintln(w, "usage: pintle providers [list | search WORD | show ID [-url URL] [-as ID]]")
		return err
	}
	if slices.ContainsFunc(entries, func(e entry) bool { return e.ID == verb }) {
		return usagef("unknown command %q: did you mean pintle providers show %s?", verb, verb)
	}
	if near := nearestName([]string{"list", "search", "show"}, verb); near != "" {
		return usagef("unknown command %q: did you mean pintle providers %s?", verb, near)
	}
	return usagef("unknown command %q", verb)
}

func list(w io.Writer, entries []entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		note := ""
		if e.Deprecated != "" {
			note = "\tdeprecated"
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\n", e.ID, e.Name, e.Protocol, note)
	}
	return t.Flush()
}

func search(w io.Writer, entries []entry, word string) error {
	var found []entry
	for _, e := range entries {
		if e.has(word) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("no provider is called anything like %q: if it has an issuer of OpenID Connect, take openid-connect", word)
	}
	return list(w, found)
}

func showOne(w io.Writer, entries []entry, args []string) error {
	flags := flag.NewFlagSet("show", flag.ContinueOnError)
	site := flags.String("url", "https://example.com", "the address of the application, with the path of the routes if it is not /auth")
	as := flags.String("as", "", "the id of the provider in the application")
	var ids []string
	for len(args) > 0 { // flags may come before and after the id
		if err := parse(flags, args); err != nil {
			return err
		}
		if args = flags.Args(); len(args) > 0 {
			ids, args = append(ids, args[0]), args[1:]
		}
	}
	if len(ids) != 1 {
		return usagef("show takes one id, such as github: pintle providers lists them")
	}
	for _, e := range entries {
		if e.ID == ids[0] {
			return show(w, e, *site, *as)
		}
	}
	if like := nearest(entries, ids[0]); like != "" {
		return fmt.Errorf("unknown provider %q: did you mean %s?", ids[0], like)
	}
	return fmt.Errorf("unknown provider %q: see pintle providers", ids[0])
}
