// Package color reads the CSS colours a host or a provider may configure and
// finds a text colour that can be read on them.
//
// A colour that was read is only ever written as six hexadecimal digits, so
// whatever stood in the configuration cannot add a rule to a style sheet.
package color

import (
	"errors"
	"fmt"
	"math"
)

// Color is an opaque sRGB colour. The zero value is black.
type Color struct {
	R, G, B uint8
}

// The two colours one of which can be read on any other.
var (
	Black = Color{}
	White = Color{0xff, 0xff, 0xff}
)

// MinText and MinGraphic are the contrasts that normal text and meaningful
// graphics need.
//
// https://www.w3.org/TR/WCAG22/#contrast-minimum
// https://www.w3.org/TR/WCAG22/#non-text-contrast
const (
	MinText    = 4.5
	MinGraphic = 3
)

// errTransparent is apart from the syntax errors because the author wrote a
// correct colour, which cannot be used here.
var errTransparent = errors.New("the colour must be opaque: the text on it could not be checked for contrast")

// String returns the colour as "#rrggbb".
func (c Color) String() string {
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// Mix returns the colour that lies the given share, 0 to 1, of the way from c
// to other, as color-mix(in srgb, …) does.
func (c Color) Mix(other Color, share float64) Color {
	channel := func(from, to uint8) uint8 {
		return uint8(math.Round(float64(from) + (float64(to)-float64(from))*share))
	}
	return Color{channel(c.R, other.R), channel(c.G, other.G), channel(c.B, other.B)}
}

// Contrast returns the contrast ratio of two colours, from 1 to 21.
//
// https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
func Contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// On returns white where it can be read on background, else black. What is too
// bright for white has a contrast of at least 21/4.5 = 4.66 to black. Where
// both would do, white is what designers expect, on the default blue for one.
func On(background Color) Color {
	if Contrast(White, background) >= MinText {
		return White
	}
	return Black
}

// luminance follows https://www.w3.org/TR/WCAG22/#dfn-relative-luminance.
func (c Color) luminance() float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
