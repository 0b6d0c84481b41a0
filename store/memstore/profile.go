package memstore

import (
	"math"
	"time"

	"github.com/pintleauth/pintle"
)

// A profile is the fields of a user in one text, and what the user has instead of a
// field that is empty.
type profile struct {
	text     string
	ends     [3]uint32 // of the id, the name and the address; the picture is the rest
	mark     uint32    // its place in marks.bare
	verified int64     // in milliseconds, or never
}

const never = math.MinInt64

func (p *profile) id() string    { return p.text[:p.ends[0]] }
func (p *profile) name() string  { return p.text[p.ends[0]:p.ends[1]] }
func (p *profile) email() string { return p.text[p.ends[1]:p.ends[2]] }
func (p *profile) image() string { return p.text[p.ends[2]:] }

// profileOf is called by who may write.
func (r records) profileOf(id string, u *pintle.User) profile {
	p := profile{text: id + u.Name + u.Email + u.Image, mark: r.markOf(u), verified: never}
	for i, part := range []string{id, u.Name, u.Email} {
		p.ends[i] = uint32(len(part)) //nolint:gosec // requests are bounded far below 4 GiB
		if i > 0 {
			p.ends[i] += p.ends[i-1]
		}
	}
	if !u.EmailVerified.IsZero() {
		p.verified = u.EmailVerified.UnixMilli()
	}
	return p
}

// marks are users without fields, of which each has others that are null instead of
// absent, as [pintle.User.MarkNull] makes them. There are a few dozens at most.
type marks struct {
	bare   []pintle.User
	byJSON map[string]uint32
}

func (m *marks) markOf(u *pintle.User) uint32 {
	bare := *u
	bare.ID, bare.Name, bare.Email, bare.Image, bare.Extra = "", "", "", "", nil
	bare.EmailVerified = time.Time{}
	text, err := bare.MarshalJSON()
	if err != nil {
		panic("memstore: unreachable: " + err.Error()) // it has nothing that cannot be encoded
	}
	mark, known := m.byJSON[string(text)]
	if !known {
		mark = uint32(len(m.bare)) //nolint:gosec // each combination is there once
		m.bare = append(m.bare, bare)
		m.byJSON[string(text)] = mark
	}
	return mark
}
