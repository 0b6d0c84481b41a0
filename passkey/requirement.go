package passkey

// UserVerification says whether an authenticator verifies its user, by a PIN or a
// biometric.
//
// https://www.w3.org/TR/webauthn-3/#enum-userVerificationRequirement
type UserVerification string

// The values of [Options.UserVerification]. Only VerificationRequired is enforced:
// with the others a user who was not verified can register and sign in.
const (
	VerificationRequired    UserVerification = "required"
	VerificationPreferred   UserVerification = "preferred"
	VerificationDiscouraged UserVerification = "discouraged"
)

// ResidentKey says whether a new credential is discoverable: whether its
// authenticator finds it by the site alone.
//
// https://www.w3.org/TR/webauthn-3/#enum-residentKeyRequirement
type ResidentKey string

// The values of [Options.ResidentKey].
const (
	ResidentKeyRequired    ResidentKey = "required"
	ResidentKeyPreferred   ResidentKey = "preferred"
	ResidentKeyDiscouraged ResidentKey = "discouraged"
)

// Attachment is how an authenticator is connected to the device of the user.
//
// https://www.w3.org/TR/webauthn-3/#enum-attachment
type Attachment string

// The values of [Options.Attachment]: authenticators of the device itself, and
// others, such as security keys and phones.
const (
	AttachmentPlatform      Attachment = "platform"
	AttachmentCrossPlatform Attachment = "cross-platform"
)

// AttestationConveyance says which attestation a site requests.
//
// https://www.w3.org/TR/webauthn-3/#enum-attestation-convey
type AttestationConveyance string

// The values of [Options.Attestation]. With AttestationIndirect the browser may
// replace the attestation by one of an anonymization CA. AttestationEnterprise
// may identify the single authenticator, and works where the administrator of the
// browser has listed the site.
const (
	AttestationNone       AttestationConveyance = "none"
	AttestationIndirect   AttestationConveyance = "indirect"
	AttestationDirect     AttestationConveyance = "direct"
	AttestationEnterprise AttestationConveyance = "enterprise"
)
