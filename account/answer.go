package account

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/page"
)

// onSite returns a path or a URL of this site as a URL, and "" for all others.
func (v *visit) onSite(target string) string {
	if target == "" {
		return ""
	}
	here := v.site.originOf(v.r)
	next, err := origin.Redirect(target, here)
	if err != nil || next == here && strings.TrimSuffix(target, "/") != here && target != "/" {
		return ""
	}
	return next
}

// newPage returns a page with the texts of its name; value is what stands for %s.
func (v *visit) newPage(name, value string) page.FormPage {
	t := v.pageText(name)
	p := page.FormPage{
		Site: page.Site{Origin: v.site.originOf(v.r), SignInURL: v.site.originOf(v.r) + v.site.signIn(), Acting: v.actingBanner()},
		Name: name, Heading: t.Heading, Hint: t.Hint, CSRFToken: v.csrf,
		Notice: v.texts.Account.Notices[v.r.URL.Query().Get("notice")],
	}
	for _, text := range t.Text {
		p.Text = append(p.Text, page.Fill(text, value))
	}
	if code := v.r.URL.Query().Get("error"); code != "" && v.route != nil && v.route.name == "" {
		p.Problem, p.Notice = v.sentence(code, 0), "" // the root names the page for users who link an account
	}
	if v.problem != nil {
		p.Problem, p.Notice = v.sentence(v.problem.code, v.problem.number), ""
	}
	return p
}

// newPageOf is newPage for a page whose text speaks of the password: a user who has none gets
// another text.
func (v *visit) newPageOf(u *pintle.User, name string) (page.FormPage, error) {
	p := v.newPage(name, "")
	has, err := v.hasPassword(u)
	if err == nil && !has {
		p.Text = page.Plain(v.word(name + "_no_password"))
	}
	return p, err
}

// formTo is the main form of a page, which is posted to a route.
func (v *visit) formTo(route, textOf string, inputs ...page.Input) page.Form {
	f := page.Form{Action: v.site.path(route), Button: v.pageText(textOf).Button, Inputs: inputs}
	if c := v.callbackURL(); c != "" {
		f.Hidden = append(f.Hidden, page.HiddenField{Name: "callbackUrl", Value: c})
	}
	return v.withProblems(f)
}

// withProblems says at the inputs of a form what is wrong with what was entered.
func (v *visit) withProblems(f page.Form) page.Form {
	if v.problem != nil {
		for i := range f.Inputs {
			if code := v.problem.fields[f.Inputs[i].Name]; code != "" {
				f.Inputs[i].Problem = v.sentence(code, v.problem.number)
			}
		}
	}
	return f
}

func (v *visit) link(route, word string, pairs ...string) page.Link {
	return page.Link{URL: withQuery(v.site.path(route), pairs...), Text: v.word(word)}
}

// onWith is the path of the next page, which leads to where the request wants to go in the
// end.
func (v *visit) onWith(route string, pairs ...string) string {
	return withQuery(v.site.path(route), append(pairs, "callbackUrl", v.callbackURL())...)
}

// sentence is the text of a problem.
func (v *visit) sentence(code string, number int) string {
	text, known := v.texts.Account.Problems[code]
	if !known {
		text = v.texts.Account.Problems[""]
	}
	return strings.Replace(text, "%s", fmt.Sprint(number), 1)
}

// write answers with a page or, to a script, with its data.
func (v *visit) write(shown *view) {
	if shown.goTo != "" {
		v.w.Header().Set("Location", shown.goTo)
		v.w.WriteHeader(http.StatusSeeOther)
		return
	}
	if v.status != 0 {
		shown.page.Status = v.status
	}
	if f := shown.file; f != nil {
		v.w.Header().Set("Content-Type", cmp.Or(f.kind, "text/plain; charset=utf-8"))
		v.w.Header().Set("Content-Disposition", `attachment; filename="`+f.name+`"`)
		_, _ = v.w.Write([]byte(f.text)) // the client has gone
		return
	}
	if v.json {
		data := shown.data
		if data == nil {
			data = map[string]any{}
		}
		v.writeJSON(max(shown.page.Status, http.StatusOK), data)
		return
	}
	v.dress(&shown.page)
	v.writePage(v.pages.Form(shown.page))
}

