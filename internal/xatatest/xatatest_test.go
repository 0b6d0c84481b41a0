package xatatest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/internal/xatatest"
)

const schema = `{"tables": [
	{"name": "people", "columns": [
		{"name": "email", "type": "email", "unique": true}, {"name": "name", "type": "string"}, {"name": "bio", "type": "text"},
		{"name": "age", "type": "int"}, {"name": "member", "type": "bool"}, {"name": "since", "type": "datetime"},
		{"name": "friend", "type": "link", "link": {"table": "people"}}]},
	{"name": "pets", "columns": [{"name": "owner", "type": "link", "link": {"table": "people"}}, {"name": "name", "type": "string"}]}
]}`

// A database is a server with Ada, her friend Bob, and Ada's cat.
type database struct {
	*testing.T
	*xatatest.Server
}

func newDatabase(t *testing.T) database {
	t.Helper()
	s, err := xatatest.New([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	d := database{t, s}
	d.want(201, "PUT", "/tables/people/data/bob", `{"name": "Bob", "email": "bob@example.org"}`)
	d.want(201, "PUT", "/tables/people/data/ada", `{"name": "Ada", "email": "ada@example.org", "age": 36, "member": true, "since": "2026-01-02T03:04:05.678Z", "friend": "bob"}`)
	d.want(201, "PUT", "/tables/pets/data/cat", `{"name": "Cat", "owner": "ada"}`)
	return d
}

func (d database) request(method, path, body string) *http.Request {
	r := httptest.NewRequestWithContext(d.Context(), method, "/db/app:main"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+xatatest.Key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// want makes a request and returns the response, which must have the status.
func (d database) want(status int, method, path, body string) string {
	d.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, d.request(method, path, body))
	if w.Code != status {
		d.Errorf("%s %s %.100s = %d %s, want %d", method, path, body, w.Code, w.Body, status)
	}
	if w.Header().Get("X-Request-Id") == "" {
		d.Errorf("%s %s: the answer has no request id", method, path)
	}
	return w.Body.String()
}

// records makes a query and returns the ids and the end of the page.
func (d database) records(table, query string) (ids string, cursor string, more bool) {
	d.Helper()
	var answer struct {
		Records []struct{ ID string }
		Meta    struct {
			Page struct {
				Cursor string
				More   bool
			}
		}
	}
	if err := json.Unmarshal([]byte(d.want(200, "POST", "/tables/"+table+"/query", query)), &answer); err != nil {
		d.Fatal(err)
	}
	for _, r := range answer.Records {
		ids += r.ID + " "
	}
	return strings.TrimSpace(ids), answer.Meta.Page.Cursor, answer.Meta.Page.More
}

func TestWhatIsRejected(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name               string
		status             int
		method, path, body string
	}{
		{"an unknown table", 404, "GET", "/tables/unknown/data/ada", ""},
		{"an unknown address", 404, "GET", "/views", ""},
		{"an unknown record", 404, "GET", "/tables/people/data/unknown", ""},
		{"a change of an unknown record", 404, "PATCH", "/tables/people/data/unknown", `{"name": "x"}`},
		{"the removal of an unknown record", 404, "DELETE", "/tables/people/data/unknown", ""},
		{"another method", 405, "POST", "/tables/people/data/ada", `{}`},
		{"an unknown column", 400, "PUT", "/tables/people/data/x", `{"role": "admin"}`},
		{"metadata", 400, "PUT", "/tables/people/data/x", `{"xata": {"version": 1}}`},
		{"an id beside that of the path", 400, "PUT", "/tables/people/data/x", `{"id": "y"}`},
		{"an id with a space", 400, "PUT", "/tables/people/data/a%20b", `{}`},
		{"an id with a slash", 400, "PUT", "/tables/people/data/a%2Fb", `{}`},
		{"a long id", 400, "PUT", "/tables/people/data/" + long(256), `{}`},
		{"no object", 400, "PUT", "/tables/people/data/x", `[]`},
		{"no JSON", 400, "PUT", "/tables/people/data/x", `{`},
		{"two objects", 400, "PUT", "/tables/people/data/x", `{}{}`},
		{"a number for a text", 400, "PUT", "/tables/people/data/x", `{"name": 1}`},
		{"a text for a number", 400, "PUT", "/tables/people/data/x", `{"age": "1"}`},
		{"half a year", 400, "PUT", "/tables/people/data/x", `{"age": 1.5}`},
		{"a text for a truth value", 400, "PUT", "/tables/people/data/x", `{"member": "true"}`},
		{"a day for a time", 400, "PUT", "/tables/people/data/x", `{"since": "2026-01-02"}`},
		{"no address", 400, "PUT", "/tables/people/data/x", `{"email": "x"}`},
		{"a long string", 400, "PUT", "/tables/people/data/x", `{"name": "` + long(2049) + `"}`},
		{"a long text", 400, "PUT", "/tables/people/data/x", `{"bio": "` + long(204801) + `"}`},
		{"a NUL", 400, "PUT", "/tables/people/data/x", `{"name": "a\u0000b"}`},
		{"a link to an unknown record", 400, "PUT", "/tables/people/data/x", `{"friend": "unknown"}`},
		{"a link that is an object", 400, "PUT", "/tables/people/data/x", `{"friend": {"id": "bob"}}`},
		{"an address that is taken", 400, "PUT", "/tables/people/data/x", `{"email": "ada@example.org"}`},
		{"an address that is taken, on a change", 400, "PATCH", "/tables/people/data/bob", `{"email": "ada@example.org"}`},
		{"a record that exists", 422, "PUT", "/tables/people/data/ada?createOnly=true", `{}`},
		{"another version", 422, "PATCH", "/tables/people/data/ada?ifVersion=7", `{"age": 37}`},
		{"a version of a new record", 422, "PUT", "/tables/people/data/x?ifVersion=0", `{}`},
		{"a version that is not a number", 400, "PATCH", "/tables/people/data/ada?ifVersion=x", `{}`},
		{"an unknown parameter", 400, "GET", "/tables/people/data/ada?fields=*", ""},
		{"createOnly on a change", 400, "PATCH", "/tables/people/data/ada?createOnly=true", `{}`},
		{"a parameter twice", 400, "GET", "/tables/people/data/ada?columns=name&columns=age", ""},
		{"an unknown column to show", 400, "GET", "/tables/people/data/ada?columns=role", ""},
		{"a column of what is no link", 400, "GET", "/tables/people/data/ada?columns=name.x", ""},
		{"a column through two links", 400, "GET", "/tables/people/data/ada?columns=friend.friend.name", ""},
		{"an unknown member of a query", 400, "POST", "/tables/people/query", `{"where": {}}`},
		{"an empty filter", 400, "POST", "/tables/people/query", `{"filter": {"$all": []}}`},
		{"a filter of an unknown column", 400, "POST", "/tables/people/query", `{"filter": {"$all": [{"role": "x"}]}}`},
		{"a filter with two conditions in one", 400, "POST", "/tables/people/query", `{"filter": {"$all": [{"name": "Ada", "email": "x"}]}}`},
		{"a filter of the wrong type", 400, "POST", "/tables/people/query", `{"filter": {"$all": [{"name": 1}]}}`},
		{"a filter with a NUL", 400, "POST", "/tables/people/query", `{"filter": {"$all": [{"name": "a\u0000"}]}}`},
		{"a filter of a link without its id", 400, "POST", "/tables/pets/query", `{"filter": {"$all": [{"owner": "ada"}]}}`},
		{"an unknown operator", 400, "POST", "/tables/people/query", `{"filter": {"$all": [{"name": {"$ne": "Ada"}}]}}`},
		{"a comparison of texts", 400, "POST", "/tables/people/query", `{"filter": {"$all": [{"name": {"$lt": "Ada"}}]}}`},
		{"a page of nothing", 400, "POST", "/tables/people/query", `{"page": {"size": 0}}`},
		{"a page of 1001", 400, "POST", "/tables/people/query", `{"page": {"size": 1001}}`},
		{"an invented cursor", 400, "POST", "/tables/people/query", `{"page": {"after": "ada"}}`},
		{"an empty transaction", 400, "POST", "/transaction", `{"operations": []}`},
		{"two operations in one", 400, "POST", "/transaction", `{"operations": [{"delete": {"table": "people", "id": "ada"}, "insert": {"table": "people", "record": {"id": "x"}}}]}`},
		{"an unknown operation", 400, "POST", "/transaction", `{"operations": [{"drop": {"table": "people"}}]}`},
		{"an operation on an unknown table", 400, "POST", "/transaction", `{"operations": [{"delete": {"table": "unknown", "id": "x"}}]}`},
		{"1001 operations", 400, "POST", "/transaction", `{"operations": [` + strings.TrimSuffix(strings.Repeat(`{"delete": {"table": "pets", "id": "x"}},`, 1001), ",") + `]}`},
		{"more than 20 MB", 413, "POST", "/transaction", long(20<<20 + 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDatabase(t)
			before := d.want(200, "POST", "/tables/people/query", `{}`)
			text := d.want(tt.status, tt.method, tt.path, tt.body)
			var said struct {
				ID, Message string
				Errors      []struct{ Message string }
			}
			if err := json.Unmarshal([]byte(text), &said); err != nil || said.ID == "" || said.Message == "" && len(said.Errors) == 0 {
				t.Errorf("the error %s does not name the fault", text)
			}
			if after := d.want(200, "POST", "/tables/people/query", `{}`); withoutCursor(after) != withoutCursor(before) {
				t.Errorf("rejected requests changed %s to %s", before, after)
			}
		})
	}
}

func withoutCursor(page string) string {
	_, rest, _ := strings.Cut(page, `"records"`)
	return rest
}

func TestAuthorization(t *testing.T) {
	d := newDatabase(t)
	for name, spoil := range map[string]func(*http.Request){
		"no key":               func(r *http.Request) { r.Header.Del("Authorization") },
		"another key":          func(r *http.Request) { r.Header.Set("Authorization", "Bearer other") },
		"a key without a kind": func(r *http.Request) { r.Header.Set("Authorization", xatatest.Key) },
	} {
		r := d.request("GET", "/tables/people/data/ada", "")
		spoil(r)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if w.Code != 401 {
			t.Errorf("%s: %d, want 401", name, w.Code)
		}
	}
	for name, url := range map[string]string{
		"another database": "/db/other:main/tables/people/data/ada", "another branch": "/db/app:other/tables/people/data/ada", "no branch": "/db/app/tables/people/data/ada",
	} {
		r := d.request("GET", "", "")
		r.URL.Path = url
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		if w.Code != 404 {
			t.Errorf("%s: %d, want 404", name, w.Code)
		}
	}
	r := d.request("POST", "/tables/people/query", `{}`)
	r.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	if w.Code != 415 {
		t.Errorf("a query that is not JSON: %d, want 415", w.Code)
	}
}

func TestRecordsReadBack(t *testing.T) {
	d := newDatabase(t)
	for path, want := range map[string]string{
		"?columns=*":             `"age":36,"email":"ada@example.org","friend":{"id":"bob"},"id":"ada","member":true,"name":"Ada","since":"2026-01-02T03:04:05.678Z"`,
		"?columns=name":          `"id":"ada","name":"Ada"`,
		"?columns=friend.*":      `"friend":{"email":"bob@example.org","id":"bob","name":"Bob"},"id":"ada"`,
		"?columns=age,friend.id": `"age":36,"friend":{"id":"bob"},"id":"ada"`,
	} {
		if got := withoutMetadata(t, d.want(200, "GET", "/tables/people/data/ada"+path, "")); got != "{"+want+"}" {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	d.Nulls = true
	if got := withoutMetadata(t, d.want(200, "GET", "/tables/people/data/bob?columns=age,friend.*", "")); got != `{"age":null,"friend":null,"id":"bob"}` {
		t.Errorf("with nulls, Bob is %s", got)
	}
}

func withoutMetadata(t *testing.T, text string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	for _, object := range []any{v, v["friend"]} {
		if m, ok := object.(map[string]any); ok {
			delete(m, "xata")
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestVersionsCountChanges(t *testing.T) {
	d := newDatabase(t)
	d.want(200, "PATCH", "/tables/people/data/ada?ifVersion=0", `{"age": 37}`)
	d.want(422, "PATCH", "/tables/people/data/ada?ifVersion=0", `{"age": 38}`)
	d.want(200, "PATCH", "/tables/people/data/ada?ifVersion=1", `{"age": null}`)
	if got := d.want(200, "GET", "/tables/people/data/ada?columns=age,name", ""); !strings.Contains(got, `"version":2`) || strings.Contains(got, "age") || !strings.Contains(got, "Ada") {
		t.Errorf("after two changes Ada is %s", got)
	}
	d.want(200, "PUT", "/tables/people/data/ada", `{"age": 40}`)
	if got := d.want(200, "GET", "/tables/people/data/ada?columns=*", ""); !strings.Contains(got, `"version":3`) || strings.Contains(got, "Ada") {
		t.Errorf("a record that was replaced keeps what it had: %s", got)
	}
	d.want(201, "PUT", "/tables/people/data/eve", `{"email": "ada@example.org"}`) // whose address is free by now
}

func TestARemovedRecordLeavesItsLinks(t *testing.T) {
	t.Run("null", func(t *testing.T) {
		d := newDatabase(t)
		if got := d.want(200, "DELETE", "/tables/people/data/ada?columns=name", ""); !strings.Contains(got, "Ada") {
			t.Errorf("the removal answered %s", got)
		}
		if got := d.want(200, "GET", "/tables/pets/data/cat?columns=*,owner.*", ""); strings.Contains(got, "owner") {
			t.Errorf("the cat still has an owner: %s", got)
		}
	})
	t.Run("in its way", func(t *testing.T) {
		d := newDatabase(t)
		d.Restrict = true
		d.want(400, "DELETE", "/tables/people/data/ada", "")
		d.want(204, "DELETE", "/tables/pets/data/cat", "")
		d.want(204, "DELETE", "/tables/people/data/ada", "")
	})
}

func TestQueriesHavePages(t *testing.T) {
	d := newDatabase(t)
	for _, tt := range []struct{ table, query, want string }{
		{"people", `{}`, "ada bob"},
		{"people", `{"filter": {"$all": [{"name": "Ada"}]}}`, "ada"},
		{"people", `{"filter": {"$all": [{"name": "ada"}]}}`, ""},
		{"people", `{"filter": {"$all": [{"name": "Ada"}, {"email": "bob@example.org"}]}}`, ""},
		{"people", `{"filter": {"$all": [{"id": "bob"}]}}`, "bob"},
		{"people", `{"filter": {"$all": [{"id": {"$any": ["bob", "eve"]}}]}}`, "bob"},
		{"people", `{"filter": {"$all": [{"since": {"$lt": "2026-01-02T03:04:05.679Z"}}]}}`, "ada"},
		{"people", `{"filter": {"$all": [{"since": {"$lt": "2026-01-02T03:04:05.678Z"}}]}}`, ""},
		{"people", `{"filter": {"$all": [{"friend.name": "Bob"}]}}`, "ada"},
		{"pets", `{"filter": {"$all": [{"owner.id": "ada"}]}}`, "cat"},
		{"pets", `{"filter": {"$all": [{"owner.email": "bob@example.org"}]}}`, ""},
	} {
		if got, _, more := d.records(tt.table, tt.query); got != tt.want || more {
			t.Errorf("%s %s = %q, want %q", tt.table, tt.query, got, tt.want)
		}
	}
	first, cursor, more := d.records("people", `{"page": {"size": 1}}`)
	if first != "ada" || !more {
		t.Errorf("the first page is %q, more %t", first, more)
	}
	second, _, more := d.records("people", `{"page": {"after": "`+cursor+`"}}`)
	if second != "bob" || more {
		t.Errorf("the second page is %q, more %t", second, more)
	}
	d.want(400, "POST", "/tables/people/query", `{"filter": {"$all": [{"name": "Ada"}]}, "page": {"after": "`+cursor+`"}}`)
	d.want(400, "POST", "/tables/pets/query", `{"page": {"after": "`+cursor+`"}}`)
}

func TestATransactionIsDoneWhollyOrNotAtAll(t *testing.T) {
	d := newDatabase(t)
	const insert = `{"insert": {"table": "people", "record": {"id": "eve", "name": "Eve"}, "createOnly": true}}`
	for _, last := range []string{
		`{"insert": {"table": "people", "record": {"id": "ada"}, "createOnly": true}}`,
		`{"insert": {"table": "people", "record": {"name": "no id"}}}`,
		`{"insert": {"table": "people", "record": {"id": "x", "email": "ada@example.org"}}}`,
		`{"update": {"table": "people", "id": "ada", "fields": {"age": 1}, "ifVersion": 3}}`,
		`{"update": {"table": "people", "id": "unknown", "fields": {"age": 1}}}`,
		`{"delete": {"table": "people", "id": "unknown", "failIfMissing": true}}`,
	} {
		text := d.want(400, "POST", "/transaction", `{"operations": [`+insert+`, {"delete": {"table": "pets", "id": "cat"}}, `+last+`]}`)
		if !strings.Contains(text, `"index":2`) {
			t.Errorf("the error %s does not name the third operation", text)
		}
		d.want(404, "GET", "/tables/people/data/eve", "")
		d.want(200, "GET", "/tables/pets/data/cat", "")
	}
	text := d.want(200, "POST", "/transaction", `{"operations": [`+insert+`,
		{"insert": {"table": "pets", "record": {"id": "dog", "owner": "eve"}}},
		{"update": {"table": "people", "id": "eve", "fields": {"age": 9}, "ifVersion": 0}},
		{"delete": {"table": "pets", "id": "cat"}}, {"delete": {"table": "pets", "id": "cat"}}]}`)
	var answer struct {
		Results []struct {
			Operation string
			Rows      int
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Results) != 5 || answer.Results[3].Rows != 1 || answer.Results[4].Rows != 0 {
		t.Errorf("the results are %s", text)
	}
	d.want(200, "GET", "/tables/people/data/eve", "")
}

func TestResponsesAreSpoiledAsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase(t)
		fault := &xatatest.Fault{Status: 503, Body: "no", Header: map[string]string{"Retry-After": "1"}}
		d.Fault = func(*http.Request) *xatatest.Fault { return fault }
		w := httptest.NewRecorder()
		d.ServeHTTP(w, d.request("PUT", "/tables/pets/data/dog", `{}`))
		if w.Code != 503 || w.Body.String() != "no" || w.Header().Get("Retry-After") != "1" {
			t.Errorf("the answer is %d %s %v", w.Code, w.Body, w.Header())
		}
		fault = nil
		d.want(404, "GET", "/tables/pets/data/dog", "")
		fault = &xatatest.Fault{Status: 503, Lost: true}
		d.want(503, "PUT", "/tables/pets/data/dog", `{}`)
		fault = &xatatest.Fault{Cut: true}
		cut := d.want(200, "GET", "/tables/pets/data/dog?columns=*", "")
		fault = &xatatest.Fault{Delay: time.Minute}
		began := time.Now()
		whole := d.want(200, "GET", "/tables/pets/data/dog?columns=*", "")
		if time.Since(began) != time.Minute || len(cut) != len(whole)/2 || !strings.HasPrefix(whole, cut) {
			t.Errorf("after %s the answer is %s, cut off %s", time.Since(began), whole, cut)
		}
	})
}

func TestSchemasThatAreRejected(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":                `{`,
		"an unknown member":      `{"views": []}`,
		"a table twice":          `{"tables": [{"name": "a", "columns": []}, {"name": "a", "columns": []}]}`,
		"a column twice":         `{"tables": [{"name": "a", "columns": [{"name": "b", "type": "int"}, {"name": "b", "type": "int"}]}]}`,
		"an unknown type":        `{"tables": [{"name": "a", "columns": [{"name": "b", "type": "uuid"}]}]}`,
		"a link to nothing":      `{"tables": [{"name": "a", "columns": [{"name": "b", "type": "link", "link": {"table": "c"}}]}]}`,
		"a link without a table": `{"tables": [{"name": "a", "columns": [{"name": "b", "type": "link"}]}]}`,
		"the service's own":      `{"tables": [{"name": "a", "columns": [{"name": "xata", "type": "string"}]}]}`,
		"a text that is unique":  `{"tables": [{"name": "a", "columns": [{"name": "b", "type": "text", "unique": true}]}]}`,
	} {
		if _, err := xatatest.New([]byte(text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// The schema reads back as the file it was made from.
func TestTheSchemaIsShown(t *testing.T) {
	d := newDatabase(t)
	text := d.want(200, "GET", "", "")
	for _, want := range []string{`"name":"people"`, `{"name":"email","type":"email","unique":true}`, `{"name":"owner","type":"link","link":{"table":"people"}}`} {
		if !strings.Contains(text, want) {
			t.Errorf("the schema %s has no %s", text, want)
		}
	}
}

func TestATransportNeedsNoSocket(t *testing.T) {
	d := newDatabase(t)
	req := d.request("GET", "/tables/people/data/ada?columns=name", "")
	req.RequestURI, req.URL.Scheme, req.URL.Host = "", "https", "w.r.xata.sh"
	resp, err := (&http.Client{Transport: d.Server}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "Ada") {
		t.Errorf("the answer is %s, %v", text, err)
	}
	if n := d.Requests(); n != 4 {
		t.Errorf("%d requests were counted, want 4", n)
	}
}
