package pintle

import (
	"log/slog"
	"net/http"
)

// settleCSRF takes the token from this browser's cookie, or makes a new one,
// and notes whether the body repeats it.
func (x *exchange) settleCSRF() {
	if x.DangerouslySkipCSRFCheck {
		x.csrfVerified = true
		return
	}
	if value, ok := x.initialCookie(x.set.csrf); ok {
		if token, ok := x.csrf.Parse(value); ok && !x.outdatedCSRF(token, value) {
			x.csrfToken = token
			if x.r.Method == http.MethodPost {
				sent, _, _ := x.body.String("csrfToken")
				x.csrfVerified = x.csrf.Verify(token, sent)
			}
			return
		}
		x.debug("cookie not accepted", "cookie", x.set.csrf.name, "reason", "it was not made with the current secret")
	}
	token, value := x.csrf.Generate()
	x.csrfToken = token
	x.addCookie(x.set.csrf.line(value))
}

// outdatedCSRF reports whether the token was made with earlier secrets and may
// be replaced: at a provider's callback, when no form of this browser can be
// waiting to be posted. Everywhere else it stays good, so that a change of
// secrets breaks no form that is open.
func (x *exchange) outdatedCSRF(token, value string) bool {
	return x.action == actionCallback && x.r.Method == http.MethodGet && value != token+"|"+x.hashes.Sum(token)
}

// requireCSRF stops forms that another site made this browser send.
func (x *exchange) requireCSRF() error {
	if !x.csrfVerified {
		return &Error{Code: ErrMissingCSRF}
	}
	return nil
}

// showCSRF answers GET csrf.
func (x *exchange) showCSRF() error {
	if x.DangerouslySkipCSRFCheck {
		x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: somebody asks for a CSRF token although the check is off", slog.String("code", "csrf-disabled"))
		x.addCookie(x.set.csrf.clear())
		x.answer.status = http.StatusNotFound
		return nil
	}
	x.answer.noStore = true
	// The token is hexadecimal or whatever else fits the hash in the cookie, so
	// it is quoted like any text.
	body := append(make([]byte, 0, 96), `{"csrfToken":`...)
	x.setJSON(http.StatusOK, append(appendText(body, x.csrfToken), '}'))
	return nil
}
