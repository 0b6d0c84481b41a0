package page

import (
	_ "embed" // for the style sheet
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pintleauth/pintle/internal/page/color"
	"github.com/pintleauth/pintle/pages"
)

// Theme adapts the pages to the site they belong to.
type Theme pages.Theme

// DefaultBrandColor is the colour of buttons where the theme names none, in
// pages and in mails.
var DefaultBrandColor = color.Color{R: 0x34, G: 0x6d, B: 0xf1}

//go:embed page.css
var sheetText string

// sheet is the style sheet all pages share.
var sheet = template.CSS(strings.TrimSpace(sheetText)) //nolint:gosec // embedded, not input

// theme is a checked Theme.
type theme struct {
	ColorScheme pages.ColorScheme
	Logo        image
	DarkLogo    darkLogo
	style       template.CSS
	css         template.CSS // of the host
	brand, text color.Color
}

// styles returns the style sheets of a page: ours, those of the page, and that
// of the host, which has the last word.
func (t theme) styles(own ...template.CSS) []template.CSS {
	all := append([]template.CSS{sheet, t.style}, own...)
	if t.css != "" {
		all = append(all, t.css)
	}
	return all
}

// Meta is the value of the color-scheme meta element, which sets the canvas
// and the form controls before the style sheet applies.
func (t theme) Meta() string {
	if t.ColorScheme == pages.Auto {
		return "light dark"
	}
	return string(t.ColorScheme)
}

// Colors returns the brand colour and the colour of the text on it, or what is
// wrong with them.
func (t Theme) Colors() (brand, text color.Color, err error) {
	brand = DefaultBrandColor
	if t.BrandColor != "" {
		if brand, err = color.Parse(t.BrandColor); err != nil {
			return brand, text, fmt.Errorf("page: theme brand colour: %w", err)
		}
	}
	text = color.On(brand)
	if t.ButtonText != "" {
		if text, err = color.Parse(t.ButtonText); err != nil {
			return brand, text, fmt.Errorf("page: theme button text: %w", err)
		}
	}
	return brand, text, nil
}

// sources is what the theme needs in img-src.
func (t theme) sources() (all []string) {
	for _, logo := range []image{t.Logo, t.DarkLogo.image} {
		if logo.source != "" {
			all = append(all, logo.source)
		}
	}
	return all
}

// darkLogo is the logo of pages that are dark in browsers that prefer it.
type darkLogo struct {
	image
	Srcset template.Srcset
}

// srcset returns a URL as the only candidate of a srcset attribute, in which white space
// and a comma at the end would end the URL.
//
// https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
func srcset(logo image) template.Srcset {
	candidate := strings.ReplaceAll(string(logo.Src), " ", "%20")
	if before, cut := strings.CutSuffix(candidate, ","); cut {
		candidate = before + "%2C"
	}
	return template.Srcset(candidate) //nolint:gosec // its scheme was checked
}

// resolveLogos returns the logo of the pages, and the one for browsers that prefer dark pages
// where the pages follow the browser.
func (t Theme) resolveLogos() (logo image, dark darkLogo, err error) {
	if t.Logo == "" {
		if t.DarkLogo != "" {
			return logo, dark, errors.New("page: theme dark logo: set Logo, which light pages have, too")
		}
		return logo, dark, nil
	}
	if logo, err = parseImage(t.Logo); err != nil {
		return logo, dark, fmt.Errorf("page: theme logo: %w", err)
	}
	if t.DarkLogo == "" {
		return logo, dark, nil
	}
	other, err := parseImage(t.DarkLogo)
	if err != nil {
		return logo, dark, fmt.Errorf("page: theme dark logo: %w", err)
	}
	switch t.ColorScheme {
	case pages.Light:
	case pages.Dark:
		logo = other
	default:
		dark = darkLogo{other, srcset(other)}
	}
	return logo, dark, nil
}

