package pintle

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/sealed"
)

const (
	// nonceLife is how long a nonce is good: as long as a user may take to choose an
	// account in the window of an SDK.
	nonceLife = 10 * time.Minute

	maxNonce   = 128
	maxSDKCode = 2048

	// maxSDKName bounds each part of a name that an application sends, in bytes.
	maxSDKName = 256

	// googleCSRF is the field and the cookie that Google's script sets.
	//
	// https://developers.google.com/identity/gsi/web/guides/verify-google-id-token
	googleCSRF    = "g_csrf_token"
	minGoogleCSRF = 16
)

// giveNonce answers GET idtoken.
func (x *exchange) giveNonce(native bool) error {
	nonce, until, err := x.newNonce(native)
	if err != nil {
		return err
	}
	x.answer.noStore = true
	return x.json(http.StatusOK, map[string]string{"nonce": nonce, "expiresAt": until.UTC().Format(time.RFC3339)})
}

// newNonce returns a nonce for the provider of the request, and until when it is good. It
// names the browser by its form token, and the signed-in user. Nothing is stored until it
// is used.
func (x *exchange) newNonce(native bool) (nonce string, until time.Time, err error) {
	browser, userID := "", ""
	if !native {
		user, _, err := x.signedIn()
		if err != nil {
			return "", until, err
		}
		if user != nil {
			userID = user.ID
		}
		browser = x.formToken()
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	until = time.Now().Add(nonceLife).Truncate(time.Second)
	text := base64.RawURLEncoding.EncodeToString(random) + "." + strconv.FormatInt(until.Unix(), 36)
	return text + "." + sealed.Mark(x.jwtSecrets[0], noncePurpose, x.nonceValue(text, browser, userID)), until, nil
}

// nonceValue is what the mark of a nonce proves. The ids of providers and tenants have
// their length before them, and the form token is hexadecimal.
func (x *exchange) nonceValue(text, browser, userID string) string {
	return fmt.Sprintf("%d %s %d %s %s %s %s", len(x.Tenant), x.Tenant, len(x.provider.id), x.provider.id, text, browser, userID)
}

// A givenNonce is a nonce that this site has given to the client of a request. The zero
// value is none.
type givenNonce struct {
	text  string
	until time.Time

	// userID is the user who was signed in then. It is empty if there was none.
	userID string
}

func (n *givenNonce) issued() time.Time { return n.until.Add(-nonceLife) }

// readNonce returns a nonce, unless it was made up, given to another client or for another
// provider, or too long ago.
func (x *exchange) readNonce(nonce string, native bool) (*givenNonce, error) {
	text, mark, ok := cutLast(nonce, ".")
	_, end, two := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(end, 36, 64)
	if !ok || !two || err != nil || len(nonce) > maxNonce {
		return nil, badNonce("it was not given by this site")
	}
	n := &givenNonce{text: nonce, until: time.Unix(seconds, 0)}
	browser := ""
	if !native {
		if browser = x.sentFormToken(); browser == "" {
			return nil, badNonce("the cookie " + x.set.csrf.name + " did not come, to which the nonce belongs")
		}
		user, _, err := x.signedIn()
		if err != nil {
			return nil, err
		}
		if user != nil && sealed.HasMark(mark, x.jwtSecrets, noncePurpose, x.nonceValue(text, browser, user.ID)) {
			n.userID = user.ID
		}
	}
	switch {
	case n.userID == "" && !sealed.HasMark(mark, x.jwtSecrets, noncePurpose, x.nonceValue(text, browser, "")):
		return nil, badNonce("it was given to another client, to another user, for another provider, or by another site")
	case !time.Now().Before(n.until):
		return nil, badNonce("it was given more than ten minutes ago")
	}
	return n, nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

func badNonce(reason string) error {
	return fail(CodeInvalidCheck, errors.New("the nonce is not accepted: "+reason))
}

// A sentIDToken is what a client posts to the route for ID tokens.
type sentIDToken struct {
	raw, nonce, code string

	// user is the name of the user as JSON, in the form of Apple, or empty. Nothing
	// proves it.
	user string
}

var errShape = errors.New("the body has no ID token of at most 16 KiB, or a field of another type or length than it may have")

// readIDToken reads the body. Google's script calls the token credential.
func (x *exchange) readIDToken() (*sentIDToken, error) {
	s := &sentIDToken{}
	for _, field := range []struct {
		into *string
		max  int
		name string
	}{
		{&s.raw, maxIDToken, "credential"},
		{&s.raw, maxIDToken, "id_token"},
		{&s.nonce, maxNonce, "nonce"},
		{&s.code, maxSDKCode, "code"},
	} {
		value, present, isText := x.body.String(field.name)
		if present && (!isText || value == "" || len(value) > field.max || *field.into != "") {
			return nil, errShape
		}
		if present {
			*field.into = value
		}
	}
	if s.raw == "" {
		return nil, errShape
	}
	name, present := x.body.Raw("name")
	if !present || name == nil {
		return s, nil
	}
	parts, is := name.(map[string]any)
	if !is {
		return nil, errShape
	}
	kept := map[string]any{}
	for _, part := range []string{"firstName", "middleName", "lastName"} {
		text, isText := parts[part].(string)
		if parts[part] != nil && (!isText || len(text) > maxSDKName) {
			return nil, errShape
		}
		if text != "" {
			kept[part] = text
		}
	}
	user, _ := json.Marshal(map[string]any{"name": kept}) // texts always marshal
	s.user = string(user)
	return s, nil
}

// maxIDToken is the longest ID token that a client may send: 16 KiB.
const maxIDToken = 16 << 10

// idTokenOfBrowser returns the user whom a page has posted. It returns nil where the
// answer is a page that posts once more.
func (x *exchange) idTokenOfBrowser() (*arrival, error) {
	sent, err := x.readIDToken()
	if err != nil {
		return nil, &Error{Code: codeOAuthCallback, Provider: x.provider.id, Err: byClient(err)}
	}
	// Google's sign-in button may post from Google's site, to which the browser sends
	// no cookie with SameSite=Lax along: neither that of the form token nor that of a
	// session.
	_, again, _ := x.body.String(postedAgain)
	if !again && x.sentFormToken() == "" && mediaType(x.r.Header.Get("Content-Type")) == typeForm {
		return nil, x.postAgain(x.origin+x.base+"/"+string(actionIDToken)+"/"+x.provider.id, x.postedParams())
	}
	if !x.csrfVerified && !x.doublySubmitted() {
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the request has neither the form token of this site in the field csrfToken, "+
			"nor the %s of Google's script in a cookie and in the body", googleCSRF))
	}
	return x.verifyIDToken(sent, false)
}

