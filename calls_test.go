package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A downStore fails in everything that functions of an Auth ask of a store.
type downStore struct{ *memstore.Store }

func (downStore) User(context.Context, string) (*pintle.User, error) { return nil, errBroken }

func (downStore) UserByEmail(context.Context, string) (*pintle.User, error) { return nil, errBroken }

func (downStore) DeleteUser(context.Context, string) error { return errBroken }

func (downStore) UseVerification(context.Context, string, string) (*pintle.Verification, error) {
	return nil, errBroken
}

func (downStore) Account(context.Context, string, string) (*pintle.Account, error) {
	return nil, errBroken
}

func (downStore) UserAccounts(context.Context, string) ([]*pintle.Account, error) {
	return nil, errBroken
}

func (downStore) SessionAndUser(context.Context, string) (*pintle.StoredSession, *pintle.User, error) {
	return nil, nil, errBroken
}

func (downStore) DeleteSession(context.Context, string) (*pintle.StoredSession, error) {
	return nil, errBroken
}

func (downStore) UserSessions(context.Context, string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) { yield(nil, errBroken) }
}

func (downStore) EndSession(context.Context, string, string) error { return errBroken }

func (downStore) EndUserSessions(context.Context, string, string) (int, error) { return 0, errBroken }

func (downStore) UserPasskeys(context.Context, string) ([]*pintle.Passkey, error) {
	return nil, errBroken
}

func (downStore) RenamePasskey(context.Context, string, string, string) error { return errBroken }

// A call calls a function of an Auth for Ada, with a request that carries a
// session cookie.
type call func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error

// calls are all functions that server code calls and that can fail, by their
// names.
var calls = map[string]call{
	"SignIn": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.SignIn(httptest.NewRecorder(), r, "email", pintle.SignInOptions{Fields: map[string]any{"email": "ada@example.com"}})
		return err
	},
	"SignOut": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.SignOut(httptest.NewRecorder(), r, pintle.SignOutOptions{RedirectTo: "/"})
		return err
	},
	"StartSession": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		_, _, err := a.StartSession(httptest.NewRecorder(), r, &ada.User, pintle.StartOptions{})
		return err
	},
	"IDTokenNonce": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.IDTokenNonce(httptest.NewRecorder(), r, "acme")
		return err
	},
	"Reauthenticate": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.Reauthenticate(httptest.NewRecorder(), r, pintle.CompleteOptions{Methods: []string{"pwd"}})
		return err
	},
	"BeginPasskeyConfirmation": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.BeginPasskeyConfirmation(httptest.NewRecorder(), r, "passkey", pintle.SignInOptions{})
		return err
	},
	"FinishPasskeyConfirmation": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.FinishPasskeyConfirmation(httptest.NewRecorder(), r, "passkey", []byte("{}"))
		return err
	},
	"BeginPasskeySecondFactor": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.BeginPasskeySecondFactor(httptest.NewRecorder(), r, "passkey", pintle.SignInOptions{})
		return err
	},
	"FinishPasskeySecondFactor": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.FinishPasskeySecondFactor(httptest.NewRecorder(), r, "passkey", []byte("{}"))
		return err
	},
	"BeginPasskeyProof": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		_, err := a.BeginPasskeyProof(httptest.NewRecorder(), r, pintle.PasskeyProof{Provider: "passkey", UserID: ada.User.ID, Purpose: "link"}, pintle.SignInOptions{})
		return err
	},
	"FinishPasskeyProof": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		_, err := a.FinishPasskeyProof(httptest.NewRecorder(), r, pintle.PasskeyProof{Provider: "passkey", UserID: ada.User.ID, Purpose: "link"}, []byte("{}"))
		return err
	},
	"Session": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.Session(r)
		return err
	},
	"UpdateSession": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.UpdateSession(httptest.NewRecorder(), r, nil)
		return err
	},
	"PendingSignIn": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.PendingSignIn(r)
		return err
	},
	"CompleteSignIn": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.CompleteSignIn(httptest.NewRecorder(), r, pintle.CompleteOptions{})
		return err
	},
	"CancelSignIn": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		return a.CancelSignIn(httptest.NewRecorder(), r)
	},
	"Account": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.Account(r.Context(), "acme", "1001")
		return err
	},
	"UpdateAccount": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		return a.UpdateAccount(r.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001", AccessToken: "a"})
	},
	"Refresh": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		_, err := a.Refresh(r.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001"})
		return err
	},
	"RevokeTokens": func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
		return a.RevokeTokens(r.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001"})
	},
	"SignOutEverywhere": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		return a.SignOutEverywhere(r.Context(), ada.User.ID)
	},
	"DeleteUser": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		return a.DeleteUser(r.Context(), ada.User.ID)
	},
	"Accounts": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		_, err := a.Accounts(r.Context(), ada)
		return err
	},
	"Unlink": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		return a.Unlink(r.Context(), ada, "acme", "1001")
	},
	"Devices": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		for _, err := range a.Devices(r.Context(), ada) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"EndDevice": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		return a.EndDevice(r.Context(), ada, "handle")
	},
	"EndOtherDevices": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		_, err := a.EndOtherDevices(r.Context(), ada)
		return err
	},
	"Passkeys": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		_, err := a.Passkeys(r.Context(), ada)
		return err
	},
	"RenamePasskey": func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
		return a.RenamePasskey(r.Context(), ada, "AAAA", "phone")
	},
}

