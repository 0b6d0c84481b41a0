package account_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
)

const (
	profilePage = "/auth/account/profile"
	atAcme      = "https://pictures.acme.example/ada.png"
)

// pictured is a site with a provider whose profile has a picture. Ada has linked an account there.
func pictured(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) (*site, *authtest.IdentityProvider, *pintle.User) {
	t.Helper()
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	server := httptest.NewServer(idp)
	t.Cleanup(server.Close)
	idp.Issuer = server.URL
	idp.SignInAs(authtest.Person{Subject: "ada", Email: ada, Picture: atAcme})
	s := newSite(t, tokens, append(changes, func(c *pintle.Config, _ *account.Options) {
		c.Providers, c.HTTPClient = append(c.Providers, idp.OIDC("acme")), server.Client()
	})...)
	u := s.seed(ada, goodPassword, true)
	s.done(s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"}))
	return s, idp, u
}

func (b *browser) byAcme() *browser {
	b.t.Helper()
	return b.get("/auth/signin").post("/auth/signin/acme")
}

// pictures are those that the page of a user offers, by their ids.
func (b *browser) pictures() map[string]string {
	b.t.Helper()
	found := map[string]string{}
	for _, p := range b.getJSON(profilePage)["pictures"].([]any) {
		p := p.(map[string]any)
		found[p["id"].(string)] = fmt.Sprint(p["provider"], " ", p["image"])
	}
	return found
}

// onePicture is the id of the only one.
func (b *browser) onePicture(want string) (id string) {
	b.t.Helper()
	all := b.pictures()
	for id = range all {
	}
	if len(all) != 1 || all[id] != want {
		b.t.Fatalf("the page offers %v, want %q", all, want)
	}
	return id
}

// AC-88, AC-89: a form names the picture by its id, and the session shows it.
func TestAUserChoosesThePictureOfALinkedAccount(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, idp, _ := pictured(t, tokens)
		if got := s.browser().signIn(ada, goodPassword).pictures(); len(got) != 0 {
			t.Errorf("before a sign-in with the provider the page offers %v", got)
		}
		b := s.browser().byAcme().isSignedInAs(ada)
		b.get(profilePage).says("Pictures of linked accounts").says(`src="` + atAcme + `"`).says("Use this picture")
		if csp := b.header.Get("Content-Security-Policy"); !strings.Contains(csp, "https://pictures.acme.example") {
			t.Errorf("the policy is %q", csp)
		}
		id := b.onePicture("acme " + atAcme)
		b.get(profilePage).post(profilePage, "image", id).isAt(profilePage).says("Your changes are saved")
		if got := s.user(ada).Image; got != atAcme {
			t.Errorf("the picture is %q", got)
		}
		if strings.Contains(b.page, "Use this picture") {
			t.Error("the page offers the picture that the user has")
		}
		if shown := b.getJSON("/auth/session")["user"].(map[string]any)["image"]; shown != atAcme {
			t.Errorf("the session has the picture %v", shown)
		}

		// The address is that of the last sign-in, and the choice is the user's.
		idp.SignInAs(authtest.Person{Subject: "ada", Email: ada, Picture: atAcme + "?2"})
		b = s.browser().byAcme().isSignedInAs(ada)
		b.onePicture("acme " + atAcme + "?2")
		if got := s.user(ada).Image; got != atAcme {
			t.Errorf("a sign-in has changed the picture to %q", got)
		}
		idp.SignInAs(authtest.Person{Subject: "ada", Email: ada})
		if got := s.browser().byAcme().isSignedInAs(ada).pictures(); len(got) != 0 {
			t.Errorf("the provider has no picture any more, and the page offers %v", got)
		}
	})
}

