package pintle

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/slogtest"
)

// The handler that lowers the level is a handler like any other.
func TestADebugHandlerKeepsTheRulesOfSlog(t *testing.T) {
	var text bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		text.Reset()
		return debugHandler{slog.NewJSONHandler(&text, nil)}
	}, func(t *testing.T) map[string]any {
		record := map[string]any{}
		if err := json.Unmarshal(text.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		return record
	})
	text.Reset()
	slog.New(debugHandler{slog.NewJSONHandler(&text, nil)}).With("a", 1).WithGroup("g").DebugContext(t.Context(), "shown")
	if text.Len() == 0 {
		t.Error("with attributes the level is that of the handler again")
	}
}
