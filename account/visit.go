package account

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/body"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// A visit is one request and its answer.
type visit struct {
	*Accounts
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context
	route *route

	// json reports that a script asks.
	json  bool
	csrf  string
	texts pages.Texts
	pages *page.Pages

	// form has what was sent, the first value of each name.
	form map[string]string

	session *pintle.Session // of routes that need one
	stored  *pintle.User    // its user, once read

	// acting is the session in which an operator acts as a user, or nil.
	acting *pintle.Session

	// unconfirmed reports that the session cannot be used before its user confirms it.
	unconfirmed bool

	// lacks is what the session of a route that takes the password does not prove. Only what
	// the form proves by the password may then be done.
	lacks *StepUpError

	// began is when the request came, before its session was read, and chosen the hash of
	// the password that it has stored.
	began  time.Time
	chosen string

	// about is the id of the user of a form without a session, and aboutAddress the address
	// of its flow, for the record of an attempt that fails.
	about, aboutAddress string

	// problem is what the page reports, status the status of the answer if it is not
	// that of the page.
	problem *problem
	status  int
}

// visit reads a request. The visit it returns can always answer.
func (a *Accounts) visit(w http.ResponseWriter, r *http.Request) (*visit, error) {
	v := &visit{Accounts: a, w: w, r: r, ctx: r.Context(), texts: a.auth.Texts(r), began: time.Now()}
	v.pages = a.site.pages[v.texts.Lang]
	v.json = wantsJSON(r)
	var err error
	if v.csrf, err = a.auth.CSRFToken(w, r); err != nil {
		return v, unavailable(err)
	}
	if r.Method == http.MethodPost {
		if v.form, err = readForm(r); err != nil {
			return v, err
		}
	}
	return v, nil
}

// visitOf is the visit of a request that another route answers, for a mail.
func (a *Accounts) visitOf(r *http.Request) *visit {
	v := &visit{Accounts: a, r: r, ctx: r.Context(), texts: a.auth.Texts(r)}
	v.pages = a.site.pages[v.texts.Lang]
	return v
}

// seeThrough lets a change and its notice go on if the client closes the connection. A thief
// could otherwise stop the request between the two.
func (v *visit) seeThrough() { v.ctx = context.WithoutCancel(v.ctx) }

// wantsJSON reports whether a script sent the request.
func wantsJSON(r *http.Request) bool {
	if r.Header["X-Auth-Return-Redirect"] != nil || isJSON(r) {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

func isJSON(r *http.Request) bool {
	return mediaType(r.Header.Get("Content-Type")) == "application/json"
}

func mediaType(field string) string {
	kind, _, _ := mime.ParseMediaType(field)
	return kind
}

// readForm reads the fields of a form, or the members of a JSON object that are text,
// numbers or truth values. The body is bounded by the root, which rejects a multipart form
// for a route without upload.
func readForm(r *http.Request) (map[string]string, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, problemOf("invalid")
	}
	if kind := r.Header.Get("Content-Type"); mediaType(kind) == "multipart/form-data" {
		form, err := body.Multipart(kind, sent)
		if err != nil {
			return nil, problemOf("invalid")
		}
		return form, nil
	}
	form := map[string]string{}
	if isJSON(r) {
		var members map[string]any
		if json.Unmarshal(sent, &members) != nil {
			return nil, problemOf("invalid")
		}
		for name, value := range members {
			switch value := value.(type) {
			case string:
				form[name] = value
			case bool:
				if value {
					form[name] = "1"
				}
			case float64:
				text, _ := json.Marshal(value)
				form[name] = string(text)
			}
		}
		return form, nil
	}
	values, err := url.ParseQuery(string(sent))
	if err != nil {
		return nil, problemOf("invalid")
	}
	for name, all := range values {
		form[name] = all[0]
	}
	return form, nil
}

// submitted returns the request for a callback of the application. Its fields are in
// PostForm, also those of a JSON object: its body has been read.
func (v *visit) submitted() *http.Request {
	r := v.r.Clone(v.ctx)
	r.PostForm = url.Values{}
	for name, value := range v.form {
		r.PostForm.Set(name, value)
	}
	r.Form = r.URL.Query()
	maps.Copy(r.Form, r.PostForm)
	return r
}

// callbackURL returns where the request wants to go in the end, if that is on this
// site, and else "".
func (v *visit) callbackURL() string {
	wanted := v.form["callbackUrl"]
	if wanted == "" {
		wanted = v.r.URL.Query().Get("callbackUrl")
	}
	return v.onSite(wanted)
}

// account texts, by the names of the pages and words.
func (v *visit) pageText(name string) pages.PageText { return v.texts.Account.Pages[name] }

func (v *visit) word(name string) string { return v.texts.Account.Words[name] }

// configured is a word of the configuration, such as the name of a provider, in the language
// of the pages.
func (v *visit) configured(word string) string { return cmp.Or(v.texts.Words[word], word) }
