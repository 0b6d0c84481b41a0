package passkey

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/metadata"
	"github.com/go-webauthn/webauthn/protocol"

	"github.com/pintleauth/pintle"
)

const defaultTimeout = 5 * time.Minute

// Options describe the relying party and what it asks of authenticators. The
// zero value is a site with one host name and discoverable credentials that
// verify the user.
type Options struct {
	// RPID is the domain that passkeys belong to: the host name of the site, or
	// a domain above it. Empty means the host name of each request. Passkeys
	// made for one domain are of no use for another.
	//
	// https://www.w3.org/TR/webauthn-3/#relying-party-identifier
	RPID string

	// RPName is what authenticators may show for the site. Empty means the host
	// name of each request, with its port.
	RPName string

	// Origins are the origins at which passkeys may be used, each compared as a
	// whole: "https://app.example.com", or "android:apk-key-hash:…" for an
	// application. Empty means the origin of each request.
	Origins []string

	// TopOrigins are the origins whose pages may have a page of this site in a
	// frame in which passkeys are used. Empty means that none may.
	TopOrigins []string

	// UserVerification is "required", "preferred" or "discouraged". Empty means
	// "required". With the others whoever holds the authenticator is let in.
	//
	// https://www.w3.org/TR/webauthn-3/#enum-userVerificationRequirement
	UserVerification protocol.UserVerificationRequirement

	// ResidentKey says whether new credentials have to be discoverable:
	// "required", "preferred" or "discouraged". Empty means "required".
	//
	// https://www.w3.org/TR/webauthn-3/#enum-residentKeyRequirement
	ResidentKey protocol.ResidentKeyRequirement

	// Attachment restricts new credentials to those of the device,
	// "platform", or of others, "cross-platform". Empty means both.
	Attachment protocol.AuthenticatorAttachment

	// Attestation is "none", "indirect", "direct" or "enterprise". Empty means
	// "none". Ask for more only to judge it with Metadata: some browsers ask
	// the person for permission.
	Attestation protocol.ConveyancePreference

	// Metadata decides which authenticators are trusted. Nil trusts all.
	Metadata metadata.Provider

	// Timeout is how long the browser lets a person take. Zero means 5 minutes.
	// The server waits 15 minutes whatever it is.
	Timeout time.Duration
}

// New returns a provider with the id "passkey". Its fields may be changed until
// it is given to [pintle.New], which fails when o cannot work.
func New(o Options) *pintle.Passkey { return &pintle.Passkey{Ceremony: newCeremony(o)} }

// A ceremony implements [pintle.Ceremony].
type ceremony struct{ Options }

func newCeremony(o Options) *ceremony {
	c := &ceremony{o}
	if c.UserVerification == "" {
		c.UserVerification = protocol.VerificationRequired
	}
	if c.ResidentKey == "" {
		c.ResidentKey = protocol.ResidentKeyRequirementRequired
	}
	if c.Attestation == "" {
		c.Attestation = protocol.PreferNoAttestation
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return c
}

// Check reports what of the options cannot work.
func (c *ceremony) Check() error {
	switch c.UserVerification {
	case protocol.VerificationRequired, protocol.VerificationPreferred, protocol.VerificationDiscouraged:
	default:
		return fmt.Errorf("passkey.Options.UserVerification is %q: use required, preferred or discouraged", c.UserVerification)
	}
	switch c.ResidentKey {
	case protocol.ResidentKeyRequirementRequired, protocol.ResidentKeyRequirementPreferred, protocol.ResidentKeyRequirementDiscouraged:
	default:
		return fmt.Errorf("passkey.Options.ResidentKey is %q: use required, preferred or discouraged", c.ResidentKey)
	}
	switch c.Attachment {
	case "", protocol.Platform, protocol.CrossPlatform:
	default:
		return fmt.Errorf("passkey.Options.Attachment is %q: use platform or cross-platform, or leave it empty for both", c.Attachment)
	}
	switch c.Attestation {
	case protocol.PreferNoAttestation, protocol.PreferIndirectAttestation, protocol.PreferDirectAttestation, protocol.PreferEnterpriseAttestation:
	default:
		return fmt.Errorf("passkey.Options.Attestation is %q: use none, indirect, direct or enterprise", c.Attestation)
	}
	if c.Metadata != nil && c.Attestation == protocol.PreferNoAttestation {
		return errors.New("passkey.Options.Metadata has nothing to judge: set Attestation to direct")
	}
	if c.Timeout < time.Second {
		return fmt.Errorf("passkey.Options.Timeout is %v: people need at least a second, and zero means %v", c.Timeout, defaultTimeout)
	}
	return c.checkOrigins()
}