func (t Theme) resolve() (theme, error) {
	resolved := theme{ColorScheme: t.ColorScheme}
	var errScheme, errLogo, errCSS error
	switch t.ColorScheme {
	case "":
		resolved.ColorScheme = pages.Auto
	case pages.Auto, pages.Light, pages.Dark:
	default:
		errScheme = fmt.Errorf("page: theme colour scheme %.20q: use light, dark or auto", t.ColorScheme)
	}
	resolved.Logo, resolved.DarkLogo, errLogo = t.resolveLogos()
	if resolved.css, errCSS = parseCSS(t.CSS); errCSS != nil {
		errCSS = fmt.Errorf("page: theme: %w", errCSS)
	}
	brand, text, errColors := t.Colors()
	hover := brand.Mix(awayFrom(text), 0.12)
	resolved.brand, resolved.text = brand, text
	resolved.style = template.CSS(fmt.Sprintf( //nolint:gosec // only hexadecimal colours are put in
		":root{--brand-color:%v;--button-text-color:%v;--button-hover-bg:%v}", brand, text, hover))
	return resolved, errors.Join(errScheme, errLogo, errCSS, errColors)
}

// endOfStyle is what ends a style element, in which nothing can be escaped.
//
// https://html.spec.whatwg.org/multipage/parsing.html#rawtext-end-tag-name-state
var endOfStyle = regexp.MustCompile(`(?i)</style`)

// parseCSS returns a style sheet in the form in which a browser sees it: the hash
// by which the policy allows it is that of the parsed text, whose line breaks are
// line feeds.
//
// https://html.spec.whatwg.org/multipage/parsing.html#preprocessing-the-input-stream
func parseCSS(css string) (template.CSS, error) {
	if endOfStyle.MatchString(css) || strings.ContainsRune(css, 0) || !utf8.ValidString(css) {
		return "", errors.New("CSS: a style sheet is UTF-8 text without </style and NUL")
	}
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(css)
	return template.CSS(strings.TrimSpace(lines)), nil //nolint:gosec // of the host, and cannot leave its element
}

// awayFrom returns the end of the scale a background moves to under the
// pointer, so that its text gains contrast instead of losing it.
func awayFrom(text color.Color) color.Color {
	if color.Contrast(text, color.White) > color.Contrast(text, color.Black) {
		return color.White
	}
	return color.Black
}

// image is an image URL that was checked.
type image struct {
	Src template.URL
	// source allows the image in img-src; empty for images of this site.
	source string
}

// cspHost is stricter than what net/url takes for a host: a ";" or "," in it
// would end the directive it is put into.
var cspHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)

// localPath leaves out "//" and "/\\", which browsers read as another host.
var localPath = regexp.MustCompile(`^/([A-Za-z0-9._~%!$&()*+,;=:@?-][A-Za-z0-9._~%!$&()*+,;=:@?/-]*)?$`)

var dataImages = []string{"png", "jpeg", "gif", "webp", "avif", "svg+xml"}

func parseImage(s string) (image, error) {
	u, err := url.Parse(s)
	if err != nil {
		return image{}, fmt.Errorf("image %.80q is not a URL", s)
	}
	src := template.URL(s) //nolint:gosec // its scheme is checked here, the template escapes the rest
	switch {
	case u.Scheme == "data":
		kind, _, _ := strings.Cut(strings.TrimPrefix(u.Opaque, "image/"), ",")
		kind, _, _ = strings.Cut(kind, ";")
		if !strings.HasPrefix(u.Opaque, "image/") || !slices.Contains(dataImages, kind) {
			return image{}, fmt.Errorf("image %.80q: a data URL must hold one of image/%s", s, strings.Join(dataImages, ", image/"))
		}
		return image{Src: src, source: "data:"}, nil
	case u.Scheme == "https" || u.Scheme == "http":
		if !cspHost.MatchString(u.Host) {
			return image{}, fmt.Errorf("image %.80q: write the host in ASCII", s)
		}
		return image{Src: src, source: u.Scheme + "://" + strings.ToLower(u.Host)}, nil
	case localPath.MatchString(s):
		return image{Src: src}, nil
	}
	return image{}, fmt.Errorf("image %.80q: use an https URL, a path that starts with / or a data URL of an image", s)
}
