package seal

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

const (
	algDir  = "dir"
	a256CBC = "A256CBC-HS512"
	a256GCM = "A256GCM"
)

// maxHeader is the longest encoded header that is parsed; ours has 170
// characters.
const maxHeader = 16 << 10

// header has the members of a protected header that matter here.
type header struct {
	enc    string
	kid    string
	hasKid bool
}

// parseHeader reads an encoded protected header. It rejects
//
//   - any alg but dir: no key is unwrapped, derived or agreed on for an
//     anonymous client;
//   - any enc but the two that Auth.js has ever written;
//   - zip: compressed plaintext can be a decompression bomb, and Auth.js never
//     wrote it;
//   - crit: no extension is supported;
//   - iss, sub and aud, which a reader would have to compare with the claims,
//     and which Auth.js never wrote;
//   - a member given twice: "Header Parameter names within the JOSE Header MUST
//     be unique".
//
// Other members are ignored.
//
// https://www.rfc-editor.org/rfc/rfc7516#section-4
func parseHeader(text string) (h header, ok bool) {
	if len(text) > maxHeader {
		return header{}, false
	}
	data, ok := appendDecode(nil, text)
	if !ok || !utf8.Valid(data) {
		return header{}, false
	}
	members, ok := parseMembers(data)
	if !ok {
		return header{}, false
	}
	for _, name := range []string{"zip", "crit", "iss", "sub", "aud"} {
		if _, ok := members[name]; ok {
			return header{}, false
		}
	}
	if alg, ok := members["alg"].(string); !ok || alg != algDir {
		return header{}, false
	}
	h.enc, ok = members["enc"].(string)
	if !ok || h.enc != a256CBC && h.enc != a256GCM {
		return header{}, false
	}
	kid, hasKid := members["kid"]
	h.hasKid = hasKid
	h.kid, _ = kid.(string) // a kid that is no string matches no key
	return h, true
}

// parseMembers reads one JSON object whose member names differ. It reads token by
// token because decoding into a map lets the second of two members win silently,
// and decoding into a struct compares names without case.
func parseMembers(data []byte) (map[string]any, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	members := make(map[string]any)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		// The decoder has checked that this is a string.
		text, _ := name.(string)
		if _, twice := members[text]; twice {
			return nil, false
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		members[text] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	_, err := dec.Token()
	return members, err == io.EOF
}
