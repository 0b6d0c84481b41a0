package pintle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle/pages"
)

// WebAuthn is a provider that signs people in with a credential of their
// device, their password manager or a security key, over WebAuthn. It needs
// [Config].ExperimentalPasskeys and a [Config.Store] with [Features.Passkeys].
// Package passkey makes one:
//
//	Providers: []pintle.Provider{passkey.New(passkey.Options{})}
//
// https://www.w3.org/TR/webauthn-3/
type WebAuthn struct {
	// ID is the provider's name in URLs and in stored accounts. Empty means
	// "passkey". Auth.js has two providers, "passkey" and "webauthn": what one
	// has stored belongs to its name.
	ID string

	// Name is shown to people. Empty means "Passkey".
	Name string

	// Fields are the inputs of the form on the sign-in page. Nil means an
	// address; an empty list shows no form. Where the form of a [Credentials] or an
	// [Email] provider has a field for the address, nil means no field but that one: the
	// form is a button below it, and the page adds the word webauthn to the attribute
	// autocomplete of the field.
	Fields []Field

	// DisableAutofill leaves passkeys out of the browser's autofill list. Only
	// one provider can be in it, and one of its Fields needs an attribute
	// autocomplete with the word webauthn.
	DisableAutofill bool

	// SignInOnly leaves it to other providers to create users. Without it
	// anyone can sign up with an unused address without proving that they own
	// it, and the options route reveals whether an address is taken.
	//
	// With it, a signed-out user can only sign in with a passkey that their
	// authenticator finds by itself, whatever they type. Users add passkeys
	// while they are signed in, or by [Auth.BeginPasskeySignUp].
	SignInOnly bool

	// Identify finds the user that was typed, which is in the query of r. It
	// returns a user with an ID for one who exists, one without for one who
	// would be created, and nil if no user is named. A nil function looks for
	// the address in the field email. It is not called while a user is signed
	// in.
	Identify func(r *http.Request) (*User, error)

	// Ceremony makes the options of ceremonies and verifies the answers.
	Ceremony Ceremony

	Style pages.Style
}

// A Ceremony makes the options with which a browser creates or uses a
// credential, and verifies the browser's answer. It may be called concurrently.
// If it has a method Check() error, [New] fails with what that returns.
//
// It decides what the standard leaves to cryptography and policy: challenge,
// origin, relying party, flags, algorithms, attestation and signature. Pintle
// itself checks who owns the credential, that the challenge is used once and
// that the counter grows.
type Ceremony interface {
	// RegistrationOptions returns the JSON of the options for creating a
	// credential of r.User other than r.Passkeys.
	RegistrationOptions(ctx context.Context, r *CeremonyRequest) (json.RawMessage, error)

	// AuthenticationOptions returns the JSON of the options for using one of
	// r.Passkeys. If r.Passkeys is empty, the authenticator may use any passkey
	// that it finds.
	AuthenticationOptions(ctx context.Context, r *CeremonyRequest) (json.RawMessage, error)

	// VerifyRegistration returns the passkey that was created, without owner or
	// times. It may have a name.
	// It fails unless r.Answer is one to options with r.Challenge.
	VerifyRegistration(ctx context.Context, r *CeremonyRequest) (*Passkey, error)

	// VerifyAuthentication returns r.Passkeys[0] with the Counter and
	// BackedUp that the authenticator reports. It fails unless r.Answer is one
	// to options with r.Challenge and signed by that passkey.
	VerifyAuthentication(ctx context.Context, r *CeremonyRequest) (*Passkey, error)
}

// A CeremonyRequest is what a [Ceremony] works on.
type CeremonyRequest struct {
	// Origin is the site the request is for: https://app.example.com.
	Origin string

	// Challenge is 256 random bits in base64url.
	Challenge string

	// User is the user for whom a credential is to be created. UserHandle
	// identifies them to the authenticator: 64 characters that reveal nothing
	// about the user.
	User       *User
	UserHandle string

	// Passkeys are those that are known.
	Passkeys []*Passkey

	// RequireUserVerification requires that the authenticator verifies its user, by a PIN
	// or a biometric, also where the options of the Ceremony do not. An answer without
	// [Passkey].UserVerified is then rejected.
	RequireUserVerification bool

	// Answer is what the browser answered, as JSON.
	Answer []byte
}

func (p *WebAuthn) base() providerBase {
	return providerBase{id: cmp.Or(p.ID, "passkey"), name: cmp.Or(p.Name, "Passkey"), kind: TypeWebAuthn}
}

// fields are the inputs of the form.
func (p *WebAuthn) fields() []Field {
	if p.Fields != nil {
		return p.Fields
	}
	attributes := map[string]string{"autocomplete": "username webauthn"}
	if !p.SignInOnly {
		attributes["required"] = "true"
	}
	return []Field{{Name: "email", Label: "Email", Attributes: attributes}}
}

// checkAutofill refuses a form in which no browser would offer a passkey.
func (p *WebAuthn) checkAutofill() *Error {
	if p.DisableAutofill || len(p.fields()) == 0 {
		return nil
	}
	if slices.ContainsFunc(p.fields(), Field.listsPasskeys) {
		return nil
	}
	return &Error{
		Code: codeMissingAutocomplete, Provider: p.base().id,
		Err: errors.New("none of WebAuthn.Fields has an attribute autocomplete with the word webauthn: add one, " +
			`such as "username webauthn", or set DisableAutofill`),
	}
}

// A Passkey is a WebAuthn credential that is registered for a user.
//
// https://www.w3.org/TR/webauthn-3/#credential-record
type Passkey struct {
	// CredentialID is the credential id in standard base64 with padding. It is
	// unique and compared byte by byte.
	CredentialID string

	UserID string

	// ProviderAccountID equals CredentialID, of the account that belongs to
	// the passkey.
	ProviderAccountID string

	// PublicKey is the COSE key in standard base64 with padding.
	PublicKey string

	// Counter is the signature counter the authenticator reported last.
	Counter uint32

	// DeviceType is "singleDevice", or "multiDevice" for a passkey that may be
	// synchronised.
	DeviceType string

	// BackedUp reports whether the passkey was synchronised when last used.
	BackedUp bool

	// UserVerified reports that the authenticator verified its user, by a PIN or a
	// biometric. A ceremony sets it for its own use of the passkey; it is not stored.
	UserVerified bool

	// Transports are how the authenticator may be reached, such as "usb" and
	// "internal". A transport contains no comma: tables have them in one text,
	// separated by commas. Empty means that the browser reported no transport.
	Transports []string

	// Name is what its user calls the passkey, see [Auth.RenamePasskey]. At
	// first it is that of the password manager that made it, where that is
	// known. Auth.js has no column for it, nor for the times below: in tables
	// shared with it they may be missing, and are then zero.
	Name string

	// Created is when the passkey was registered.
	Created time.Time

	// LastUsed is when it last signed. The registration does not count.
	LastUsed time.Time
}

// A PasskeyProof is what a passkey is to prove in [Auth.BeginPasskeyProof]. All fields are required.
type PasskeyProof struct {
	// Provider is the id of the provider of passkeys.
	Provider string

	// UserID is the id of the user, which the application must not take from the request.
	UserID string

	// Purpose is what the proof is for, such as the id of a link. The answer for one purpose is
	// rejected for all others.
	Purpose string
}