// failures are the records of the log above debug level.
func (l *logBook) failures(t *testing.T) []map[string]any {
	t.Helper()
	var failures []map[string]any
	for _, entry := range l.entries(t) {
		switch entry["code"] {
		case "debug-enabled", "experimental-webauthn", "NoSharedState":
			continue // notices of the start
		}
		if entry["level"] != "DEBUG" {
			failures = append(failures, entry)
		}
	}
	return failures
}

// callSite is a site with a store on which all functions can be called.
func callSite(t *testing.T, store pintle.Store, changes ...func(*site)) (*site, *http.Request, *pintle.Session) {
	t.Helper()
	s := newSite(t, append([]func(*site){withPasskeys, func(s *site) {
		s.Store, s.Session.Strategy = store, pintle.StrategyDatabase
		s.Providers = append(s.Providers, s.mailProvider())
		s.Providers[0].(*pintle.OAuth).AcceptIDTokens.Audiences = []string{"web"}
	}}, changes...)...)
	r := httptest.NewRequest(http.MethodPost, s.url+"/do", nil)
	r.Header.Set("Cookie", sessionCookie+"=a-session-token-of-ada")
	return s, r, &pintle.Session{User: people["ada"].user}
}

// holding makes the request of a call one with a pending sign-in, which another
// process of the site held.
func holding(t *testing.T, r *http.Request) {
	t.Helper()
	memory := memstore.New()
	if _, err := memory.CreateUser(t.Context(), &pintle.User{ID: "user-ada"}); err != nil {
		t.Fatal(err)
	}
	s, _, _ := callSite(t, memory, holdingAt("/second-factor"))
	w := httptest.NewRecorder()
	if _, err := s.auth.SignIn(w, httptest.NewRequest(http.MethodPost, s.url+"/login", nil), "credentials", pintle.SignInOptions{
		Fields: map[string]any{"username": "ada", "password": people["ada"].password},
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
}

// A function that server code calls returns an error, which the host may show or
// drop. The log has the whole error once: S-52.
func TestAFailureOfAFunctionIsInTheLogOnce(t *testing.T) {
	auth := reflect.TypeFor[*pintle.Auth]()
	fails := reflect.TypeFor[error]()
	for method := range auth.Methods() {
		last := method.Type.NumOut() - 1
		if last < 0 {
			continue
		}
		out := method.Type.Out(last)
		if method.Name == "CSRFToken" || method.Name == "StoreFor" || method.Name == "SendWithToken" || method.Name == "HealthChecks" {
			// They call no store.
			continue // see TestAFormOfTheHostHasTheTokenOfItsBrowser, TestTheStoreOfARequestIsThatOfItsTenant, TestABoundTokenOfAnUnknownProvider, TestHealthChecksOfTenantsAreThoseOfEach
		}
		if strings.HasSuffix(method.Name, "PasskeySignUp") {
			continue // see TestAFailureOfASignUpWithAPasskeyIsInTheLogOnce
		}
		if _, tested := calls[method.Name]; !tested && (out == fails || out.Kind() == reflect.Func) {
			t.Errorf("%s can fail, and nothing here calls it", method.Name)
		}
	}
	for name, call := range calls {
		t.Run(name+" of a store that is down", func(t *testing.T) {
			s, r, ada := callSite(t, downStore{memstore.New()}, holdingAt("/second-factor"), recording)
			holding(t, r)
			err := call(s.auth, r, ada)
			if !errors.Is(err, errBroken) || !errors.Is(err, pintle.CodeStore) {
				t.Fatalf("the error is %v", err)
			}
			all := s.log.failures(t)
			if len(all) != 1 {
				t.Fatalf("there are %d records, want 1:\n%s", len(all), s.log)
			}
			entry := all[0]
			want := map[string]any{"msg": "pintle: call failed", "code": "AdapterError", "function": name}
			switch name {
			case "SignIn":
				want = map[string]any{"msg": "pintle: request failed", "code": "AdapterError", "action": "signin", "provider": "email", "client": "192.0.2.1"}
			case "CompleteSignIn":
				want = map[string]any{"msg": "pintle: request failed", "code": "AdapterError", "action": "callback", "provider": "credentials", "client": "192.0.2.1"}
			case "SignOut":
				want = map[string]any{"msg": "pintle: request failed", "code": "SignOutError", "action": "signout", "client": "192.0.2.1"}
			case "Session", "UpdateSession":
				want = map[string]any{"msg": "pintle: session not read", "code": "SessionTokenError"}
			}
			for attribute, value := range want {
				if entry[attribute] != value {
					t.Errorf("%s is %v, want %v", attribute, entry[attribute], value)
				}
			}
			if text := fmt.Sprint(entry["error"]); entry["level"] != "ERROR" || !strings.Contains(text, errBroken.Error()) {
				t.Errorf("the record is %v", entry)
			}
		})
		if name != "SignIn" && name != "SignOut" && name != "CompleteSignIn" { // which are as the routes are
			t.Run(name+" of a client that has left", func(t *testing.T) {
				s, r, ada := callSite(t, downStore{memstore.New()}, holdingAt("/second-factor"), recording)
				holding(t, r)
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if err := call(s.auth, r.WithContext(ctx), ada); err == nil {
					t.Fatal("nothing fails")
				}
				if all := s.log.failures(t); len(all) != 1 || all[0]["level"] != "INFO" {
					t.Errorf("the records are %v", all)
				}
			})
		}
		if slices.Contains([]string{"SignIn", "SignOut", "StartSession", "Reauthenticate", "Session", "UpdateSession", "PendingSignIn", "CompleteSignIn", "CancelSignIn"}, name) {
			t.Run(name+" of a host that is not this site", func(t *testing.T) {
				s, r, ada := callSite(t, memstore.New())
				r.Host = "evil.example"
				if err := call(s.auth, r, ada); !errors.Is(err, pintle.Code("UntrustedHost")) {
					t.Fatalf("the error is %v", err)
				}
				if all := s.log.failures(t); len(all) != 1 || all[0]["code"] != "UntrustedHost" || all[0]["level"] != "ERROR" {
					t.Errorf("the records are %v", all)
				}
			})
		}
		t.Run(name+" of a tenant that does not exist", func(t *testing.T) {
			book := &logBook{}
			useDefaultLog(t, book)
			a := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(context.Context, string) (pintle.Config, error) {
				return pintle.Config{}, pintle.ErrNotFound
			})
			err := call(a, httptest.NewRequest(http.MethodPost, "http://other.example/do", nil), &pintle.Session{User: people["ada"].user})
			all := book.failures(t)
			if e, ok := errors.AsType[*pintle.Error](err); !ok || len(all) != 1 || all[0]["code"] != string(e.Code) {
				t.Errorf("the error is %v, the records are %v", err, all)
			}
		})
	}
}

// withoutTransaction also fails to begin a transaction.
type withoutTransaction struct{ downStore }

func (withoutTransaction) InTx(context.Context, func(pintle.Store) error) error { return errBroken }

// S-52: the second call has the answer to the first, and is logged as the routes are.
func TestAFailureOfASignUpWithAPasskeyIsInTheLogOnce(t *testing.T) {
	cat := &pintle.User{ID: "cat", Email: "cat@example.com", EmailVerified: time.Now()}
	key := anyCeremony{is: pintle.Passkey{CredentialID: "AAAA", UserVerified: true}}
	s := newSite(t, func(s *site) {
		s.Store, s.ExperimentalPasskeys = withoutTransaction{downStore{memstore.New()}}, true
		s.Providers = append(s.Providers, &pintle.WebAuthn{Ceremony: key})
	})
	r, w := httptest.NewRequest(http.MethodPost, s.url+"/do", nil), httptest.NewRecorder()
	if _, err := s.auth.BeginPasskeySignUp(w, r, "github", cat); !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("the error is %v", err)
	}
	if all := s.log.failures(t); len(all) != 1 || all[0]["function"] != "BeginPasskeySignUp" || all[0]["level"] != "ERROR" {
		t.Errorf("the records are %v", all)
	}
	if _, err := s.auth.BeginPasskeySignUp(w, r, "passkey", cat); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	_, err := s.auth.FinishPasskeySignUp(httptest.NewRecorder(), r, "passkey", cat, []byte(`{"id":"AAAA"}`), pintle.SignInOptions{})
	if !errors.Is(err, errBroken) || !errors.Is(err, pintle.CodeStore) {
		t.Errorf("the error is %v", err)
	}
	if all := s.log.failures(t); len(all) != 2 || all[1]["code"] != "AdapterError" || all[1]["provider"] != "passkey" || all[1]["level"] != "ERROR" {
		t.Errorf("the records are %v", all)
	}
}

