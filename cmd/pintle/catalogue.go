package main

import (
	_ "embed" // for the catalogue
	"encoding/json"
	"fmt"
	"strings"
)

// An entry is a provider of the catalogue.
type entry struct {
	ID, Name, Func, Options string
	Fields                  []string
	Protocol, Issuer, Scope string
	Checks, Variables       []string
	Verified                string // the member that marks an address as verified
	Link, Doc, Deprecated   string
}

// providersJSON is written by the tests of package provider.
//
//go:embed providers.json
var providersJSON []byte

func readCatalogue() ([]entry, error) {
	var entries []entry
	if err := json.Unmarshal(providersJSON, &entries); err != nil {
		return nil, fmt.Errorf("read the catalogue: %w", err)
	}
	return entries, nil
}

// has reports whether a word occurs in the names of the provider.
func (e entry) has(word string) bool {
	word = strings.ToLower(word)
	for _, text := range []string{e.ID, e.Name, e.Func, e.Protocol} {
		if strings.Contains(strings.ToLower(text), word) {
			return true
		}
	}
	return false
}

// mail reports whether the provider sends mails, rather than browsers.
func (e entry) mail() bool { return strings.HasPrefix(e.Protocol, "mail") }

// nearest returns the id that is most like a mistyped one, if any is.
func nearest(entries []entry, id string) string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return nearestName(ids, id)
}

// nearestName returns the name that is most like a mistyped one, if any is.
func nearestName(names []string, typed string) string {
	best, least := "", 3
	for _, name := range names {
		if d := distance(strings.ToLower(typed), name); d < least && 2*d <= len(name) {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of letters to change, add or leave out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
