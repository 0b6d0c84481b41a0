package mds_test

import (
	"context"
	"errors"
	"log"

	"github.com/go-webauthn/webauthn/metadata/providers/cached"

	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/mds"
)

// A site accepts the security keys that the FIDO Alliance lists and that have no
// known weakness. The list is kept in a file and fetched when it is out of date.
func ExampleTrust() {
	listed, err := cached.New(cached.WithPath("/var/cache/fido-mds.jwt"))
	if err != nil {
		log.Fatal(err)
	}
	keys := passkey.New(passkey.Options{
		Attachment:  passkey.AttachmentCrossPlatform,
		Attestation: passkey.AttestationDirect,
		Trust:       mds.Trust(listed),
	})
	keys.SignInOnly = true
}

// A company accepts the one model that it gives to its employees.
func ExampleTrust_model() {
	listed, err := cached.New(cached.WithPath("/var/cache/fido-mds.jwt"))
	if err != nil {
		log.Fatal(err)
	}
	ours := [16]byte{0x2f, 0xc0, 0x57, 0x9f, 0x81, 0x13, 0x47, 0xea, 0xb1, 0x16, 0xbb, 0x5a, 0x8d, 0xb9, 0x20, 0x2a}
	isGenuine := mds.Trust(listed)

	keys := passkey.New(passkey.Options{
		Attestation: passkey.AttestationDirect,
		Trust: func(ctx context.Context, a *passkey.Attestation) error {
			if a.AAGUID != ours {
				return errors.New("the authenticator is not a key of the company")
			}
			return isGenuine(ctx, a)
		},
	})
	keys.SignInOnly = true
}
