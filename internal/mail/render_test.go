package mail_test

import (
	"flag"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/mail"
	"github.com/pintleauth/pintle/internal/page/color"
)

var update = flag.Bool("update", false, "rewrite the mails in testdata")

const link = "https://app.example:8443/auth/callback/email?callbackUrl=https%3A%2F%2Fapp.example%3A8443%2Fa+b&token=0123abcd&email=alice%40example.test"

var data = mail.Data{URL: link, Brand: color.Color{R: 0x34, G: 0x6d, B: 0xf1}, ButtonText: color.White}

func render(t testing.TB, d mail.Data) (subject, text, body string) {
	t.Helper()
	subject, text, body, err := mail.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	return subject, text, body
}

func TestSubjectAndTextHaveTheFormOfTheContract(t *testing.T) {
	tests := []struct{ name, url, host string }{
		{"name", "https://app.example/auth/callback/email?token=1", "app.example"},
		{"port", "http://localhost:3000/auth/callback/email?token=1", "localhost:3000"},
		{"default port", "https://app.example:443/x", "app.example"},
		{"default port of the other scheme", "https://app.example:80/x", "app.example:80"},
		{"capitals", "HTTPS://App.Example/x", ""},
		{"capitals in the host", "https://App.Example/x", "app.example"},
		{"address", "http://[::1]:3000/x", "[::1]:3000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := data
			d.URL = tt.url
			subject, text, _, err := mail.Render(d)
			if tt.host == "" {
				if err == nil {
					t.Errorf("Render of %s gave no error", tt.url)
				}
				return
			}
			if want := "Sign in to " + tt.host; err != nil || subject != want || text != want+"\n"+tt.url+"\n\n" {
				t.Errorf("Render of %s gave subject %q, text %q, error %v", tt.url, subject, text, err)
			}
		})
	}
}

func TestRenderRejectsWhatIsNotALink(t *testing.T) {
	tests := []struct{ name, url string }{
		{"nothing", ""},
		{"path", "/auth/callback/email?token=secret"},
		{"script", "javascript:alert(1)//secret"},
		{"no host", "https:///x?token=secret"},
		{"header field in the host", "https://app.example\r\nBcc: all@example.test/x?token=secret"},
		{"line break in the query", "https://app.example/x?token=secret\n\nDear customer"},
		{"space in the host", "https://app example/x?token=secret"},
		{"markup in the host", "https://<b>app</b>/x?token=secret"},
		{"quote in the query", `https://app.example/x?token=secret"onclick="`},
		{"sentence in the host", "https://you(won),call:now/x?token=secret"},
		{"host in other letters", "https://аpp.example/x?token=secret"},
		{"name before the host", "https://bank.example@app.example/x?token=secret"},
		{"percent in the host", "https://app%0a.example/x?token=secret"},
		{"control character", "https://app.example/x?token=secret\x7f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := data
			d.URL = tt.url
			subject, text, body, err := mail.Render(d)
			if err == nil || subject+text+body != "" {
				t.Fatalf("Render of %q gave %q, %q and error %v", tt.url, subject, text, err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q repeats the link", err)
			}
		})
	}
}

