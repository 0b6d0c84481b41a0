package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
)

// maxParts is the most parts of a multipart form: one file and a few hidden fields.
const maxParts = 16

// Multipart returns the fields of a multipart/form-data body that was read, files among
// them, by their names. The body bounds the memory. Errors match [ErrMalformed]: for
// another content type, for a body that is cut off, for more than 16 parts, and for a name
// that is missing or repeated, since two readers could disagree about which value counts.
//
// https://www.rfc-editor.org/rfc/rfc7578
func Multipart(contentType string, data []byte) (map[string]string, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, fmt.Errorf("parse multipart form: the content type names no boundary: %w", ErrMalformed)
	}
	// The package takes the end of the body in the header of a part for the end of the form.
	if !bytes.Contains(data, []byte("--"+params["boundary"]+"--")) {
		return nil, fmt.Errorf("parse multipart form: it ends early: %w", ErrMalformed)
	}
	fields := map[string]string{}
	parts := multipart.NewReader(bytes.NewReader(data), params["boundary"])
	for n := 0; ; n++ {
		// NextPart would decode quoted-printable parts, which browsers never send.
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		if err != nil || n == maxParts {
			return nil, fmt.Errorf("parse multipart form: it has a part that cannot be read, or more than %d parts: %w", maxParts, ErrMalformed)
		}
		name := part.FormName()
		if _, repeated := fields[name]; repeated || name == "" {
			return nil, fmt.Errorf("parse multipart form: a field has no name, or that of another one: %w", ErrMalformed)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, fmt.Errorf("parse multipart form: a part ends early: %w", ErrMalformed)
		}
		fields[name] = string(value)
	}
}
