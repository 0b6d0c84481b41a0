package token_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/token"
)

// request has the given Cookie header lines, and an Authorization header unless
// that is empty.
func request(authorization string, cookies ...string) *http.Request {
	r := &http.Request{Header: http.Header{}}
	if len(cookies) > 0 {
		r.Header["Cookie"] = cookies
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

func TestFromCookie(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	ann := encode(t, codec, token.Claims{"name": "Ann", "sub": "1"}, time.Hour)
	anew := encode(t, codec, token.Claims{"name": "Ann anew", "sub": "1"}, time.Hour)
	withoutSubject := encode(t, codec, token.Claims{"name": "Ann"}, time.Hour)
	bob := encode(t, codec, token.Claims{"name": "Bob", "sub": "2"}, time.Hour)
	expired := encode(t, codec, token.Claims{"name": "Old"}, -time.Hour)
	third := len(ann) / 3
	a0, a1, a2 := ann[:third], ann[third:2*third], ann[2*third:]
	const name = sessionCookie

	tests := []struct {
		why    string
		header []string
		want   string // the name, or an error
	}{
		{"one cookie", []string{name + "=" + ann}, "Ann"},
		{"among others", []string{"a=1; " + name + "=" + ann + "; z=2"}, "Ann"},
		{"without a space behind the semicolon", []string{"a=1;" + name + "=" + ann + ";z=2"}, "Ann"},
		{"with spaces and tabs around", []string{"a=1; \t" + name + " \t= \t" + ann + "\t ;z"}, "Ann"},
		{"in the second header line", []string{"a=1", name + "=" + ann}, "Ann"},
		{"percent-encoded", []string{name + "=" + strings.ReplaceAll(ann, ".", "%2E")}, "Ann"},
		{"three chunks", []string{name + ".0=" + a0 + "; " + name + ".1=" + a1 + "; " + name + ".2=" + a2}, "Ann"},
		{"chunks out of order", []string{name + ".2=" + a2 + "; " + name + ".0=" + a0 + "; " + name + ".1=" + a1}, "Ann"},
		{"chunks in two header lines", []string{name + ".1=" + a1 + "; " + name + ".2=" + a2, name + ".0=" + a0}, "Ann"},
		{"one chunk", []string{name + ".0=" + ann}, "Ann"},

		{"no header", nil, "none"},
		{"an empty header", []string{""}, "none"},
		{"other cookies", []string{"a=1; b=2"}, "none"},
		{"a name without value", []string{name}, "none"},
		{"an empty value", []string{name + "="}, "none"},
		{"the name as a value", []string{"a=" + name + "=" + ann}, "none"},
		{"the name in another case", []string{strings.ToUpper(name) + "=" + ann}, "none"},
		{"CK-5 a cookie without name", []string{"=" + name + "=" + ann}, "none"},
		{"the cookie of https", []string{"__Secure-" + name + "=" + ann}, "none"},
		{"expired", []string{name + "=" + expired}, "expired"},
		{"not a token", []string{name + "=x"}, "invalid"},
		{"quotes are part of the value", []string{name + `="` + ann + `"`}, "invalid"},
		{"only spaces and tabs are trimmed", []string{name + "=" + ann + "\f"}, "invalid"},
		{"SH-02 malformed percent-encoding", []string{name + "=%zz" + ann}, "invalid"},
		{"SH-02 a lone percent sign", []string{name + "=%"}, "invalid"},

		{"the first of two", []string{name + "=" + ann + "; " + name + "=x"}, "Ann"},
		{"the first of two of one user", []string{name + "=" + ann + "; " + name + "=" + anew}, "Ann"},
		{"SA-M8 two of two users", []string{name + "=" + ann + "; " + name + "=" + bob}, "invalid"},
		{"SA-M8 two without a subject", []string{name + "=" + ann + "; " + name + "=" + withoutSubject}, "invalid"},
		{"the first of two, invalid", []string{name + "=x; " + name + "=" + bob}, "invalid"},
		{"the first of two, empty", []string{name + "=; " + name + "=" + bob}, "none"},
		{"the first of two lines", []string{name + "=" + ann, name + "=" + anew}, "Ann"},
		{"SA-M8 two lines of two users", []string{name + "=" + ann, name + "=" + bob}, "invalid"},
		{"SA-M8 a chunk that came twice", []string{name + ".0=" + a0 + "; " + name + ".0=x; " + name + ".1=" + a1 + "; " + name + ".2=" + a2}, "invalid"},

		{"W-10 a longer name", []string{name + "X=x; " + name + "=" + ann + "; " + name + "-old=x"}, "Ann"},
		{"W-10 a suffix that is no number", []string{name + ".x=x; " + name + "=" + ann}, "Ann"},
		{"W-10 CK-7 a suffix with two dots", []string{name + ".0=" + a0 + "; " + name + ".0.1=x; " + name + ".1=" + a1 + "; " + name + ".2=" + a2}, "Ann"},
		{"W-10 a suffix with a leading zero", []string{name + ".01=x; " + name + ".0=" + a0 + "; " + name + ".1=" + a1 + "; " + name + ".2=" + a2}, "Ann"},
		{"W-10 a suffix with leading zeros", []string{name + ".000=x; " + name + ".031=x; " + name + "=" + ann}, "Ann"},
		{"W-10 signs and spaces in a suffix", []string{name + ".+1=x; " + name + ".-1=x; " + name + ". 1=x; " + name + ".=x; " + name + "=" + ann}, "Ann"},
		{"W-10 a number beyond all", []string{name + ".99999999999999999999=x; " + name + ".256=x; " + name + ".32=x; " + name + "=" + ann}, "Ann"},
		{"W-10 a chunk behind a gap", []string{name + ".0=" + ann + "; " + name + ".2=x"}, "Ann"},
		{"W-10 a chunk behind an empty one", []string{name + ".0=" + ann + "; " + name + ".1=; " + name + ".2=x"}, "Ann"},
		{"a chunk missing", []string{name + ".0=" + a0 + "; " + name + ".2=" + a2}, "invalid"},
		{"the first chunk missing", []string{name + ".1=" + a1 + "; " + name + ".2=" + a2}, "none"},
		{"W-10 a stray chunk beside the cookie", []string{name + ".0=x; " + name + "=" + ann}, "Ann"},
		{"a stray cookie beside the chunks", []string{name + "=x; " + name + ".0=" + a0 + "; " + name + ".1=" + a1 + "; " + name + ".2=" + a2}, "Ann"},
		{"SA-M8 both valid, of two users", []string{name + "=" + ann + "; " + name + ".0=" + bob}, "invalid"},
		{"both valid, of one user", []string{name + "=" + anew + "; " + name + ".0=" + ann}, "Ann anew"},
		{"SA-L3 behind 66 KB of other cookies", []string{"x=" + strings.Repeat("y", 66<<10) + "; " + name + "=" + ann}, "Ann"},
		{"both invalid", []string{name + "=x; " + name + ".0=x"}, "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			tok, err := codec.FromCookie(request("Bearer "+bob, tt.header...))
			got := tok.Name()
			switch {
			case errors.Is(err, token.ErrNoToken):
				got += "none"
			case errors.Is(err, token.ErrExpired):
				got += "expired"
			case errors.Is(err, token.ErrInvalid):
				got += "invalid"
			case err != nil:
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("FromCookie(%q) = %s, want %s", tt.header, got, tt.want)
			}
		})
	}
}

func TestFromCookieReadsManyChunks(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	sealed := encode(t, codec, token.Claims{"name": "Ann", "x": strings.Repeat("x", 90000)}, time.Hour)
	header := cookieHeader(sealed)
	if !strings.Contains(header, sessionCookie+".30=") || strings.Contains(header, sessionCookie+".32=") {
		t.Fatalf("the test's token of %d bytes should have 31 or 32 chunks", len(sealed))
	}
	tok, err := codec.FromCookie(request("", header))
	if err != nil || tok.Name() != "Ann" {
		t.Errorf("FromCookie = %v, %v", tok, err)
	}
}

func TestFromRequestReadsBearer(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	ann := encode(t, codec, token.Claims{"name": "Ann"}, time.Hour)
	bob := encode(t, codec, token.Claims{"name": "Bob"}, time.Hour)
	tests := []struct {
		why           string
		cookie        string
		authorization string
		name          string
		err           error
	}{
		{"a bearer token", "", "Bearer " + ann, "Ann", nil},
		{"percent-encoded", "", "Bearer " + strings.ReplaceAll(ann, ".", "%2e"), "Ann", nil},
		{"with a word behind it", "", "Bearer " + ann + " x", "Ann", nil},
		{"the cookie goes first", sessionCookie + "=" + bob, "Bearer " + ann, "Bob", nil},
		{"an invalid cookie hides it", sessionCookie + "=x", "Bearer " + ann, "", token.ErrInvalid},
		{"an empty cookie does not hide it", sessionCookie + "=", "Bearer " + ann, "Ann", nil},
		{"W-10 a cookie of another name does not hide it", sessionCookie + "X=x", "Bearer " + ann, "Ann", nil},
		{"no header", "", "", "", token.ErrNoToken},
		{"nothing behind Bearer", "", "Bearer", "", token.ErrNoToken},
		{"a space behind Bearer", "", "Bearer ", "", token.ErrNoToken},
		{"two spaces behind Bearer", "", "Bearer  " + ann, "", token.ErrNoToken},
		{"another case", "", "bearer " + ann, "", token.ErrNoToken},
		{"another scheme", "", "Basic " + ann, "", token.ErrNoToken},
		{"no scheme", "", ann, "", token.ErrNoToken},
		{"not a token", "", "Bearer x", "", token.ErrInvalid},
		{"SH-02 a lone percent sign", "", "Bearer %", "", token.ErrInvalid},
		{"SH-02 a malformed escape", "", "Bearer %zz", "", token.ErrInvalid},
		{"SH-02 a NUL", "", "Bearer \x00", "", token.ErrInvalid},
		{"SH-02 64 KiB", "", "Bearer " + strings.Repeat("%41", 64<<10/3), "", token.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			r := request(tt.authorization)
			if tt.cookie != "" {
				r = request(tt.authorization, tt.cookie)
			}
			tok, err := codec.FromRequest(r)
			if !errors.Is(err, tt.err) || tok.Name() != tt.name {
				t.Errorf("FromRequest = %v, %v; want %q, %v", tok, err, tt.name, tt.err)
			}
		})
	}
}

