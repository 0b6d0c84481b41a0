package userimport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pintleauth/pintle/internal/clip"
)

// maxRecord is how many bytes one user of JSON may have. It bounds the memory that a file
// can cause to be used.
const maxRecord = 1 << 20

var (
	errUTF16 = errors.New("the file is UTF-16: convert it to UTF-8")
	errEnd   = errors.New("the file ends in the middle: it was cut off")
	errJSON  = errors.New("the file is not JSON of this form")
)

// textReader returns a reader after a byte order mark. Windows programs write UTF-16, whose
// texts would be refused one by one.
func textReader(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	start, err := b.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := b.Discard(3)
		return b, err
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), len(start) > 1 && (start[0] == 0 || start[1] == 0):
		return nil, errUTF16
	}
	return b, nil
}

// A record is the text of one user. data is valid until the next one is read.
type record struct {
	number int
	data   []byte
	reason string // why there is no data
}

// records yields the users of JSON: the lines of JSON lines, the elements of an array, or
// those of an array that is the named member of an object.
func records(r io.Reader, member string) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		text, err := textReader(r)
		if err != nil {
			yield(record{}, err)
			return
		}
		s := &scanner{r: text}
		first, err := s.next()
		switch {
		case errors.Is(err, io.EOF): // no users
			return
		case err != nil:
		case first == '[':
			if err = s.array(yield); err == nil {
				err = s.nothingElse()
			}
		case first == '{' && member != "":
			if err = s.object(member, yield); err == nil {
				err = s.nothingElse()
			}
		case first == '{':
			if err = s.r.UnreadByte(); err == nil {
				err = s.lines(yield)
			}
		default:
			err = errJSON
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(record{}, err)
		}
	}
}

// errStopped is the error of a loop that wants no more records.
var errStopped = errors.New("stopped")

// A scanner takes JSON apart into values, without their meaning, in bounded memory.
type scanner struct {
	r      *bufio.Reader
	lineNo int
	buf    []byte
}

// next returns the next byte that is not white space.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case '\n':
			s.lineNo++
		case ' ', '\t', '\r':
		default:
			return c, nil
		}
	}
}

// must is next, where the text cannot end.
func (s *scanner) must() (byte, error) {
	c, err := s.next()
	if errors.Is(err, io.EOF) {
		return 0, errEnd
	}
	return c, err
}

func (s *scanner) nothingElse() error {
	_, err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errJSON
}

// lines yields the lines from here on.
func (s *scanner) lines(yield func(record, error) bool) error {
	for number := s.lineNo + 1; ; number++ {
		line, tooLong, err := s.line()
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		line = bytes.TrimSpace(line)
		r := record{number: number, data: line}
		if tooLong {
			r.data, r.reason = nil, "more than 1 MiB"
		}
		if (len(line) > 0 || tooLong) && !yield(r, nil) {
			return errStopped
		}
		if last {
			return nil
		}
	}
}

