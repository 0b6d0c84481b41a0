package pintle_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// entries are the records of the log.
func (l *logBook) entries(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(l.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		all = append(all, entry)
	}
	return all
}

// level returns the level of the latest log entry with a code, or "".
func (l *logBook) level(t *testing.T, code string) string {
	t.Helper()
	level := ""
	for _, entry := range l.entries(t) {
		if entry["code"] == code {
			level, _ = entry["level"].(string)
		}
	}
	return level
}
