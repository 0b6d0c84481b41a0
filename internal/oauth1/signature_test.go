package oauth1

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const formType = "application/x-www-form-urlencoded"

func request(t testing.TB, method, address, contentType, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req
}

func params(text string) url.Values {
	v, err := url.ParseQuery(text)
	if err != nil {
		panic(err)
	}
	return v
}

func TestPublishedExamplesHaveTheirSignatures(t *testing.T) {
	tests := []struct {
		name, method, url, form string
		protocol                string // as a query
		credentials             Credentials
		base, signature         string
	}{
		{
			name: "RFC 5849 section 1.2, temporary credentials", method: "POST", url: "https://photos.example.net/initiate",
			protocol:    "oauth_consumer_key=dpf43f3p2l4k3l03&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131200&oauth_nonce=wIjqoS&oauth_callback=http://printer.example.com/ready",
			credentials: Credentials{ConsumerSecret: "kd94hf93k423kf44"},
			signature:   "74KNZJeDHnMBp0EMJ9ZHt/XKycU=",
		},
		{
			name: "RFC 5849 section 1.2, token credentials", method: "POST", url: "https://photos.example.net/token",
			protocol:    "oauth_consumer_key=dpf43f3p2l4k3l03&oauth_token=hh5s93j4hdidpola&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131201&oauth_nonce=walatlh&oauth_verifier=hfdp7dh39dks9884",
			credentials: Credentials{ConsumerSecret: "kd94hf93k423kf44", TokenSecret: "hdhd0244k9j7ao03"},
			signature:   "gKgrFCywp7rO0OXSjdot/IHF7IU=",
		},
		{
			name: "RFC 5849 section 1.2, protected resource", method: "GET", url: "http://photos.example.net/photos?file=vacation.jpg&size=original",
			protocol:    "oauth_consumer_key=dpf43f3p2l4k3l03&oauth_token=nnch734d00sl2jdk&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131202&oauth_nonce=chapoH",
			credentials: Credentials{ConsumerSecret: "kd94hf93k423kf44", TokenSecret: "pfkkdhi9sl3r4s00"},
			signature:   "MdpQcU8iPSUjWoN/UDMsK2sui9I=",
		},
		{
			name: "RFC 5849 sections 3.1 and 3.4.1.1 with erratum 2550, a form and duplicates", method: "POST", url: "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", form: "c2&a3=2+q",
			protocol:    "oauth_consumer_key=9djdj82h48djs9d2&oauth_token=kkk9d7dh3k39sjv7&oauth_signature_method=HMAC-SHA1&oauth_timestamp=137131201&oauth_nonce=7d8f3e4a",
			credentials: Credentials{ConsumerSecret: "j49sk3j29djd", TokenSecret: "dh893hdasih9"},
			base:        "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7",
			signature:   "r6/TJjbCOr97/+UU0NsvSne7s5g=",
		},
		{
			name: "OAuth Core 1.0a appendix A", method: "GET", url: "http://photos.example.net/photos?file=vacation.jpg&size=original",
			protocol:    "oauth_consumer_key=dpf43f3p2l4k3l03&oauth_token=nnch734d00sl2jdk&oauth_signature_method=HMAC-SHA1&oauth_timestamp=1191242096&oauth_nonce=kllo9940pd9333jh&oauth_version=1.0",
			credentials: Credentials{ConsumerSecret: "kd94hf93k423kf44", TokenSecret: "pfkkdhi9sl3r4s00"},
			signature:   "tR3+Ty81lMeYAr/Fid0kMTYa/WM=",
		},
		{
			name: "Twitter, creating a signature", method: "POST", url: "https://api.twitter.com/1.1/statuses/update.json?include_entities=true",
			form:        "status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21",
			protocol:    "oauth_consumer_key=xvz1evFS4wEEPTGEFPHBog&oauth_nonce=kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg&oauth_signature_method=HMAC-SHA1&oauth_timestamp=1318622958&oauth_token=370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb&oauth_version=1.0",
			credentials: Credentials{ConsumerSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw", TokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"},
			signature:   "hCtSmYh+iHYCEqBWrE7C7hYmtUk=",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := request(t, tt.method, tt.url, formType, tt.form)
			base, err := signatureBase(req, params(tt.protocol))
			if err != nil {
				t.Fatal(err)
			}
			if tt.base != "" && base != tt.base {
				t.Errorf("base string\n got %s\nwant %s", base, tt.base)
			}
			if got := tt.credentials.sign(base); got != tt.signature {
				t.Errorf("signature %s, want %s, of\n%s", got, tt.signature, base)
			}
			if body, err := io.ReadAll(req.Body); err != nil || string(body) != tt.form {
				t.Errorf("the body that is left is %q, %v", body, err)
			}
		})
	}
}

