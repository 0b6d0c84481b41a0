package main

import (
	"strings"

	"github.com/pintleauth/pintle/userimport"
)

// withOption adds to the reason of an outcome which option of the command stores the user all
// the same. Package userimport names what a program can do.
func withOption(o userimport.Outcome) userimport.Outcome {
	partial := strings.HasPrefix(o.Reason, "password: ") || strings.HasPrefix(o.Reason, "authenticator app: ")
	if o.Status == userimport.Refused && partial {
		o.Reason = strings.TrimSuffix(o.Reason, ": wrap it with Hasher.Wrap") + ": with -partial the user is stored without it"
	}
	return o
}
