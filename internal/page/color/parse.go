package color

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxLength is longer than any colour worth writing by hand.
const maxLength = 64

// Parse reads a CSS colour: #rgb, #rrggbb, a named colour, rgb(), hsl(),
// oklch(), the functions in their comma and space forms. An alpha of 1 may be
// given. Transparent colours, var() and the words that depend on the page
// (currentColor, system colours) are refused.
//
// https://www.w3.org/TR/css-color-4/
func Parse(s string) (Color, error) {
	c, err := parse(s)
	if err != nil {
		// The text is cut because a configuration value may be anything.
		return Color{}, fmt.Errorf("color: %.64q: %w", s, err)
	}
	return c, nil
}

func parse(s string) (Color, error) {
	if len(s) > maxLength {
		return Color{}, errors.New("too long for a colour")
	}
	s = strings.ToLower(strings.Trim(s, " "))
	if digits, ok := strings.CutPrefix(s, "#"); ok {
		return parseHex(digits)
	}
	if name, arguments, ok := strings.Cut(s, "("); ok {
		arguments, ok = strings.CutSuffix(arguments, ")")
		if !ok {
			return Color{}, errors.New("missing the closing parenthesis")
		}
		return parseFunction(name, arguments)
	}
	if s == "transparent" {
		return Color{}, errTransparent
	}
	if hex, ok := named[s]; ok {
		return fromBits(hex), nil
	}
	return Color{}, errors.New("not a colour name; write it as #rrggbb")
}

func parseHex(digits string) (Color, error) {
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return Color{}, errors.New("not a hexadecimal colour")
	}
	if len(digits) == 3 || len(digits) == 4 {
		var long uint64
		for shift := 4 * (len(digits) - 1); shift >= 0; shift -= 4 {
			long = long<<8 | (n>>shift&0xf)*0x11
		}
		n = long
	}
	switch len(digits) {
	case 4, 8:
		if n&0xff != 0xff {
			return Color{}, errTransparent
		}
		n >>= 8
	case 3, 6:
	default:
		return Color{}, errors.New("a hexadecimal colour has 3 or 6 digits")
	}
	return fromBits(n), nil
}

func parseFunction(name, arguments string) (Color, error) {
	fields, err := splitArguments(arguments)
	if err != nil {
		return Color{}, err
	}
	if len(fields) == 4 {
		if alpha, err := number(fields[3], 1); err != nil {
			return Color{}, err
		} else if alpha < 1 {
			return Color{}, errTransparent
		}
	}
	switch name {
	case "rgb", "rgba":
		return parseRGB(fields)
	case "hsl", "hsla":
		return parseHSL(fields)
	case "oklch":
		return parseOKLCH(fields)
	}
	return Color{}, errors.New("use rgb(), hsl(), oklch() or #rrggbb")
}

// splitArguments returns three or four arguments of "a, b, c, d" or "a b c / d".
func splitArguments(s string) ([]string, error) {
	if strings.Contains(s, ",") {
		fields := strings.Split(s, ",")
		for i := range fields {
			fields[i] = strings.Trim(fields[i], " ")
		}
		if len(fields) == 3 || len(fields) == 4 {
			return fields, nil
		}
		return nil, errors.New("a colour function takes three numbers")
	}
	colour, alpha, hasAlpha := strings.Cut(s, "/")
	fields := strings.Fields(colour)
	if len(fields) != 3 {
		return nil, errors.New("a colour function takes three numbers")
	}
	if hasAlpha {
		fields = append(fields, strings.Trim(alpha, " "))
	}
	return fields, nil
}

// number reads "12.5", or "50%" of whole.
func number(s string, whole float64) (float64, error) {
	digits, percent := strings.CutSuffix(s, "%")
	// ParseFloat also takes "0x1p-2", "inf", "nan" and "1_0".
	if digits == "" || strings.Trim(digits, "0123456789.+-") != "" {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if percent {
		v = v / 100 * whole
	}
	return v, nil
}

// degrees reads a hue, which may carry its unit.
func degrees(s string) (float64, error) {
	v, err := number(strings.TrimSuffix(s, "deg"), 360)
	return math.Mod(math.Mod(v, 360)+360, 360), err
}

func parseRGB(fields []string) (Color, error) {
	r, errR := number(fields[0], 255)
	g, errG := number(fields[1], 255)
	b, errB := number(fields[2], 255)
	return fromUnit(r/255, g/255, b/255), errors.Join(errR, errG, errB)
}

func parseHSL(fields []string) (Color, error) {
	h, errH := degrees(fields[0])
	s, errS := number(strings.TrimSuffix(fields[1], "%")+"%", 1)
	l, errL := number(strings.TrimSuffix(fields[2], "%")+"%", 1)
	s, l = clamp(s), clamp(l)
	// https://www.w3.org/TR/css-color-4/#hsl-to-rgb
	f := func(n float64) float64 {
		k := math.Mod(n+h/30, 12)
		return l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1))
	}
	return fromUnit(f(0), f(8), f(4)), errors.Join(errH, errS, errL)
}

func parseOKLCH(fields []string) (Color, error) {
	lightness, errL := number(fields[0], 1)
	chroma, errC := number(fields[1], 0.4)
	hue, errH := degrees(fields[2])
	sin, cos := math.Sincos(hue * math.Pi / 180)
	lightness, chroma = clamp(lightness), max(0, chroma)
	a, b := chroma*cos, chroma*sin
	// https://www.w3.org/TR/css-color-4/#color-conversion-code, OKLab_to_XYZ
	// joined with XYZ_to_lin_sRGB. Colours outside sRGB are clipped.
	cube := func(v float64) float64 { return v * v * v }
	l := cube(lightness + 0.3963377774*a + 0.2158037573*b)
	m := cube(lightness - 0.1055613458*a - 0.0638541728*b)
	s := cube(lightness - 0.0894841775*a - 1.2914855480*b)
	return fromUnit(
		gamma(4.0767416621*l-3.3077115913*m+0.2309699292*s),
		gamma(-1.2684380046*l+2.6097574011*m-0.3413193965*s),
		gamma(-0.0041960863*l-0.7034186147*m+1.7076147010*s),
	), errors.Join(errL, errC, errH)
}

func gamma(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

func clamp(v float64) float64 { return min(max(v, 0), 1) }

// fromBits takes 0xrrggbb apart.
func fromBits(n uint64) Color {
	return Color{uint8(n >> 16 & 0xff), uint8(n >> 8 & 0xff), uint8(n & 0xff)}
}

func fromUnit(r, g, b float64) Color {
	channel := func(v float64) uint8 { return uint8(math.Round(clamp(v) * 255)) }
	return Color{channel(r), channel(g), channel(b)}
}
