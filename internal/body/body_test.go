package body_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pintleauth/pintle/internal/body"
)

const form = "application/x-www-form-urlencoded"

func post(contentType, text string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/auth/signin", strings.NewReader(text))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func TestRead(t *testing.T) {
	type m = map[string]any
	tests := []struct {
		name        string
		contentType string
		body        string
		want        m
	}{
		{"form", form, "a=1&b=x+y", m{"a": "1", "b": "x y"}},
		{"form, last one counts", form, "a=1&a=2", m{"a": "2"}},
		{"form with charset", form + "; charset=UTF-8", "a=1", m{"a": "1"}},
		{"form type in capitals", strings.ToUpper(form), "a=1", m{"a": "1"}},
		{"form with a bad escape", form, "a=1&note=%zz%", m{"a": "1", "note": "%zz%"}},
		{"form with semicolons", form, "a=1;b=2", m{"a": "1;b=2"}},
		{"empty form", form, "", nil},
		{"json", "application/json", `{"a":"1","n":1.5,"l":[true,null]}`, m{"a": "1", "n": 1.5, "l": []any{true, nil}}},
		{"json with charset", "application/json; charset=utf-8", `{"a":"1"}`, m{"a": "1"}},
		{"json among other words", "text/x, Application/JSON", `{"a":"1"}`, m{"a": "1"}},
		{"json, last one counts", "application/json", `{"a":"1","a":"2"}`, m{"a": "2"}},
		{"json, last one replaces objects too", "application/json", `{"a":{"x":1},"a":{"y":2}}`, m{"a": m{"y": 2.0}}},
		{"json names are case sensitive", "application/json", `{"csrftoken":"1"}`, m{"csrftoken": "1"}},
		{"json with a byte order mark", "application/json", "\ufeff" + `{"a":"1"}`, m{"a": "1"}},
		{"json with the names of object members", "application/json", `{"__proto__":{"x":1},"constructor":null}`, m{"__proto__": m{"x": 1.0}, "constructor": nil}},
		{"empty json", "application/json", "", nil},
		{"json null", "application/json", "null", nil},
		{"json list", "application/json", `["a"]`, nil},
		{"json text", "application/json", `"a"`, nil},
		{"json number", "application/json", "42", nil},
		{"vendor type is not json", "application/vnd.api+json", `{"a":"1"}`, nil},
		{"plain text", "text/plain", "a=1", nil},
		{"no type", "", "a=1", nil},
		{"multipart", "multipart/form-data; boundary=xyz", "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xyz--\r\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := body.Read(post(tt.contentType, tt.body), body.DefaultMax)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.All(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("All = %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestFieldsTellAbsentFromNullFromOtherTypes(t *testing.T) {
	f, err := body.Read(post("application/json", `{"text":"x","empty":"","number":7,"null":null}`), body.DefaultMax)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, value     string
		present, isText bool
		raw             any
		rawPresent      bool
	}{
		{"text", "x", true, true, "x", true},
		{"empty", "", true, true, "", true},
		{"number", "", true, false, 7.0, true},
		{"null", "", false, false, nil, true},
		{"absent", "", false, false, nil, false},
	} {
		if value, present, isText := f.String(tt.name); value != tt.value || present != tt.present || isText != tt.isText {
			t.Errorf("String(%s) = %q, %t, %t, want %q, %t, %t", tt.name, value, present, isText, tt.value, tt.present, tt.isText)
		}
		if raw, present := f.Raw(tt.name); raw != tt.raw || present != tt.rawPresent {
			t.Errorf("Raw(%s) = %v, %t, want %v, %t", tt.name, raw, present, tt.raw, tt.rawPresent)
		}
	}
	var none body.Fields
	if _, present, _ := none.String("x"); present || none.All() != nil {
		t.Error("the zero Fields have members")
	}
}

func TestReadRejectsMalformedJSONWithoutRepeatingIt(t *testing.T) {
	for _, text := range []string{`{"csrfToken":`, "{", `{"a":1}x`, `{'a':1}`, "hunter2", " ", strings.Repeat("[", 100_000), `{"a":1e999}`} {
		f, err := body.Read(post("application/json", text), body.DefaultMax)
		if !errors.Is(err, body.ErrMalformed) || f.All() != nil {
			t.Errorf("Read(%.20q) = %v, %v, want ErrMalformed and no fields", text, f.All(), err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") || errors.Unwrap(errors.Unwrap(err)) != nil {
			t.Errorf("the error carries the body: %v", err)
		}
	}
}

// unread fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func (unread) Close() error { return nil }

func TestBytesRejectsMoreThanItsLimit(t *testing.T) {
	t.Run("as long as allowed", func(t *testing.T) {
		if got, err := body.Bytes(post("", "12345"), 5); string(got) != "12345" || err != nil {
			t.Errorf("Bytes = %q, %v", got, err)
		}
	})
	t.Run("no body", func(t *testing.T) {
		for _, none := range []io.ReadCloser{nil, http.NoBody} {
			r := post("", "")
			r.Body = none
			if got, err := body.Bytes(r, 5); got != nil || err != nil {
				t.Errorf("Bytes = %q, %v", got, err)
			}
		}
	})
	t.Run("declared too long, not read", func(t *testing.T) {
		r := post("", "123456")
		r.Body = unread{t}
		if got, err := body.Bytes(r, 5); got != nil || !errors.Is(err, body.ErrTooLarge) {
			t.Errorf("Bytes = %q, %v", got, err)
		}
	})
	t.Run("one byte more, not declared", func(t *testing.T) {
		r := post("", "123456")
		r.ContentLength = -1
		if got, err := body.Bytes(r, 5); got != nil || !errors.Is(err, body.ErrTooLarge) {
			t.Errorf("Bytes = %q, %v", got, err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		r := post("", "")
		r.Body, r.ContentLength = io.NopCloser(endless{}), -1
		if got, err := body.Bytes(r, 1000); got != nil || !errors.Is(err, body.ErrTooLarge) {
			t.Errorf("Bytes = %q, %v", got, err)
		}
	})
	t.Run("a limit of the host", func(t *testing.T) {
		r := post("", "123456")
		r.Body = http.MaxBytesReader(nil, r.Body, 3)
		if got, err := body.Bytes(r, 10); got != nil || !errors.Is(err, body.ErrTooLarge) {
			t.Errorf("Bytes = %q, %v", got, err)
		}
	})
	t.Run("a broken connection is another error", func(t *testing.T) {
		r := post("", "123456")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader("123"), broken{}))
		if got, err := body.Bytes(r, 10); got != nil || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, body.ErrTooLarge) {
			t.Errorf("Bytes = %q, %v", got, err)
		}
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestReadRejectsTooMuch(t *testing.T) {
	for name, r := range map[string]*http.Request{
		"json":         post("application/json", `"`+strings.Repeat("x", body.DefaultMax)+`"`),
		"form":         post(form, strings.Repeat("x", body.DefaultMax+1)),
		"form members": post(form, strings.Repeat("a&", 10_000)),
	} {
		if f, err := body.Read(r, body.DefaultMax); !errors.Is(err, body.ErrTooLarge) || f.All() != nil {
			t.Errorf("%s: %d members, %v, want ErrTooLarge", name, len(f.All()), err)
		}
	}
	if _, err := body.Read(post(form, "a=1&filler="+strings.Repeat("f", 200_000)), body.DefaultMax); err != nil {
		t.Errorf("a large form: %v", err)
	}
}

func TestABodyOfAnotherTypeIsNotRead(t *testing.T) {
	r := post("text/plain", "123456")
	r.Body = unread{t}
	if _, err := body.Read(r, 5); err != nil {
		t.Error(err)
	}
}

// Any body is rejected or gives fields that can be written as JSON, and reading
// those again gives the same fields.
func FuzzRead(f *testing.F) {
	f.Add("application/json", []byte(`{"a":[1,{"b":null}],"a":"\ud800"}`))
	f.Add(form, []byte("a=1&b=%zz&&=x"))
	f.Add("application/json", []byte("\xef\xbb\xbfnull"))
	f.Fuzz(func(t *testing.T, contentType string, data []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(data))
		r.Header["Content-Type"] = []string{contentType}
		fields, err := body.Read(r, 1<<16)
		if err != nil {
			if fields.All() != nil {
				t.Fatalf("fields %v beside %v", fields.All(), err)
			}
			if !errors.Is(err, body.ErrTooLarge) && !errors.Is(err, body.ErrMalformed) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		text, err := json.Marshal(fields.All())
		if err != nil {
			t.Fatal(err)
		}
		again, err := body.Read(post("application/json", string(text)), 1<<20)
		if err != nil || !reflect.DeepEqual(again.All(), fields.All()) {
			t.Errorf("%q became %q, %v", fields.All(), again.All(), err)
		}
	})
}

func TestBytesReadsWhatIsThereWhateverLengthIsDeclared(t *testing.T) {
	for _, sent := range []int{0, 1, 5, 4095, 4096, 5000} {
		for _, declared := range []int64{-1, 0, 1, 4, 5, 6, 4096, 4097} {
			text := strings.Repeat("x", sent)
			r := post("", text)
			r.Body, r.ContentLength = io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), declared
			if got, err := body.Bytes(r, 5000); string(got) != text || err != nil {
				t.Errorf("%d bytes, %d declared: Bytes returns %d bytes, %v", sent, declared, len(got), err)
			}
			r.Body = io.NopCloser(strings.NewReader(text + strings.Repeat("x", 5001)))
			if _, err := body.Bytes(r, 5000); !errors.Is(err, body.ErrTooLarge) {
				t.Errorf("%d bytes too many, %d declared: %v, want ErrTooLarge", sent+1, declared, err)
			}
		}
	}
}