func TestTheAddressIsTheOneOnTheWire(t *testing.T) {
	tests := []struct{ url, host, want string }{
		{"http://EXAMPLE.COM:80/r%20v/X?id=123", "", "http://example.com/r%20v/X"}, // RFC 5849 section 3.4.1.2
		{"https://www.example.net:8080/?q=1", "", "https://www.example.net:8080/"}, // the same
		{"HTTPS://example.com:443/a", "", "https://example.com/a"},
		{"http://example.com:443/a", "", "http://example.com:443/a"}, // not the port of http
		{"https://example.com:80/a", "", "https://example.com:80/a"},
		{"https://example.com", "", "https://example.com/"},
		{"https://example.com?q=1", "", "https://example.com/"},
		{"https://[2001:DB8::1]:443/a", "", "https://[2001:db8::1]/a"},
		{"https://[2001:DB8::1]:8443/a", "", "https://[2001:db8::1]:8443/a"},
		{"https://example.com/a%2Fb/%C3%A9", "", "https://example.com/a%2Fb/%C3%A9"},
		{"https://10.0.0.1/a", "Service.Example:443", "https://service.example/a"}, // the Host header decides
	}
	for _, tt := range tests {
		req := request(t, "GET", tt.url, "", "")
		if tt.host != "" {
			req.Host = tt.host
		}
		if got := address(req); got != tt.want {
			t.Errorf("address of %s is %s, want %s", tt.url, got, tt.want)
		}
	}
}

func TestParametersAreSortedByNameThenValue(t *testing.T) {
	tests := []struct{ query, want string }{
		{"a1=b&a=z", "a=z&a1=b"},
		{"a-=1&a=2&a%25=3", "a=2&a%25=3&a-=1"},
		{"x=b&x=a&x=%C3%A9&x", "x=&x=%C3%A9&x=a&x=b"},
		{"x=1&x=1", "x=1&x=1"},
		{"Z=1&a=2", "Z=1&a=2"},
		{"a=%2B+%20~*'()!", "a=%2B%20%20~%2A%27%28%29%21"},
		{"b=%FF%00", "b=%FF%00"},
		{"oauth_signature=x&a=1", "a=1"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := normalized(params(tt.query)); got != tt.want {
			t.Errorf("%s is normalized to %s, want %s", tt.query, got, tt.want)
		}
	}
}

func TestOnlyASingleFormIsSigned(t *testing.T) {
	const parameters = "a%3D1%26oauth_nonce%3Dn"
	tests := []struct {
		contentType string
		signed      bool
	}{
		{formType, true},
		{"Application/X-WWW-Form-Urlencoded; charset=UTF-8", true},
		{"application/json", false},
		{"multipart/form-data; boundary=x", false},
		{"", false},
	}
	for _, tt := range tests {
		base, err := signatureBase(request(t, "POST", "https://example.com/a", tt.contentType, "a=1"), params("oauth_nonce=n"))
		if err != nil || strings.HasSuffix(base, "&"+parameters) != tt.signed {
			t.Errorf("the base string of a body of type %q is %s, %v", tt.contentType, base, err)
		}
	}
}

// brokenBody fails to be read or to be closed.
type brokenBody struct{ read, closing error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.read }
func (b brokenBody) Close() error             { return b.closing }

func TestWhatCannotBeReadIsNotSigned(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name  string
		query string
		body  io.Reader
		want  error
	}{
		{"a malformed query", "a=%zz", nil, errQuery},
		{"a query with a semicolon", "a=1;b=s3cret", nil, errQuery},
		{"a malformed form", "", strings.NewReader("s3cret=%zz"), errForm},
		{"BCP-21 a form without end", "", strings.NewReader(strings.Repeat("a", maxForm+1)), errFormSize},
		{"a body that fails", "", brokenBody{read: broken}, broken},
		{"a body that cannot be closed", "", brokenBody{read: io.EOF, closing: broken}, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := request(t, "POST", "https://example.com/a?"+tt.query, formType, "")
			if closer, ok := tt.body.(io.ReadCloser); ok {
				req.Body = closer
			} else if tt.body != nil {
				req.Body = io.NopCloser(tt.body)
			}
			err := Credentials{ConsumerKey: "key", ConsumerSecret: "s3cret"}.Authorize(req, NewStamp(), nil)
			if !errors.Is(err, tt.want) || req.Header.Get("Authorization") != "" {
				t.Errorf("Authorize: %v, with the header %q", err, req.Header.Get("Authorization"))
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("SH-13 the error repeats a secret: %v", err)
			}
		})
	}
}