// line reads a line, and drops what is beyond maxRecord.
func (s *scanner) line() (line []byte, tooLong bool, err error) {
	s.buf = s.buf[:0]
	for {
		part, err := s.r.ReadSlice('\n')
		if len(s.buf)+len(part) > maxRecord {
			tooLong, s.buf = true, s.buf[:0]
		}
		if !tooLong {
			s.buf = append(s.buf, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return s.buf, tooLong, err
		}
	}
}

// array yields the elements of an array whose bracket was read.
func (s *scanner) array(yield func(record, error) bool) error {
	for number := 1; ; number++ {
		c, err := s.must()
		if err != nil {
			return err
		}
		if c == ']' && number == 1 {
			return nil
		}
		r := record{number: number}
		s.buf = s.buf[:0]
		var tooLong bool
		if tooLong, err = s.value(c, true); err != nil {
			return err
		}
		if r.data = s.buf; tooLong {
			r.data, r.reason = nil, "more than 1 MiB"
		}
		if !yield(r, nil) {
			return errStopped
		}
		if c, err = s.must(); err != nil {
			return err
		}
		switch c {
		case ']':
			return nil
		case ',':
		default:
			return errJSON
		}
	}
}

// object yields the elements of an array that is a member of an object whose brace was read.
// Other members are passed over.
func (s *scanner) object(member string, yield func(record, error) bool) error {
	found := false
	for first := true; ; first = false {
		c, err := s.must()
		if err != nil {
			return err
		}
		if c == '}' && first {
			break
		}
		if c != '"' {
			return errJSON
		}
		s.buf = s.buf[:0]
		if _, err := s.value(c, true); err != nil {
			return err
		}
		var name string
		if json.Unmarshal(s.buf, &name) != nil {
			return errJSON
		}
		if c, err = s.must(); err != nil || c != ':' {
			return orJSON(err)
		}
		if c, err = s.must(); err != nil {
			return err
		}
		if name == member && c == '[' && !found {
			found = true
			err = s.array(yield)
		} else {
			_, err = s.value(c, false)
		}
		if err != nil {
			return err
		}
		if c, err = s.must(); err != nil {
			return err
		}
		if c == '}' {
			break
		}
		if c != ',' {
			return errJSON
		}
	}
	if !found {
		return fmt.Errorf("the file has no array %q", member)
	}
	return nil
}

func orJSON(err error) error {
	if err == nil {
		return errJSON
	}
	return err
}

// value reads the value that begins with a byte, and keeps it in buf if wanted. It keeps
// count of braces only: how deep they are takes no memory.
func (s *scanner) value(first byte, keep bool) (tooLong bool, err error) {
	depth, quoted, escaped := 0, false, false
	for c := first; ; {
		if keep && !tooLong {
			if s.buf = append(s.buf, c); len(s.buf) > maxRecord {
				tooLong, s.buf = true, s.buf[:0]
			}
		}
		end := false
		switch {
		case escaped:
			escaped = false
		case quoted:
			switch c {
			case '\\':
				escaped = true
			case '"':
				quoted, end = false, depth == 0
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
			end = depth == 0
			if depth < 0 {
				return false, errJSON
			}
		case depth == 0 && (c == ',' || c == ':'):
			return false, errJSON
		}
		if end {
			return tooLong, nil
		}
		if depth == 0 && !quoted { // a number or a word ends before what follows it
			following, err := s.r.Peek(1)
			if err != nil || bytes.ContainsAny(following, ",]} \t\r\n") {
				return tooLong, nil //nolint:nilerr // what comes next finds the end
			}
		}
		if c, err = s.r.ReadByte(); err != nil {
			if errors.Is(err, io.EOF) {
				err = errEnd
			}
			return false, err
		}
	}
}

// decode reads the JSON of a user into v. Its error has no part of the text but the name of a
// member.
func (r record) decode(v any) *LineError { return r.read(v, false) }

// decodeStrict is decode, and refuses members that v does not have.
func (r record) decodeStrict(v any) *LineError { return r.read(v, true) }

func (r record) read(v any, strict bool) *LineError {
	if r.reason != "" {
		return &LineError{r.number, r.reason}
	}
	if !utf8.Valid(r.data) {
		return &LineError{r.number, "not UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(r.data))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return &LineError{r.number, "more than one object"}
	}
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return &LineError{r.number, "a member has another kind of value than expected: " + wrong.Field}
	case errors.Is(err, errScalar):
		return &LineError{r.number, "a member has another kind of value than expected"}
	case strict && !errors.As(err, &wrong) && !errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF):
		return &LineError{r.number, "a member that is not known" + unknownMember(err)}
	}
	return &LineError{r.number, "not JSON of a user"}
}

// maxMember is how many bytes of the name of a member an error has.
const maxMember = 40

// unknownMember is ": " and the quoted name of the member that an error of [json.Decoder] is about,
// which has it in its text alone, or "".
func unknownMember(err error) string {
	quoted, found := strings.CutPrefix(err.Error(), "json: unknown field ")
	name, failed := strconv.Unquote(quoted)
	if !found || failed != nil {
		return ""
	}
	if short := clip.Text(name, maxMember); short != name {
		return ": " + strconv.Quote(short+"…")
	}
	return ": " + strconv.Quote(name)
}
