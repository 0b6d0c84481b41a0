package page

import (
	"net/http"
	"strings"
	"time"
)

// VerifyRequestData is what the page shows after the request for a sign-in mail.
type VerifyRequestData struct {
	Site

	// Address is where the mail goes, for the browser that asked for it. Empty names none.
	Address string

	// Lifetime is how long the link works. Zero leaves it out.
	Lifetime time.Duration

	// Action is the URL to which the form is posted that sends the mail again. Empty leaves
	// the form out. It needs Address.
	Action                 string
	CSRFToken, CallbackURL string

	// SentAgain reports that the mail was sent once more.
	SentAgain bool
}

type verifyRequestView struct {
	frame
	Data            VerifyRequestData
	Before, After   string // the text around the address
	Works, Notice   string
	Again, OtherWay string
}

// VerifyRequest returns the page after the request for a sign-in mail. It is
// the same whether or not there is an account.
func (p *Pages) VerifyRequest(d VerifyRequestData) Page {
	view := verifyRequestView{
		frame: p.frame(d.Site, "verify-request", p.texts.VerifyRequestHeading), Data: d,
		Again: p.texts.Account.Words["again"], OtherWay: p.texts.AddressTakenOther,
	}
	view.Before, view.After, _ = strings.Cut(p.texts.ConfirmLinkAddress, "%s")
	if d.Lifetime > 0 {
		view.Works = p.texts.Lifetime(d.Lifetime)
	}
	if d.SentAgain {
		view.Notice = p.texts.Account.Notices["mail_sent"]
	}
	asks := d.Address != "" && d.Action != ""
	if !asks {
		view.Again = ""
	}
	return render(verifyRequestTemplate, http.StatusOK, &view, policy{
		styles: view.Styles, images: p.theme.sources(), hasForm: asks || d.Acting != nil,
	})
}