// A service that looks for the cookie of https sees none on a developer's machine. The error
// says which one it looked for and which one there is, and nothing of what is in it.
func TestTheErrorWithoutATokenNamesTheCookies(t *testing.T) {
	const bare, secure, host = sessionCookie, "__Secure-" + sessionCookie, "__Host-" + sessionCookie
	for _, tt := range []struct {
		name, codec, cookie string
		names, hides        string
	}{
		{"nothing", secure, "", secure, "it has the cookie"},
		{"other cookies", secure, "a=s3cret; " + sessionCookie + "-old=s3cret", secure, "it has the cookie"},
		{"the cookie of http", secure, bare + "=s3cret", `it has the cookie "` + bare + `"`, "__Host-" + bare},
		{"the cookie of http in parts", secure, bare + ".0=s3cret", `it has the cookie "` + bare + `"`, "__Host-" + bare},
		{"the cookie of https", bare, secure + "=s3cret", `it has the cookie "` + secure + `"`, host},
		{"the cookie of https that is not for a domain", bare, host + "=s3cret", `it has the cookie "` + host + `"`, secure},
		{"the cookie of http, with the stricter name", host, bare + "=s3cret", `it has the cookie "` + bare + `"`, secure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			codec := newCodec(t, tt.codec, secret)
			r := request("Basic s3cret", tt.cookie)
			for _, read := range []func(*http.Request) (token.Token, error){codec.FromCookie, codec.FromRequest} {
				_, err := read(r)
				if !errors.Is(err, token.ErrNoToken) {
					t.Fatal(err)
				}
				text := err.Error()
				if !strings.Contains(text, `"`+tt.codec+`"`) || !strings.Contains(text, tt.names) || strings.Contains(text, `"`+tt.hides) || strings.Contains(text, "s3cret") {
					t.Errorf("the error is %s", text)
				}
			}
			if _, err := codec.FromRequest(r); !strings.Contains(err.Error(), "Bearer") {
				t.Errorf("the error of FromRequest is %v", err)
			}
		})
	}
}

// SH-47: a made-up token is anonymous, with one of three errors.
func FuzzFromRequest(f *testing.F) {
	codec := newCodec(f, sessionCookie, secret)
	sealed := encode(f, codec, token.Claims{"name": "Ann"}, 24*time.Hour)
	f.Add(cookieHeader(sealed), "")
	f.Add("", "Bearer "+sealed)
	f.Add(sessionCookie+".0="+sealed[:99]+"; "+sessionCookie+".1="+sealed[99:], "Bearer %")
	f.Add(sessionCookie+"=%; =; ;;a", "Bearer %zz")
	f.Fuzz(func(t *testing.T, cookie, authorization string) {
		tok, err := codec.FromRequest(request(authorization, cookie))
		if err == nil {
			if tok.Name() != "Ann" {
				t.Fatalf("a forged token: %s", tok.JSON())
			}
			return
		}
		if tok != (token.Token{}) {
			t.Fatalf("a token beside the error %v", err)
		}
		if !errors.Is(err, token.ErrNoToken) && !errors.Is(err, token.ErrInvalid) && !errors.Is(err, token.ErrExpired) {
			t.Fatalf("FromRequest = %v", err)
		}
	})
}