// doublySubmitted reports whether the page could read or set a cookie of this site, as
// Google's script shows it. A page of a sibling domain can set one, so that this alone
// signs no browser in, and links no account.
func (x *exchange) doublySubmitted() bool {
	kept, _ := cookie.Get(x.r.Header, googleCSRF)
	sent, _, _ := x.body.String(googleCSRF)
	return len(kept) >= minGoogleCSRF && subtle.ConstantTimeCompare([]byte(kept), []byte(sent)) == 1
}

// idTokenOfApplication returns the user whom an application without a browser has posted.
func (x *exchange) idTokenOfApplication() (*arrival, error) {
	sent, err := x.readIDToken()
	switch {
	case mediaType(x.r.Header.Get("Content-Type")) != typeJSON:
		return nil, &badRequest{http.StatusBadRequest, errors.New("the body is not JSON")}
	case err != nil:
		return nil, &badRequest{http.StatusBadRequest, err}
	case !x.Session.AllowBearer:
		return nil, &badRequest{http.StatusBadRequest, errors.New("no browser sent the request, and Config.Session.AllowBearer is not set")}
	}
	x.native = true
	x.callbackURL, x.callbackText = x.origin, x.origin
	return x.verifyIDToken(sent, true)
}

// answerBearer answers with the session that was begun. There is none if a callback of
// the host has sent the browser to a page: an application has none to show it in.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.1
func (x *exchange) answerBearer() error {
	if x.given == nil {
		return &Error{
			Code: CodeAccessDenied, Detail: nativeInteraction,
			Err: errors.New("the callbacks want the user on a page first, or no session: the application has to open the browser"),
		}
	}
	left := time.Until(x.given.session().Expires)
	x.answer = answer{header: tokenHeader()}
	return x.json(http.StatusOK, map[string]any{
		"access_token": x.given.token, "token_type": "Bearer", "expires_in": int64(max(left, 0) / time.Second),
	})
}

// nativeInteraction is the detail of a sign-in for which an application has to open the
// browser.
const nativeInteraction = "interaction_required"