func (v *visit) writePage(p page.Page) {
	h := v.w.Header()
	for name, values := range p.Header {
		if name != "Cache-Control" && name != "Expires" && name != "Pragma" { // the root sets no-store
			h[name] = values
		}
	}
	v.w.WriteHeader(p.Status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(p.Body) // the client has gone
	}
}

func (v *visit) writeJSON(status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		v.fail(unavailable(err))
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(body) // the client has gone
	}
}

// leave sends the browser on after a form.
func (v *visit) leave(next string) {
	if v.json {
		v.writeJSON(http.StatusOK, map[string]any{"next": v.absolute(next)})
		return
	}
	v.w.Header().Set("Location", next)
	v.w.WriteHeader(http.StatusSeeOther)
}

func (v *visit) absolute(next string) string {
	if strings.HasPrefix(next, "/") {
		return v.site.originOf(v.r) + next
	}
	return next
}

// fail answers with a problem that the page cannot show.
func (v *visit) fail(err error) {
	if stepUp, ok := errors.AsType[*StepUpError](err); ok {
		v.failStepUp(stepUp)
		return
	}
	p := asProblem(err)
	if p.err != nil {
		v.logError(p)
	}
	if v.status == 0 {
		v.status = p.status
	}
	if p.code == "signed_out" && !v.json && v.r.Method != http.MethodPost {
		back := *v.r.URL
		q := back.Query()
		q.Del("notice") // of what has been done before
		back.RawQuery = q.Encode()
		v.w.Header().Set("Location", v.site.signIn("callbackUrl", back.RequestURI()))
		v.w.WriteHeader(http.StatusSeeOther)
		return
	}
	maps.Copy(v.w.Header(), p.header)
	if v.status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", page.RetryAfter)
	}
	if v.json {
		answer := map[string]any{"error": p.code}
		if len(p.fields) > 0 {
			answer["fields"] = p.fields
		}
		maps.Copy(answer, p.data)
		v.writeJSON(v.status, answer)
		return
	}
	if v.pages == nil {
		http.Error(v.w, http.StatusText(v.status), v.status)
		return
	}
	v.problem = nil
	if p.code == "refused" && v.route == nil { // a page of the application, of which the user has no role
		v.writePage(v.pages.Refusal(v.newPage("problem", "").Site, v.status))
		return
	}
	name := "problem"
	if p.code == "link_expired" {
		name = "expired"
	}
	shown := v.newPage(name, "")
	shown.Status, shown.Notice = v.status, ""
	if name == "problem" {
		shown.Text = page.Plain(v.sentence(v.textOf(p), p.number))
	}
	shown.Links = p.links
	switch {
	case p.text == "acting_role":
		shown.Forms = []page.Form{{Action: v.site.path(stopActingRoute), Button: v.word("acting_end")}}
	case v.acting != nil || len(p.links) > 0:
	case v.session != nil || v.status == http.StatusServiceUnavailable || v.maySeeAccount(): // with 503 it is not known who is signed in
		shown.Links = []page.Link{{URL: v.pageURL(""), Text: v.word("overview")}}
	default:
		shown.Links = []page.Link{{URL: v.site.signIn(), Text: v.word("sign_in")}}
	}
	if p.code != "signed_out" {
		v.dress(&shown)
	}
	v.writePage(v.pages.Form(shown))
}

// maySeeAccount reports whether the page that says that there is no such page leads to the account:
// no route has read the session. It also does if the session cannot be read.
func (v *visit) maySeeAccount() bool {
	if v.status != http.StatusNotFound && v.status != http.StatusMethodNotAllowed {
		return false
	}
	session, err := v.cookieSession()
	return err != nil || session != nil && session.User.ID != ""
}

// textOf is the key of the text of a problem. Of a page that was only opened nothing could be
// done.
func (v *visit) textOf(p *problem) string {
	if p.code == "acting" && p.text == "" && isSafe(v.r) {
		return "acting_page"
	}
	return cmp.Or(p.text, p.code)
}

// queryOf returns the first value of a parameter of the query.
func queryOf(u *url.URL, name string) string { return u.Query().Get(name) }
