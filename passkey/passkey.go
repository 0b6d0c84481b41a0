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

// Options describe the relying party and what it requires of authenticators. The
// zero value is a site with one host name and discoverable credentials that
// verify the user.
type Options struct {
	// RPID is the domain that passkeys belong to: the host name of the site, or
	// a domain above it. Empty means the host name of each request. Passkeys
	// made for one domain do not work for another.
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

	// TopOrigins are the origins whose pages may embed a page of this site that
	// uses passkeys. Empty means that passkeys do not work in a frame of another
	// origin.
	TopOrigins []string

	// UserVerification is "required", "preferred" or "discouraged". Empty means
	// "required". With the others the possession of the authenticator is enough
	// to sign in.
	//
	// https://www.w3.org/TR/webauthn-3/#enum-userVerificationRequirement
	UserVerification protocol.UserVerificationRequirement

	// ResidentKey sets whether new credentials must be discoverable:
	// "required", "preferred" or "discouraged". Empty means "required".
	//
	// https://www.w3.org/TR/webauthn-3/#enum-residentKeyRequirement
	ResidentKey protocol.ResidentKeyRequirement

	// Attachment restricts new credentials to those of the device,
	// "platform", or of others, "cross-platform". Empty means both.
	Attachment protocol.AuthenticatorAttachment

	// Attestation is "none", "indirect", "direct" or "enterprise". Empty means
	// "none". Set another only to verify it with Metadata: some browsers ask
	// the user for permission.
	Attestation protocol.ConveyancePreference

	// Metadata decides which authenticators are trusted. Nil trusts all.
	Metadata metadata.Provider

	// Timeout is how long the browser waits for the user. Zero means 5 minutes.
	// The server accepts the response for 15 minutes, regardless of Timeout.
	Timeout time.Duration
}

// New returns a provider with the id "passkey". Its fields may be changed until
// it is passed to [pintle.New], which returns an error if o is invalid.
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

// Check reports invalid options.
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
		return fmt.Errorf("passkey.Options.Timeout is %v: use at least a second; zero means %v", c.Timeout, defaultTimeout)
	}
	return c.checkOrigins()
}
