package account

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pintleauth/pintle/internal/page"
)

// A section is a page of the navigation. Its name is that of the route, and its word the text
// of the link.
type section struct{ name, word, icon string }

// sections are the pages of the navigation, in order. Those that a configuration does not have
// are left out.
var sections = []section{
	{"", "overview", "overview"},
	{"profile", "profile", "profile"},
	{"password", "passwords", "password"},
	{"factors", "second_factor", "second-factor"},
	{"passkeys", "passkeys", "passkeys"},
	{"accounts", "accounts", "accounts"},
	{"devices", "devices", "devices"},
	{"activity", "activity", "activity"},
	{"data", "data", "data"},
}

// sectionOf has the routes that belong to a page of the navigation with another name.
var sectionOf = map[string]string{
	"address": "profile", "picture": "profile", "totp": "factors", "factor": "factors", "remembered": "factors", "recovery-codes": "factors",
	"passkey": "passkeys", "unlink": "accounts", "end-devices": "devices", "export": "data", "delete": "data",
}

// shows reports whether the configuration has the page of a route.
func (a *Accounts) shows(name string) bool {
	r := a.routes[name]
	return r != nil && r.show != nil
}

// hasSection reports whether the navigation has a page.
func (a *Accounts) hasSection(name string) bool {
	// What a user had before second factors were off is removed on the page all the same.
	return a.shows(name) && (name != "factors" || !a.o.SecondFactor.Off)
}

// dress adds the navigation and the form to sign out to a page of a signed-in user. A session
// that cannot be used yet leads to no page, and can be ended.
//
// The user can end the session on every page that is open (ASVS 5.0, 7.4.4).
func (v *visit) dress(p *page.FormPage) {
	if v.session == nil {
		return
	}
	text := v.pageText("account")
	p.Nav = &page.Nav{
		Label: text.Heading, Skip: v.word("skip"), SignOut: page.Form{Action: v.site.base + "/signout", Button: text.Button},
	}
	if v.unconfirmed {
		return
	}
	here := v.route.name
	above, isBelow := sectionOf[here]
	for _, s := range sections {
		if !v.hasSection(s.name) {
			continue
		}
		link := page.NavLink{Link: v.link(s.name, s.word), Icon: s.icon}
		link.URL = v.pageURL(s.name)
		switch {
		case s.name == here:
			link.Current = "page"
		case isBelow && above == s.name:
			link.Current = "true"
		}
		p.Nav.Links = append(p.Nav.Links, link)
	}
	overview := v.site.path("")
	p.Links = slices.DeleteFunc(p.Links, func(l page.Link) bool { return l.URL == overview }) // the navigation has it
}

// pageURL is where a page of the account is: here, or where the application has its own.
func (a *Accounts) pageURL(name string) string {
	if own := a.o.Pages[name]; own != "" {
		return own
	}
	return a.site.path(name)
}

// checkPages returns what is wrong with the pages of the application. Which pages there are is
// known once the providers are configured.
func (a *Accounts) checkPages() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(a.o.Pages)) {
		r := a.routes[name]
		if r == nil || r.who == forAnyone || r.show == nil || r.data || r.confirms || name == "" {
			errs = append(errs, fmt.Errorf("account: Options.Pages has %q, which is no page that an application can replace: "+
				"choose profile, address, password, factors, totp, recovery-codes, passkeys, accounts, devices, activity, data, export or delete", name))
		}
		if own := a.o.Pages[name]; !strings.HasPrefix(own, "/") || strings.HasPrefix(own, "//") || strings.ContainsAny(own, "\\?#") {
			errs = append(errs, fmt.Errorf("account: Options.Pages[%q] is %q: give the path of a page of this site", name, own))
		}
	}
	return errors.Join(errs...)
}

