package pintle_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pintleauth/pintle/internal/testsite"
)

// A logBook is a log that tests read.
type logBook struct {
	testsite.LogBook
}

// has reports whether an entry with the code was logged.
func (l *logBook) has(code string) bool {
	return strings.Contains(l.String(), fmt.Sprintf(`"code":%q`, code))
}

var errBroken = errors.New("broken on purpose")

// logger returns a logger that writes everything into the book.
func (l *logBook) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// ask sends one request to a handler without a network, and returns the answer
// and the request that was sent. A header is a name and a value.
func ask(h http.Handler, method, target string, body io.Reader, headers ...string) (*httptest.ResponseRecorder, *http.Request) {
	r := httptest.NewRequest(method, target, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w, r
}
