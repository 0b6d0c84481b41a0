package authtest

import (
	"net/url"
	"slices"
)

// A Fault is one way in which a provider can misbehave; its text completes
// "the provider …", for the names of tests. Set faults with
// [IdentityProvider.Break]. The constants are grouped by the response they spoil;
// [At] returns the faults of whole endpoints.
type Fault string

// At returns the fault of e failing with o.
func At(e Endpoint, o Outage) Fault { return Fault(string(e) + " " + string(o)) }

// Faults returns every fault that has a constant, but for those of [FAPI2Faults], in the
// order in which they apply. Test an application with all of them: most must stop a sign-in, and none
// may cause a panic, a hang or a session of the wrong user.
func Faults() []Fault {
	all := slices.Concat(
		faultsOf(discoveryChanges), faultsOf(keySetChanges),
		faultsOf(responseChanges),
		faultsOf(tokenErrorChanges), faultsOf(tokenChanges), faultsOf(idTokenChanges), faultsOf(idTokenForms),
		faultsOf(personChanges), faultsOf(claimChanges), faultsOf(profileChanges), faultsOf(userInfoChanges),
		faultsOf(oauth1TemporaryChanges), faultsOf(oauth1ResponseChanges), faultsOf(oauth1AccessChanges), faultsOf(logoutChanges),
		behaviours,
	)
	return all
}

// FAPI2Faults returns the faults that only clients see which push their requests or have
// their tokens bound to a key.
func FAPI2Faults() []Fault {
	return slices.Concat(faultsOf(pushChanges), faultsOf(boundTypes),
		[]Fault{DPoPNonceNeverRight, DPoPNonceMalformed, DPoPNonceMissing, DPoPChallengeOddCase})
}

// behaviours are the faults that do not change a response but the behaviour of the
// provider; the code with that behaviour checks for them.
var behaviours = []Fault{
	KeysRotateBeforeSigning, PKCEIgnored, CodeReplayAllowed, RefreshTokenReuseAllowed,
	TokenErrorWithStatus200, TokenFormEncoded, UserInfoSigned, RemembersItsUser,
}

// Break adds faults to those the provider has. They apply from the next request
// until [IdentityProvider.Repair].
func (p *IdentityProvider) Break(faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = slices.Concat(p.faults, faults) // a new slice: requests under way keep theirs
}

// Repair ends all faults, and removes the functions of [IdentityProvider.Tamper].
func (p *IdentityProvider) Repair() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
	p.tamper = Tamper{}
}

// A Tamper changes the responses of the provider, for misbehaviour that no [Fault]
// describes. Its functions run after the faults, may be called concurrently, and
// may be nil.
type Tamper struct {
	Discovery func(document map[string]any)
	Response  func(parameters url.Values) // of the redirect back to the application
	Token     func(body map[string]any)
	IDToken   func(header, claims map[string]any) // before it is signed
	Profile   func(body map[string]any)           // userinfo, user and OAuth 1.0a account
}

// Tamper replaces the functions that change the responses of the provider.
func (p *IdentityProvider) Tamper(t Tamper) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tamper = t
}

// A faultSet is the faults at the moment a request came in.
type faultSet []Fault

func (s faultSet) has(f Fault) bool { return slices.Contains(s, f) }

// A change is the change of a fault to a T before it is sent.
type change[T any] struct {
	fault Fault
	apply func(T)
}

// spoil applies the changes whose faults are in s to what.
func spoil[T any](s faultSet, changes []change[T], what T) {
	for _, c := range changes {
		if s.has(c.fault) {
			c.apply(what)
		}
	}
}

func faultsOf[T any](changes []change[T]) []Fault {
	faults := make([]Fault, len(changes))
	for i, c := range changes {
		faults[i] = c.fault
	}
	return faults
}

// set and drop are the two things most faults do.
func set(name string, value any) func(map[string]any) {
	return func(m map[string]any) { m[name] = value }
}

func drop(name string) func(map[string]any) {
	return func(m map[string]any) { delete(m, name) }
}
