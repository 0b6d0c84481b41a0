package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/pintleauth/pintle"
)

// The token callback learns at a sign-in how the person came and whether they
// are new.
func TestTheTokenCallbackLearnsHowThePersonCame(t *testing.T) {
	var last *pintle.TokenChange
	s, k := fullSite(t, pintle.StrategyJWT, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			last = c
			return c.Claims, nil
		}
	})
	byMail := func(b *browser) { b.get(b.mailTo("ada@example.com").URL).goesTo(s.url) }
	byProvider := func(b *browser) { b.signInWith("acme").goesTo(s.url) }
	s.idp.SignInAs(noAddress)
	yes, no := true, false
	tests := []struct {
		name    string
		do      func(*browser)
		trigger pintle.Trigger
		isNew   *bool
		kind    pintle.ProviderType
		profile bool
	}{
		{"a new user by mail", byMail, pintle.TriggerSignUp, &yes, pintle.TypeEmail, false},
		{"the same again", byMail, pintle.TriggerSignIn, &no, pintle.TypeEmail, false},
		{"a new user by a provider", byProvider, pintle.TriggerSignUp, &yes, pintle.TypeOIDC, true},
		{"the same again", byProvider, pintle.TriggerSignIn, &no, pintle.TypeOIDC, true},
		{"by password", func(b *browser) { b.signIn("ada") }, pintle.TriggerSignIn, &no, pintle.TypeCredentials, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.do(s.browser())
			if last.Trigger != tt.trigger || last.NewUser == nil || *last.NewUser != *tt.isNew || last.Account.Type != tt.kind ||
				(last.Profile != nil) != tt.profile || last.Update != nil || last.Claims["sub"] != last.User.ID {
				t.Errorf("the callback got %+v with %+v and %+v", last, last.User, last.Account)
			}
		})
	}
	if last := k.byEmail(t, "ada@example.com"); last == nil {
		t.Error("the mail made no user")
	}
	t.Run("S-30 without a store no user counts as new", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				last = c
				return c.Claims, nil
			}
		})
		s.browser().signInWith("acme").goesTo(s.url)
		if last.Trigger != pintle.TriggerSignIn || last.NewUser != nil {
			t.Errorf("the callback got %q, %v", last.Trigger, last.NewUser)
		}
	})
}

func TestTheTokenCallbackIsNotAskedAboutDatabaseSessions(t *testing.T) {
	asked := false
	s, _ := fullSite(t, pintle.StrategyDatabase, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			asked = true
			return c.Claims, nil
		}
	})
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	b.session()
	if asked {
		t.Error("it was asked")
	}
}

// A sign-in that the token callback ends has still happened, as far as the
// events report.
func TestATokenCallbackThatReturnsNothingKeepsThePersonOut(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
	})
	b := s.browser()
	b.plantSession("grace")
	s.eventNames()
	if r := b.signInWith("acme").goesTo(s.url); !r.clears(sessionCookie) {
		t.Errorf("the answer sets %q", r.header["Set-Cookie"])
	}
	if names := s.eventNames(); len(names) != 1 || names[0] != "signIn" {
		t.Errorf("the events are %q", names)
	}
	if b.session() != nil {
		t.Error("the browser is signed in")
	}
}

// Whatever error a callback returns, the user sees that something is wrong
// here, and is not signed in.
func TestACallbackThatFailsAtASignInIsAFault(t *testing.T) {
	tests := []struct {
		name   string
		change func(*site)
		code   string // of the log
	}{
		{"of the token", func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, errBroken }
		}, "CallbackRouteError"},
		{"of the token, with a claim that is no JSON", func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				c.Claims["f"] = func() {}
				return c.Claims, nil
			}
		}, "CallbackRouteError"},
		{"of the way back", func(s *site) {
			s.Callbacks.Redirect = func(_ context.Context, target, base string) (string, error) {
				if target == "/broken" {
					return "", errBroken
				}
				return base, nil
			}
		}, "Configuration"},
		{"of the sign-in", func(s *site) { s.Callbacks.SignIn = refusing(errBroken) }, "AccessDenied"},
		{"of a provider's profile", func(s *site) {
			acme := s.idp.OIDC("acme")
			acme.Profile = func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return nil, errBroken }
			s.Providers[0] = acme
		}, "OAuthCallbackError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.change)
			b := s.browser()
			r := b.post("/auth/signin/acme", "callbackUrl", "/broken").want(http.StatusFound)
			if r.errorCode() == "" {
				r = b.get(b.get(r.location()).location())
			}
			if r.want(http.StatusFound).errorCode() == "" || len(r.header["Set-Cookie"]) > 0 {
				t.Errorf("the browser is sent to %s with cookies %q", r.location(), r.header["Set-Cookie"])
			}
			if level := s.log.level(t, tt.code); level != "ERROR" && (tt.code != "AccessDenied" || level != "WARN") {
				t.Errorf("the log has %s at level %q:\n%s", tt.code, level, s.log)
			}
			if b.session() != nil {
				t.Error("the browser is signed in")
			}
			for _, name := range s.eventNames() {
				if name == "signIn" {
					t.Error("the host is told of a sign-in")
				}
			}
		})
	}
}

// An error with a code keeps it: S-19.
func TestTheHostChoosesTheCodeOfARefusal(t *testing.T) {
	tests := []struct {
		name       string
		err        error
		page, code string
	}{
		{"no code", errBroken, "/auth/error", "AccessDenied"},
		{"a code", pintle.CodeVerification, "/auth/error", "Verification"},
		{"a wrapped code", errors.Join(errBroken, pintle.CodeAccountNotLinked), "/auth/signin", "OAuthAccountNotLinked"},
		{"an Error", &pintle.Error{Code: pintle.CodeAccessDenied, Err: errBroken}, "/auth/error", "AccessDenied"},
		{"a code that browsers must not see", pintle.CodeStore, "/auth/error", "Configuration"},
		{"a code of the host's own", pintle.Code("SuspendedError"), "/auth/error", "Configuration"},
	}
	for _, tt := range tests {
		t.Run("S-18 S-19 "+tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Callbacks.SignIn = refusing(tt.err) })
			s.browser().signInWith("acme").fails(tt.page, tt.code)
		})
	}
}
