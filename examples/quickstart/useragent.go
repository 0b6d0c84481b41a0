package main

import "strings"

// A naming is the word in a User-Agent header that identifies a browser or a
// system. Many browsers have the words of others, too, so the order counts.
type naming struct{ word, name string }

var browsers = []naming{
	{"Edg", "Edge"},
	{"OPR/", "Opera"},
	{"Firefox/", "Firefox"},
	{"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"},
	{"Chrome/", "Chrome"},
	{"Safari/", "Safari"},
}

var systems = []naming{
	{"iPhone", "iPhone"},
	{"iPad", "iPad"},
	{"Android", "Android"},
	{"CrOS", "ChromeOS"},
	{"Windows", "Windows"},
	{"Macintosh", "macOS"},
	{"Linux", "Linux"},
}

// browserOf makes a name such as "Firefox on Linux" of a User-Agent header.
func browserOf(header string) string {
	browser, system := named(browsers, header), named(systems, header)
	switch {
	case browser == "":
		return "A browser"
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func named(list []naming, header string) string {
	for _, n := range list {
		if strings.Contains(header, n.word) {
			return n.name
		}
	}
	return ""
}
