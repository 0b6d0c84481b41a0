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

// An answer is a browser's response of a ceremony. Other members, including the
// outputs of extensions, are ignored.
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

// clientData is the client data without the byte order mark that may precede
// JSON. The signature covers the byte order mark, too.
//
// https://encoding.spec.whatwg.org/#utf-8-decode
func (a *answer) clientData() []byte {
	return bytes.TrimPrefix(a.Response.ClientDataJSON, []byte("\ufeff"))
}

// checkClientData checks ceremony, challenge and origin in the client data. It is
// stricter than the library, which compares hosts instead of origins.
func (c *ceremony) checkClientData(data *protocol.CollectedClientData, challenge string, rp *relyingParty) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(data.Challenge), []byte(challenge)) != 1:
		return errors.New("the answer is to another challenge")
	case !slices.Contains(rp.origins, data.Origin):
		return fmt.Errorf("the answer was made at %q, and %q is allowed", data.Origin, rp.origins)
	case (data.CrossOrigin || data.TopOrigin != "") && !slices.Contains(c.TopOrigins, data.TopOrigin):
		return fmt.Errorf("the answer was made in a frame of %q, which is not in passkey.Options.TopOrigins", data.TopOrigin)
	}
	return nil
}

// checkFlags rejects flags that contradict each other.
//
// https://www.w3.org/TR/webauthn-3/#sctn-credential-backup
func checkFlags(flags protocol.AuthenticatorFlags) error {
	if flags.HasBackupState() && !flags.HasBackupEligible() {
		return errors.New("the authenticator reports a credential that is backed up and cannot be backed up")
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

// explain adds the details of an error of the library, which are in another
// field, to its text. Challenges are compared before, so the text has none.
func explain(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.DevInfo != "" {
		return fmt.Errorf("%s: %s", e.Details, e.DevInfo)
	}
	return err
}