// AT-171, AC-88: the address in the form, a picture of another user, and one of an account that is no
// longer linked are no choice.
func TestAFormChoosesNoOtherPictureThanOneOfALinkedAccount(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, u := pictured(t, tokens)
		id := s.browser().byAcme().isSignedInAs(ada).onePicture("acme " + atAcme)
		bob := s.seed("bob@example.com", goodPassword, true)
		refused := func(b *browser, image string) {
			t.Helper()
			b.get(profilePage).post(profilePage, "image", image).want(http.StatusUnprocessableEntity)
		}
		refused(s.fresh(bob), id)
		b := s.fresh(u)
		refused(b, atAcme)
		refused(b, "")
		b.postWithout(t, profilePage, "image", id)
		s.done(s.store.UnlinkAccount(t.Context(), u.ID, "acme", "ada", nil)) // by the application, or by another process
		if got := b.pictures(); len(got) != 0 {
			t.Errorf("the page offers %v of an account that is not linked", got)
		}
		refused(b, id)
		for _, user := range []string{ada, "bob@example.com"} {
			if got := s.user(user).Image; got != "" {
				t.Errorf("%s has the picture %q", user, got)
			}
		}
	})
}

// postWithout posts a form without its token.
func (b *browser) postWithout(t *testing.T, path string, pairs ...string) {
	t.Helper()
	copied := *b
	copied.postQuietly(path, "none", pairs...)
	if copied.status != http.StatusForbidden {
		t.Errorf("a form without a token is answered with %d", copied.status)
	}
}

// pictureRows counts the pictures in the store.
func (s *site) pictureRows(u *pintle.User) (n int) {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), u.ID)
	s.done(err)
	for _, row := range rows {
		if row.Kind == "picture" {
			n++
		}
	}
	return n
}

// AT-171: browsers would load other addresses without encryption, or the session would not fit into its cookie.
func TestOnlyHTTPSAddressesOfPicturesAreKept(t *testing.T) {
	s, idp, u := pictured(t, false)
	for _, link := range []string{
		"http://pictures.acme.example/ada.png", "data:image/png;base64,AAAA", "javascript:alert(1)", "/picture", "//pictures.acme.example/ada.png",
		"https://pictures.acme.example/" + strings.Repeat("a", 2048), "https://pictures.acme.example/\nx",
	} {
		idp.SignInAs(authtest.Person{Subject: "ada", Email: ada, Picture: link})
		s.browser().byAcme().isSignedInAs(ada)
		if n := s.pictureRows(u); n != 0 {
			t.Errorf("%.60q is kept", link)
		}
	}
}

// AC-88: a sign-in that waits for a second factor reports the picture, too.
func TestThePictureOfAUserWithASecondFactorIsKept(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, u := pictured(t, tokens)
		code := s.app(u)
		b := s.browser().byAcme().isAt(secondFactor)
		b.post(secondFactor, "code", code()).isSignedInAs(ada).onePicture("acme " + atAcme)
	})
}

// AC-92, AC-93: the picture is in the export, and goes with the link.
func TestThePictureOfALinkedAccountGoesWithTheLink(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, u := pictured(t, tokens)
		s.browser().byAcme().isSignedInAs(ada)
		b := s.fresh(u).exports()
		if !strings.Contains(b.page, atAcme) {
			t.Error("the export does not have the picture")
		}
		s.fresh(u).get("/auth/account/accounts").post("/auth/account/unlink", "provider", "acme", "id", "ada").want(http.StatusOK)
		if n := s.pictureRows(u); n != 0 {
			t.Errorf("after the account was unlinked there are %d pictures", n)
		}
	})
}

// AT-171: a user who links many accounts does not fill the store.
func TestTenPicturesOfAUserAreKept(t *testing.T) {
	s, idp, u := pictured(t, false)
	for i := range 12 {
		subject := fmt.Sprint("ada-", i)
		s.done(s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: subject}))
		idp.SignInAs(authtest.Person{Subject: subject, Email: ada, Picture: fmt.Sprint(atAcme, "?", i)})
		s.browser().byAcme().isSignedInAs(ada)
	}
	if n := s.pictureRows(u); n != 10 {
		t.Errorf("%d pictures are kept", n)
	}
	for _, kept := range s.fresh(u).pictures() {
		if strings.HasSuffix(kept, "?0") || strings.HasSuffix(kept, "?1") {
			t.Errorf("an older picture is kept: %s", kept)
		}
	}
}
