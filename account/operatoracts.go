package account

import (
	"context"
)

// ImportCounts are how many users an import has stored, and how many it has refused.
type ImportCounts struct{ Stored, Refused int }

// RecordImport calls run, which stores users of another system, for example with package
// userimport, and records it as an act "op_imported" of the operator of ctx. The beginning is
// recorded before run: if that fails, run is not called. After run the counts are recorded, and
// whether it returned an error. RecordImport returns that error.
func (o *Operators) RecordImport(ctx context.Context, run func() (ImportCounts, error)) error {
	if err := o.ready("RecordImport"); err != nil {
		return err
	}
	by, err := operator(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	n := entry{kind: actImported, outcome: outcomeBegun, actor: by}
	if err := o.a.record(ctx, n); err != nil {
		return err
	}
	counts, err := run()
	n.outcome = outcomeOK
	if err != nil {
		n.outcome = outcomeFailed
	}
	n.detail = []string{detailNumber, number(counts.Stored), detailRefused, number(counts.Refused)}
	o.a.note(ctx, n)
	return err
}

// RecordExport calls run, which reads out the data of a user, and records it as an act
// "op_exported" of the operator of ctx, as [Operators.RecordImport] does for an import.
func (o *Operators) RecordExport(ctx context.Context, userID string, run func() error) error {
	u, err := o.of(ctx, "RecordExport", userID)
	if err != nil {
		return err
	}
	return o.act(ctx, actExported, u.ID, func(context.Context) error { return run() })
}
