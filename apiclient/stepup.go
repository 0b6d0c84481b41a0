package apiclient

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// A StepUpError is the error of a call for which the API requires a stronger or a more recent
// sign-in at the provider. Another token of the same sign-in would not help.
//
//	if needs, ok := errors.AsType[*apiclient.StepUpError](err); ok {
//		needs.SignIn.RedirectTo = "/transfers"
//		next, err := auth.SignIn(w, r, "bank", needs.SignIn)
//
// https://www.rfc-editor.org/rfc/rfc9470#section-3
type StepUpError struct {
	// SignIn has what the API requires: ACRValues, MaxAge, and Prompt if any earlier sign-in is
	// too old. What the API says and no provider can be asked for is left out.
	SignIn pintle.SignInOptions
}

func (*StepUpError) Error() string {
	return "apiclient: the API requires a stronger or a more recent sign-in at the provider"
}

// Bounds of what is taken from the answer of an API: those of [pintle.SignInOptions].
const (
	maxStepUpText   = 512
	maxStepUpValues = 8
	maxStepUpValue  = 128
)

// stepUp returns what an answer requires, or nil.
func stepUp(resp *http.Response, account *pintle.Account) *StepUpError {
	params := findChallenge(resp, account, "insufficient_user_authentication")
	if params == nil {
		return nil
	}
	e := &StepUpError{}
	if text := params["acr_values"]; len(text) <= maxStepUpText {
		for value := range strings.SplitSeq(text, " ") {
			isASCII := strings.IndexFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
			if value != "" && len(value) <= maxStepUpValue && isASCII && len(e.SignIn.ACRValues) < maxStepUpValues {
				e.SignIn.ACRValues = append(e.SignIn.ACRValues, value)
			}
		}
	}
	switch seconds, err := strconv.ParseUint(params["max_age"], 10, 31); {
	case err != nil:
	case seconds == 0:
		e.SignIn.Prompt = "login"
	default:
		e.SignIn.MaxAge = time.Duration(seconds) * time.Second
	}
	return e
}
