package account_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

const (
	finishPage    = "/auth/account/sign-up-finish"
	signUpOptions = "/auth/account/sign-up-options"
)

// keyID is the id of the passkey that an authenticator makes.
var keyID = base64.StdEncoding.EncodeToString([]byte("a new passkey"))

// proves begins a sign-up, and types the code of the mail.
func (b *browser) proves(email string, pairs ...string) *browser {
	b.t.Helper()
	b.get("/auth/account/sign-up").post("/auth/account/sign-up", append([]string{"email", email}, pairs...)...)
	return b.post("/auth/account/sign-up-sent", "code", b.code()).isAt(finishPage).want(http.StatusOK)
}

// newKey is the answer of an authenticator that makes a passkey, and the options.
func (b *browser) newKey() (data string, options map[string]any) {
	b.t.Helper()
	page, at := b.page, b.at
	answer := b.get(signUpOptions).want(http.StatusOK).json()
	options, _ = answer["options"].(map[string]any)
	if answer["action"] != "register" || options == nil {
		b.t.Fatalf("the options are %v", answer)
	}
	b.page, b.at = page, at
	text, err := json.Marshal(map[string]any{"id": keyID, "challenge": options["challenge"]})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text), options
}

// registers posts what the script of the page does.
func (b *browser) registers(data string, pairs ...string) *browser {
	b.t.Helper()
	return b.post(finishPage, append([]string{"action", "register", "data", data}, pairs...)...)
}

// hasPasskeys checks how many passkeys a user has, and that there is no password.
func (s *site) hasPasskeys(u *pintle.User, want int) {
	s.t.Helper()
	keys, err := s.store.UserPasskeys(s.t.Context(), u.ID)
	if err != nil || len(keys) != want {
		s.t.Errorf("%s has %d passkeys, want %d: %v", u.Email, len(keys), want, err)
	}
	if rows, err := s.rows.Factors(s.t.Context(), u.ID); err != nil || len(rows) != 0 {
		s.t.Errorf("%s has the factors %v, %v", u.Email, rows, err)
	}
}

// AC-56
func TestANewUserCreatesAPasskeyInPlaceOfAPassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var created, signedIn []string
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}), func(c *pintle.Config, o *account.Options) {
			o.SignUp.Fields = []pintle.Field{{Name: "name", Label: "Name"}}
			c.Events.CreateUser = func(_ context.Context, u *pintle.User) error {
				created = append(created, u.Email)
				return nil
			}
			c.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				signedIn = append(signedIn, a.User.Name+" by "+a.Account.Provider)
				return "", nil
			}
		})
		b := s.browser().proves("ada@example.com", "name", "Ada", "callbackUrl", "/welcome")
		for _, want := range []string{
			`name="password"`, "Create a passkey instead", `data-passkey-options="` + signUpOptions + `"`, "<noscript>", "<script>",
		} {
			b.says(want)
		}
		data, options := b.newKey()
		if options["required"] != true || options["email"] != "ada@example.com" || options["name"] != "Ada" {
			t.Errorf("the options are %v", options)
		}
		b.registers(data).isAt("/welcome").isSignedInAs("ada@example.com")
		u := s.user("ada@example.com")
		if u == nil || u.EmailVerified.IsZero() || u.Name != "Ada" {
			t.Fatalf("the user is %+v", u)
		}
		s.hasPasskeys(u, 1)
		if !slices.Equal(created, []string{"ada@example.com"}) || !slices.Equal(signedIn, []string{"Ada by passkey"}) {
			t.Errorf("CreateUser was called for %q, and Callbacks.SignIn for %q", created, signedIn)
		}
		b.registers(data).want(http.StatusForbidden)
		s.hasPasskeys(u, 1)

		again := s.browser().get("/auth/signin")
		signIn, _ := again.answer(keyID, "/auth/webauthn-options/passkey?action=authenticate")
		again.post("/auth/callback/passkey", "action", "authenticate", "data", signIn).isSignedInAs("ada@example.com")
		session := again.script(http.MethodGet, "/auth/account/me", "").json()["session"].(map[string]any)
		if session["acr"] != account.PhishingResistant.String() {
			t.Errorf("the session is %v", session)
		}
		// A lost passkey: the mailbox is proven, so the user can choose a password.
		lost := s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com")
		lost.get(s.wantMail("ada@example.com", "password").URL).isAt("/auth/account/reset").want(http.StatusOK)
	})
}

