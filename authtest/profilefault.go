package authtest

import "strings"

// Faults of the claims about a person, in the ID token and in every profile.
const (
	EmailMissing         Fault = "returns no e-mail address"
	EmailUppercase       Fault = "writes the e-mail address in capitals"
	EmailUnverified      Fault = "has not verified the e-mail address"
	EmailNull            Fault = "returns null as the e-mail address"
	EmailVerifiedMissing Fault = "does not report whether the e-mail address is verified"
	EmailVerifiedText    Fault = `says that the e-mail address is verified with the text "true"`
	EmailUnverifiedText  Fault = `says that the e-mail address is not verified with the text "false"`
	EmailVerifiedNumber  Fault = "reports that the e-mail address is verified with the number 1"
	NameHostile          Fault = "writes HTML in the name"
	NameMissing          Fault = "returns no name"
)

var personChanges = []change[*Person]{
	{EmailMissing, func(p *Person) { p.Email = "" }},
	{EmailUppercase, func(p *Person) { p.Email = strings.ToUpper(p.Email) }},
	{EmailUnverified, func(p *Person) { p.EmailVerified = false }},
	{NameHostile, func(p *Person) { p.Name = `<script>alert("name")</script>` }},
	{NameMissing, func(p *Person) { p.Name = "" }},
}

var claimChanges = []change[map[string]any]{
	{EmailNull, set("email", nil)},
	{EmailVerifiedMissing, drop("email_verified")},
	{EmailVerifiedText, set("email_verified", "true")},
	{EmailUnverifiedText, set("email_verified", "false")},
	{EmailVerifiedNumber, set("email_verified", 1)},
}

// Faults of the id in the profile of plain OAuth 2.0 and OAuth 1.0a.
const (
	ProfileWithoutID   Fault = "has no id in the profile"
	ProfileNullID      Fault = "has a null id in the profile"
	ProfileEmptyID     Fault = "has an empty id in the profile"
	ProfileZeroID      Fault = "has the id zero in the profile"
	ProfileUndefinedID Fault = `has the id "undefined" in the profile`
	ProfileNilID       Fault = `has the id "<nil>" in the profile`
	ProfileObjectID    Fault = "has an object for an id in the profile"
	ProfileHugeID      Fault = "has an id in the profile that no JavaScript number holds" // honest
	ProfileTextID      Fault = "has the id as text in the profile"                        // honest
	ProfileError       Fault = "reports an error with status 200 instead of a profile"
)

var profileChanges = []change[map[string]any]{
	{ProfileWithoutID, func(b map[string]any) {
		delete(b, "id")
		delete(b, "id_str")
	}},
	{ProfileNullID, setID(nil)},
	{ProfileEmptyID, setID("")},
	{ProfileZeroID, setID(0)},
	{ProfileUndefinedID, setID("undefined")},
	{ProfileNilID, setID("<nil>")},
	{ProfileObjectID, setID(map[string]any{"value": 1})},
	{ProfileHugeID, setID(int64(9007199254740993))},
	{ProfileTextID, setID("1001")},
	{ProfileError, func(b map[string]any) {
		clear(b)
		b["error"] = map[string]any{"code": 5, "message": "user authorization failed"}
	}},
}

// setID replaces the id, and its text form where there is one.
func setID(value any) func(map[string]any) {
	return func(b map[string]any) {
		b["id"] = value
		if _, ok := b["id_str"]; ok {
			b["id_str"] = value
		}
	}
}

// Faults of the userinfo endpoint.
const (
	UserInfoWrongSubject      Fault = "names another subject in userinfo"
	UserInfoWithoutSubject    Fault = "names no subject in userinfo"
	UserInfoEmptySubject      Fault = "names an empty subject in userinfo"
	UserInfoSigned            Fault = "answers userinfo with a JWT"
	UserInfoAggregatedClaims  Fault = "adds claims of another provider to userinfo"
	UserInfoDistributedClaims Fault = "refers to more claims elsewhere in userinfo"
)

// userInfo is a userinfo response about to be sent.
type userInfo struct {
	body          map[string]any
	distributedAt string
}

var userInfoChanges = []change[*userInfo]{
	{UserInfoWrongSubject, func(u *userInfo) { u.body["sub"] = "another-subject" }},
	{UserInfoWithoutSubject, func(u *userInfo) { delete(u.body, "sub") }},
	{UserInfoEmptySubject, func(u *userInfo) { u.body["sub"] = "" }},
	{UserInfoAggregatedClaims, func(u *userInfo) {
		u.body["_claim_names"] = map[string]any{"credit_score": "src1"}
		u.body["_claim_sources"] = map[string]any{"src1": map[string]any{"JWT": "e30.e30.c2ln"}}
	}},
	{UserInfoDistributedClaims, func(u *userInfo) {
		u.body["_claim_names"] = map[string]any{"credit_score": "src1"}
		u.body["_claim_sources"] = map[string]any{"src1": map[string]any{"endpoint": u.distributedAt, "access_token": "at-distributed"}}
	}},
}
