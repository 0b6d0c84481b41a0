package passkey

import (
	"context"
	"errors"
	"fmt"
	"time"

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

	// UserVerification says whether the authenticator verifies the user, by a
	// PIN or a biometric. Empty means [VerificationRequired]. With the others the
	// possession of the authenticator is enough to sign in.
	UserVerification UserVerification

	// ResidentKey says whether new credentials must be discoverable, so that
	// users need not type a name. Empty means [ResidentKeyRequired].
	ResidentKey ResidentKey

	// Attachment restricts which authenticators make new credentials. Empty
	// means no restriction.
	Attachment Attachment

	// Attestation says which attestation of new credentials the site requests.
	// Empty means [AttestationNone]. Set another only together with Trust: some
	// browsers ask the user for permission.
	Attestation AttestationConveyance

	// Trust decides whether a new credential is accepted, by the attestation of
	// its authenticator. It is called after everything else is verified; its
	// error rejects the registration, and is logged. It may be called
	// concurrently. Nil accepts every authenticator. Package
	// [github.com/pintleauth/pintle/passkey/mds] decides by the metadata of the
	// FIDO Alliance.
	Trust func(context.Context, *Attestation) error

	// Timeout is how long the browser waits for the user. Zero means 5 minutes.
	// The server accepts the response for 15 minutes, regardless of Timeout.
	Timeout time.Duration
}

// New returns a provider with the id "passkey". Its fields may be changed until
// it is passed to [pintle.New], which returns an error if o is invalid.
func New(o Options) *pintle.WebAuthn { return &pintle.WebAuthn{Ceremony: newCeremony(o)} }

// A ceremony implements [pintle.Ceremony].
type ceremony struct{ Options }

func newCeremony(o Options) *ceremony {
	c := &ceremony{o}
	if c.UserVerification == "" {
		c.UserVerification = VerificationRequired
	}
	if c.ResidentKey == "" {
		c.ResidentKey = ResidentKeyRequired
	}
	if c.Attestation == "" {
		c.Attestation = AttestationNone
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return c
}

// Check reports invalid options.
func (c *ceremony) Check() error {
	switch c.UserVerification {
	case VerificationRequired, VerificationPreferred, VerificationDiscouraged:
	default:
		return fmt.Errorf("passkey.Options.UserVerification is %q: use required, preferred or discouraged", c.UserVerification)
	}
	switch c.ResidentKey {
	case ResidentKeyRequired, ResidentKeyPreferred, ResidentKeyDiscouraged:
	default:
		return fmt.Errorf("passkey.Options.ResidentKey is %q: use required, preferred or discouraged", c.ResidentKey)
	}
	switch c.Attachment {
	case "", AttachmentPlatform, AttachmentCrossPlatform:
	default:
		return fmt.Errorf("passkey.Options.Attachment is %q: use platform or cross-platform, or leave it empty for both", c.Attachment)
	}
	switch c.Attestation {
	case AttestationNone, AttestationIndirect, AttestationDirect, AttestationEnterprise:
	default:
		return fmt.Errorf("passkey.Options.Attestation is %q: use none, indirect, direct or enterprise", c.Attestation)
	}
	if c.Trust != nil && c.Attestation == AttestationNone {
		return errors.New("passkey.Options.Trust has no attestation to decide by: set Attestation to direct")
	}
	if c.Timeout < time.Second {
		return fmt.Errorf("passkey.Options.Timeout is %v: use at least a second; zero means %v", c.Timeout, defaultTimeout)
	}
	return c.checkOrigins()
}
