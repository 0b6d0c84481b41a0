package passkey

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/pintleauth/pintle"
)

// requestOptions has its members in the order of Auth.js.
//
// https://www.w3.org/TR/webauthn-3/#dictdef-publickeycredentialrequestoptionsjson
type requestOptions struct {
	Challenge        string           `json:"challenge"`
	AllowCredentials []descriptor     `json:"allowCredentials,omitempty"`
	Timeout          int64            `json:"timeout"`
	UserVerification UserVerification `json:"userVerification"`
	RPID             string           `json:"rpId"`
}

// AuthenticationOptions implements [pintle.Ceremony].
func (c *ceremony) AuthenticationOptions(_ context.Context, r *pintle.CeremonyRequest) (json.RawMessage, error) {
	rp, err := c.relyingParty(r.Origin)
	if err != nil {
		return nil, err
	}
	verification := c.UserVerification
	if r.RequireUserVerification {
		verification = VerificationRequired
	}
	return json.Marshal(requestOptions{
		Challenge: r.Challenge, AllowCredentials: descriptors(r.Passkeys),
		Timeout: c.Timeout.Milliseconds(), UserVerification: verification, RPID: rp.id,
	})
}

// VerifyAuthentication implements [pintle.Ceremony].
//
// https://www.w3.org/TR/webauthn-3/#sctn-verifying-assertion
func (c *ceremony) VerifyAuthentication(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	a, err := c.verifyAuthentication(r)
	if err != nil {
		return nil, fmt.Errorf("verify a passkey: %w", explain(err))
	}
	return a, nil
}

func (c *ceremony) verifyAuthentication(r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	rp, err := c.relyingParty(r.Origin)
	if err != nil {
		return nil, err
	}
	a, err := readAnswer(r.Answer)
	if err != nil {
		return nil, err
	}
	stored := *r.Passkeys[0]
	key, err := base64.StdEncoding.DecodeString(stored.PublicKey)
	if err != nil || base64.StdEncoding.EncodeToString(a.RawID) != stored.CredentialID {
		return nil, errors.New("the answer is of another credential than the stored one, or its key cannot be read")
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	sent := protocol.CredentialAssertionResponse{PublicKeyCredential: a.credential()}
	sent.AssertionResponse.AuthenticatorData = a.Response.AuthenticatorData
	sent.AssertionResponse.Signature = a.Response.Signature
	sent.AssertionResponse.ClientDataJSON = a.clientData()
	parsed, err := sent.Parse()
	if err != nil {
		return nil, err
	}
	parsed.Raw.AssertionResponse.ClientDataJSON = a.Response.ClientDataJSON
	if err := c.checkClientData(&parsed.Response.CollectedClientData, r.Challenge, rp); err != nil {
		return nil, err
	}
	err = parsed.Verify(r.Challenge, rp.id, "", rp.origins, rp.origins, c.TopOrigins, protocol.TopOriginExplicitVerificationMode,
		len(c.TopOrigins) > 0, c.UserVerification == VerificationRequired || r.RequireUserVerification, true,
		key, protocol.SignaturePolicy{})
	if err != nil {
		return nil, err
	}
	data := parsed.Response.AuthenticatorData
	if err := checkFlags(data.Flags); err != nil {
		return nil, err
	}
	if deviceType(data.Flags) != stored.DeviceType {
		return nil, fmt.Errorf("the authenticator reports a credential that is %s, but it was registered as %s", deviceType(data.Flags), stored.DeviceType)
	}
	stored.Counter, stored.BackedUp = data.Counter, data.Flags.HasBackupState()
	stored.UserVerified = data.Flags.HasUserVerified()
	return &stored, nil
}
