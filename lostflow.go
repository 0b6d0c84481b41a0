package pintle

import (
	"errors"
	"fmt"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
)

// What became of a flow that a browser came back from and that cannot be
// completed. The sign-in page is given it as the parameter "code", and says what
// to do.
const (
	flowExpired  = "flow_expired"
	flowReplaced = "flow_replaced" // by one that the browser began later
	flowUsed     = "flow_used"
	flowUnknown  = "flow_unknown" // to this browser
)

// lostFlow adds to an error what became of the flow. The cookies of a browser are
// those of one flow, as with Auth.js: of two tabs that sign in, the one that began
// later has them. The state of a response is sealed, so that it shows whether it
// is one of this site, and how old.
func (x *exchange) lostFlow(p *provider, params query.Values, kept *keptChecks, err error) error {
	state, _ := params.Last("state")
	_, unopened := x.openState(state)
	expired := errors.Is(unopened, sealed.ErrExpired)
	ours := unopened == nil || expired
	e, invalid := errors.AsType[*Error](err)
	switch other := errors.Is(err, handshake.ErrOtherFlow); {
	case other && kept.values[State] != "" && (ours || p.oauth.Protocol == OAuth1):
		return &Error{
			Code: codeCallbackRoute, Detail: flowReplaced, Provider: p.id,
			Err: fmt.Errorf("%w: a sign-in that began later in this browser, mostly in another tab, took its place", err),
		}
	case other || !invalid || e.Code != ErrInvalidCheck || e.Detail != "":
		return err
	}
	lost := *e
	lost.Detail = flowUnknown
	if expired {
		lost.Detail = flowExpired
	}
	return &lost
}
