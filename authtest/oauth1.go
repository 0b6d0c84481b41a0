package authtest

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// serveOAuth1RequestToken issues temporary credentials.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-2.1
func (p *IdentityProvider) serveOAuth1RequestToken(w http.ResponseWriter, x *exchange) {
	signed, err := p.verifyOAuth1(x, nil)
	if err != nil {
		refuseOAuth1(w, err)
		return
	}
	callback := signed.params.Get("oauth_callback")
	if !mayReturnTo(callback, signed.client.RedirectURIs, false) {
		http.Error(w, "the oauth_callback is not one of the redirect URIs registered for the client", http.StatusForbidden)
		return
	}
	t := &oauth1Token{consumer: signed.client.ID, callback: callback}
	name := p.putOAuth1(p.oauth1.temporary, t, 10*time.Minute)
	sendOAuth1(w, x, url.Values{
		"oauth_token": {name}, "oauth_token_secret": {t.secret}, "oauth_callback_confirmed": {"true"},
	}, oauth1TemporaryChanges)
}

// serveOAuth1Authorization shows the consent page, or redirects at once.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-2.2
func (p *IdentityProvider) serveOAuth1Authorization(w http.ResponseWriter, x *exchange) {
	name := x.form.Get("oauth_token")
	t, ok := p.getOAuth1(p.oauth1.temporary, name)
	if !ok || t.verifier != "" {
		p.showProblem(w, "This oauth_token is unknown, has been used, or is older than ten minutes.")
		return
	}
	if !p.opts.AutoConsent {
		p.showConsent(w, p.oauth1Consent(x, name, t))
		return
	}
	who, ok := p.automatic(x.form.Get("login_hint"))
	if !ok {
		p.denyOAuth1(w, x, name, t)
		return
	}
	p.allowOAuth1(w, x, name, who)
}

func (p *IdentityProvider) oauth1Consent(x *exchange, name string, t oauth1Token) *consent {
	client, _, _ := p.lookUp(t.consumer)
	return &consent{
		Application: client.title(),
		Action:      x.url(OAuth1ConsentEndpoint) + "?" + url.Values{"oauth_token": {name}}.Encode(),
		Else:        someoneElse{Verified: true},
		formTarget:  originOf(t.callback),
		status:      http.StatusOK,
	}
}

// serveOAuth1Consent handles the form of the consent page.
func (p *IdentityProvider) serveOAuth1Consent(w http.ResponseWriter, x *exchange) {
	if !p.sameOrigin(w, x) {
		return
	}
	name := x.r.URL.Query().Get("oauth_token")
	t, ok := p.getOAuth1(p.oauth1.temporary, name)
	if !ok || t.verifier != "" {
		p.showProblem(w, "This oauth_token is unknown, has been used, or is older than ten minutes.")
		return
	}
	switch who, choice := p.chosen(x.r.PostForm); choice {
	case choseDenial:
		p.denyOAuth1(w, x, name, t)
	case choseWrongly:
		page := p.oauth1Consent(x, name, t)
		page.retry(x.r.PostForm)
		p.showConsent(w, page)
	default:
		p.allowOAuth1(w, x, name, who)
	}
}

// denyOAuth1 redirects the browser back as the microblogging services do; the
// standard does not define how to report a denial.
func (p *IdentityProvider) denyOAuth1(w http.ResponseWriter, x *exchange, name string, t oauth1Token) {
	p.mu.Lock()
	delete(p.oauth1.temporary, name)
	p.mu.Unlock()
	sendBack(w, x, t.callback, url.Values{"denied": {name}})
}

func (p *IdentityProvider) allowOAuth1(w http.ResponseWriter, x *exchange, name string, who Person) {
	callback, verifier, ok := p.verifyTemporary(name, who)
	if !ok {
		p.showProblem(w, "This oauth_token has been used.")
		return
	}
	answer := url.Values{"oauth_token": {name}, "oauth_verifier": {verifier}}
	spoil(x.faults, oauth1ResponseChanges, answer)
	if x.tamper.Response != nil {
		x.tamper.Response(answer)
	}
	sendBack(w, x, callback, answer)
}

// serveOAuth1AccessToken exchanges temporary credentials, once.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-2.3
func (p *IdentityProvider) serveOAuth1AccessToken(w http.ResponseWriter, x *exchange) {
	signed, err := p.verifyOAuth1(x, p.oauth1.temporary)
	if err != nil {
		refuseOAuth1(w, err)
		return
	}
	t, ok := p.takeTemporary(signed.params.Get("oauth_token"), signed.params.Get("oauth_verifier"))
	if !ok {
		refuseOAuth1(w, errors.New("the oauth_verifier is wrong, or the oauth_token has been used"))
		return
	}
	access := &oauth1Token{consumer: t.consumer, person: t.person}
	name := p.putOAuth1(p.oauth1.access, access, p.opts.TokenLifetime)
	sendOAuth1(w, x, url.Values{
		"oauth_token": {name}, "oauth_token_secret": {access.secret},
		"user_id": {strconv.FormatInt(t.person.Number(), 10)}, "screen_name": {t.person.Login},
	}, oauth1AccessChanges)
}

// serveOAuth1Account answers a signed request with the account.
func (p *IdentityProvider) serveOAuth1Account(w http.ResponseWriter, x *exchange) {
	signed, err := p.verifyOAuth1(x, p.oauth1.access)
	if err != nil {
		refuseOAuth1(w, err)
		return
	}
	who := signed.token.person
	spoil(x.faults, personChanges, &who)
	p.sendProfile(w, x, map[string]any{
		"id":                      who.Number(),
		"id_str":                  strconv.FormatInt(who.Number(), 10),
		"name":                    orNull(who.Name),
		"screen_name":             who.Login,
		"email":                   orNull(who.Email),
		"profile_image_url_https": orNull(who.Picture),
	}, who)
}

// sendOAuth1 answers with form-encoded parameters.
func sendOAuth1(w http.ResponseWriter, x *exchange, answer url.Values, changes []change[url.Values]) {
	spoil(x.faults, changes, answer)
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
	w.Write([]byte(answer.Encode()))
}

func refuseOAuth1(w http.ResponseWriter, err error) {
	w.Header().Set("WWW-Authenticate", `OAuth realm="authtest"`)
	http.Error(w, err.Error(), http.StatusUnauthorized)
}
