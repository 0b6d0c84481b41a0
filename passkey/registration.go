package passkey

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/pintleauth/pintle"
)

// creationOptions has its members in the order of Auth.js.
//
// https://www.w3.org/TR/webauthn-3/#dictdef-publickeycredentialcreationoptionsjson
type creationOptions struct {
	Challenge string `json:"challenge"`
	RP        struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"rp"`
	User struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		DisplayName string `json:"displayName"`
	} `json:"user"`
	PubKeyCredParams       []credParam           `json:"pubKeyCredParams"`
	Timeout                int64                 `json:"timeout"`
	Attestation            AttestationConveyance `json:"attestation"`
	ExcludeCredentials     []descriptor          `json:"excludeCredentials"`
	AuthenticatorSelection struct {
		Attachment         Attachment       `json:"authenticatorAttachment,omitempty"`
		ResidentKey        ResidentKey      `json:"residentKey"`
		UserVerification   UserVerification `json:"userVerification"`
		RequireResidentKey bool             `json:"requireResidentKey"`
	} `json:"authenticatorSelection"`
	Extensions struct {
		CredProps bool `json:"credProps"`
	} `json:"extensions"`
}

type credParam struct {
	Alg  int    `json:"alg"`
	Type string `json:"type"`
}

// RegistrationOptions implements [pintle.Ceremony].
func (c *ceremony) RegistrationOptions(_ context.Context, r *pintle.CeremonyRequest) (json.RawMessage, error) {
	rp, err := c.relyingParty(r.Origin)
	if err != nil {
		return nil, err
	}
	o := creationOptions{
		Challenge: r.Challenge, Timeout: c.Timeout.Milliseconds(),
		Attestation: c.Attestation, ExcludeCredentials: descriptors(r.Passkeys),
	}
	o.RP.Name, o.RP.ID = rp.name, rp.id
	o.User.ID, o.User.Name, o.User.DisplayName = r.UserHandle, r.User.Email, r.User.Name
	if o.User.DisplayName == "" {
		o.User.DisplayName = r.User.Email
	}
	for _, alg := range algorithms {
		o.PubKeyCredParams = append(o.PubKeyCredParams, credParam{int(alg), "public-key"})
	}
	o.AuthenticatorSelection.Attachment = c.Attachment
	o.AuthenticatorSelection.ResidentKey = c.ResidentKey
	o.AuthenticatorSelection.UserVerification = c.UserVerification
	if r.RequireUserVerification {
		o.AuthenticatorSelection.UserVerification = VerificationRequired
	}
	o.AuthenticatorSelection.RequireResidentKey = c.ResidentKey == ResidentKeyRequired
	o.Extensions.CredProps = true
	return json.Marshal(o)
}

// VerifyRegistration implements [pintle.Ceremony].
//
// https://www.w3.org/TR/webauthn-3/#sctn-registering-a-new-credential
func (c *ceremony) VerifyRegistration(ctx context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	a, err := c.verifyRegistration(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("verify a new passkey: %w", explain(err))
	}
	return a, nil
}

func (c *ceremony) verifyRegistration(ctx context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	rp, err := c.relyingParty(r.Origin)
	if err != nil {
		return nil, err
	}
	a, err := readAnswer(r.Answer)
	if err != nil {
		return nil, err
	}
	sent := protocol.CredentialCreationResponse{PublicKeyCredential: a.credential()}
	sent.AttestationResponse.AttestationObject = a.Response.AttestationObject
	sent.AttestationResponse.ClientDataJSON = a.clientData()
	parsed, err := sent.Parse()
	if err != nil {
		return nil, err
	}
	parsed.Raw.AttestationResponse.ClientDataJSON = a.Response.ClientDataJSON
	if err := c.checkClientData(&parsed.Response.CollectedClientData, r.Challenge, rp); err != nil {
		return nil, err
	}
	var params []protocol.CredentialParameter
	for _, alg := range algorithms {
		params = append(params, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: alg})
	}
	clientDataHash, err := parsed.Verify(r.Challenge, rp.id, rp.origins, rp.origins, c.TopOrigins, protocol.TopOriginExplicitVerificationMode,
		len(c.TopOrigins) > 0, c.UserVerification == VerificationRequired || r.RequireUserVerification, true,
		nil, params, protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return nil, err
	}
	data := parsed.Response.AttestationObject.AuthData
	if err := checkFlags(data.Flags); err != nil {
		return nil, err
	}
	if err := checkKey(data.AttData.CredentialPublicKey); err != nil {
		return nil, err
	}
	if c.Trust != nil {
		err := c.Trust(ctx, &Attestation{
			AAGUID:         [16]byte(data.AttData.AAGUID),
			Format:         parsed.Response.AttestationObject.Format,
			Object:         a.Response.AttestationObject,
			ClientDataHash: clientDataHash,
		})
		if err != nil {
			return nil, fmt.Errorf("passkey.Options.Trust rejects the authenticator: %w", err)
		}
	}
	return &pintle.Passkey{
		CredentialID: base64.StdEncoding.EncodeToString(data.AttData.CredentialID),
		PublicKey:    base64.StdEncoding.EncodeToString(data.AttData.CredentialPublicKey),
		Counter:      data.Counter,
		DeviceType:   deviceType(data.Flags),
		BackedUp:     data.Flags.HasBackupState(),
		UserVerified: data.Flags.HasUserVerified(),
		Transports:   transports(a.Response.Transports),
		Name:         maker(data.AttData.AAGUID),
	}, nil
}
