package passkey

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
)

// An answer is what a browser makes of a credential. Members that are not here,
// the outputs of extensions among them, are not read.
//
// https://www.w3.org/TR/webauthn-3/#dictdef-registrationresponsejson
// https://www.w3.org/TR/webauthn-3/#dictdef-authenticationresponsejson
type answer struct {
	ID       string                    `json:"id"`
	RawID    protocol.URLEncodedBase64 `json:"rawId"`
	Type     string                    `json:"type"`
	Response struct {
		ClientDataJSON    protocol.URLEncodedBase64 `json:"clientDataJSON"`
		AttestationObject protocol.URLEncodedBase64 `json:"attestationObject"`
		Transports        []string                  `json:"transports"`
		AuthenticatorData protocol.URLEncodedBase64 `json:"authenticatorData"`
		Signature         protocol.URLEncodedBase64 `json:"signature"`
	} `json:"response"`
}

func readAnswer(text []byte) (*answer, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, errors.New("the answer is no JSON of a credential")
	}
	return &a, nil
}

func (a *answer) credential() protocol.PublicKeyCredential {
	return protocol.PublicKeyCredential{
		Credential: protocol.Credential{ID: a.ID, Type: a.Type},
		RawID:      a.RawID,
	}
}

// clientData is what the browser signed, without the byte order mark that may
// precede JSON. The signature is over all of it.
//
// https://encoding.spec.whatwg.org/#utf-8-decode
func (a *answer) clientData() []byte {
	return bytes.TrimPrefix(a.Response.ClientDataJSON, []byte("\ufeff"))
}

// checkClientData checks what the browser says of where it was asked for what,
// more closely than the library: that compares hosts, and this origins.
func (c *ceremony) checkClientData(said *protocol.CollectedClientData, challenge string, rp *relyingParty) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(said.Challenge), []byte(challenge)) != 1:
		return errors.New("the answer is to another challenge")
	case !slices.Contains(rp.origins, said.Origin):
		return fmt.Errorf("the answer was made at %q, and %q is allowed", said.Origin, rp.origins)
	case (said.CrossOrigin || said.TopOrigin != "") && !slices.Contains(c.TopOrigins, said.TopOrigin):
		return fmt.Errorf("the answer was made in a frame of %q, which is not in passkey.Options.TopOrigins", said.TopOrigin)
	}
	return nil
}

// checkFlags checks what flags say of each other.
//
// https://www.w3.org/TR/webauthn-3/#sctn-credential-backup
func checkFlags(flags protocol.AuthenticatorFlags) error {
	if flags.HasBackupState() && !flags.HasBackupEligible() {
		return errors.New("the authenticator says that the credential is backed up and cannot be")
	}
	return nil
}

// deviceType is the name of Auth.js for whether a credential can be backed up.
func deviceType(flags protocol.AuthenticatorFlags) string {
	if flags.HasBackupEligible() {
		return "multiDevice"
	}
	return "singleDevice"
}

// explain makes an error of the library say what is wrong, which it keeps in
// another field. Challenges were compared before, so that none is in there.
func explain(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.DevInfo != "" {
		return fmt.Errorf("%s: %s", e.Details, e.DevInfo)
	}
	return err
}