func TestTextsCanBeReplacedButNotLoseTheHost(t *testing.T) {
	d := data
	d.Lang, d.Dir = "de", "rtl"
	d.Texts = mail.Texts{
		Subject: "Anmeldung bei %s", Heading: "Bei %s anmelden 100%", Text: "Drück <drauf>.", Button: "Los & weiter", Ignore: "Sonst \"nichts\".",
	}
	subject, text, body := render(t, d)
	if want := "Anmeldung bei app.example:8443"; subject != want || !strings.HasPrefix(text, want+"\n"+link) {
		t.Errorf("subject %q, text %q", subject, text)
	}
	for _, want := range []string{
		`<html lang="de" dir="rtl">`, ">Bei app&#8203;.example:8443 anmelden 100%</h1>", ">Drück &lt;drauf&gt;.</p>", ">Los &amp; weiter</a>",
		">Sonst &#34;nichts&#34;.</p>", `align="right"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "Press") || strings.Contains(body, "ignore") {
		t.Error("the mail still has English in it")
	}

	for name, texts := range map[string]mail.Texts{
		"subject without the host":      {Subject: "Hello"},
		"heading with two hosts":        {Heading: "%s %s"},
		"header field in the subject":   {Subject: "Hello %s\r\nBcc: all@example.test"},
		"line separator in the subject": {Subject: "Hello %s\u0085Bcc: all@example.test"},
	} {
		d := data
		d.Texts = texts
		if _, _, _, err := mail.Render(d); err == nil || texts.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTheSiteMayHaveAName(t *testing.T) {
	d := data
	d.Site = "Bird & Co."
	if subject, text, body := render(t, d); subject != "Sign in to Bird & Co." || !strings.HasPrefix(text, subject+"\n"+link) || !strings.Contains(body, ">Sign in to Bird &amp; Co&#8203;.</h1>") {
		t.Errorf("subject %q, text %q, body %s", subject, text, body)
	}
	d.Site = "Birds\nBcc: all@example.test"
	if _, _, _, err := mail.Render(d); err == nil {
		t.Error("a name of two lines is a header field")
	}
}

// SH-10: the address is in the link, where it must be, and nowhere to be read.
func TestAddressIsOnlyInTheLink(t *testing.T) {
	d := data
	d.URL = "https://app.example/auth/callback/email?token=1&email=%3Ca+href%3D%2F%2Fevil.example%3Ewin%3C%2Fa%3E%40example.test"
	_, _, body := render(t, d)
	if n := strings.Count(body, "evil"); n != 1 {
		t.Errorf("the address is in the mail %d times", n)
	}
	if without := strings.Replace(body, html.EscapeString(d.URL), "", 1); strings.Contains(without, "example.test") {
		t.Errorf("the address is outside the link: %s", without)
	}
}

func TestHTMLHasOneLinkAndLoadsNothing(t *testing.T) {
	_, _, body := render(t, data)
	hrefs := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(body, -1)
	if len(hrefs) != 1 || strings.ReplaceAll(hrefs[0][1], "&amp;", "&") != link {
		t.Errorf("links are %q, want only %s", hrefs, link)
	}
	for _, loading := range []string{"<img", "<script", "<link", "src=", "url(", "@import", "@font-face"} {
		if strings.Contains(body, loading) {
			t.Errorf("the mail has %s", loading)
		}
	}
	// Without the zero-width space, programs link the name itself.
	if visible := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""); strings.Contains(visible, "app.example") || !strings.Contains(visible, "app&#8203;.example:8443") {
		t.Errorf("the host can be linked in %s", visible)
	}
	if strings.Contains(body, "ZgotmplZ") {
		t.Error("the template rejected a value")
	}
}

func TestColorsAreThoseOfTheTheme(t *testing.T) {
	d := data
	d.Brand, d.ButtonText = color.Color{R: 0xff, G: 0xd2, B: 0x1e}, color.Black
	for scheme, want := range map[string]struct {
		meta, page string
		media      bool
	}{
		"":      {"light dark", "#f4f5f8", true},
		"auto":  {"light dark", "#f4f5f8", true},
		"light": {"light", "#f4f5f8", false},
		"dark":  {"dark", "#0e1014", false},
	} {
		d.ColorScheme = scheme
		_, _, body := render(t, d)
		for _, part := range []string{
			`bgcolor="#ffd21e" style="background:#ffd21e;`, "color:#000000; font-size:16px;", `name="color-scheme" content="` + want.meta + `"`,
			`<body class="page" style="margin:0; padding:0; background:` + want.page + `;">`,
		} {
			if !strings.Contains(body, part) {
				t.Errorf("scheme %q: no %s in %s", scheme, part, body)
			}
		}
		if got := strings.Contains(body, "@media (prefers-color-scheme: dark)"); got != want.media {
			t.Errorf("scheme %q: follows the reader: %t", scheme, got)
		}
	}
}

// The mail as a file, to be looked at and reviewed as a diff.
func TestMailLooksAsItDid(t *testing.T) {
	for name, scheme := range map[string]string{"signin": "auto", "signin-dark": "dark"} {
		d := data
		d.ColorScheme = scheme
		_, _, body := render(t, d)
		file := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), body); diff != "" {
			t.Errorf("%s changed; look at it and run with -update (-want +got):\n%s", file, diff)
		}
	}
}

// For any link, the subject is one line, the link is whole in both parts, and
// the HTML has the same elements.
func FuzzRender(f *testing.F) {
	for _, s := range []string{link, "https://a/", "https://a.example/x?y=<b>", "http://[::1]/'", "https://a\r\nb/", "https://a/?\"", "https://a/&quot;"} {
		f.Add(s)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	_, _, usual := render(f, data)
	want := tags.FindAllString(usual, -1)
	f.Fuzz(func(t *testing.T, url string) {
		d := data
		d.URL = url
		subject, text, body, err := mail.Render(d)
		if err != nil {
			return
		}
		if strings.ContainsAny(subject, "\r\n<>") || text != subject+"\n"+url+"\n\n" || strings.Count(text, "\n") != 3 {
			t.Errorf("%q gives subject %q and text %q", url, subject, text)
		}
		got := tags.FindAllString(body, -1)
		if len(got) != len(want) {
			t.Fatalf("%q changes the elements: %q", url, got)
		}
		for i := range got {
			if got[i] != want[i] && html.UnescapeString(got[i]) != strings.Replace(html.UnescapeString(want[i]), link, url, 1) {
				t.Errorf("%q changes %s to %s", url, want[i], got[i])
			}
		}
	})
}

func BenchmarkRender(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := mail.Render(data); err != nil {
			b.Fatal(err)
		}
	}
}
