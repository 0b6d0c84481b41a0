package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/pages"
)

// pages are those in the language of the request.
func (x *exchange) pages() *page.Pages { return x.pagesFor(x.r) }

func (x *exchange) pageSite() page.Site {
	return page.Site{
		Origin: x.origin, SignInURL: x.origin + x.base + "/signin",
		Acting: x.actingBanner(),
	}
}

// actingBanner is the banner while an operator acts as a user, or nil.
func (x *exchange) actingBanner() *page.Acting {
	if x.acting == nil {
		return nil
	}
	u := &x.acting.User
	return &page.Acting{
		User: cmp.Or(u.Email, u.Name, u.ID), CSRFToken: x.pageToken(),
		Action: x.formAction("/" + string(actionAccount) + "/" + actingEnd),
	}
}

func (x *exchange) show(p page.Page) error {
	x.answer.status, x.answer.body = p.Status, p.Body
	x.answer.header = p.Header
	for _, name := range []string{"Cache-Control", "Expires", "Pragma"} {
		// See write: pages are kept out of caches in another way.
		p.Header.Del(name)
	}
	return nil
}

// rememberProvider has the browser keep with which provider its user signed in, for the built-in
// sign-in page. Scripts and clients of Auth.js receive no further cookie. It is set only after
// a sign-in, and so tells nobody whether an account exists.
func (x *exchange) rememberProvider(who *arrival, d *decision) {
	if x.ForgetLastProvider || x.Pages.SignIn != "" || !x.navigates() {
		return
	}
	// An account that is linked does not sign its user in.
	if d.kept != nil || who.unasked || d.account == nil {
		return
	}
	id := d.account.Provider
	if _, connected := x.connectionID(id); connected {
		id = discoveryID // the page has one field for all, and the id may name a company
	}
	if x.byID[id] != nil {
		x.addCookie(x.set.lastProvider.line(id))
	}
}

// lastProvider is what the browser says was used last, which may be anything.
func (x *exchange) lastProvider() string {
	id, sent := x.initialCookie(x.set.lastProvider)
	if sent && x.ForgetLastProvider {
		x.addCookie(x.set.lastProvider.clear())
		return ""
	}
	return id
}

// typed is what a user typed into the field of a form that names them, so that a wrong password
// or a mail that did not arrive does not make them type it again. The browser keeps it in
// a sealed cookie: an address in a URL would be in the log and in the history. Passwords are
// never in it.
type typed struct {
	Provider string `json:"provider"`
	Value    string `json:"value"`
	Again    bool   `json:"again,omitempty"` // a mail was sent once more
	sealed.Expiry
}

// keepTyped has the browser keep what was typed. It does so before anything is looked up, or
// alike for every address.
func (x *exchange) keepTyped(t typed) {
	if t.Value == "" || len(t.Value) > page.MaxTyped || !x.navigates() {
		return
	}
	if text, err := x.set.typedBox.Seal(&t); err == nil {
		x.addCookie(x.set.typed.line(text))
	}
}

// keepRefused keeps what was typed into the form of a sign-in that failed. A form of another site
// has no form token, and leaves nothing behind. Where no token is checked, nothing is kept: the
// form may be of another site.
func (x *exchange) keepRefused() {
	if x.inside || x.Pages.SignIn != "" || x.r.Method != http.MethodPost || !x.csrfVerified || x.DangerouslySkipCSRFCheck ||
		x.provider == nil || x.provider.way == nil {
		return
	}
	if x.action != actionSignIn && x.action != actionCallback {
		return
	}
	if field := x.button(x.provider).UserField(); field != "" {
		value, _, _ := x.body.String(field)
		x.keepTyped(typed{Provider: x.provider.id, Value: value})
	}
}

// keptTyped returns what the browser has kept, or nothing.
func (x *exchange) keptTyped() (t typed) {
	if text, sent := x.initialCookie(x.set.typed); !sent || text == "" || x.set.typedBox.Open(text, &t) != nil {
		return typed{}
	}
	return t
}

