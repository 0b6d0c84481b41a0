package page_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/page"
)

func TestNewRefusesAThemeItCannotUse(t *testing.T) {
	tests := []struct {
		name  string
		theme page.Theme
		want  string
	}{
		{"colour scheme", page.Theme{ColorScheme: "sepia"}, "colour scheme"},
		{"brand colour", page.Theme{BrandColor: "red;}"}, "brand colour"},
		{"transparent brand colour", page.Theme{BrandColor: "#0000"}, "opaque"},
		{"button text", page.Theme{ButtonText: "var(--x)"}, "button text"},
		{"script as logo", page.Theme{Logo: "javascript:alert(1)"}, "logo"},
		{"page as logo", page.Theme{Logo: "data:text/html,<p>"}, "data URL"},
		{"unknown image as logo", page.Theme{Logo: "data:image/x-evil,1"}, "data URL"},
		{"logo at another host without a scheme", page.Theme{Logo: "//cdn.example/logo.svg"}, "logo"},
		{"logo with a backslash", page.Theme{Logo: `/\cdn.example/logo.svg`}, "logo"},
		{"relative logo", page.Theme{Logo: "logo.svg"}, "starts with /"},
		{"logo whose host ends the directive", page.Theme{Logo: "https://a.example;script-src/x"}, "ASCII"},
		{"logo whose host is not ASCII", page.Theme{Logo: "https://münchen.example/x"}, "ASCII"},
		{"logo at any host", page.Theme{Logo: "https://*/x"}, "ASCII"},
		{"style sheet that ends the element", page.Theme{CSS: "p{}</STYLE><script>alert(1)</script>"}, "CSS"},
		{"style sheet that browsers read in another way", page.Theme{CSS: "p{}\x00"}, "CSS"},
		{"style sheet that is no UTF-8", page.Theme{CSS: "p{}\xff"}, "CSS"},
		{"logo that is no URL", page.Theme{Logo: "https://a b/"}, "not a URL"},
		{"script as dark logo", page.Theme{Logo: "/l.svg", DarkLogo: "javascript:alert(1)"}, "dark logo"},
		{"dark logo alone", page.Theme{DarkLogo: "/d.svg"}, "set Logo"},
		{"name of two lines", page.Theme{SiteName: "Bird\nShop"}, "one line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := page.New(tt.theme, page.Texts{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New(%+v) gave error %v, want one with %q", tt.theme, err, tt.want)
			}
		})
	}
}

func TestThemeReachesThePage(t *testing.T) {
	tests := []struct {
		name  string
		theme page.Theme
		want  []string
	}{
		{"default", page.Theme{}, []string{
			`class="__next-auth-theme-auto"`, `name="color-scheme" content="light dark"`, "--brand-color:#346df1;--button-text-color:#ffffff;",
		}},
		{"dark", page.Theme{ColorScheme: "dark"}, []string{`class="__next-auth-theme-dark"`, `name="color-scheme" content="dark"`}},
		{"light brand gets dark text", page.Theme{BrandColor: "#FFD21E"}, []string{"--brand-color:#ffd21e;--button-text-color:#000000;"}},
		{"own button text", page.Theme{BrandColor: "#ff8800", ButtonText: "white"}, []string{"--brand-color:#ff8800;--button-text-color:#ffffff;"}},
		// A browser hashes what it has parsed, in which each line ends with a line feed.
		{"style sheet", page.Theme{CSS: "@media (400px <= width) {\r\n .card > h1 { color: red }\r\n}\r\n"}, []string{
			"</style>\n<style>@media (400px <= width) {\n .card > h1 { color: red }\n}</style>\n</head>",
		}},
		{"logo", page.Theme{Logo: "https://img.example/logo.svg?a=1&b=2"}, []string{`<img class="logo" src="https://img.example/logo.svg?a=1&amp;b=2" alt="Logo">`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, p := range everyPage(newPages(t, tt.theme, page.Texts{})) {
				for _, want := range tt.want {
					if !strings.Contains(string(p.Body), want) {
						t.Errorf("%s page lacks %s", name, want)
					}
				}
			}
		})
	}
}

// A site has one name in all languages, unless the texts of one have another.
func TestPagesAndMailsCallTheSiteByTheNameOfTheTheme(t *testing.T) {
	for _, tt := range []struct{ theme, texts, want string }{
		{"Bird Shop", "", "Bird Shop"}, {"Bird Shop", "Vogelladen", "Vogelladen"}, {"", "", "app.example"},
	} {
		p := newPages(t, page.Theme{SiteName: tt.theme}, page.Texts{Site: tt.texts})
		for name, got := range everyPage(p) {
			if !strings.Contains(string(got.Body), " · "+tt.want+"</title>") {
				t.Errorf("the theme has %q and the texts %q: the title of %s does not name %q", tt.theme, tt.texts, name, tt.want)
			}
		}
		subject, _, _, err := p.SignInMail("https://app.example/x", 24*time.Hour)
		if err != nil || subject != "Sign in to "+tt.want {
			t.Errorf("the subject of the mail is %q, %v", subject, err)
		}
	}
}

func TestDarkPagesHaveTheirOwnLogo(t *testing.T) {
	const light, dark = "/light.svg", "https://cdn.example/dark.svg?a=1&b=2"
	drawn := "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'/>,"
	for _, tt := range []struct {
		scheme     string
		theme      page.Theme
		want, lack []string
		images     string
	}{
		{"auto", page.Theme{Logo: light, DarkLogo: dark}, []string{
			`<picture><source media="(prefers-color-scheme: dark)" srcset="https://cdn.example/dark.svg?a=1&b=2"><img class="logo" src="/light.svg" alt="Logo"></picture>`,
		}, nil, "'self' https://cdn.example"},
		{"light", page.Theme{ColorScheme: "light", Logo: light, DarkLogo: dark}, []string{`<img class="logo" src="/light.svg"`}, []string{"<picture", "dark.svg"}, "'self'"},
		{"dark", page.Theme{ColorScheme: "dark", Logo: light, DarkLogo: dark}, []string{`<img class="logo" src="https://cdn.example/dark.svg?a=1&b=2"`}, []string{"<picture", "light.svg"}, "'self' https://cdn.example"},
		{"one for both", page.Theme{Logo: light}, []string{`<img class="logo" src="/light.svg"`}, []string{"<picture"}, "'self'"},
		{"a drawing", page.Theme{Logo: light, DarkLogo: drawn}, []string{
			`srcset="data:image/svg+xml,<svg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%201%201'/>%2C"`,
		}, nil, "'self' data:"},
	} {
		for name, p := range everyPage(newPages(t, tt.theme, page.Texts{})) {
			body := html.UnescapeString(string(p.Body))
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("%s: %s page lacks %s", tt.scheme, name, want)
				}
			}
			for _, other := range tt.lack {
				if strings.Contains(body, other) {
					t.Errorf("%s: %s page has %s", tt.scheme, name, other)
				}
			}
			if got, _ := directive(p, "img-src"); name != "settings" && strings.Join(got, " ") != tt.images {
				t.Errorf("%s: img-src of %s is %q, want %q", tt.scheme, name, got, tt.images)
			}
		}
	}
}
