package account

var errNotYet = problemOf("not_found")

func (v *visit) showEnrol() (*view, error)          { return nil, errNotYet }
func (v *visit) showTOTP() (*view, error)           { return nil, errNotYet }
func (v *visit) showRecoveryCodes() (*view, error)  { return nil, errNotYet }
func (v *visit) enrol() (string, error)             { return "", errNotYet }
func (v *visit) addTOTP() (string, error)           { return "", errNotYet }
func (v *visit) changeFactor() (string, error)      { return "", errNotYet }
func (v *visit) makeRecoveryCodes() (string, error) { return "", errNotYet }
