package passkey_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

func TestTheSiteDecidesWhichAuthenticatorsItTrusts(t *testing.T) {
	var asked []*passkey.Attestation
	var refusal error
	s := newSite(t, func(s *site) {
		s.Attestation = passkey.AttestationDirect
		s.Trust = func(_ context.Context, a *passkey.Attestation) error {
			asked = append(asked, a)
			return refusal
		}
	})

	model := [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	k := passkeytest.New()
	selfAttested(nil)(k)
	withKey := k.AuthenticatorData
	k.AuthenticatorData = func(d []byte) []byte {
		copy(d[37:], model[:])
		return withKey(d)
	}
	b := s.browser()
	action, text := b.answering(k, "email", "ada@example.com")
	if code := b.send(action, text); code != "" {
		t.Fatalf("error %q; log:\n%s", code, &s.log)
	}
	var a map[string]any
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	client, _ := base64.RawURLEncoding.DecodeString(response(a)["clientDataJSON"].(string))
	object, _ := base64.RawURLEncoding.DecodeString(response(a)["attestationObject"].(string))
	hash := sha256.Sum256(client)
	if len(asked) != 1 {
		t.Fatalf("the site was asked %d times", len(asked))
	}
	if asked[0].AAGUID != model || asked[0].Format != "packed" ||
		!bytes.Equal(asked[0].Object, object) || !bytes.Equal(asked[0].ClientDataHash, hash[:]) {
		t.Errorf("the site was asked about %+v", asked[0])
	}

	refusal = errors.New("we have bought none of these")
	b = s.browser()
	if code := b.try(passkeytest.New(), "email", "eve@example.com"); code != "WebAuthnVerificationError" || b.signedInAs() != "" {
		t.Errorf("an authenticator that is rejected: error %q, signed in %q", code, b.signedInAs())
	}
	if len(asked) != 2 || asked[1].AAGUID != [16]byte{} || asked[1].Format != "none" {
		t.Errorf("the site was asked about %+v, want one that attests nothing", asked[1:])
	}
	if !s.logged("we have bought none of these") {
		t.Errorf("the log does not have the reason:\n%s", &s.log)
	}
}

// WA-9: an attestation is verified before the site decides by it.
func TestTheSiteIsAskedOnlyAboutWhatIsVerified(t *testing.T) {
	for name, forge := range map[string]func(*passkeytest.Authenticator){
		"another origin":     clientData("origin", "https://evil.example"),
		"a wrong signature":  selfAttested(func(statement map[string]any) { statement["sig"].([]byte)[9] ^= 1 }),
		"an impossible flag": flags(passkeytest.UserPresent | passkeytest.UserVerified | passkeytest.BackupState),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				s.Attestation = passkey.AttestationDirect
				s.Trust = func(context.Context, *passkey.Attestation) error {
					t.Error("the site was asked")
					return nil
				}
			})
			k := passkeytest.New()
			forge(k)
			if code := s.browser().try(k, "email", "eve@example.com"); code != "WebAuthnVerificationError" {
				t.Errorf("error %q", code)
			}
		})
	}
}
