package oauth1

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the protocol has no other; as a keyed hash it is secure
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxForm is how many bytes of a form in a body are read to be signed.
const maxForm = 1 << 20

var (
	errQuery    = errors.New("the query cannot be signed: it is malformed")
	errForm     = errors.New("the form cannot be signed: it is malformed")
	errFormSize = errors.New("the form cannot be signed: it is larger than 1 MiB")
)

// sign returns the HMAC-SHA1 signature of a base string. The protocol has no other
// algorithm with a shared secret; as a keyed hash, SHA-1 is still secure.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.2
func (c Credentials) sign(base string) string {
	mac := hmac.New(sha1.New, []byte(percentEncode(c.ConsumerSecret)+"&"+percentEncode(c.TokenSecret)))
	mac.Write([]byte(base))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signatureBase returns the text that is signed: method, address, and every
// parameter of the query, of the protocol and of a form in the body.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.1
func signatureBase(req *http.Request, protocol url.Values) (string, error) {
	inQuery, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return "", errQuery
	}
	inBody, err := form(req)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{
		strings.ToUpper(cmp.Or(req.Method, http.MethodGet)),
		percentEncode(address(req)),
		percentEncode(normalized(inQuery, protocol, inBody)),
	}, "&"), nil
}

// address returns the base string URI: the address without its query, with the
// parts whose case does not matter in lower case, and without the port that the
// scheme implies. The path is the one on the wire, which is never empty.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.1.2
func address(req *http.Request) string {
	scheme := strings.ToLower(req.URL.Scheme)
	host := strings.ToLower(cmp.Or(req.Host, req.URL.Host))
	switch port := (&url.URL{Host: host}).Port(); {
	case scheme == "http" && port == "80", scheme == "https" && port == "443":
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scheme + "://" + host + cmp.Or(req.URL.EscapedPath(), "/")
}

// form returns the parameters in the body of req. Only those of a single form
// are signed; a body of any other type is not.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.1.3.1
func form(req *http.Request) (url.Values, error) {
	media, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if req.Body == nil || req.Body == http.NoBody || media != "application/x-www-form-urlencoded" {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxForm+1))
	if closing := req.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	if len(body) > maxForm {
		return nil, errFormSize
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errForm
	}
	return values, nil
}

// normalized returns all parameters as one text. They are sorted by name and
// then by value, both encoded, and not as pairs: "a=z" comes before "a1=b",
// although "=" comes after "1".
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.1.3.2
func normalized(sources ...url.Values) string {
	var pairs [][2]string
	for _, source := range sources {
		for name, values := range source {
			if name == "oauth_signature" {
				continue
			}
			for _, value := range values {
				pairs = append(pairs, [2]string{percentEncode(name), percentEncode(value)})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	parameters := make([]string, len(pairs))
	for i, pair := range pairs {
		parameters[i] = pair[0] + "=" + pair[1]
	}
	return strings.Join(parameters, "&")
}

const upperHex = "0123456789ABCDEF"

// percentEncode encodes every byte but the unreserved characters of RFC 3986.
// The functions of net/url leave other characters unencoded as well.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.6
func percentEncode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}