// ownPage is the page of the application that is shown instead of the one of a request, or "".
// It gets the parameters that the page would have shown.
func (v *visit) ownPage(further ...string) string {
	own := v.o.Pages[v.route.name]
	if v.route.name == "" {
		own = v.replaced
	}
	if own == "" || v.json {
		return ""
	}
	q := v.r.URL.Query()
	with := withQuery("", append(further, "notice", q.Get("notice"), "error", q.Get("error"), "callbackUrl", v.callbackURL())...)
	if strings.Contains(own, "?") {
		with = strings.Replace(with, "?", "&", 1)
	}
	return own + with
}

// when is a line with the day of a time.
func (v *visit) when(word string, at time.Time) page.Line {
	return page.Texts(v.texts).When(v.word(word), at)
}

// moment is a line with the day and the time of day. Sessions of one day may be told apart by nothing else.
func (v *visit) moment(word string, at time.Time) page.Line {
	return page.Texts(v.texts).Moment(v.word(word), at)
}

// newPageAt is newPage with a day in its text.
func (v *visit) newPageAt(name string, at time.Time) page.FormPage {
	day := page.Texts(v.texts).Day(at)
	p := v.newPage(name, day)
	for i := range p.Text {
		if p.Text[i].Value == day {
			p.Text[i].Time = at
		}
	}
	return p
}

// confirmFirst returns the way to confirm, for a page whose forms lead to a provider or an
// authenticator: the user would otherwise go there in vain. It is nil for a session that
// meets the demand.
func (v *visit) confirmFirst() (*StepUpError, error) {
	err := v.demand(accountDemand)
	if e, is := errors.AsType[*StepUpError](err); is {
		return e, nil
	}
	return nil, err
}

// adding is the group that says what is missing before something can be added, or nil.
func (v *visit) adding() (*page.Group, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	if u.Email != "" && !isProved(u) { // see askSignIn
		return &page.Group{
			Text:  page.Plain(v.sentence("address_unproved", 0)),
			Links: []page.Link{v.link("prove", "prove", "callbackUrl", v.site.path(v.route.name))},
		}, nil
	}
	e, err := v.confirmFirst()
	if e == nil || err != nil {
		return nil, err
	}
	return &page.Group{Text: page.Plain(v.word("confirm_first")), Links: []page.Link{{URL: e.URL, Text: v.pageText("confirm").Button}}}, nil
}

// hidden are hidden fields, of pairs of a name and a value.
func hidden(pairs ...string) (fields []page.HiddenField) {
	for i := 0; i+1 < len(pairs); i += 2 {
		fields = append(fields, page.HiddenField{Name: pairs[i], Value: pairs[i+1]})
	}
	return fields
}

// maxListed is how many entries of a list a page has.
const maxListed = 100

// from is the number of the first entry of a list that the request wants to see.
func (v *visit) from() int {
	n, err := strconv.Atoi(queryOf(v.r.URL, "from"))
	if err != nil || n < 0 || n > 1_000_000 {
		return 0
	}
	return n
}

// pageLinksOf are the links from one part of a list to the next, and to the first.
func (v *visit) pageLinksOf(more bool) (links []page.Link) {
	if more {
		links = append(links, v.link(v.route.name, "next_page", "from", strconv.Itoa(v.from()+maxListed)))
	}
	if v.from() > 0 {
		links = append(links, v.link(v.route.name, "first_page"))
	}
	return links
}

// initials stand in for a picture: the first letter of a name.
func initials(name string) string {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
	if r == utf8.RuneError {
		return ""
	}
	return strings.ToUpper(string(r))
}

// showData leads to what a user does with all of the account.
func (v *visit) showData() (*view, error) {
	p := v.newPage("data", "")
	g := page.Group{}
	for _, name := range []string{"export", "delete"} {
		if v.shows(name) {
			g.Rows = append(g.Rows, page.Row{
				Title: page.Line{Before: v.word(name)}, URL: v.pageURL(name), Icon: map[string]string{"export": "data", "delete": "delete"}[name],
				Lines: page.Plain(v.word(name + "_hint")),
			})
		}
	}
	p.Groups = []page.Group{g}
	return &view{page: p}, nil
}

// redirect sends the browser to another page.
func (v *visit) redirect(to string) {
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
}
