package oauth1

import (
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Credentials are those of a client and, once it has one, of a token: temporary
// credentials until the user has authorized the client, then token credentials.
type Credentials struct {
	ConsumerKey, ConsumerSecret string
	Token, TokenSecret          string // empty: no token
}

// A Stamp makes a request differ from all others of the client, so that the
// service can reject a replayed request.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.3
type Stamp struct {
	Nonce string
	Time  time.Time
}

// NewStamp returns a stamp with the current time and a nonce of at least 128
// random bits.
func NewStamp() Stamp { return Stamp{rand.Text(), time.Now()} }

// Authorize signs req and sets its Authorization header. The parameters of one
// kind of request, such as oauth_callback, are in more, which may be nil. req
// must not be changed afterwards.
//
// A form in the body is part of what is signed: it is read, closed and replaced
// by a copy. Query and form must be well-formed, because the service signs what
// it reads in them. Errors name no parameter.
func (c Credentials) Authorize(req *http.Request, s Stamp, more url.Values) error {
	protocol := url.Values{
		"oauth_consumer_key":     {c.ConsumerKey},
		"oauth_nonce":            {s.Nonce},
		"oauth_signature_method": {"HMAC-SHA1"},
		"oauth_timestamp":        {strconv.FormatInt(s.Time.Unix(), 10)},
		"oauth_version":          {"1.0"},
	}
	if c.Token != "" {
		protocol.Set("oauth_token", c.Token)
	}
	maps.Copy(protocol, more)
	base, err := signatureBase(req, protocol)
	if err != nil {
		return err
	}
	protocol.Set("oauth_signature", c.sign(base))
	req.Header.Set("Authorization", header(protocol))
	return nil
}

// header returns the protocol parameters as an Authorization header, sorted.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.5.1
func header(protocol url.Values) string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(protocol)) {
		fields = append(fields, percentEncode(name)+`="`+percentEncode(protocol.Get(name))+`"`)
	}
	return "OAuth " + strings.Join(fields, ", ")
}
