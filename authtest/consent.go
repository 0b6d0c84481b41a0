package authtest

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"unicode/utf8"
)

// A consent is the page on which the user picks a person to sign in as.
type consent struct {
	page
	Application string
	Shares      string // the data that the application gets, as a phrase
	Action      string
	People      []choice
	Else        someoneElse

	hint       string
	formTarget string
	status     int
}

// A choice is one person on the page.
type choice struct {
	Subject, Name, Detail, Initials string
	Hue                             int
	Hinted                          bool
}

// someoneElse is the form for a person who is not on the page.
type someoneElse struct {
	Name, Email string
	Verified    bool
	Open        bool
	Problem     string
}

// consentOf returns the page for an OAuth 2.0 authorization request.
func consentOf(x *exchange, req *authorizationRequest) *consent {
	return &consent{
		Application: req.client.title(),
		Shares:      shares(req.scopes),
		Action:      x.url(ConsentEndpoint) + "?" + x.form.Encode(),
		Else:        someoneElse{Verified: true},
		hint:        req.loginHint,
		formTarget:  originOf(req.redirectURI),
		status:      http.StatusOK,
	}
}

// retry keeps the input of a form that was rejected.
func (c *consent) retry(answer url.Values) {
	c.status = http.StatusUnprocessableEntity
	c.Else = someoneElse{
		Name:     answer.Get("name"),
		Email:    answer.Get("email"),
		Verified: answer.Has("verified"),
		Open:     true,
		Problem:  "Give a name and one e-mail address, like kim@example.com.",
	}
}

func (p *IdentityProvider) showConsent(w http.ResponseWriter, c *consent) {
	c.page = page{p.opts.Name, "Sign in to " + c.Application}
	hinted := false
	for _, who := range p.opts.People {
		name := who.Name
		if name == "" {
			name = who.Subject
		}
		is := who.answersTo(c.hint)
		hinted = hinted || is
		c.People = append(c.People, choice{
			Subject: who.Subject, Name: name, Detail: who.Email, Initials: who.initials(),
			Hue: int(who.Number() % 6), Hinted: is,
		})
	}
	if c.hint != "" && !hinted && !c.Else.Open {
		c.Else.Open = true
		if validEmail(c.hint) {
			c.Else.Email = c.hint
		}
	}
	p.show(w, c.status, "consent", c, c.formTarget)
}

// shares describes the data of scopes in words.
func shares(scopes []string) string {
	var seen []string
	for _, scope := range scopes {
		switch scope {
		case "openid":
		case "profile":
			seen = append(seen, "your name")
		case "email", "user:email":
			seen = append(seen, "your e-mail address")
		case "offline_access":
			seen = append(seen, "this while you are away")
		default:
			seen = append(seen, scope)
		}
	}
	if len(seen) < 2 {
		return strings.Join(seen, "")
	}
	return strings.Join(seen[:len(seen)-1], ", ") + " and " + seen[len(seen)-1]
}

// sameOrigin stops a page of another site from posting the consent form, which
// would sign its visitor in as a person that the site chooses.
func (p *IdentityProvider) sameOrigin(w http.ResponseWriter, x *exchange) bool {
	if err := http.NewCrossOriginProtection().Check(x.r); err != nil {
		http.Error(w, "the consent form was posted from another site", http.StatusForbidden)
		return false
	}
	return true
}

type decision int

const (
	chosePerson decision = iota
	choseDenial
	choseWrongly
)

// chosen reads the form of the consent page.
func (p *IdentityProvider) chosen(answer url.Values) (Person, decision) {
	switch {
	case answer.Has("deny"):
		return Person{}, choseDenial
	case answer.Has("person"):
		for _, who := range p.opts.People {
			if who.Subject == answer.Get("person") {
				return who, chosePerson
			}
		}
		return Person{}, choseWrongly
	}
	name, email := strings.TrimSpace(answer.Get("name")), strings.TrimSpace(answer.Get("email"))
	if name == "" || utf8.RuneCountInString(name) > 100 || !validEmail(email) {
		return Person{}, choseWrongly
	}
	local, _, _ := strings.Cut(email, "@")
	who := Person{Name: name, Login: local, Email: email, EmailVerified: answer.Has("verified")}
	// The same address is the same person the next time.
	who.Subject = fmt.Sprint(Person{Subject: strings.ToLower(email)}.Number())
	return who, chosePerson
}

// validEmail reports whether s is one plain address.
func validEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= 254
}
