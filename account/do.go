package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Code is why something was not done: the member error of the JSON form, such as
// [CodeWrongPassword]. The guide "Sign-up, passwords, second factors" lists them.
type Code string

func (c Code) Error() string { return "account: " + string(c) }

// Codes that an application may want to tell from others.
const (
	CodeSignedOut        Code = "signed_out"         // the request has no session of a user
	CodeLastSignIn       Code = "last_sign_in"       // the user could not sign in without it
	CodeRequiredByPolicy Code = "required_by_policy" // the user needs a second factor
	CodeAddressUnproved  Code = "address_unproved"   // the user proves the address first
	CodeAddressTaken     Code = "address_taken"      // another user has proven the address
	CodeHasPassword      Code = "has_password"       // the user has a password already
	CodeNotFound         Code = "not_found"          // the user has no such thing
	CodeWrongPassword    Code = "wrong_password"     // the password that was typed is not that of the user
	CodeWrongCode        Code = "code_wrong"         // the code that was typed is not accepted
	CodeLinkExpired      Code = "link_expired"       // what was begun has ended: begin again
	CodeTooManyAttempts  Code = "too_many_attempts"  // see RetryAfter
	CodeSuspended        Code = "suspended"          // codes of the user are no longer accepted
	CodeRefused          Code = "refused"            // the application or a rule has refused it
	CodeChangedMeanwhile Code = "changed_meanwhile"  // another request was faster: read again
	CodeUnavailable      Code = "unavailable"        // the store failed: see Err
	CodeActing           Code = "acting"             // an operator acts as the user
	CodeActingEnded      Code = "acting_ended"       // an operator acted as the user, and no longer does
)

// An Error is why [Accounts.Do] or [Accounts.Read] failed. It matches its Code with errors.Is.
type Error struct {
	Code Code

	// Fields are the codes of the fields that were rejected, by their names.
	Fields map[string]Code

	// Number is what stands for %s in the text of the code, such as the least length of a
	// password. It is zero for most.
	Number int

	// RetryAfter is when the next attempt is accepted, of [CodeTooManyAttempts].
	RetryAfter time.Duration

	// Err is for the log, and not for the user. It may be nil.
	Err error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Code.Error() + ": " + e.Err.Error()
	}
	return e.Code.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the code of the error.
func (e *Error) Is(target error) bool {
	code, is := target.(Code)
	return is && code == e.Code
}

// Do does what the form of a route does, for a page of the application: it changes the
// account of the user of r's session. route is the name of the page, such as "password", and
// fields are those of the form; "Sign-up, passwords, second factors" and "Account pages" list
// both. next is where the form would lead, and may be ignored.
//
// Do checks what the form checks: the session, the [Demand] of the route, and the rules of
// the application. It records what the form records in the activity, attempts that failed
// included. Do sets cookies on w, for a session that goes on after the others have ended, for
// example: call it before the response is written.
//
// If the demand is not met, the error is a [*StepUpError], which can answer the request. Other
// failures of a request are an [*Error]. A call that can never succeed, such as one with an
// unknown route, returns another error. Do has no route "export", whose answer is a file.
//
// The session determines the user. Ids in fields name what belongs to that user, and others
// are not found. The application protects its forms against other sites, for example with
// [net/http.CrossOriginProtection].
func (a *Accounts) Do(w http.ResponseWriter, r *http.Request, route string, fields map[string]string) (next string, err error) {
	v, err := a.called(w, r, "Do", route)
	if err != nil {
		return "", err
	}
	if v.route.do == nil {
		return "", fmt.Errorf("account: Do was called with the route %q, which has no form", route)
	}
	v.form = maps.Clone(fields)
	if v.form == nil {
		v.form = map[string]string{}
	}
	v.inFlow(v.route.flow)
	if err = v.lookAtActing(); err == nil {
		err = v.onlyUser()
	}
	if err == nil {
		err = v.admit()
	}
	if err == nil {
		next, err = v.route.do(v)
	}
	if err != nil {
		v.noteFailure(err)
		return "", v.toldError(err)
	}
	return next, nil
}

// Read reads what the page of a route shows into a value, for a page of the application: the
// JSON of a GET, such as that of "me". into is what json.Unmarshal takes. The errors are those
// of [Accounts.Do].
//
//	var me struct {
//		Password struct {
//			Set     bool
//			Changed *time.Time
//		}
//		RecoveryLeft int
//	}
//	err := accounts.Read(w, r, "me", &me)
func (a *Accounts) Read(w http.ResponseWriter, r *http.Request, route string, into any) error {
	v, err := a.called(w, r, "Read", route)
	if err != nil {
		return err
	}
	if v.route.show == nil {
		return fmt.Errorf("account: Read was called with the route %q, which has no page", route)
	}
	v.form = map[string]string{}
	if err := v.admit(); err != nil {
		return v.toldError(err)
	}
	shown, err := v.route.show(v)
	if err != nil {
		return v.toldError(err)
	}
	text, err := json.Marshal(shown.data)
	if err != nil {
		return v.toldError(unavailable(err))
	}
	return json.Unmarshal(text, into)
}

// called is the visit of a call for a user of a session.
func (a *Accounts) called(w http.ResponseWriter, r *http.Request, method, route string) (*visit, error) {
	if a.auth == nil {
		return nil, fmt.Errorf("account: %s was called before pintle.New has the Accounts as Config.Accounts", method)
	}
	v := &visit{Accounts: a, w: w, r: r, ctx: r.Context(), json: true, texts: a.auth.Texts(r), began: time.Now()}
	v.pages = a.site.pages[v.texts.Lang]
	if v.route = a.routes[route]; v.route == nil || v.route.who == forAnyone {
		return nil, fmt.Errorf("account: %s was called with the route %q, which is none of a signed-in user in this configuration", method, route)
	}
	return v, nil
}

// toldError is an error as the application sees it.
func (v *visit) toldError(err error) error {
	if err == nil {
		return nil
	}
	if stepUp, is := errors.AsType[*StepUpError](err); is {
		return stepUp
	}
	p := asProblem(err)
	if p.err != nil {
		v.logError(p)
	}
	e := &Error{Code: Code(p.code), Number: p.number, Err: p.err}
	for field, code := range p.fields {
		if e.Fields == nil {
			e.Fields = map[string]Code{}
		}
		e.Fields[field] = Code(code)
	}
	if seconds, err := strconv.Atoi(p.header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
