package account

// A Demand is how fresh and how strong the proofs of a session have to be.
type Demand struct{}

func (v *visit) actionDemand() Demand { return Demand{} }
func (v *visit) demand(Demand) error  { return nil }

var errNotYet = problemOf("not_found")

func (v *visit) showAccount() (*view, error)        { return nil, errNotYet }
func (v *visit) showMe() (*view, error)             { return nil, errNotYet }
func (v *visit) showEnrol() (*view, error)          { return nil, errNotYet }
func (v *visit) showTOTP() (*view, error)           { return nil, errNotYet }
func (v *visit) showRecoveryCodes() (*view, error)  { return nil, errNotYet }
func (v *visit) showConfirm() (*view, error)        { return nil, errNotYet }
func (v *visit) enrol() (string, error)             { return "", errNotYet }
func (v *visit) addTOTP() (string, error)           { return "", errNotYet }
func (v *visit) changeFactor() (string, error)      { return "", errNotYet }
func (v *visit) makeRecoveryCodes() (string, error) { return "", errNotYet }
func (v *visit) confirm() (string, error)           { return "", errNotYet }
