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

	// maxChunks bounds the parts of one value. Together they would not fit
	// into maxHeader.
	maxChunks = 32

	// maxReceived bounds the names remembered for clearing, and with them the
	// Set-Cookie lines one request can cause.
	maxReceived = 2 * maxChunks
)

// ReadChunked returns the value stored under name, whole or in numbered parts,
// and the names it found in the order of the request, which [WriteChunked]
// needs in order to clear what is no longer used. No value is "".
//
// Only name itself and name.0, name.1, … belong to the value, the numbers
// without gap and leading zero: joining everything that begins with name, as
// Auth.js does, lets one stray cookie sign the user out (W-10). The whole value
// wins over parts, which are then leftovers of a larger one. Parts after a gap
// are not read but are among the names, so that they get cleared.
func ReadChunked(h http.Header, name string) (value string, received []string) {
	var c chunks
	c.read(h, name, func(n string) {
		if len(received) < maxReceived {
			received = append(received, n)
		}
	})
	return c.join(), received
}

// GetChunked is [ReadChunked] for those who only read. It allocates only to
// decode and to join.
func GetChunked(h http.Header, name string) (value string, ok bool) {
	var c chunks
	c.read(h, name, nil)
	value = c.join()
	return value, value != ""
}

// chunks is a value as it arrived, encoded. An empty text is a part that did
// not come.
type chunks struct {
	whole string
	part  [maxChunks]string
}

func (c *chunks) read(h http.Header, name string, found func(string)) {
	s := scan(h)
	for s.next() {
		if s.value == "" || !strings.HasPrefix(s.name, name) {
			continue
		}
		var slot *string
		if suffix := s.name[len(name):]; suffix == "" {
			slot = &c.whole
		} else if index, ok := chunkIndex(suffix); !ok {
			continue
		} else if index >= 0 {
			slot = &c.part[index]
		}
		if slot != nil {
			if *slot != "" {
				continue // the first occurrence of a name counts
			}
			*slot = s.value
		}
		if found != nil {
			found(s.name)
		}
	}
}

// chunkIndex reads the suffix of a numbered part. It reports whether suffix has
// that shape; the index is -1 when no writer would have chosen it.
func chunkIndex(suffix string) (index int, ok bool) {
	if len(suffix) < 2 || len(suffix) > 6 || suffix[0] != '.' {
		return -1, false
	}
	digits := suffix[1:]
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return -1, false
		}
		index = index*10 + int(digits[i]-'0')
	}
	if index >= maxChunks || digits[0] == '0' && len(digits) > 1 {
		return -1, true
	}
	return index, true
}

func (c *chunks) join() string {
	if c.whole != "" {
		return Decode(c.whole)
	}
	if c.part[0] == "" || c.part[1] == "" {
		return Decode(c.part[0])
	}
	n := 0
	for _, part := range c.part {
		if part == "" {
			break
		}
		n += len(part)
	}
	var b strings.Builder
	b.Grow(n)
	for _, part := range c.part {
		if part == "" {
			break
		}
		b.WriteString(Decode(part))
	}
	return b.String()
}

// WriteChunked returns the Set-Cookie lines that store value under name, in as
// many parts as it needs, and clear those of the received names (of
// [ReadChunked]) that are no longer used. An empty value clears everything.
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