// clearTyped makes the browser forget what was typed, because it has served.
func (x *exchange) clearTyped() {
	if _, sent := x.initialCookie(x.set.typed); sent {
		x.addCookie(x.set.typed.clear())
	}
}

func (x *exchange) signInPage() error {
	x.clearLeftovers()
	code, failed := x.query.First("error")
	if own := x.Pages.SignIn; own != "" {
		pairs := query.Values{{Key: "callbackUrl", Value: x.callbackText}}
		if failed && code != "" {
			pairs.Add("error", code)
		}
		if notice, _ := x.query.Last("notice"); notice != "" && x.Accounts != nil {
			pairs.Add("notice", notice)
		}
		return x.redirect(query.AppendValues(own, pairs))
	}
	shown, _ := x.query.Last("error")
	detail, _ := x.query.Last("code")
	email, _ := x.query.Last("email")
	data := page.SignInData{
		Site: x.pageSite(), CSRFToken: x.pageToken(), CallbackURL: x.formCallbackURL(),
		Email: email, Error: shown, Detail: detail,
		SignUpURL: x.linkWithCallback(x.Pages.SignUp), ForgotPasswordURL: x.linkWithCallback(x.Pages.ForgotPassword),
		LastUsed: x.lastProvider(),
	}
	kept := x.keptTyped()
	data.Typed = page.Typed{Provider: kept.Provider, Value: kept.Value}
	if data.Typed.Value != "" || data.LastUsed != "" {
		x.answer.noStore = true // also the history of the browser keeps no copy of what the cookies told
	}
	if x.Accounts != nil { // the texts of what its pages have done
		notice, _ := x.query.Last("notice")
		data.Notice = x.pages().Texts().Account.Notices[notice]
	}
	for _, p := range x.providers {
		data.Providers = append(data.Providers, x.button(p))
	}
	if find := x.byID[discoveryID]; find != nil && x.connect != nil && !x.Connections.HideAddressField {
		data.Providers = append(data.Providers, x.button(find))
	}
	return x.show(x.pages().SignIn(data))
}

// linkWithCallback is the URL of a page of the host, with the way back.
func (x *exchange) linkWithCallback(own string) string {
	if own == "" {
		return ""
	}
	return query.Append(x.absolute(own), "callbackUrl", x.callbackText)
}

// formCallbackURL is the way back in the forms: a path if the request contained
// a path, so that a form posted through another host name of this site comes
// back there.
func (x *exchange) formCallbackURL() string {
	if asked, _ := x.query.Last("callbackUrl"); strings.HasPrefix(asked, "/") {
		if path, here := strings.CutPrefix(x.callbackText, x.origin); here && path != "" {
			return path
		}
	}
	return x.callbackText
}

// button is how the sign-in page shows a provider.
func (x *exchange) button(p *provider) page.Provider {
	b := page.Provider{ID: p.id, Name: p.name, Kind: page.Kind(p.kind), Action: x.formAction("/signin/" + p.id)}
	return p.describe(x, b)
}

// formAction is the route that a form on a page of this site posts to. Without
// Config.URL and TrustHost the site serves only this machine, and the route has
// no host: if a proxy put the address of its upstream into the Host header, a
// password goes to the site that showed the form, and not to the machine of the
// user. Other sites name their host as Auth.js does, and may be open under
// another name than the form is for.
func (x *exchange) formAction(path string) string {
	if x.URL == "" && !x.TrustHost {
		return x.base + path
	}
	return x.origin + x.base + path
}

func pageFields(given []Field) []page.Field {
	var fields []page.Field
	for _, f := range given {
		attributes := map[string]string{"type": cmp.Or(f.Type, "text"), "placeholder": f.Placeholder}
		maps.Copy(attributes, f.Attributes)
		fields = append(fields, page.Field{Name: f.Name, Label: f.Label, Attributes: attributes})
	}
	return fields
}

