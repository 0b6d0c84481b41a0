package authtest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A signedRequest is an OAuth 1.0a request whose signature is right.
type signedRequest struct {
	client Client
	params url.Values // the protocol parameters
	token  oauth1Token
}

// oauth1Skew is how far a client's clock may be off.
const oauth1Skew = 5 * time.Minute

// verifyOAuth1 checks the signature of x, with the secret of its client and,
// unless tokens is nil, that of its token among them.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.2
func (p *IdentityProvider) verifyOAuth1(x *exchange, tokens map[string]*oauth1Token) (signedRequest, error) {
	params, err := oauth1Header(x.r.Header.Get("Authorization"))
	if err != nil {
		return signedRequest{}, err
	}
	s := signedRequest{params: params}
	client, open, ok := p.lookUp(params.Get("oauth_consumer_key"))
	if !ok || open || client.Secret == "" {
		return s, errors.New("the oauth_consumer_key is not the ID of a registered client with a secret")
	}
	s.client = client
	if tokens != nil {
		if s.token, ok = p.getOAuth1(tokens, params.Get("oauth_token")); !ok || s.token.consumer != client.ID {
			return s, errors.New("the oauth_token is unknown, expired or of another client")
		}
	}
	if version := params.Get("oauth_version"); version != "" && version != "1.0" {
		return s, errors.New("the oauth_version must be 1.0")
	}
	if params.Get("oauth_signature_method") != "HMAC-SHA1" {
		return s, errors.New("the oauth_signature_method must be HMAC-SHA1")
	}
	got, err := base64.StdEncoding.DecodeString(params.Get("oauth_signature"))
	if err != nil {
		return s, errors.New("the oauth_signature is not base64")
	}
	base := signatureBase(x.r.Method, x.url(x.endpoint), params, x.r.URL.Query(), x.r.PostForm)
	if !hmac.Equal(got, oauth1Signature(base, client.Secret, s.token.secret)) {
		return s, errors.New("the oauth_signature is wrong")
	}
	// Only a client with the right secret may fill the memory of nonces.
	return s, p.fresh(params)
}

// fresh checks that the request is neither old nor a copy.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.3
func (p *IdentityProvider) fresh(params url.Values) error {
	seconds, err := strconv.ParseInt(params.Get("oauth_timestamp"), 10, 64)
	if err != nil {
		return errors.New("the oauth_timestamp is not a number of seconds")
	}
	stamp := time.Unix(seconds, 0)
	if time.Since(stamp).Abs() > oauth1Skew {
		return errors.New("the oauth_timestamp is more than five minutes off")
	}
	nonce := params.Get("oauth_nonce")
	if nonce == "" {
		return errors.New("the oauth_nonce is missing")
	}
	key := fmt.Sprintf("oauth1 %q %q %d %q", params.Get("oauth_consumer_key"), params.Get("oauth_token"), seconds, nonce)
	if !p.first(key, stamp.Add(2*oauth1Skew)) {
		return errors.New("the oauth_nonce has been used before")
	}
	return nil
}

// oauth1Header reads the protocol parameters of an Authorization header.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.5.1
func oauth1Header(header string) (url.Values, error) {
	scheme, rest, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "OAuth") {
		return nil, errors.New("the Authorization header is not of the OAuth scheme")
	}
	params := url.Values{}
	for pair := range strings.SplitSeq(rest, ",") {
		name, quoted, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
			return nil, errors.New("the Authorization header is malformed")
		}
		value, err := url.PathUnescape(quoted[1 : len(quoted)-1])
		if err != nil {
			return nil, errors.New("a value in the Authorization header is not percent-encoded")
		}
		if params.Has(name) {
			return nil, errors.New("a parameter occurs twice in the Authorization header")
		}
		params.Set(name, value)
	}
	return params, nil
}

// signatureBase returns the text that is signed.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.1
func signatureBase(method, address string, sources ...url.Values) string {
	var pairs [][2]string
	for _, source := range sources {
		for name, values := range source {
			if name == "realm" || name == "oauth_signature" {
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
	return strings.Join([]string{
		strings.ToUpper(method),
		percentEncode(baseAddress(address)),
		percentEncode(strings.Join(parameters, "&")),
	}, "&")
}

// baseAddress is the address without query and default port, in lower case
// where case does not matter.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.4.1.2
func baseAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host := strings.ToLower(u.Host)
	switch scheme := strings.ToLower(u.Scheme); scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return strings.ToLower(u.Scheme) + "://" + host + u.EscapedPath()
}

// oauth1Signature is the HMAC-SHA1 of section 3.4.2. SHA-1 is broken for
// signatures over documents; as a keyed hash it is still secure, and the protocol
// has no other.
func oauth1Signature(base, consumerSecret, tokenSecret string) []byte {
	mac := hmac.New(sha1.New, []byte(percentEncode(consumerSecret)+"&"+percentEncode(tokenSecret)))
	mac.Write([]byte(base))
	return mac.Sum(nil)
}

// percentEncode encodes all but the unreserved characters, unlike the
// functions of net/url.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.6
func percentEncode(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
