package account_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// withoutAddressChange is an application with the store of another, in which users do not change
// their address.
func withoutAddressChange(s *site) func(*pintle.Config, *account.Options) {
	return func(c *pintle.Config, o *account.Options) { c.Store, o.AddressChange.Off = s.store, true }
}

func TestWithoutAddressChangeNoRouteLeadsToOne(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		off := []string{"address", "address-finish", "address-cancel"}
		pictures := &pictureStore{link: "https://pictures.example/x.png"}
		before := newSite(t, tokens, withAll, pictures.configure)
		s := newSite(t, tokens, withAll, pictures.configure, withoutAddressChange(before))
		u := s.seed(ada, goodPassword, true)
		s.link(u, "github")
		routes, kept := s.accounts.RoutesOf(), s.fingerprint(u)
		for name := range before.accounts.RoutesOf() {
			path, gone := strings.TrimSuffix("/auth/account/"+name, "/"), slices.Contains(off, name)
			if _, is := routes[name]; is == gone {
				t.Errorf("%s: the application has the route: %t", path, is)
			}
			for who, b := range map[string]*browser{"signed out": s.browser(), "a fresh session": s.fresh(u).stay()} {
				if b.get(path); gone && b.status != http.StatusNotFound {
					t.Errorf("GET %s, %s: %d", path, who, b.status)
				}
				for _, link := range linkToAccount.FindAllStringSubmatch(b.page, -1) {
					if slices.Contains(off, link[1]) {
						t.Errorf("GET %s, %s: the page leads to %q", path, who, link[1])
					}
				}
				if !gone {
					continue
				}
				if b.post(path, everyField(u)...); b.status != http.StatusNotFound {
					t.Errorf("POST %s, %s: %d", path, who, b.status)
				}
				if answer := b.postJSON(path, map[string]any{"email": newAddress}); b.status != http.StatusNotFound || answer["error"] != "not_found" {
					t.Errorf("POST of JSON, %s, %s: %d %v", path, who, b.status, answer)
				}
				r := b.request(http.MethodGet, "/", http.NoBody)
				if _, err := s.accounts.Do(httptest.NewRecorder(), r, name, map[string]string{"email": newAddress}); err == nil {
					t.Errorf("Do has the route %q", name)
				}
			}
		}
		if now := s.fingerprint(u); now != kept || len(s.mails) > 0 {
			t.Errorf("the user was\n%s\nand is\n%s, with %d mails", kept, now, len(s.mails))
		}
	})
}

// The profile shows the address, and leads to the proof of one that is not proven.
func TestWithoutAddressChangeTheProfileShowsTheAddress(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.AddressChange.Off = true })
	proven, unproven := s.seed(ada, "", true), s.seed(newAddress, "", false)
	nameless, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "nameless", Name: "Ada"})
	s.done(err)
	for u, want := range map[*pintle.User][2]string{
		proven: {ada, "Your address is confirmed."}, unproven: {`<a href="/auth/account/prove">`, "Your address is not confirmed yet."},
		nameless: {"Profile", ""},
	} {
		b := s.browser().startSession(u, 0, "fed").get("/auth/account/profile").want(http.StatusOK).says(want[0]).says(want[1])
		if strings.Contains(b.page, "Change your address") {
			t.Errorf("the profile of %q offers to change the address", u.Email)
		}
		if rows := strings.Count(b.page, `class="row-title"`); (rows == 0) != (u == nameless) {
			t.Errorf("the profile of %q has %d rows", u.Email, rows)
		}
		if u == proven && strings.Contains(b.page, "/auth/account/prove") {
			t.Error("the profile leads to the proof of an address that is proven")
		}
	}
}

// The application turns changes off. A pending change cannot be finished, and the owner can still
// undo a change that a thief has made before.
func TestWithoutAddressChangeOneOfBeforeIsOnlyUndone(t *testing.T) {
	before := newSite(t, false)
	s := newSite(t, false, withoutAddressChange(before))
	u := before.seed(ada, goodPassword, true)
	at := func(link string) string { return strings.Replace(link, before.server.URL, s.server.URL, 1) }

	held := before.browser().signIn(ada, goodPassword).beginsAddress(newAddress).isAt("/auth/account/address-finish")
	there := held.on(s)
	there.get(at(before.mailOf("address-confirm").URL)).want(http.StatusNotFound)
	there.post("/auth/account/address-finish", "code", before.mailOf("address-confirm").Code).want(http.StatusNotFound)
	if b := there.get("/auth/account").want(http.StatusOK); strings.Contains(b.page, "waits for the code") {
		t.Error("the overview speaks of a change that cannot be finished")
	}
	if me := there.asJSON("/auth/account/me"); !equalJSON(me["pending"], map[string]any{}) {
		t.Errorf("what waits is %v", me["pending"])
	}
	if now := s.user(ada); now == nil || now.ID != u.ID {
		t.Fatal("the address has moved")
	}

	held.get("/auth/account/address-finish").post("/auth/account/address-finish", "code", before.mailOf("address-confirm").Code).says("Your address is changed")
	undo := *before.mailOf("address-changed-undo")
	undo.URL = at(undo.URL)
	if s.undoes(&undo).want(http.StatusOK); s.user(ada) == nil {
		t.Error("the link does not give the address back")
	}
}

func TestAPageForAChangeOfTheAddressThatIsOffIsAnError(t *testing.T) {
	err := withOptions(t, func(o *account.Options) {
		o.AddressChange.Off, o.Pages = true, map[string]string{"address": "/me/address"}
	})
	if err == nil || !strings.Contains(err.Error(), `Options.Pages has "address"`) {
		t.Errorf("New returned %v", err)
	}
}
