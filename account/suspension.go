package account

import "log/slog"

// acceptCodes ends a suspension of codes after a proof that is no such code. An error is recorded:
// the proof was good, and the next one ends the suspension.
func (v *visit) acceptCodes(userID string) {
	if err := v.endSuspension(v.ctx, userID); err != nil {
		v.log().WarnContext(v.ctx, "pintle: suspension of codes not ended", slog.String("code", codeIncomplete),
			slog.String("user", userID), slog.Any("error", err))
	}
}
