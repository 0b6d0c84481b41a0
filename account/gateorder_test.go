package account_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// AC-1: a user of whom everything is asked answers one question after the other.
func TestTheGateAsksInOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, false)
	s.changeState(u.ID, func(state *accountstore.State) {
		state.BannedUntil, state.Must = accountstore.Forever, "password know-address-lost"
	})
	if b := s.browser().signIn(ada, goodPassword).isSignedInAs(""); !strings.Contains(b.at.String(), "AccessDenied") || len(s.mails) > 0 {
		t.Errorf("a banned user is at %s, and %d mails were sent", b.at, len(s.mails))
	}
	s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = time.Time{} })
	b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove").isSignedInAs("")
	b.post("/auth/account/prove", "code", s.code()).isAt(mustChange).isSignedInAs("")
	awayFromTheNextStep()
	code := s.app(u) // the proof would have removed an app from before
	b.signIn(ada, goodPassword).isAt(secondFactor).isSignedInAs("")
	b.post(secondFactor, "code", code()).isAt(mustChange).isSignedInAs("")
	b.post(mustChange, "password", newPassword).isAt("/auth/signin").isSignedInAs("")
	b.signIn(ada, newPassword).isAt(secondFactor).post(secondFactor, "code", code()).isAt("/auth/account/address-lost").isSignedInAs("")
	b.post("/auth/account/address-lost").isAt("/").isSignedInAs(ada)
}

// AT-1, AT-49, AC-1, AC-91, AC-213: the ways in that the application has made, and those of this package.
func TestTheWaysInOfTheApplicationPassTheGate(t *testing.T) {
	ways := map[string]func(s *site, u *pintle.User, b *browser){
		"a form of the application": func(_ *site, u *pintle.User, b *browser) {
			b.get("/auth/signin").post("/auth/callback/own", "name", u.ID)
		},
		"a passkey": func(s *site, u *pintle.User, b *browser) {
			id := s.passkey(u)
			data, _ := b.get("/auth/signin").answer(id, "/auth/webauthn-options/passkey?action=authenticate")
			b.post("/auth/callback/passkey", "action", "authenticate", "data", data)
		},
		"server code": func(s *site, u *pintle.User, b *browser) {
			s.setPassword(u.ID, goodPassword)
			b.get("/in")
		},
		"a sign-up": func(s *site, u *pintle.User, b *browser) {
			if _, err := s.store.UpdateUser(s.t.Context(), u.ID, pintle.UserUpdate{EmailVerified: &time.Time{}}); err != nil {
				s.t.Fatal(err)
			}
			b.signUp(u.Email).get(s.lastMail().URL).post("/auth/account/sign-up-finish", "password", goodPassword)
		},
	}
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for way, signIn := range ways {
			for asked, ask := range map[string]func(s *site, u *pintle.User){
				"nothing": func(*site, *pintle.User) {},
				"a ban": func(s *site, u *pintle.User) {
					s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
				},
				"a second factor": func(s *site, u *pintle.User) { s.addTOTP(u.ID) },
				"a deletion": func(s *site, u *pintle.User) {
					s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Hour) })
				},
				"another password": func(s *site, u *pintle.User) {
					s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
				},
			} {
				if way == "a sign-up" && asked == "another password" {
					continue // the sign-up chooses it
				}
				t.Run(way+", "+asked, func(t *testing.T) {
					s := newSite(t, tokens, withPasskeys(&echo{}), withOwnForm)
					u := s.seed(ada, "", true)
					s.mux.HandleFunc("/in", func(w http.ResponseWriter, r *http.Request) {
						next, err := s.auth.SignIn(w, r, "credentials", pintle.SignInOptions{
							RedirectTo: "/", Fields: map[string]any{"email": ada, "password": goodPassword},
						})
						if err != nil {
							next = "/auth/signin"
						}
						http.Redirect(w, r, next, http.StatusSeeOther)
					})
					ask(s, u)
					b := s.browser()
					signIn(s, u, b)
					switch asked {
					case "nothing":
						b.isSignedInAs(ada)
						return
					case "a second factor":
						if way == "a sign-up" { // which proves the address: the factor is from before
							b.isSignedInAs(ada)
							return
						}
						b.isAt(secondFactor)
					case "a deletion":
						b.isAt("/auth/account/keep")
					case "another password":
						b.isAt(mustChange)
					}
					b.isSignedInAs("")
					if b.sessionCookie() != "" {
						t.Error("the browser has a cookie of a session")
					}
				})
			}
		}
	})
}

// withOwnForm adds a form of the application, in which users enter their id.
func withOwnForm(c *pintle.Config, _ *account.Options) {
	store := c.Store
	c.Providers = append(c.Providers, &pintle.Credentials{
		ID: "own", Name: "Own", Fields: []pintle.Field{{Name: "name", Label: "Name"}},
		CanSignIn: func(context.Context, *pintle.User) (bool, error) { return false, nil },
		Authorize: func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
			return store.User(ctx, s.Text("name"))
		},
	})
}

