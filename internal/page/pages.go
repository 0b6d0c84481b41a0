package page

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

// Pages renders pages in one theme and one language. It may be used by several
// goroutines at once.
type Pages struct {
	theme theme
	texts Texts
}

// New checks theme and texts and returns the pages that use them. The zero
// value of both gives the default look in English.
func New(t Theme, texts Texts) (*Pages, error) {
	resolved, err := t.resolve()
	if err != nil {
		return nil, err
	}
	texts = texts.complete()
	texts.Site = cmp.Or(texts.Site, t.SiteName)
	if err := texts.check(); err != nil {
		return nil, err
	}
	return &Pages{theme: resolved, texts: texts}, nil
}

// Lang is the language of the pages.
func (p *Pages) Lang() string { return p.texts.Lang }

// Site is what every page knows of the site it stands on.
type Site struct {
	// Origin is the scheme and host of the site, "https://app.example". Empty
	// leaves out what names the site or links to it.
	Origin string
	// SignInURL is the sign-in page, "https://app.example/auth/signin". Links
	// to it are left out where it is empty.
	SignInURL string
	// Acting is the banner while an operator acts as a user, or nil.
	Acting *Acting
}

// name returns what the pages call a site.
func (p *Pages) name(s Site) string { return cmp.Or(p.texts.Site, s.host()) }

// host returns the host of the site, with its port.
func (s Site) host() string {
	_, host, found := strings.Cut(s.Origin, "://")
	if !found {
		return s.Origin
	}
	return host
}

// A Page is a complete answer to a request.
type Page struct {
	Status int
	Header http.Header
	Body   []byte
}

//go:embed html/*.html
var html embed.FS

var (
	signInTemplate        = parse("signin.html")
	signOutTemplate       = parse("signout.html")
	noticeTemplate        = parse("notice.html")
	verifyRequestTemplate = parse("verifyrequest.html")
	confirmLinkTemplate   = parse("confirmlink.html")
	nativeTemplate        = parse("native.html")
	continueTemplate      = parse("continue.html")
	addressTakenTemplate  = parse("addresstaken.html")
	replaceTemplate       = parse("replace.html")
	formTemplate          = parse("form.html")
	settingsTemplate      = parse("form.html", "html/settings.html")
)

// parse returns a function that parses a template at its first call. Most programs show a
// few of the pages, and one that has its own shows none: all of them parsed take
// 600 kB, which each garbage collection would scan.
func parse(name string, further ...string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.ParseFS(html, append([]string{"html/frame.html", "html/" + name}, further...)...))
	})
}

// frame is what the frame around every page shows. Page views embed it.
type frame struct {
	T      *Texts
	Site   Site
	Name   string // of the site
	Root   string
	Title  string
	Theme  theme
	Styles []template.CSS
	Script template.JS
	Acting *actingView
}

// frame returns the frame of a page, which may need a further style sheet.
func (p *Pages) frame(site Site, root, heading string, own ...template.CSS) frame {
	title, name := heading, p.name(site)
	if name != "" {
		title += " · " + name
	}
	if site.Acting != nil {
		own = append(own, actingSheet)
	}
	return frame{
		T:      &p.texts,
		Site:   site,
		Name:   name,
		Root:   root,
		Title:  title,
		Theme:  p.theme,
		Styles: p.theme.styles(own...),
		Acting: p.acting(site.Acting),
	}
}

// BackTo is the label of the link to the site.
func (f frame) BackTo() string { return fill(f.T.BackTo, f.Name) }

// render executes t with a view that embeds f.
func render(t func() *template.Template, status int, view any, policy policy) Page {
	return renderAs("frame", t, status, view, policy)
}

// renderAs is render with another frame.
func renderAs(frame string, t func() *template.Template, status int, view any, policy policy) Page {
	var body bytes.Buffer
	if err := t().ExecuteTemplate(&body, frame, view); err != nil {
		// Unreachable: the templates are part of the program, every view is
		// rendered by the tests, and a buffer takes all that is written.
		panic("page: " + err.Error())
	}
	return Page{Status: status, Header: policy.header(), Body: body.Bytes()}
}