// AC-56: the link of the mail in another browser, with the fields of the application there.
func TestALinkInAnotherBrowserOffersAPasskey(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{verifies: true}), func(_ *pintle.Config, o *account.Options) {
		o.SignUp.Fields = []pintle.Field{{Name: "name", Label: "Name", Attributes: map[string]string{"required": ""}}}
	})
	s.browser().get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com", "name", "Eve", "callbackUrl", "/eve")
	b := s.browser().get(s.lastMail().URL).isAt(finishPage)
	if n := strings.Count(b.text(), `name="name"`); n != 2 {
		t.Errorf("%d forms ask for the name, want that of the password and that of the passkey", n)
	}
	data, options := b.newKey()
	if options["name"] != "" {
		t.Errorf("the authenticator shows the name %q, which was typed in another browser", options["name"])
	}
	b.registers(data).want(http.StatusUnprocessableEntity)
	if s.user("ada@example.com") != nil {
		t.Fatal("a user was made without the required field")
	}
	data, _ = b.newKey()
	b.registers(data, "name", "Ada").isAt("/").isSignedInAs("ada@example.com")
	if u := s.user("ada@example.com"); u.Name != "Ada" {
		t.Errorf("the name is %q", u.Name)
	}
}

// AC-56
func TestOptionsOfANewPasskeyComeAfterTheProof(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{verifies: true}))
	s.browser().get(signUpOptions).want(http.StatusForbidden)
	b := s.browser().get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com")
	b.get(signUpOptions).want(http.StatusForbidden)
	b.post(finishPage, "action", "register", "data", "{}").want(http.StatusForbidden)

	// Another sign-up of the address has made the user meanwhile.
	b.post("/auth/account/sign-up-sent", "code", s.code()).isAt(finishPage)
	data, _ := b.newKey()
	ada := s.seed("ada@example.com", goodPassword, true)
	b.get(signUpOptions).want(http.StatusUnprocessableEntity)
	b.registers(data).want(http.StatusConflict)
	if keys, err := s.store.UserPasskeys(t.Context(), ada.ID); err != nil || len(keys) != 0 {
		t.Errorf("the user has %d passkeys, %v", len(keys), err)
	}
	b.isSignedInAs("")

	// A user whom an operator has made is given a password, and no passkey.
	s.seed("made@example.com", "", false)
	made := s.browser().proves("made@example.com")
	if strings.Contains(made.text(), "passkey") {
		t.Errorf("the page offers a passkey: %s", made.text())
	}
	made.get(signUpOptions).want(http.StatusUnprocessableEntity)
	made.registers(data).want(http.StatusUnprocessableEntity)

	// Without a provider of passkeys the page offers no passkey.
	without := newSite(t, false).browser().proves("ada@example.com")
	if strings.Contains(without.text(), "passkey") {
		t.Errorf("the page offers a passkey: %s", without.text())
	}
	without.get(signUpOptions).want(http.StatusUnprocessableEntity)
	without.registers(data).want(http.StatusUnprocessableEntity)
}

// AC-56: the answer to another sign-up, of the same address or another one, and to other
// ceremonies.
func TestAForeignAnswerOfAPasskeyMakesNoUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
		b := s.browser().proves("ada@example.com")
		same, _ := b.newKey()
		b.proves("ada@example.com").registers(same).want(http.StatusUnprocessableEntity).says("The passkey was not accepted.")
		other, _ := b.proves("eve@example.com").newKey()
		b.proves("ada@example.com").registers(other).want(http.StatusUnprocessableEntity)
		elsewhere, _ := s.browser().proves("ada@example.com").newKey()
		b.proves("ada@example.com").registers(elsewhere).want(http.StatusUnprocessableEntity)
		signIn, _ := b.answer(keyID, "/auth/webauthn-options/passkey?action=authenticate")
		b.registers(signIn).want(http.StatusUnprocessableEntity)
		for _, data := range []string{"", "{}", "null", `{"id":"` + keyID + `"}`} {
			b.registers(data).want(http.StatusUnprocessableEntity)
		}
		if s.user("ada@example.com") != nil || s.user("eve@example.com") != nil {
			t.Fatal("a user was made")
		}
		b.isSignedInAs("")
		// An answer to a sign-up registers nothing elsewhere.
		data, _ := b.newKey()
		bob := s.seed("bob@example.com", goodPassword, true)
		b.signIn("bob@example.com", goodPassword).post("/auth/callback/passkey", "action", "register", "data", data)
		if keys, err := s.store.UserPasskeys(t.Context(), bob.ID); err != nil || len(keys) != 0 || s.user("ada@example.com") != nil {
			t.Errorf("the answer registers %d passkeys for another user, %v", len(keys), err)
		}
	})
}

// AC-56
func TestASignUpGoesOnAfterAPasskeyThatFailed(t *testing.T) {
	key := &echo{}
	s := newSite(t, false, withPasskeys(key))
	b := s.browser().proves("ada@example.com")
	data, _ := b.newKey()
	b.registers(data).want(http.StatusUnprocessableEntity).says("The passkey was not accepted.") // its user was not verified
	if s.user("ada@example.com") != nil {
		t.Fatal("a user was made")
	}
	key.verifies = true
	data, _ = b.newKey()
	b.registers(data).isSignedInAs("ada@example.com")

	key.verifies = false
	b = s.browser().proves("bob@example.com")
	data, _ = b.newKey()
	b.registers(data).want(http.StatusUnprocessableEntity)
	b.post(finishPage, "password", goodPassword).isSignedInAs("bob@example.com")
}