func (x *exchange) signOutPage() error {
	if own := x.Pages.SignOut; own != "" {
		return x.redirect(own)
	}
	action := x.formAction("/signout")
	if x.r.URL.RawQuery != "" {
		action += "?" + x.r.URL.RawQuery
	}
	return x.show(x.pages().SignOut(page.SignOutData{Site: x.pageSite(), Action: action, CSRFToken: x.pageToken()}))
}

func (x *exchange) verifyRequestPage() error {
	if own := x.Pages.VerifyRequest; own != "" {
		raw := x.r.URL.RawQuery
		if raw == "" {
			return x.redirect(own)
		}
		return x.redirect(withQuery(own, raw))
	}
	data := page.VerifyRequestData{Site: x.pageSite(), CSRFToken: x.pageToken(), CallbackURL: x.formCallbackURL()}
	id, _ := x.query.Last("provider")
	if p := x.byID[id]; p != nil && p.sendsLinks {
		data.Lifetime = p.linkLifetime
		if kept := x.keptTyped(); kept.Provider == p.id {
			data.Address, data.SentAgain, data.Action = kept.Value, kept.Again, x.formAction("/signin/"+p.id)
			x.answer.noStore = kept.Value != ""
		}
	}
	return x.show(x.pages().VerifyRequest(data))
}

func (x *exchange) errorPage() error {
	x.clearLeftovers()
	code, said := x.query.First("error")
	if own := x.Pages.Error; own != "" {
		if !said {
			return x.redirect(own)
		}
		return x.redirect(query.Append(own, "error", code))
	}
	detail, _ := x.query.First("code")
	switch {
	case code == string(CodeConfiguration) && detail == storeUnavailable:
		return x.show(x.pages().Unavailable(x.pageSite()))
	case code == string(CodeConfiguration) && detail == mailNotSent:
		return x.show(x.pages().MailNotSent(x.pageSite()))
	}
	return x.show(x.pages().Error(x.pageSite(), code))
}

// The parameter code of the built-in error page, where "Configuration" is too little for a
// browser.
const (
	storeUnavailable = "unavailable" // the request failed at the store: the page has status 503
	mailNotSent      = "mail_not_sent"
)

// withQuery adds a raw query to a page of the host that may have one.
func withQuery(target, raw string) string {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	return target + separator + raw
}

// answerFault answers a request to a configuration that cannot work. What is
// wrong stands in the log only.
func (x *exchange) answerFault(fault *Error) {
	x.logError(fault)
	switch x.action {
	case actionSignIn, actionSignOut, actionError, actionVerifyRequest:
		if x.r.Method == http.MethodGet || x.navigates() {
			x.showFault(fault)
			return
		}
	case actionCallback:
		if x.navigates() {
			x.showFault(fault)
			return
		}
	}
	if x.r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		x.showFault(fault)
		return
	}
	message := "There was a problem with the server configuration. Check the server logs for more information."
	if fault.Code == codeUnknownTenant {
		message = "There is no site at this address."
	}
	_ = x.json(faultStatus(fault), map[string]string{"message": message}) // text always marshals
}

// faultStatus is the status of the answer to a configuration that cannot work.
func faultStatus(fault *Error) int {
	if fault.Code == codeUnknownTenant {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func (x *exchange) showFault(fault *Error) {
	own := x.Pages.Error
	asked, _ := x.query.First("callbackUrl")
	switch {
	case own == "":
	case strings.HasPrefix(asked, own):
		x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: the error page of the application is protected by itself: "+
			"Config.Pages.Error must be open to anonymous requests",
			slog.String("code", string(codeErrorPageLoop)))
	default:
		_ = x.redirect(query.Append(x.absolute(own), "error", string(CodeConfiguration)))
		return
	}
	site := x.pageSite()
	site.SignInURL = "" // which would only lead back here
	_ = x.show(x.pages().Error(site, string(CodeConfiguration)))
	x.answer.status = faultStatus(fault)
}

// A listedProvider is a provider as clients see it. They recognise the way to
// sign in by its type.
type listedProvider struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Type        string `json:"type"`
	SignInURL   string `json:"signinUrl"`
	CallbackURL string `json:"callbackUrl"`
}

