package account

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// A problem is why a request was not done. Its code is for clients; err is for the
// operator alone.
type problem struct {
	code   string
	status int

	// refused reports that the application has refused the request, whatever its code is.
	refused bool

	// text is the key of the text, if that is not the code.
	text string

	// again reports that the page can be shown once more.
	again bool

	// fields are codes by the names of the fields, and number is what stands for %s in
	// their text.
	fields map[string]string
	number int

	header http.Header
	data   map[string]any
	links  []page.Link
	err    error
}

func (p *problem) Error() string {
	if p.err != nil {
		return p.code + ": " + p.err.Error()
	}
	return p.code
}

func (p *problem) Unwrap() error { return p.err }

// statuses are the statuses of codes that are not 422.
var statuses = map[string]int{
	"csrf":                             http.StatusForbidden,
	"signed_out":                       http.StatusUnauthorized,
	"second_factor_required":           http.StatusUnauthorized,
	"insufficient_user_authentication": http.StatusUnauthorized,
	"flow_missing":                     http.StatusForbidden,
	"link_expired":                     http.StatusGone,
	"not_found":                        http.StatusNotFound,
	"address_unproved":                 http.StatusForbidden,
	"required_by_policy":               http.StatusForbidden,
	"last_sign_in":                     http.StatusForbidden,
	"has_password":                     http.StatusForbidden,
	"refused":                          http.StatusForbidden,
	"suspended":                        http.StatusForbidden,
	"acting":                           http.StatusForbidden,
	"acting_ended":                     http.StatusConflict,
	"other_user":                       http.StatusForbidden,
	"account_exists":                   http.StatusConflict,
	"address_taken":                    http.StatusConflict,
	"changed_meanwhile":                http.StatusConflict,
	"too_many_attempts":                http.StatusTooManyRequests,
	"too_large":                        http.StatusRequestEntityTooLarge,
	"unavailable":                      http.StatusServiceUnavailable,
	"cannot_be_checked":                http.StatusServiceUnavailable,
}

// problemOf returns the problem of a code.
func problemOf(code string) *problem {
	p := &problem{code: code, status: statuses[code]}
	if p.status == 0 {
		p.status, p.again = http.StatusUnprocessableEntity, true
	}
	return p
}

// inField returns a problem with what was entered in a field.
func inField(field, code string) *problem {
	p := problemOf(code)
	p.fields = map[string]string{field: code}
	return p
}

// isProblem reports whether an error is the problem of a code.
func isProblem(err error, code string) bool {
	p, is := errors.AsType[*problem](err)
	return is && p.code == code
}

// tooMany returns the problem of a request beyond a limit.
func tooMany(wait time.Duration) *problem {
	p := problemOf("too_many_attempts")
	p.again = true
	if wait > 0 {
		p.header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(wait.Seconds())))}}
	}
	return p
}

// refusal returns the problem of a request that the application has refused. The Detail of
// a pintle.Error is its code, so that the application chooses the text. The form is shown
// again.
func refusal(err error) *problem {
	p := problemOf("refused")
	p.again, p.refused = true, true
	if e, ok := errors.AsType[*pintle.Error](err); ok && e.Detail != "" {
		p.code = e.Detail
	}
	return p
}

// unavailable returns the problem of a store that does not answer.
func unavailable(err error) *problem {
	p := problemOf("unavailable")
	p.err = err
	return p
}

// asProblem returns the problem that an error is. Errors of the store and of callbacks
// are faults of the server.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	switch {
	case errors.Is(err, pintle.CodeInvalidCheck):
		return problemOf("link_expired")
	case errors.Is(err, pintle.CodeAccessDenied):
		return problemOf("refused")
	case errors.Is(err, pintle.CodeActing):
		return problemOf("acting")
	case errors.Is(err, pintle.CodeActingEnded):
		return problemOf("acting_ended")
	}
	return unavailable(err)
}

// record logs a fault of the server that changes nothing for the client.
func (v *visit) record(err error) {
	if p := asProblem(err); p.err != nil {
		v.logError(p)
	}
}

// logError records a fault of the server. It holds nothing that was entered.
func (v *visit) logError(p *problem) {
	v.log().ErrorContext(v.ctx, "pintle: account request failed", slog.String("code", codeRequestFailed), slog.String("route", v.r.URL.EscapedPath()), slog.Any("error", p.err))
}
