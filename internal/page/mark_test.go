package page

import (
	"regexp"
	"testing"

	"github.com/pintleauth/pintle/internal/page/color"
)

func TestMarksAreSmallPlainPathsOfKnownProviders(t *testing.T) {
	known := map[string]bool{}
	for _, l := range listedProviders(t) {
		known[l.ID] = true
	}
	path := regexp.MustCompile(`^[MmLlHhVvCcSsQqTtAaZz0-9 ,.e+-]+$`)
	for id, m := range marks() {
		if !known[id] {
			t.Errorf("%s is not a provider of the catalogue", id)
		}
		if _, err := color.Parse(m.hex); !path.MatchString(m.path) || err != nil {
			t.Errorf("%s: colour %q, path %.60q", id, m.hex, m.path)
		}
	}
	if len(marks()) < 75 {
		t.Errorf("%d marks were read", len(marks()))
	}
	if len(marksText) > 150_000 {
		t.Errorf("the marks take %d bytes of every program", len(marksText))
	}
}

func TestMonogramIsTheInitials(t *testing.T) {
	for name, want := range map[string]string{
		"Keycloak":           "K",
		"Microsoft Entra ID": "ME",
		"42 School":          "4S",
		"osu!":               "O",
		"Last.fm":            "LF",
		"Lark / Feishu":      "LF",
		"élan vital":         "ÉV",
		"Яндекс":             "Я",
		"微信":                 "微",
		"":                   "",
		"<!--":               "",
	} {
		if got := monogram(name); got != want {
			t.Errorf("monogram(%q) = %q, want %q", name, got, want)
		}
	}
}