// S-52: what the user or a form causes is no alarm, as at the routes.
func TestTheFailureOfAFunctionIsAsSevereAsAtTheRoutes(t *testing.T) {
	for _, tt := range []struct {
		name, level string
		change      func(*site)
		call        call
	}{
		{"a wrong password", "INFO", nil, func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
			_, err := a.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "ada"}})
			return err
		}},
		{"a refusal of the callback", "WARN", func(s *site) { s.Callbacks.SignIn = refusing(errBroken) }, func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
			_, err := a.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "ada", "password": people["ada"].password}})
			return err
		}},
		{"an account that the user does not have", "INFO", nil, func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
			return a.Unlink(r.Context(), ada, "acme", "1002")
		}},
		{"the last way to sign in", "INFO", nil, func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
			return a.Unlink(r.Context(), ada, "acme", "1001")
		}},
		{"a device that the user does not have", "INFO", nil, func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
			return a.EndDevice(r.Context(), ada, "handle")
		}},
		{"an account that has no refresh token", "INFO", nil, func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
			_, err := a.Refresh(r.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001"})
			return err
		}},
		{"a name that is too long", "INFO", nil, func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
			return a.RenamePasskey(r.Context(), ada, "AAAA", strings.Repeat("x", 65))
		}},
		{"a store without names", "WARN", func(s *site) { s.Store = withoutNames{s.Store.(*memstore.Store)} }, func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
			return a.RenamePasskey(r.Context(), ada, "AAAA", "phone")
		}},
		{"a call for a user who is signed out", "WARN", nil, func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
			_, err := a.Accounts(r.Context(), nil)
			return err
		}},
		{"a session cookie that is not valid", "INFO", func(s *site) { s.Session.Strategy = pintle.StrategyJWT }, func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
			_, err := a.UpdateSession(httptest.NewRecorder(), r, nil)
			return err
		}},
		{"a setting that is missing", "ERROR", func(s *site) { s.Session.Strategy = pintle.StrategyJWT }, func(a *pintle.Auth, r *http.Request, ada *pintle.Session) error {
			return a.SignOutEverywhere(r.Context(), ada.User.ID)
		}},
		{"a provider that is away", "ERROR", func(s *site) { delete(s.net, "idp.example") }, func(a *pintle.Auth, r *http.Request, _ *pintle.Session) error {
			_, err := a.SignIn(httptest.NewRecorder(), r, "acme", pintle.SignInOptions{})
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			memory := memstore.New()
			s, r, ada := callSite(t, memory, func(s *site) {
				s.Providers[1].(*pintle.Credentials).CanSignIn = knowsNoUser
				if tt.change != nil {
					tt.change(s)
				}
			})
			stored, err := memory.CreateUser(t.Context(), &ada.User)
			if err != nil {
				t.Fatal(err)
			}
			if err := memory.LinkAccount(t.Context(), &pintle.Account{UserID: stored.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "1001"}); err != nil {
				t.Fatal(err)
			}
			failure := tt.call(s.auth, r, &pintle.Session{User: *stored})
			if failure == nil {
				t.Fatal("nothing fails")
			}
			all := s.log.failures(t)
			if len(all) != 1 || all[0]["level"] != tt.level {
				t.Fatalf("the records are %v, want one at %s", all, tt.level)
			}
			if cause := all[0]["error"]; cause != nil && !strings.Contains(failure.Error(), strings.TrimPrefix(fmt.Sprint(cause), "pintle: ")) {
				t.Errorf("the record has %v, the host gets %v", cause, failure)
			}
		})
	}
}

