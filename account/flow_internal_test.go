package account

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

func TestThePayloadOfAFlowOpensAsLongAsTheFlowLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := newBoxes(&pintle.Config{Secrets: []string{strings.Repeat("secret ", 6)}})
		if err != nil {
			t.Fatal(err)
		}
		a := &Accounts{boxes: b}
		for _, k := range []kind{signUpKind, resetKind, secondKind, enrolKind, proveKind, confirmKind, totpKind} {
			now := time.Now()
			f := &flow{Flow: &accountstore.Flow{Kind: k.name, Expires: now.Add(k.life)}, payload: payload{Email: "ada@example.com"}}
			if err := a.sealPayload(f); err != nil {
				t.Fatal(err)
			}
			time.Sleep(k.life - time.Second)
			if again, err := a.openFlow(k, f.Flow); err != nil || again.payload.Email != "ada@example.com" {
				t.Errorf("a flow %s does not open a second before its end: %v", k.name, err)
			}
			time.Sleep(time.Second)
			if _, err := a.openFlow(k, f.Flow); err == nil {
				t.Errorf("a flow %s opens at its end", k.name)
			}
		}
	})
}
