package main

import "regexp"

// An application is one whose people may use the API through it.
type application struct {
	Name string

	// redirect matches where the browser may take a code. Another application
	// cannot listen there: an address of this machine that the person's own
	// application listens at while it waits, or a page of a site whose owner the
	// operating system asked which application is theirs. Schemes that an
	// application makes up belong to whoever claims them.
	//
	// https://www.rfc-editor.org/rfc/rfc8252#section-7
	redirect *regexp.Regexp
}

// applications are those that may ask, by their client ids.
var applications = map[string]application{
	"desktop": {"The example for desktops", regexp.MustCompile(`^http://127\.0\.0\.1:\d{1,5}/signed-in$`)},
	"phone":   {"The example for phones", regexp.MustCompile(`^https://app\.example\.com/signed-in$`)},
}
