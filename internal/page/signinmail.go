package page

import (
	"time"

	"github.com/pintleauth/pintle/internal/mail"
)

// SignInMail writes the mail that brings link, which works for a time, in the theme and
// the language of the pages. It refuses a link that is not an absolute http or https URL
// with an ordinary host.
func (p *Pages) SignInMail(link string, lifetime time.Duration) (subject, text, html string, err error) {
	return mail.Render(mail.Data{
		URL:         link,
		Brand:       p.theme.brand,
		ButtonText:  p.theme.text,
		ColorScheme: string(p.theme.ColorScheme),
		Lang:        p.texts.Lang,
		Dir:         p.texts.Dir,
		Site:        p.texts.Site,
		Lifetime:    p.texts.Lifetime(lifetime),
		Texts:       p.texts.mail(),
	})
}

// LetterMail writes a mail about an account, in the theme and the language of the pages.
func (p *Pages) LetterMail(l mail.Letter) (subject, text, html string, err error) {
	l.Brand, l.ButtonText, l.ColorScheme = p.theme.brand, p.theme.text, string(p.theme.ColorScheme)
	l.Lang, l.Dir, l.Site = p.texts.Lang, p.texts.Dir, p.texts.Site
	return l.Render()
}
