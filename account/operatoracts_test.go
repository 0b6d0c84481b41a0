package account_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// AC-182, AC-185: an import gives roles and passwords, and an export shows what a user has.
func TestAnImportAndAnExportAreRecordedBeforeAndAfter(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	ops := s.accounts.Operators()
	ctx := account.WithOperatorName(account.WithOperator(t.Context(), "operator:cli"), strings.Repeat("ä", 300)+"\x00\n")
	for kind, record := range map[string]func(run func() error) error{
		"op_exported": func(run func() error) error { return ops.RecordExport(ctx, u.ID, run) },
		"op_imported": func(run func() error) error {
			return ops.RecordImport(ctx, func() (account.ImportCounts, error) { return account.ImportCounts{Stored: 1000, Refused: 3}, run() })
		},
	} {
		about, details := u.ID, ""
		if kind == "op_imported" {
			about, details = "", "1000 3"
		}
		query := accountstore.ActivityQuery{Kind: kind, Actor: "operator:cli"}
		for outcome, cause := range map[string]error{"ok": nil, "failed": errors.New("the disk is full")} {
			err := record(func() error {
				if e := s.everything(query)[0]; e.Outcome != "begun" || e.UserID != about {
					t.Errorf("the beginning of %s is %+v", kind, e)
				}
				return cause
			})
			if !errors.Is(err, cause) {
				t.Errorf("%s returns %v", kind, err)
			}
			e := s.everything(query)[0]
			if got := strings.TrimSpace(e.Detail["number"] + " " + e.Detail["refused"]); e.Outcome != outcome || e.UserID != about || got != details {
				t.Errorf("the end of %s is %+v, want the outcome %s", kind, e, outcome)
			}
			if name := e.Detail["operator"]; len([]rune(name)) != 64 || strings.Trim(name, "ä…") != "" {
				t.Errorf("the name of the operator is %q", name)
			}
		}
	}
	never := func() error { t.Error("it is done"); return nil }
	if err := ops.RecordExport(ctx, "nobody", never); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the export of a user who is not in the store returns %v", err)
	}
}
