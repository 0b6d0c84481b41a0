package cookie

import (
	"net/http"
	"strconv"
	"strings"
)

const (
	// chunkSize is how much of a value goes into one cookie: a browser drops a
	// cookie whose name and value exceed 4096 bytes, and 160 are kept for the
	// name and the attributes.
	chunkSize = 4096 - 160

	// MaxParts bounds the parts of one value that are read, to 126 KB. Browsers
	// and servers accept much less.
	MaxParts = 32

	// maxLeftovers bounds the received names that are cleared although no
	// writer uses them, and with them the Set-Cookie lines one request can cause.
	maxLeftovers = 31
)

// A Chunked is a value as a request carries it under one name: in one cookie or
// in numbered parts. It has both if one of them is left over or was planted.
type Chunked struct {
	// Whole is the value of the cookie with the name itself, and Parts the
	// joined value of name.0, name.1, … up to the first number that is missing.
	// "" means absent.
	Whole, Parts string

	// Repeated reports that a name came more than once with different values,
	// as it does when cookies differ in path or domain.
	Repeated bool
}

// Value returns the whole value, or else the parts.
func (c Chunked) Value() string {
	if c.Whole != "" {
		return c.Whole
	}
	return c.Parts
}

// ReadChunked returns what a request carries under name. It allocates only to
// decode and to join.
//
// Only name itself and name.0, name.1, … belong to the value, with consecutive
// numbers without leading zeros. Joining everything that begins with name, as
// Auth.js does, lets one stray cookie sign the user out (W-10). Of two cookies
// with the same name the first counts, even if it is empty. Callers that use the
// value as a credential read it with [Open].
func ReadChunked(h http.Header, name string) Chunked {
	whole, found := "", false
	s := scan(h, name)
	for s.next() {
		index, ok := chunkIndex(s.suffix)
		if !ok || index == unread {
			continue
		}
		if index != 0 || found {
			return readParts(h, name)
		}
		whole, found = s.value, true
	}
	return Chunked{Whole: Decode(whole)}
}

// readParts is ReadChunked for more than one cookie. It is a function of its own because
// most requests carry one, and the parts take half a kilobyte of the stack.
func readParts(h http.Header, name string) Chunked {
	var c chunks
	c.read(h, name)
	return Chunked{Whole: Decode(c.values[0]), Parts: join(c.values[1:]), Repeated: c.repeated}
}

// Received returns the names of the cookies of a request that belong to a
// value, in the order of the request. [WriteChunked] needs them to clear what is
// no longer used. They include parts after a gap and numbers that no writer
// uses. The result has all names that [ReadChunked] reads, however many other
// numbers a client makes up.
func Received(h http.Header, name string) []string {
	var names []string
	var seen uint64
	leftovers := 0
	s := scan(h, name)
	for s.next() {
		index, ok := chunkIndex(s.suffix)
		switch {
		case !ok || s.value == "":
			continue
		case index < unread:
			if seen&(1<<index) != 0 {
				continue
			}
			seen |= 1 << index
		case leftovers == maxLeftovers:
			continue
		default:
			leftovers++
		}
		names = append(names, name+s.suffix)
	}
	return names
}

// chunks are the cookies of one value, encoded: the whole value first, and then
// the parts.
type chunks struct {
	values   [1 + MaxParts]string
	seen     uint64 // a bit for each of values
	repeated bool
}

func (c *chunks) read(h http.Header, name string) {
	s := scan(h, name)
	for s.next() {
		index, ok := chunkIndex(s.suffix)
		if !ok || index == unread {
			continue
		}
		switch bit := uint64(1) << index; {
		case c.seen&bit == 0:
			c.values[index] = s.value
			c.seen |= bit
		case c.values[index] != s.value:
			c.repeated = true
		}
	}
}

// unread is the index of a part whose number no writer would have chosen.
const unread = 1 + MaxParts

// chunkIndex parses the suffix after the name in the name of a cookie: index 0 is
// the whole value, and index 1 part 0. It reports whether suffix has such a shape.
func chunkIndex(suffix string) (index int, ok bool) {
	if suffix == "" {
		return 0, true
	}
	if len(suffix) < 2 || len(suffix) > 6 || suffix[0] != '.' {
		return 0, false
	}
	digits := suffix[1:]
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		index = index*10 + int(digits[i]-'0')
	}
	if index >= MaxParts || digits[0] == '0' && len(digits) > 1 {
		return unread, true
	}
	return 1 + index, true
}

// join decodes the parts up to the first that is missing.
func join(parts []string) string {
	n, size := 0, 0
	for n < len(parts) && parts[n] != "" {
		size += len(parts[n])
		n++
	}
	switch n {
	case 0:
		return ""
	case 1:
		return Decode(parts[0])
	}
	var b strings.Builder
	b.Grow(size)
	for _, part := range parts[:n] {
		b.WriteString(Decode(part))
	}
	return b.String()
}

// Parts returns how many cookies [WriteChunked] stores a value in.
func Parts(value string) int { return (len(value) + chunkSize - 1) / chunkSize }

// WriteChunked returns the Set-Cookie lines that store value under name, in as
// many parts as it needs, and that clear those of the received names (see
// [Received]) that are no longer used. An empty value clears everything.
// The lines come in the order Auth.js sends them: received names first, in
// place, then new ones.
//
// The value must be ASCII, as tokens are: it is cut by bytes.
func WriteChunked(name, value string, received []string, a Attributes) []string {
	lines := make([]string, 0, len(received)+1+len(value)/chunkSize)
	at := make(map[string]int, len(received))
	for _, n := range received {
		if _, again := at[n]; !again {
			at[n] = len(lines)
			lines = append(lines, ClearLine(n, a))
		}
	}
	put := func(n, part string) {
		line := Line(n, part, a)
		if i, ok := at[n]; ok {
			lines[i] = line
			return
		}
		lines = append(lines, line)
	}
	if value != "" && len(value) <= chunkSize {
		put(name, value)
		return lines
	}
	for i := 0; value != ""; i++ {
		size := min(chunkSize, len(value))
		put(name+"."+strconv.Itoa(i), value[:size])
		value = value[size:]
	}
	return lines
}
