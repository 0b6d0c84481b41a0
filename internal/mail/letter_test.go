package mail_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/mail"
)

// SH-10
func TestALetterHasLinksToSitesAlone(t *testing.T) {
	const good = "https://app.example.com/a?b=1&c=2"
	letter := func(button, link string) mail.Letter {
		return mail.Letter{
			Data: mail.Data{URL: button}, Subject: "Hello", Heading: "Hello",
			Button: "Go", Link: "Forgot your password?", LinkURL: link,
		}
	}
	_, text, html, err := letter(good, good+"&d").Render()
	if err != nil {
		t.Fatal(err)
	}
	if want := "Go:\n" + good + "\n\nForgot your password?\n" + good + "&d\n"; !strings.HasSuffix(text, want) {
		t.Errorf("the text is %q", text)
	}
	if !strings.Contains(html, `href="https://app.example.com/a?b=1&amp;c=2&amp;d"`) {
		t.Errorf("the HTML is %s", html)
	}
	for _, bad := range []string{"", "/a", "javascript:alert(1)", "https://evil.example@app.example.com/", "https://app.example.com/\n"} {
		if _, _, _, err := letter(bad, good).Render(); err == nil {
			t.Errorf("the button leads to %q", bad)
		}
		if _, _, _, err := letter(good, bad).Render(); err == nil {
			t.Errorf("the link leads to %q", bad)
		}
	}
	without := letter(good, "")
	without.Link = ""
	if _, text, _, err := without.Render(); err != nil || !strings.HasSuffix(text, good+"\n") {
		t.Errorf("without a second link the text is %q, %v", text, err)
	}
}