// listProviders answers GET providers: an object of the providers by their ids,
// in the order of the configuration.
func (x *exchange) listProviders() error {
	list := wire.NewObject()
	for _, p := range x.providers {
		list.Add(p.id, listedProvider{
			ID: p.id, Name: p.name, Type: string(p.kind),
			SignInURL:   x.origin + x.base + "/signin/" + p.id,
			CallbackURL: x.callbackRoute(p.id),
		})
	}
	body, err := list.Bytes()
	if err != nil {
		return err
	}
	x.answer.cookies = nil
	x.setJSON(200, body)
	return nil
}

// checkTheme makes the built-in pages in every language, which checks the theme
// and the texts.
func (s *settings) checkTheme() *Error {
	s.languages = nil
	var errs []error
	add := func(option string, texts *pages.Texts) {
		pages, err := page.New(page.Theme(s.Theme), page.Texts(*texts))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", option, err))
			return
		}
		s.languages = append(s.languages, language{strings.ToLower(pages.Lang()), pages})
	}
	add("Config.Theme and Config.Texts", &s.Texts)
	for i := range s.Languages {
		option := fmt.Sprintf("Config.Languages[%d]", i)
		if s.Languages[i].Lang == "" {
			errs = append(errs, fmt.Errorf("%s has no Lang, by which a request finds it", option))
			continue
		}
		texts := s.Languages[i]
		texts.Site = cmp.Or(texts.Site, s.Texts.Site)
		add(option, &texts)
	}
	for i, l := range s.languages {
		if slices.ContainsFunc(s.languages[:i], func(other language) bool { return other.tag == l.tag }) {
			errs = append(errs, fmt.Errorf(
				"Config.Texts and Config.Languages have the language %q twice; Config.Texts without Lang is \"en\"", l.tag))
		}
	}
	if err := errors.Join(errs...); err != nil {
		pages, _ := page.New(page.Theme{}, page.Texts{}) // the defaults are sound
		s.languages = []language{{pages: pages}}
		return fail(CodeConfiguration, err)
	}
	return nil
}

// pagesFor returns the pages in the language of a request.
func (s *settings) pagesFor(r *http.Request) *page.Pages {
	if len(s.languages) > 1 {
		if s.Language != nil {
			if l := s.language(s.Language(r)); l != nil {
				return l.pages
			}
		}
		for _, tag := range acceptedLanguages(r.Header["Accept-Language"]) {
			if l := s.language(tag); l != nil {
				return l.pages
			}
		}
	}
	return s.languages[0].pages
}

// chineseScripts are the scripts in which the regions write Chinese, as the likely subtags
// of Unicode have them. Browsers send "zh-CN", and texts are in "zh-Hans".
//
// https://www.unicode.org/reports/tr35/#Likely_Subtags
var chineseScripts = map[string]string{"cn": "hans", "sg": "hans", "my": "hans", "tw": "hant", "hk": "hant", "mo": "hant"}

// language returns the language for a tag: that of the tag, or else of a
// beginning of it, or else one that begins with it, so that "de-AT" finds "de",
// "pt" finds "pt-br", and "zh-CN" finds "zh-hans".
//
// https://www.rfc-editor.org/rfc/rfc4647#section-3.4
func (s *settings) language(tag string) *language {
	tag = strings.ToLower(tag)
	if tag == "" {
		return nil
	}
	if region, chinese := strings.CutPrefix(tag, "zh-"); chinese && chineseScripts[region] != "" {
		return cmp.Or(s.lookUp(tag), s.lookUp("zh-"+chineseScripts[region]))
	}
	return s.lookUp(tag)
}

