package page

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/page/color"
)

// listed is a provider as in testdata/providers.json, the OAuth and OIDC
// providers of the catalogue with their styles.
type listed struct {
	ID, Name string
	Kind     Kind
	Style    struct{ Bg, BrandColor string }
}

func listedProviders(t *testing.T) []listed {
	t.Helper()
	data, err := os.ReadFile("testdata/providers.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (l listed) provider() Provider {
	return Provider{ID: l.ID, Name: l.Name, Kind: l.Kind, Style: Style{BrandColor: cmp.Or(l.Style.BrandColor, l.Style.Bg)}}
}

func TestEveryProviderCanBeReadOnItsColor(t *testing.T) {
	for _, l := range listedProviders(t) {
		p := l.provider()
		if _, err := color.Parse(p.Style.BrandColor); p.Style.BrandColor != "" && err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		drawn := newTile(p)
		least := 2.0
		if drawn.Letters != "" {
			least = color.MinText
		}
		if got := color.Contrast(drawn.on, drawn.mark); !drawn.neutral && got < least {
			t.Errorf("%s: %v on %v has contrast %.2f, want %.1f", p.ID, drawn.mark, drawn.on, got, least)
		}
		if drawn.Path == "" && drawn.Letters == "" && drawn.Colored == nil {
			t.Errorf("%s: neither mark nor initials", p.ID)
		}

		p.ID = "" // as a provider we have no mark for
		initials := newTile(p)
		if got := color.Contrast(initials.on, initials.mark); !initials.neutral && got < color.MinText {
			t.Errorf("%s: initials %v on %v have contrast %.2f", l.ID, initials.mark, initials.on, got)
		}
	}
}

// Each brand colour, taken for the theme of a site.
func TestButtonTextCanBeReadOnEveryBrandColor(t *testing.T) {
	property := regexp.MustCompile(`--(brand-color|button-text-color|button-hover-bg):(#[0-9a-f]{6})`)
	seen := 0
	for _, l := range listedProviders(t) {
		for _, brand := range []string{l.Style.BrandColor, l.Style.Bg, marks()[l.ID].hex} {
			if brand == "" {
				continue
			}
			seen++
			resolved, err := Theme{BrandColor: brand}.resolve()
			if err != nil {
				t.Fatal(err)
			}
			colors := map[string]color.Color{}
			for _, m := range property.FindAllStringSubmatch(string(resolved.style), -1) {
				colors[m[1]], _ = color.Parse(m[2])
			}
			if len(colors) != 3 {
				t.Fatalf("style %q lacks a colour", resolved.style)
			}
			text := colors["button-text-color"]
			for _, background := range []string{"brand-color", "button-hover-bg"} {
				if got := color.Contrast(text, colors[background]); got < color.MinText {
					t.Errorf("%s: text %v on %s %v has contrast %.2f", l.ID, text, background, colors[background], got)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d colours were tried", seen)
	}
}

// sheetColors reads the custom properties of the rule that starts with start.
func sheetColors(t *testing.T, start string) map[string]string {
	t.Helper()
	_, rest, found := strings.Cut(string(sheet), start)
	if !found {
		t.Fatalf("the style sheet lacks %q", start)
	}
	rule, _, _ := strings.Cut(rest, "}")
	properties := map[string]string{}
	for line := range strings.Lines(rule) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			properties[name] = strings.TrimSuffix(value, ";")
		}
	}
	return properties
}

func TestTextCanBeReadInLightAndDark(t *testing.T) {
	pairs := []struct {
		front, back string
		least       float64
	}{
		{"--color-text", "--color-background-card", color.MinText},
		{"--color-text", "--color-background-hover", color.MinText},
		{"--color-primary", "--color-background-card", color.MinText},
		{"--color-error", "--color-error-background", color.MinText},
		{"--color-error", "--color-background-card", color.MinText}, // buttons that remove something, and the reverse
		{"--color-control-border", "--color-background-card", color.MinGraphic},
		{"--color-focus", "--color-background-card", color.MinGraphic},
		{"--color-focus", "--color-background", color.MinGraphic},
	}
	for _, scheme := range []string{":root {", "\n.__next-auth-theme-dark {"} {
		properties := sheetColors(t, scheme)
		for _, pair := range pairs {
			front, errFront := color.Parse(properties[pair.front])
			back, errBack := color.Parse(properties[pair.back])
			if errFront != nil || errBack != nil {
				t.Fatal(errFront, errBack)
			}
			if got := color.Contrast(front, back); got < pair.least {
				t.Errorf("%q: %s on %s has contrast %.2f, want %.1f", scheme, pair.front, pair.back, got, pair.least)
			}
		}
	}
}

// The dark colours stand in the sheet twice, because a media query and a class
// cannot share a rule.
func TestDarkIsTheSameByChoiceAndByPreference(t *testing.T) {
	chosen, preferred := sheetColors(t, "\n.__next-auth-theme-dark {"), sheetColors(t, "\n  .__next-auth-theme-auto {")
	if len(chosen) < 10 || !maps.Equal(chosen, preferred) {
		t.Errorf("dark colours differ:\n%v\n%v", chosen, preferred)
	}
}
