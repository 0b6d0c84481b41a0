package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// AC-182, AC-185: an import gives roles and passwords, and an export shows what a user has.
func TestAnImportAndAnExportAreRecordedBeforeAndAfter(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	ops := s.accounts.Operators()
	ctx := account.WithOperatorName(account.WithOperator(t.Context(), "operator:cli"), strings.Repeat("ä", 300)+"\x00\n")
	for _, act := range []account.Act{{Kind: "op_imported"}, {Kind: "op_exported", UserID: u.ID}} {
		for outcome, cause := range map[string]error{"ok": nil, "failed": errors.New("the disk is full")} {
			finish, err := ops.Begin(ctx, act)
			s.done(err)
			query := accountstore.ActivityQuery{Kind: act.Kind, Actor: "operator:cli"}
			if e := s.everything(query)[0]; e.Outcome != "begun" || e.UserID != act.UserID {
				t.Errorf("the beginning of %+v is %+v", act, e)
			}
			if err := finish(account.ActResult{Done: 1000, Refused: 3}, cause); !errors.Is(err, cause) {
				t.Errorf("finish returns %v", err)
			}
			e := s.everything(query)[0]
			if e.Outcome != outcome || e.Detail["number"] != "1000" || e.Detail["refused"] != "3" {
				t.Errorf("the end of %+v is %+v, want the outcome %s", act, e, outcome)
			}
			if name := e.Detail["operator"]; len([]rune(name)) != 64 || strings.Trim(name, "ä…") != "" {
				t.Errorf("the name of the operator is %q", name)
			}
		}
	}
	for _, act := range []account.Act{{}, {Kind: "op_ban", UserID: u.ID}, {Kind: "op_exported"}, {Kind: "op_imported", UserID: u.ID}} {
		if _, err := ops.Begin(ctx, act); err == nil {
			t.Errorf("%+v begins", act)
		}
	}
	if _, err := account.New(account.Options{}).Operators().Begin(ctx, account.Act{Kind: "op_imported"}); err == nil {
		t.Error("an act begins before there is a configuration")
	}
}
