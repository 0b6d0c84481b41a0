package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

func failed(what string) error { return errors.New("conformance: " + what + " failed") }

// refused is the error of the callbacks where those of the reference return false.
var refused = pintle.CodeAccessDenied

// canned returns the named behaviours of the contract. Behaviours that are not
// named are left out, so that the library's own apply.
func canned(names map[string]string, rec *recorder) (pintle.Callbacks, error) {
	var c pintle.Callbacks
	for callback, behaviour := range names {
		if behaviour == "default" {
			continue
		}
		kind, argument, _ := strings.Cut(behaviour, ":")
		switch callback {
		case "signIn":
			c.SignIn = signIn(rec, kind, argument)
		case "redirect":
			c.Redirect = redirect(rec, kind, argument)
		case "jwt":
			c.JWT = jwt(rec, kind, argument)
		case "session":
			c.Session = session(rec, kind)
		default:
			return c, fmt.Errorf("unknown callback %q", callback)
		}
	}
	return c, nil
}

func signIn(rec *recorder, kind, argument string) func(context.Context, *pintle.SignInAttempt) (string, error) {
	return func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
		params := object{"user": a.User, "account": a.Account, "profile": a.Profile}
		if a.VerificationRequest {
			params["email"] = object{"verificationRequest": true}
		}
		if a.Submission != nil {
			params["credentials"] = a.Submission.Fields
		}
		rec.record("callback", "signIn", params)
		allowed := false
		switch kind {
		case "allow":
			allowed = true
		case "deny":
		case "throw":
			return "", failed("signIn callback")
		case "redirect":
			return argument, nil
		case "denyVerificationRequest":
			allowed = !a.VerificationRequest
		case "denyAfterVerification":
			allowed = a.VerificationRequest
		case "emailDomain":
			allowed = strings.HasSuffix(a.User.Email, "@"+argument)
		case "requireVerifiedProfile":
			verified, isBool := a.Profile["email_verified"].(bool)
			allowed = isBool && verified
		default:
			return "", fmt.Errorf("unknown behaviour %q", kind)
		}
		if !allowed {
			return "", refused
		}
		return "", nil
	}
}

func redirect(rec *recorder, kind, argument string) func(context.Context, string, string) (string, error) {
	return func(_ context.Context, target, base string) (string, error) {
		rec.record("callback", "redirect", object{"url": target, "baseUrl": base})
		switch kind {
		case "allowAll":
			return target, nil
		case "fixed":
			return argument, nil
		case "throw":
			return "", failed("redirect callback")
		case "allowOrigin":
			if strings.HasPrefix(target, "/") {
				return base + target, nil
			}
			u, err := url.Parse(target)
			if err != nil {
				return "", err
			}
			if origin := u.Scheme + "://" + u.Host; origin == argument || origin == base {
				return target, nil
			}
			return base, nil
		}
		return "", fmt.Errorf("unknown behaviour %q", kind)
	}
}

func jwt(rec *recorder, kind, argument string) func(context.Context, *pintle.TokenChange) (pintle.Claims, error) {
	return func(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
		params := object{"token": t.Claims, "session": t.Update}
		if t.User != nil {
			params["user"], params["account"], params["profile"] = t.User, t.Account, t.Profile
			params["isNewUser"] = t.NewUser
		}
		if t.Trigger != "" {
			params["trigger"] = t.Trigger
		}
		rec.record("callback", "jwt", params)
		return jwtBehaviour(t, kind, argument)
	}
}

func jwtBehaviour(t *pintle.TokenChange, kind, argument string) (pintle.Claims, error) {
	switch kind {
	case "throw":
		return nil, failed("jwt callback")
	case "null":
		return nil, nil
	case "nullOnRead":
		if t.User == nil {
			return nil, nil
		}
	case "throwOnRead":
		if t.User == nil {
			return nil, failed("jwt callback")
		}
	case "addClaims":
		if t.User != nil {
			t.Claims["role"], t.Claims["how"] = "member", string(t.Trigger)
			t.Claims["via"] = t.Account.Provider
		}
	case "mergeUpdate":
		if name, ok := member(t.Update, "user", "name").(string); ok && t.Trigger == pintle.TriggerUpdate {
			t.Claims["name"], t.Claims["edited"] = name, true
		}
	case "storeUpdate":
		if t.Trigger == pintle.TriggerUpdate {
			t.Claims["received"] = t.Update
			if t.Update == nil {
				t.Claims["received"] = "nothing"
			}
		}
	case "pad":
		if t.User != nil {
			size, err := strconv.Atoi(argument)
			if err != nil {
				return nil, err
			}
			t.Claims["pad"] = strings.Repeat("x", size)
		}
	case "resizeOnUpdate":
		if t.Trigger == pintle.TriggerUpdate {
			size, _ := member(t.Update, "size").(float64)
			t.Claims["pad"] = strings.Repeat("x", int(size))
		}
	case "pass":
	default:
		return nil, fmt.Errorf("unknown behaviour %q", kind)
	}
	return t.Claims, nil
}

