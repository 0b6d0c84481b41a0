package color_test

import (
	"math"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/page/color"
)

func TestParseReadsTheFormsOfCSS(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"six digits", "#346df1", "#346df1"},
		{"three digits", "#07F", "#0077ff"},
		{"four digits, opaque", "#07ff", "#0077ff"},
		{"eight digits, opaque", "#0077FFff", "#0077ff"},
		{"spaces around", "  #fff ", "#ffffff"},
		{"name", "RebeccaPurple", "#663399"},
		{"rgb with commas", "rgb(255, 136,0)", "#ff8800"},
		{"rgb with spaces", "rgb(255 136 0)", "#ff8800"},
		{"rgb in percent", "rgb(100% 50% 0%)", "#ff8000"},
		{"rgb beyond its range is clipped", "rgb(300 -5 0)", "#ff0000"},
		{"rgba, opaque", "rgba(1, 2, 3, 1)", "#010203"},
		{"rgb with a slash, opaque", "rgb(1 2 3 / 100%)", "#010203"},
		{"hsl", "hsl(120, 100%, 25%)", "#008000"},
		{"hsl with a unit and a negative hue", "hsl(-240deg 100% 25%)", "#008000"},
		{"hsl without percent signs", "hsl(0 0 50)", "#808080"},
		{"oklch white", "oklch(1 0 0)", "#ffffff"},
		{"oklch of red", "oklch(62.796% 0.25768 29.234)", "#ff0000"},
		{"oklch of blue", "oklch(45.201% 0.31321 264.05)", "#0000ff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := color.Parse(tt.in)
			if err != nil || got.String() != tt.want {
				t.Errorf("Parse(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, in string }{
		{"nothing", ""},
		{"an unknown name", "brand"},
		{"a word that depends on the page", "currentColor"},
		{"a word for every property", "inherit"},
		{"transparency by name", "transparent"},
		{"transparency in hexadecimal", "#0000007f"},
		{"transparency in a function", "rgb(0 0 0 / 50%)"},
		{"transparency after commas", "hsla(0, 0%, 0%, .5)"},
		{"a variable", "var(--x)"},
		{"a mixture", "color-mix(in srgb, red, blue)"},
		{"two digits", "#ff"},
		{"five digits", "#fffff"},
		{"a sign among the digits", "#+12345"},
		{"an underscore among the digits", "#1_2345"},
		{"not a number", "rgb(nan, 0, 0)"},
		{"an infinite number", "rgb(inf 0 0)"},
		{"a hexadecimal float", "rgb(0x1p4 0 0)"},
		{"too few numbers", "rgb(1, 2)"},
		{"too many numbers", "rgb(1, 2, 3, 1, 5)"},
		{"an open parenthesis", "rgb(1, 2, 3"},
		{"a second declaration", "#fff;background:url(//evil.example)"},
		{"the end of the rule", "red}body{display:none"},
		{"the end of the element", "red</style><script>alert(1)</script>"},
		{"a comment", "red/**/"},
		{"an escape", `\72 ed`},
		{"a request", "url(//evil.example)"},
		{"a long text", strings.Repeat("#", 1<<20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := color.Parse(tt.in)
			if err == nil {
				t.Fatalf("Parse(%.80q) = %v, want an error", tt.in, got)
			}
			if len(err.Error()) > 400 {
				t.Errorf("Parse repeats %d bytes in its error", len(err.Error()))
			}
		})
	}
}

func TestContrastAgreesWithPublishedRatios(t *testing.T) {
	tests := []struct {
		a, b string
		want float64
	}{
		{"#000", "#fff", 21},
		{"#fff", "#fff", 1},
		{"#767676", "#fff", 4.54},
		{"#777777", "#fff", 4.48},
	}
	for _, tt := range tests {
		a, _ := color.Parse(tt.a)
		b, _ := color.Parse(tt.b)
		if got := color.Contrast(a, b); math.Abs(got-tt.want) > 0.005 {
			t.Errorf("Contrast(%s, %s) = %.3f, want %.2f", tt.a, tt.b, got, tt.want)
		}
		if color.Contrast(a, b) != color.Contrast(b, a) {
			t.Errorf("Contrast(%s, %s) depends on the order", tt.a, tt.b)
		}
	}
}

func TestOnCanBeReadOnAnyColor(t *testing.T) {
	for r := 0; r < 256; r += 5 {
		for g := 0; g < 256; g += 5 {
			for b := 0; b < 256; b += 5 {
				c := color.Color{R: uint8(r), G: uint8(g), B: uint8(b)}
				if got := color.Contrast(color.On(c), c); got < color.MinText {
					t.Fatalf("text on %v has contrast %.2f", c, got)
				}
			}
		}
	}
}

func TestMixEndsAtBothColors(t *testing.T) {
	blue := color.Color{R: 0x34, G: 0x6d, B: 0xf1}
	for share, want := range map[float64]string{0: "#346df1", 1: "#ffffff", 0.5: "#9ab6f8"} {
		if got := blue.Mix(color.White, share); got.String() != want {
			t.Errorf("Mix(White, %v) = %v, want %v", share, got, want)
		}
	}
}

// Whatever is accepted comes out as one hexadecimal colour, which reads back
// as itself: nothing of the input can reach a style sheet.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"#346df1", "#07f", "red", "rgb(1,2,3)", "rgb(1 2 3 / 1)", "hsl(1deg 2% 3%)", "oklch(.5 .1 20)", "red;}", "rgb(-- 0 0)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := color.Parse(s)
		if err != nil {
			if c != (color.Color{}) {
				t.Errorf("Parse(%q) gave %v beside the error %v", s, c, err)
			}
			return
		}
		again, err := color.Parse(c.String())
		if err != nil || again != c || len(c.String()) != len("#rrggbb") {
			t.Errorf("Parse(%q) = %v, which reads back as %v, %v", s, c, again, err)
		}
	})
}