// refuseNative answers an application. What is wrong with a token is in the log only.
func (x *exchange) refuseNative(err error) {
	if bad, is := errors.AsType[*badRequest](err); is {
		x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: bad request", x.describe(slog.LevelInfo, fail(codeUnknownAction, err))...)
		x.nativeError(bad.status, errorRequest)
		return
	}
	e := classified(err)
	x.logError(e)
	x.emitSignInFailed(e)
	switch {
	case e.RetryAfter > 0:
		x.nativeError(http.StatusTooManyRequests, "too_many_attempts")
		x.answer.header.Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10))
	case e.Detail == nativeInteraction:
		x.nativeError(http.StatusForbidden, nativeInteraction)
	case e.Code == codeOAuthCallback, e.Code == CodeInvalidCheck:
		x.nativeError(http.StatusBadRequest, errorGrant)
	case e.Code == CodeAccountNotLinked:
		x.nativeError(http.StatusForbidden, "account_not_linked")
	case e.Code == CodeAccessDenied:
		x.nativeError(http.StatusForbidden, errorDenied)
	default:
		x.nativeError(http.StatusServiceUnavailable, errorServer)
	}
}

// errorGrant is the error for everything about a token, a nonce or a code.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
const errorGrant = "invalid_grant"

// verifyIDToken returns the user of an ID token, which is good once.
//
// The nonce comes first: it costs nothing, and without one that this site has given no
// key of the provider is fetched. That the token is used comes last, so that a forged one
// uses nothing up.
func (x *exchange) verifyIDToken(sent *sentIDToken, native bool) (*arrival, error) {
	takes := x.provider.idTokens
	nonce, err := x.nonceOf(sent, native)
	if err != nil {
		return nil, err
	}
	claims, err := takes.verify(x.ctx, sent.raw, handshake.SDKToken{
		Audiences: takes.Audiences, Parties: takes.AuthorizedParties, Nonce: nonce.text, NonceHash: takes.NonceHash,
	})
	if _, bad := errors.AsType[*handshake.UnsolicitedTokenError](err); bad || errors.Is(err, handshake.ErrUnknownKey) {
		return nil, &Error{Code: codeOAuthCallback, Provider: x.provider.id, Err: byClient(err)}
	}
	if err != nil {
		return nil, err
	}
	if err := x.useIDToken(sent, nonce); err != nil {
		return nil, err
	}
	tokens := map[string]any{}
	if sent.code != "" && takes.redeem != nil {
		if tokens, err = takes.redeem(x.ctx, claims, sent.code); err != nil {
			return nil, &Error{Code: codeOAuthCallback, Provider: x.provider.id, Err: err}
		}
	}
	tokens["id_token"] = sent.raw
	who, err := takes.identify(x, claims, tokens, map[string]string{"user": sent.user}, nonce.issued())
	if err != nil {
		return nil, err
	}
	// Only the form token shows that the user of this browser, who was signed in when the
	// nonce was given, wanted this page to link the account.
	page := x.csrfVerified && !x.DangerouslySkipCSRFCheck
	who.linkTo = func(signedIn *User) bool { return !native && page && nonce.userID == signedIn.ID }
	who.sdk = true
	x.debug("ID token accepted")
	return who, nil
}

// nonceOf returns the nonce of a request. A browser need not send it beside the token,
// if the claim has it unchanged: its mark shows that this site has given it to this
// browser.
func (x *exchange) nonceOf(sent *sentIDToken, native bool) (*givenNonce, error) {
	text := sent.nonce
	if text == "" && !native {
		text = handshake.ClaimedNonce(sent.raw)
	}
	if text == "" && !native && x.provider.idTokens.DangerouslyAllowWithoutNonce {
		return &givenNonce{until: x.began.Add(nonceLife)}, nil
	}
	return x.readNonce(text, native)
}

// useIDToken uses the nonce up, or the token if it has none.
func (x *exchange) useIDToken(sent *sentIDToken, nonce *givenNonce) error {
	used, value, until := x.spent.nonces, nonce.text, nonce.until
	if value == "" {
		// One that is older is not accepted, however long it lives. The signature can be
		// written in several ways, and is left out.
		used, until = x.spent.idTokens, x.began.Add(handshake.MaxNoNonceUse)
		value, _, _ = cutLast(sent.raw, ".")
	}
	first, err := x.first(used, value, nonce.issued(), until.Add(2*clockTolerance))
	if err != nil {
		return err
	}
	if !first {
		return &Error{
			Code: CodeInvalidCheck, Detail: flowUsed, Provider: x.provider.id,
			Err: byClient(errors.New("the ID token was used before: it was sent twice, or copied")),
		}
	}
	return nil
}