// A guard that cannot decide without a configuration logs the reason, once.
func TestAGuardWithoutAConfigurationSaysSoOnce(t *testing.T) {
	for _, cookie := range []string{"", sessionCookie + "=x"} {
		for name, guarded := range map[string]func(*pintle.Auth) http.Handler{
			"Require":      func(a *pintle.Auth) http.Handler { return a.Require(http.NotFoundHandler()) },
			"Load":         func(a *pintle.Auth) http.Handler { return a.Load(http.NotFoundHandler()) },
			"Load Require": func(a *pintle.Auth) http.Handler { return a.Load(a.Require(http.NotFoundHandler())) },
			"Load Load":    func(a *pintle.Auth) http.Handler { return a.Load(a.Load(http.NotFoundHandler())) },
		} {
			for kind, config := range map[string]func(context.Context, string) (pintle.Config, error){
				"that cannot be made": func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, errBroken },
				"that is faulty": func(context.Context, string) (pintle.Config, error) {
					return pintle.Config{URL: "http://localhost:3000", Getenv: func(string) string { return "" }}, nil
				},
			} {
				t.Run(fmt.Sprintf("%s with a configuration %s and the cookie %q", name, kind, cookie), func(t *testing.T) {
					book := &logBook{}
					useDefaultLog(t, book)
					a := pintle.NewFunc(func(*http.Request) string { return "" }, config)
					headers := []string{}
					want := 1
					if cookie != "" {
						headers = append(headers, "Cookie", cookie)
					} else if name == "Load" || name == "Load Load" {
						want = 0 // there is no session to read
					}
					get(guarded(a), "http://localhost:3000/members", headers...)
					if all := book.failures(t); len(all) != want || want > 0 && all[0]["level"] != "ERROR" {
						t.Errorf("the records are %v, want %d", all, want)
					}
				})
			}
		}
	}
	t.Run("each of several", func(t *testing.T) {
		book := &logBook{}
		useDefaultLog(t, book)
		broken := func() *pintle.Auth {
			return pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, errBroken })
		}
		get(broken().Load(broken().Load(broken().Require(http.NotFoundHandler()))), "http://localhost:3000/members", "Cookie", sessionCookie+"=x")
		if all := book.failures(t); len(all) != 3 {
			t.Errorf("the records are %v, want 3", all)
		}
	})
}
