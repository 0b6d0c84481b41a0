package frameworks_test

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// exchange sends lines as they are and returns the response. A body comes after
// an empty line.
func exchange(t *testing.T, address string, lines ...string) *http.Response {
	t.Helper()
	conn := connect(t, address)
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	request := strings.Join(slices.Insert(slices.Clone(lines), 1, "Connection: close"), "\r\n") + "\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", lines[0], err)
	}
	return resp
}

func raw(t *testing.T, address string, lines ...string) (status int, body string) {
	t.Helper()
	resp := exchange(t, address, lines...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", lines[0], err)
	}
	return resp.StatusCode, string(text)
}

// locations are where a response sends the browser.
func locations(t *testing.T, address string, lines ...string) []string {
	t.Helper()
	resp := exchange(t, address, lines...)
	defer resp.Body.Close()
	return resp.Header["Location"]
}