func TestTheHeaderHoldsTheProtocolParameters(t *testing.T) {
	c := Credentials{ConsumerKey: "k e", ConsumerSecret: "consumer&secret", Token: `t"k`, TokenSecret: "s"}
	req := request(t, "POST", "https://example.com/a?in=query", formType, "in=form")
	more := url.Values{"oauth_callback": {"https://app.example/cb?a=1,2"}}
	if err := c.Authorize(req, Stamp{"n+1", time.Unix(137131200, 0)}, more); err != nil {
		t.Fatal(err)
	}
	const want = `OAuth oauth_callback="https%3A%2F%2Fapp.example%2Fcb%3Fa%3D1%2C2", oauth_consumer_key="k%20e", oauth_nonce="n%2B1", ` +
		`oauth_signature="JWArFNjpDkAZRFCgLKdY4GuZYDA%3D", oauth_signature_method="HMAC-SHA1", oauth_timestamp="137131200", oauth_token="t%22k", oauth_version="1.0"`
	if got := req.Header.Get("Authorization"); got != want {
		t.Errorf("Authorization:\n got %s\nwant %s", got, want)
	}
	if len(more) != 1 {
		t.Errorf("the caller's parameters became %v", more)
	}
}

func TestTwoStampsDiffer(t *testing.T) {
	if a, b := NewStamp(), NewStamp(); a.Nonce == b.Nonce || len(a.Nonce) < 26 {
		t.Errorf("nonces %q and %q", a.Nonce, b.Nonce)
	}
}

// A service reads exactly the parameters that were put into the header.
func FuzzTheHeaderCanBeReadBack(f *testing.F) {
	f.Add("key", "token", "https://app.example/cb", "a=1")
	f.Add("k, \"\x00é%", "\r\nX: y", "", "a=%FF&a")
	f.Fuzz(func(t *testing.T, key, token, callback, rawQuery string) {
		req := request(t, "POST", "https://example.com/a", "", "")
		req.URL.RawQuery = rawQuery
		more := url.Values{"oauth_callback": {callback}}
		if err := (Credentials{ConsumerKey: key, Token: token}).Authorize(req, NewStamp(), more); err != nil {
			return
		}
		fields, ok := strings.CutPrefix(req.Header.Get("Authorization"), "OAuth ")
		if !ok {
			t.Fatalf("Authorization: %q", req.Header.Get("Authorization"))
		}
		got := map[string]string{}
		for field := range strings.SplitSeq(fields, ", ") {
			name, quoted, _ := strings.Cut(field, "=")
			value, err := url.PathUnescape(strings.Trim(quoted, `"`))
			if _, twice := got[name]; err != nil || twice || strings.ContainsAny(quoted, "\r\n\x00, ") {
				t.Fatalf("field %q", field)
			}
			got[name] = value
		}
		if got["oauth_consumer_key"] != key || got["oauth_token"] != token || got["oauth_callback"] != callback {
			t.Errorf("read back %q", got)
		}
	})
}
