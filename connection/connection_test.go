package connection_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/connection"
)

// A host logs what its source returns, and what Config.Allow receives.
func TestValuesPrintWithoutTheirSecrets(t *testing.T) {
	const canary = "c4n4ry"
	c := connection.Connection{ID: "corp", Version: 7, Issuer: "https://idp.example", ClientSecret: canary}
	request := httptest.NewRequest("POST", "https://app.example/auth/signin/sso", nil)
	request.Header.Set("Cookie", "session="+canary)
	l := connection.Lookup{Domain: "corp.example", Request: request}
	for _, value := range []any{c, &c, []connection.Connection{c}, l, &l, struct{ L connection.Lookup }{l}} {
		var log, object bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", value)
		printed := []string{
			log.String(), fmt.Sprint(value), fmt.Sprintf("%+v", value), fmt.Sprintf("%#v", value), fmt.Sprintf("%s", value), fmt.Sprintf("%x", value),
		}
		switch value.(type) {
		case connection.Connection, *connection.Connection, connection.Lookup, *connection.Lookup: // JSON has the fields of others
			slog.New(slog.NewJSONHandler(&object, nil)).Info("x", "value", value)
			printed = append(printed, object.String())
		}
		for _, text := range printed {
			if !strings.Contains(text, "corp") || strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
				t.Errorf("%T prints as %s", value, text)
			}
		}
	}
}
