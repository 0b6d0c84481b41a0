package provider

import (
	"bytes"
	"mime/multipart"
)

// parts are the names and values of a form in several parts.
//
// https://www.rfc-editor.org/rfc/rfc7578
type parts [][2]string

// encode returns the media type of the form and the form.
func (p parts) encode() (media string, form []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, part := range p {
		_ = w.WriteField(part[0], part[1]) // writing to a buffer does not fail
	}
	_ = w.Close()
	return w.FormDataContentType(), b.Bytes()
}
