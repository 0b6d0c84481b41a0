package pintle

import (
	"cmp"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/wire"
)

// pages are those in the language of the request.
func (x *exchange) pages() *page.Pages { return x.pagesFor(x.r) }

func (x *exchange) pageSite() page.Site {
	return page.Site{
		Origin: x.origin, SignInURL: x.origin + x.base + "/signin",
		Mail: slices.ContainsFunc(x.providers, func(p *provider) bool { return p.sendsLinks }),
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

func (x *exchange) signInPage() error {
	x.clearLeftovers()
	code, failed := x.query.First("error")
	if own := x.Pages.SignIn; own != "" {
		pairs := query.Values{{Key: "callbackUrl", Value: x.callbackText}}
		if failed && code != "" {
			pairs.Add("error", code)
		}
		return x.redirect(query.AppendValues(own, pairs))
	}
	shown, _ := x.query.Last("error")
	detail, _ := x.query.Last("code")
	email, _ := x.query.Last("email")
	data := page.SignInData{
		Site: x.pageSite(), CSRFToken: x.csrfToken, CallbackURL: x.formCallbackURL(),
		Email: email, Error: shown, Detail: detail,
		SignUpURL: x.linkWithCallback(x.Pages.SignUp), ForgotPasswordURL: x.linkWithCallback(x.Pages.ForgotPassword),
	}
	for _, p := range x.providers {
		data.Providers = append(data.Providers, x.button(p))
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
	return x.show(x.pages().SignOut(page.SignOutData{Site: x.pageSite(), Action: action, CSRFToken: x.csrfToken}))
}

func (x *exchange) verifyRequestPage() error {
	if own := x.Pages.VerifyRequest; own != "" {
		raw := x.r.URL.RawQuery
		if raw == "" {
			return x.redirect(own)
		}
		return x.redirect(withQuery(own, raw))
	}
	return x.show(x.pages().VerifyRequest(x.pageSite()))
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
	return x.show(x.pages().Error(x.pageSite(), code))
}

// withQuery adds a raw query to a page of the host that may have one.
func withQuery(target, raw string) string {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	return target + separator + raw
}

func cutQuery(raw string) (before, rawQuery string, found bool) {
	before, rest, found := strings.Cut(raw, "?")
	rawQuery, _, _ = strings.Cut(rest, "#")
	return before, rawQuery, found
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
		x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: the error page of the application is protected by itself: Config.Pages.Error must be open to anonymous requests",
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