// AC-56: a host that refuses a sign-up, or sends it to a page first.
func TestAnApplicationDecidesAboutASignUpWithAPasskey(t *testing.T) {
	goTo, refuses := "", errors.New("not now")
	s := newSite(t, false, withPasskeys(&echo{verifies: true}), func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return goTo, refuses }
	})
	b := s.browser().proves("ada@example.com")
	data, _ := b.newKey()
	b.registers(data).want(http.StatusForbidden)
	goTo, refuses = "/terms", nil
	data, _ = b.get(finishPage).newKey()
	b.registers(data).isAt("/terms").isSignedInAs("")
	if s.user("ada@example.com") != nil {
		t.Fatal("a user was made")
	}
	goTo = ""
	data, _ = b.get(finishPage).want(http.StatusOK).newKey()
	b.registers(data).isSignedInAs("ada@example.com")
}

// AC-56, AT-10: the browser of another user makes a new one.
func TestAPasskeyOfASignUpIsNotLinkedToTheSignedInUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
		bob := s.seed("bob@example.com", goodPassword, true)
		b := s.browser().signIn("bob@example.com", goodPassword).isSignedInAs("bob@example.com").proves("ada@example.com")
		data, _ := b.newKey()
		b.registers(data).isSignedInAs("ada@example.com")
		s.hasPasskeys(s.user("ada@example.com"), 1)
		if keys, err := s.store.UserPasskeys(t.Context(), bob.ID); err != nil || len(keys) != 0 {
			t.Errorf("bob has %d passkeys, %v", len(keys), err)
		}
	})
}

// AC-56, AT-3
func TestOneOfManyRequestsFinishesASignUpWithAPasskey(t *testing.T) {
	var mu sync.Mutex
	created := 0
	s := newSite(t, false, withPasskeys(&echo{verifies: true}), func(c *pintle.Config, _ *account.Options) {
		c.Events.CreateUser = func(context.Context, *pintle.User) error {
			mu.Lock()
			defer mu.Unlock()
			created++
			return nil
		}
	})
	b := s.browser().proves("ada@example.com")
	token := b.token()
	data, _ := b.newKey()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			other := *b
			if i%2 == 0 {
				other.postQuietly(finishPage, token, "password", goodPassword)
			} else {
				other.postQuietly(finishPage, token, "action", "register", "data", data)
			}
		})
	}
	all.Wait()
	if u := s.user("ada@example.com"); u == nil || created != 1 {
		t.Errorf("%d users were made: %+v", created, u)
	}
}

// usedUp is a store in which another request uses up every flow first.
type usedUp struct{ pintle.Store }

func (s usedUp) AccountStore() accountstore.Store { return usedUpRows{s.Store.AccountStore()} }

type usedUpRows struct{ accountstore.Store }

func (usedUpRows) UseFlow(context.Context, accountstore.Hash, string) (*accountstore.Flow, error) {
	return nil, pintle.ErrNotFound
}

// AC-56, AC-4: the flow is used up before the user is made.
func TestASignUpThatAnotherRequestFinishedMakesNoUserWithAPasskey(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{verifies: true}), func(c *pintle.Config, _ *account.Options) { c.Store = usedUp{c.Store} })
	b := s.browser().proves("ada@example.com")
	data, _ := b.newKey()
	b.registers(data).want(http.StatusGone).isSignedInAs("")
	if s.user("ada@example.com") != nil {
		t.Error("a user was made")
	}
}

// AC-56, AC-55: another sign-up of the address is faster by a moment.
func TestAnAddressThatIsTakenDuringTheCeremony(t *testing.T) {
	var s *site
	s = newSite(t, false, withPasskeys(&echo{verifies: true}), func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			s.seed(a.User.Email, goodPassword, true)
			return "", nil
		}
	})
	b := s.browser().proves("ada@example.com")
	data, _ := b.newKey()
	b.registers(data).want(http.StatusConflict).isSignedInAs("")
	if keys, err := s.store.UserPasskeys(t.Context(), s.user("ada@example.com").ID); err != nil || len(keys) != 0 {
		t.Errorf("the user has %d passkeys, %v", len(keys), err)
	}
}

// AC-56, AC-22: a flow that goes on after a failed passkey grants no further guesses at its code.
func TestTheCodeOfASignUpEndsWithAPasskeyThatFailed(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}))
	first := s.browser().get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com")
	code := s.code()
	second := s.browser().get(s.lastMail().URL).isAt(finishPage)
	data, _ := second.newKey()
	second.registers(data).want(http.StatusUnprocessableEntity)
	first.post("/auth/account/sign-up-sent", "code", code).want(http.StatusUnprocessableEntity)
	second.post(finishPage, "password", goodPassword).isSignedInAs("ada@example.com")
}