// member follows the names into nested objects.
func member(value any, names ...string) any {
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func session(rec *recorder, kind string) func(context.Context, *pintle.SessionView) (any, error) {
	return func(_ context.Context, v *pintle.SessionView) (any, error) {
		given, err := givenSession(v)
		if err != nil {
			return nil, err
		}
		params := object{"session": given}
		if v.Claims != nil {
			params["token"] = v.Claims
		}
		if v.User != nil {
			params["user"], params["newSession"] = v.User, v.Update
		}
		if v.Trigger != "" {
			params["trigger"] = v.Trigger
		}
		rec.record("callback", "session", params)
		return sessionBehaviour(v, given, kind)
	}
}

// givenSession is the session in the form the reference hands to its callback:
// the default view, and for a stored session the row with the whole user.
func givenSession(v *pintle.SessionView) (map[string]any, error) {
	var given map[string]any
	if err := remarshal(v.Session, &given); err != nil {
		return nil, err
	}
	if v.Stored != nil {
		if err := remarshal(jsonSession{v.Stored.Token, v.Stored.UserID, v.Stored.Expires}, &given); err != nil {
			return nil, err
		}
		given["user"] = nil
		var user map[string]any
		if err := remarshal(v.User, &user); err != nil {
			return nil, err
		}
		given["user"] = user
	}
	return given, nil
}

func remarshal(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

func sessionBehaviour(v *pintle.SessionView, given map[string]any, kind string) (any, error) {
	user, _ := given["user"].(map[string]any)
	switch kind {
	case "pass":
		return given, nil
	case "throw":
		return nil, failed("session callback")
	case "exposeId":
		shown := map[string]any{}
		for _, name := range []string{"name", "email", "image"} {
			if value, said := user[name]; said {
				shown[name] = value
			}
		}
		id := v.Claims["sub"]
		if id == nil {
			id = v.Session.User.ID
		}
		shown["id"] = id
		expires := v.Session.Expires.UTC().Format("2006-01-02T15:04:05.000Z")
		return map[string]any{"user": shown, "expires": expires}, nil
	case "exposeClaims":
		claims := map[string]any{}
		for _, name := range []string{"role", "via", "how", "edited", "received"} {
			if value, said := v.Claims[name]; said {
				claims[name] = value
			}
		}
		given["claims"] = claims
		return given, nil
	case "exposePadLength":
		pad, _ := v.Claims["pad"].(string)
		given["padLength"] = len(pad)
		return given, nil
	}
	return nil, fmt.Errorf("unknown behaviour %q", kind)
}

// handlers record every event in the form of the reference.
func handlers(throwing []string, rec *recorder) pintle.Events {
	seen := func(name string, message object) error {
		rec.record("event", name, message)
		if slices.Contains(throwing, name) {
			return failed("event " + name)
		}
		return nil
	}
	return pintle.Events{
		SignIn: func(_ context.Context, e *pintle.SignInEvent) error {
			return seen("signIn", object{"user": e.User, "account": e.Account, "profile": e.Profile, "isNewUser": e.NewUser})
		},
		SignOut: func(_ context.Context, e *pintle.SignOutEvent) error {
			message := object{}
			if s := e.Session; s != nil {
				message["session"] = jsonSession{s.Token, s.UserID, s.Expires}
			}
			if e.Claims != nil {
				message = object{"token": e.Claims}
			}
			return seen("signOut", message)
		},
		CreateUser: func(_ context.Context, u *pintle.User) error {
			return seen("createUser", object{"user": u})
		},
		UpdateUser: func(_ context.Context, u *pintle.User) error {
			return seen("updateUser", object{"user": u})
		},
		LinkAccount: func(_ context.Context, e *pintle.LinkAccountEvent) error {
			// The reference does not name the owner in the account, only beside it.
			account := *e.Account
			account.UserID = ""
			return seen("linkAccount", object{"user": e.User, "account": account, "profile": e.ProviderUser})
		},
		Session: func(_ context.Context, e *pintle.SessionEvent) error {
			message := object{"session": e.Session}
			if e.Claims != nil {
				message["token"] = e.Claims
			}
			return seen("session", message)
		},
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
