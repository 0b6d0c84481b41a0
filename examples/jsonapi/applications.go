package main

import "regexp"

// An application is a client of the API.
type application struct {
	Name string

	// redirect matches the addresses to which a code may be sent. Another
	// application cannot receive requests there: it is an address of this
	// machine at which the user's application listens while it waits, or a page
	// of a site that the operating system has verified to belong to the
	// application. A custom scheme can be claimed by any application.
	//
	// https://www.rfc-editor.org/rfc/rfc8252#section-7
	redirect *regexp.Regexp
}

// applications are the registered ones, by their client ids.
var applications = map[string]application{
	"desktop": {"The example for desktops", regexp.MustCompile(`^http://127\.0\.0\.1:\d{1,5}/signed-in$`)},
	"phone":   {"The example for phones", regexp.MustCompile(`^https://app\.example\.com/signed-in$`)},
}