// lookUp finds a language by its tag in small letters.
func (s *settings) lookUp(tag string) *language {
	for part := tag; part != ""; {
		for i := range s.languages {
			if s.languages[i].tag == part {
				return &s.languages[i]
			}
		}
		part = part[:max(strings.LastIndexByte(part, '-'), 0)]
	}
	for i := range s.languages {
		if strings.HasPrefix(s.languages[i].tag, tag+"-") {
			return &s.languages[i]
		}
	}
	return nil
}

// maxAccepted is more languages than a browser asks for. Further ones are ignored.
const maxAccepted = 32

// acceptedLanguages returns the languages in the header Accept-Language, the
// preferred one first.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4
func acceptedLanguages(lines []string) []string {
	type weighted struct {
		tag    string
		weight float64
	}
	var all []weighted
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			tag, parameter, _ := strings.Cut(entry, ";")
			w := weighted{strings.TrimSpace(tag), 1}
			if q, ok := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q="); ok {
				w.weight, _ = strconv.ParseFloat(q, 64) // what is no number is not wanted
			}
			if w.weight > 0 && w.tag != "*" && len(all) < maxAccepted {
				all = append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b weighted) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	var tags []string
	for _, w := range all {
		tags = append(tags, w.tag)
	}
	return tags
}

// answerBadRequest answers a request that names no route. A browser gets a page that
// repeats nothing of the request.
func (x *exchange) answerBadRequest(err error) {
	e := fail(codeUnknownAction, err)
	x.noteError(e)
	x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: bad request", x.describe(slog.LevelInfo, e)...)
	status := http.StatusBadRequest
	if bad, ok := errors.AsType[*badRequest](err); ok {
		status = bad.status
	}
	misrouted := x.action == "" && x.misrouted()
	switch {
	case x.action == actionAccount:
		x.refuse(status)
	case x.action == actionIDToken && isNative(x.r), x.action == actionNative && x.page == nativeToken:
		x.nativeError(status, "invalid_request")
	case !x.navigates():
		x.setJSON(status, []byte(`"Bad request."`))
	case misrouted:
		x.showMisrouted()
	default:
		_ = x.show(x.pages().Refusal(x.pageSite(), status)) // never fails
	}
}

// refuse answers a request to Config.Accounts that does not reach its handler: a script
// with a code, and a browser with a page.
func (x *exchange) refuse(status int) {
	if x.asksForJSON() {
		code := "invalid"
		switch status {
		case http.StatusForbidden:
			code = "csrf"
		case http.StatusRequestEntityTooLarge:
			code = "too_large"
		}
		_ = x.json(status, map[string]string{"error": code}) // text always marshals
	} else if status == http.StatusForbidden {
		_ = x.show(x.pages().ForeignForm(x.pageSite())) // never fails
	} else {
		_ = x.show(x.pages().Refusal(x.pageSite(), status)) // never fails
	}
	if status == http.StatusMethodNotAllowed {
		if x.answer.header == nil {
			x.answer.header = http.Header{}
		}
		x.answer.header.Set("Allow", "GET, HEAD, POST")
	}
}

// answerError turns an error into what the browser may know of it. Cookies
// collected on the way are not sent: the flow they belong to has failed.
func (x *exchange) answerError(err error) {
	e := classified(err)
	x.logError(e)
	x.emitSignInFailed(e)
	x.answer = answer{}
	x.keepRefused()
	if x.action == actionSession {
		x.setJSON(http.StatusBadRequest, []byte("null"))
		return
	}
	target := x.errorURL(e)
	if x.confirming() {
		// The page of the host that asked for the proof shows that there is none.
		target = x.pageWithError(x.callbackURL, e)
		if e.Detail != flowReplaced {
			x.clearChecks()
		}
	} else if own, ok := x.accountPage(); ok {
		target = x.pageWithError(own, e)
		if e.Detail != flowReplaced {
			x.clearChecks()
		}
	}
	if x.wantsJSON() {
		status := http.StatusOK
		if e.RetryAfter > 0 {
			status = http.StatusTooManyRequests
			x.answer.header = http.Header{"Retry-After": {strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10)}}
		}
		_ = x.json(status, map[string]string{"url": target}) // text always marshals
		return
	}
	_ = x.redirect(target)
}

