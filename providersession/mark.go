package providersession

import (
	"context"
	"crypto/sha256"
	"time"
)

// A Marker is a [pintle.RevocationStore] that ends the sessions in tokens that belong to
// a session, or to a user, at a provider. A site whose sessions are tokens needs one for
// pintle.OAuth.BackChannelLogout and EndSessionsOnRefusal. The lists of packages memstore, sqlstore, redisstore and
// mongostore are Markers.
//
// The method Revoked of a Marker also reports the sessions with a mark that has ended: see
// pintle.TokenSession.Marks.
//
// [pintle.RevocationStore]: https://pkg.go.dev/github.com/pintleauth/pintle#RevocationStore
type Marker interface {
	// EndMarked ends every session that has a mark and began until ended, as that
	// session records it. A session of unknown beginning counts as older. Of several
	// calls with a mark the latest ended counts, in any order of the calls. It may be
	// forgotten after until, and no other call shortens that. The mark is not zero.
	EndMarked(ctx context.Context, m Mark, ended, until time.Time) error
}

// A Mark is what the token of a session and a list of ended sessions have in common: half
// of a [Key], because tokens travel in cookies. Zero means none.
type Mark [sha256.Size / 2]byte

// Mark returns the mark of a key. That of the zero key is zero.
func (k Key) Mark() Mark { return Mark(k[:len(Mark{})]) }

// Marks returns the marks by which a session ends whose session and user at the provider
// have the given marks. They are those of [EndMark] for each of the two alone, and for
// both; those of a zero mark are zero.
func Marks(sid, sub Mark) (marks [3]Mark) {
	if sid != (Mark{}) {
		marks[0] = EndMark(sid, Mark{})
	}
	if sub != (Mark{}) {
		marks[1] = EndMark(Mark{}, sub)
	}
	if sid != (Mark{}) && sub != (Mark{}) {
		marks[2] = EndMark(sid, sub)
	}
	return marks
}

// EndMark returns the mark that ends the sessions of a session and a user at a provider.
// A zero mark fits every session.
func EndMark(sid, sub Mark) Mark { return Key(sha256.Sum256(append(sid[:], sub[:]...))).Mark() }
