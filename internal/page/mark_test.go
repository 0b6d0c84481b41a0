package page

import (
	"regexp"
	"strings"
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

// The rules of Google, Microsoft and Facebook ask for the colours of their own, which neither a
// style of the catalogue nor one of the host takes away; another logo takes their place.
func TestMarksWhoseRulesAskForColorsKeepThem(t *testing.T) {
	known := map[string]bool{}
	for _, l := range listedProviders(t) {
		known[l.ID] = true
	}
	p, err := New(Theme{ColorScheme: "dark"}, Texts{})
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`^[MmLlHhVvCcSsZzAa0-9 ,.-]+$`)
	for id, m := range coloredMarks {
		if !known[id] {
			t.Errorf("%s is not a provider of the catalogue", id)
		}
		provider := Provider{ID: id, Name: id, Kind: OIDC, Style: Style{BrandColor: "#123456"}}
		body := string(p.SignIn(SignInData{Providers: []Provider{provider}}).Body)
		if !strings.Contains(body, ".brand-0{--provider-brand-color:#ffffff;") || strings.Contains(body, "#123456") {
			t.Errorf("%s does not stand on white", id)
		}
		for _, part := range m.Parts {
			if _, err := color.Parse(part.Fill); err != nil || !path.MatchString(part.Path) {
				t.Errorf("%s: colour %q, path %.60q", id, part.Fill, part.Path)
			}
			if !strings.Contains(body, `<path fill="`+part.Fill+`" d="`+part.Path+`"/>`) {
				t.Errorf("%s: the page has no part in %s", id, part.Fill)
			}
		}
		provider.Style.Logo = "https://logos.example/1.svg"
		if drawn := newTile(provider); drawn.Logo.Src == "" {
			t.Errorf("%s: the logo of the host is not shown", id)
		}
	}
	for id, colors := range map[string]int{"google": 4, "microsoft-entra-id": 4, "azure-ad": 4, "facebook": 1} {
		if coloredMarks[id] == nil || len(coloredMarks[id].Parts) != colors {
			t.Errorf("%s has not its %d colours", id, colors)
		}
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
