package pintle

import (
	"html"
	"strings"
)

// mailTexts writes the sign-in mail. The address is not in it: whoever typed it
// may have typed something that reads like a message.
func (x *exchange) mailTexts(link string) (subject, text, body string) {
	_, host, _ := strings.Cut(x.origin, "://")
	subject = "Sign in to " + host
	text = subject + "\n" + link + "\n\n"
	// Mail programs make links of what looks like a host name.
	shown := strings.ReplaceAll(html.EscapeString(host), ".", "&#8203;.")
	body = `<body style="font-family:sans-serif;color:#444;background:#f9f9f9"><p>Sign in to <strong>` + shown +
		`</strong></p><p><a href="` + html.EscapeString(link) + `" style="background:` + html.EscapeString(orDefault(x.Theme.BrandColor, "#346df1")) +
		`;color:` + html.EscapeString(orDefault(x.Theme.ButtonText, "#fff")) + `;padding:12px 24px;border-radius:6px">Sign in</a></p>` +
		`<p>If you did not ask for this mail, you can ignore it.</p></body>`
	return subject, text, body
}