// logError notes why a request failed.
func (x *exchange) logError(e *Error) {
	x.noteError(e)
	level := x.repeated(e, e.level())
	x.log.LogAttrs(x.ctx, level, "pintle: request failed", x.describe(level, e)...)
}

// errorURL is the page that shows an error.
func (x *exchange) errorURL(e *Error) string {
	if mistake := x.mistake(e); mistake != nil {
		return query.AppendValues(x.absolute(cmp.Or(x.Pages.SignIn, x.base+"/signin")), mistake)
	}
	page, own := "/error", x.Pages.Error
	if e.Detail == linkCut && x.showsPage() {
		return x.pageWithError(x.base+page, &Error{Code: CodeVerification})
	}
	if errors.Is(e, CodeStore) && !e.Code.visible() && x.showsPage() {
		return query.Append(x.pageWithError(x.base+page, e), "code", storeUnavailable)
	}
	if e.Code == codeEmailSignIn && x.showsPage() {
		return query.Append(x.pageWithError(x.base+page, e), "code", mailNotSent)
	}
	if e.Code.onSignInPage() {
		page, own = "/signin", x.Pages.SignIn
	}
	if own == "" {
		own = x.base + page
	}
	return x.pageWithError(own, e)
}

// showsPage reports whether a browser is about to show an error page of this site.
func (x *exchange) showsPage() bool { return x.navigates() && x.Pages.Error == "" }

// mistake returns the parameters of the sign-in page for an error that the user
// can correct, although Auth.js reports it as one of the configuration: a
// malformed address, too many mails, a flow that took too long or was continued
// in another tab. Only a browser that is about to show a page is sent there.
// Clients and the application's own error page receive these errors as
// "Configuration".
func (x *exchange) mistake(e *Error) query.Values {
	if !x.showsPage() {
		return nil
	}
	var pairs query.Values
	switch {
	case e.Code == CodeInvalidCheck, e.Code == codeCallbackRoute && e.Detail == flowReplaced:
		pairs.Add("error", string(CodeInvalidCheck))
	case e.Code == codeEmailSignIn && e.level() < slog.LevelError && !e.recipientRefused():
		pairs.Add("error", "EmailSignin")
	default:
		return nil
	}
	if e.Detail != "" {
		pairs.Add("code", e.Detail)
	}
	return pairs
}

// pageWithError returns the URL of a page with what a browser may know of an
// error.
func (x *exchange) pageWithError(page string, e *Error) string {
	code := e.Code
	switch {
	case !code.visible():
		code = CodeConfiguration
	case (code == CodeStepUp || code == codeConsentRequired) && !x.confirming():
		code = CodeAccessDenied
	}
	pairs := query.Values{{Key: "error", Value: string(code)}}
	if code == CodeCredentials {
		pairs.Add("code", cmp.Or(e.Detail, "credentials"))
	}
	if code == codeNoConnection && e.Detail != "" {
		pairs.Add("code", e.Detail)
	}
	return query.AppendValues(x.absolute(page), pairs)
}

// accountPage returns the page that replaces the page of an error when the flow
// was to link an account: the user is signed in, and a sign-in page would only
// confuse them. Without such a page the user sees the sign-in page, as with
// Auth.js.
func (x *exchange) accountPage() (page string, ok bool) {
	if x.Pages.Account == "" || x.records == nil || x.set == nil || x.provider == nil || x.provider.linking == nil {
		return "", false
	}
	return x.Pages.Account, x.provider.linking(x)
}

// showMisrouted shows a browser that the operator has to do something.
func (x *exchange) showMisrouted() {
	_ = x.show(x.pages().Error(page.Site{}, string(CodeConfiguration))) // which never fails
}