// AC-17: without Accounts anyone could make a user with a passkey, and an address that is not
// proven.
func TestNoPasskeyMakesAUser(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, withPasskeys(&echo{}))
	s.browser().get("/auth/webauthn-options/passkey?action=register&email=new@example.com").want(http.StatusBadRequest)
	known := s.seed(ada, "", true)
	s.passkey(known)
	one := s.browser().get("/auth/webauthn-options/passkey?email=" + ada).want(http.StatusOK).json()["action"]
	other := s.browser().get("/auth/webauthn-options/passkey?email=new@example.com").want(http.StatusOK).json()["action"]
	if one != "authenticate" || other != one {
		t.Errorf("a known address begins %v, and an unknown one %v", one, other)
	}
}

// AC-6: a link of the Email provider that is opened in the browser that asked for it signs
// its user in after a button.
func TestAMailLinkWaitsForAButton(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var s *site
		s = newSite(t, tokens, withMailLinks(&s))
		s.seed(ada, "", true)
		b := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
		b.get(s.lastMail().URL).want(http.StatusOK).isSignedInAs("").pressAll()
		b.isSignedInAs(ada)
	})
}

// AC-34, AC-54: the application is told of a new user who is stored and has a password, and then
// of the sign-in. What it does in turn undoes nothing.
func TestEventsOfASignUpComeAfterTheUserIsStored(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var s *site
		var told []string
		failed := errors.New("an event of the application fails")
		s = newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Events.CreateUser = func(_ context.Context, u *pintle.User) error {
				told = append(told, "CreateUser "+u.Email)
				if !s.passwordIs(u.Email, goodPassword) {
					t.Error("the user is not stored with the password")
				}
				return failed
			}
			c.Events.SignIn = func(_ context.Context, e *pintle.SignInEvent) error {
				told = append(told, "SignIn "+e.User.Email)
				return failed
			}
		})
		b := s.browser().signUp(ada).get(s.lastMail().URL)
		if len(told) > 0 {
			t.Errorf("before there is a user the application is told %q", told)
		}
		b.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs(ada)
		if got, want := strings.Join(told, ", "), "CreateUser "+ada+", SignIn "+ada; got != want {
			t.Errorf("the application is told %q, want %q", got, want)
		}
	})
}

// AC-34: the reader of a notice finds that the change is stored.
func TestANoticeComesAfterTheChange(t *testing.T) {
	t.Parallel()
	var s *site
	told := map[string]bool{}
	s = newSite(t, false, withGitHub, func(_ *pintle.Config, o *account.Options) {
		keep := o.Mail
		o.Mail = func(ctx context.Context, m *pintle.Message) error {
			u := s.user(ada)
			there := map[string]func() bool{
				"password-changed": func() bool { return s.passwordIs(ada, newPassword) },
				"password-removed": func() bool { return !s.passwordIs(ada, newPassword) },
				"password-set":     func() bool { return s.passwordIs(ada, goodPassword) },
				"password-reset":   func() bool { return s.passwordIs(ada, newPassword) },
				"factor-added":     func() bool { apps, codes := s.apps(u); return apps == 1 && codes == 10 },
				"factor-removed":   func() bool { apps, codes := s.apps(u); return apps == 0 && codes == 0 },
			}[m.Kind]
			if there != nil {
				if told[m.Kind] = true; !there() {
					t.Errorf("the mail %q is sent before the change is stored", m.Kind)
				}
			}
			return keep(ctx, m)
		}
	})
	s.link(s.seed(ada, goodPassword, true), "github")
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/password")
	b.post("/auth/account/password", "current", goodPassword, "password", newPassword)
	b.get("/auth/account/password").post("/auth/account/password", "remove", "1")
	b.get("/auth/account/password").post("/auth/account/password", "password", goodPassword)
	awayFromTheNextStep()
	b.addApp("totp")
	b.post("/auth/account/factor", "id", s.factor(s.user(ada), "totp").ID, "action", "remove")
	s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword)
	if len(told) != 6 {
		t.Errorf("the mails are %v", told)
	}
}

// AC-1: the questions share one look-up of the state, but for those after the application was
// asked, which may have changed it.
func TestWhatTheApplicationChangesAtTheGateCounts(t *testing.T) {
	t.Parallel()
	var s *site
	s = newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SecondFactor.Required = func(_ context.Context, p *pintle.PendingSignIn) (bool, error) {
			s.changeState(p.User.ID, func(state *accountstore.State) { state.Must = "password" })
			return false, nil
		}
	})
	s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).isAt(mustChange).isSignedInAs("")
}
