package body_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/body"
)

func TestAMultipartFormIsReadAsItWasSent(t *testing.T) {
	var sent bytes.Buffer
	w := multipart.NewWriter(&sent)
	_ = w.WriteField("csrfToken", "a=b&c")
	file, _ := w.CreateFormFile("picture", "../../etc/passwd")
	_, _ = file.Write([]byte("\x89PNG\r\n\x00=41"))
	_ = w.Close()
	got, err := body.Multipart(w.FormDataContentType(), sent.Bytes())
	if want := map[string]string{"csrfToken": "a=b&c", "picture": "\x89PNG\r\n\x00=41"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("the form is %q, %v; want %q", got, err, want)
	}
}

func TestMalformedMultipartFormsAreRefused(t *testing.T) {
	part := func(disposition, value string) string {
		return "--b\r\nContent-Disposition: " + disposition + "\r\n\r\n" + value + "\r\n"
	}
	const kind = "multipart/form-data; boundary=b"
	var many strings.Builder
	for i := range 17 {
		many.WriteString(part(fmt.Sprintf(`form-data; name="f%d"`, i), "x"))
	}
	for name, tt := range map[string]struct{ kind, data string }{
		"no boundary":                    {"multipart/form-data", part(`form-data; name="a"`, "x") + "--b--"},
		"another type":                   {"multipart/mixed; boundary=b", part(`form-data; name="a"`, "x") + "--b--"},
		"no type":                        {"", part(`form-data; name="a"`, "x") + "--b--"},
		"cut off":                        {kind, part(`form-data; name="a"`, "x")},
		"cut off in a header":            {kind, "--b\r\nContent-Dispo"},
		"cut off in a value of a header": {kind, part(`form-data; name="a"`, "x") + "--b\r\nContent-Disposition: f"},
		"nothing":                        {kind, ""},
		"no name":                        {kind, part("form-data", "x") + "--b--"},
		"no form data":                   {kind, part(`attachment; name="a"`, "x") + "--b--"},
		"a name twice":                   {kind, part(`form-data; name="a"`, "x") + part(`form-data; name="a"`, "y") + "--b--"},
		"17 parts":                       {kind, many.String() + "--b--"},
	} {
		if got, err := body.Multipart(tt.kind, []byte(tt.data)); got != nil || !errors.Is(err, body.ErrMalformed) {
			t.Errorf("%s: the form is %q, %v", name, got, err)
		}
	}
	if got, err := body.Multipart(kind, []byte(part(`form-data; name="a"`, "x")+"--b--")); err != nil || got["a"] != "x" {
		t.Errorf("the same form without a mistake is %q, %v", got, err)
	}
}

func FuzzMultipart(f *testing.F) {
	f.Add("multipart/form-data; boundary=b", []byte("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--"))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		fields, err := body.Multipart(kind, data)
		if err != nil && (fields != nil || !errors.Is(err, body.ErrMalformed)) {
			t.Errorf("%q, %v", fields, err)
		}
		size := 0
		for _, value := range fields {
			size += len(value)
		}
		if size > len(data) {
			t.Errorf("%d bytes of %d", size, len(data))
		}
	})
}
