// Package mds accepts passkeys of the authenticators that metadata describes,
// such as that of the FIDO Alliance. It connects [passkey.Options] with the
// metadata providers of github.com/go-webauthn/webauthn, whose types it names: a
// new version of that library can change this package.
//
// https://fidoalliance.org/metadata/
package mds

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/metadata"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/pintleauth/pintle/passkey"
)

// Trust returns a value for [passkey.Options.Trust]. It rejects an attestation
// unless p accepts its authenticator. The providers of metadata/providers require
// an entry for the AAGUID, a kind of attestation that the entry lists, status
// reports without an undesired status, and a chain of certificates to a root of
// the entry, and can be set otherwise.
//
// A passkey without an attestation is rejected, whatever p is set to. Passkeys
// that are synchronised have none.
//
// p gets a context that is never cancelled: the library passes no other. It must
// be safe for concurrent use.
func Trust(p metadata.Provider) func(context.Context, *passkey.Attestation) error {
	return func(_ context.Context, a *passkey.Attestation) error { return verify(p, a) }
}

func verify(p metadata.Provider, a *passkey.Attestation) error {
	if p == nil { // the library would accept every authenticator
		return errors.New("mds: no metadata provider is set")
	}
	var object protocol.AttestationObject
	if err := webauthncbor.Unmarshal(a.Object, &object); err != nil {
		return fmt.Errorf("mds: read the attestation: %w", err)
	}
	// A client that leaves the attestation out can name any AAGUID. The library
	// accepts that.
	if object.Format == string(protocol.AttestationFormatNone) {
		return errors.New("mds: the authenticator attests nothing")
	}
	if err := object.AuthData.Unmarshal(object.RawAuthData); err != nil {
		return fmt.Errorf("mds: read the authenticator data: %w", err)
	}
	err := object.VerifyAttestation(a.ClientDataHash, p, protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return fmt.Errorf("mds: %s: %s", e.Details, e.DevInfo)
	}
	return err
}
