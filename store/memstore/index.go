package memstore

import "iter"

// An index finds rows by a key that each row has. It keeps the hash of the key alone,
// which halves the memory of a map of keys.
type index[K comparable, R any] struct {
	hash func(K) uint64
	key  func(*R) K
	rows map[uint64]*R
	more map[K]*R // whose hash another row has
}

func newIndex[K comparable, R any](hash func(K) uint64, key func(*R) K) *index[K, R] {
	return &index[K, R]{hash: hash, key: key, rows: make(map[uint64]*R), more: make(map[K]*R)}
}

// get returns nil if no row has the key.
func (x *index[K, R]) get(key K) *R {
	if row := x.rows[x.hash(key)]; row != nil && x.key(row) == key {
		return row
	}
	if len(x.more) == 0 {
		return nil
	}
	return x.more[key]
}

// add adds a row whose key no other row has.
func (x *index[K, R]) add(row *R) {
	key := x.key(row)
	hash := x.hash(key)
	if x.rows[hash] == nil {
		x.rows[hash] = row
	} else {
		x.more[key] = row
	}
}

func (x *index[K, R]) remove(row *R) {
	key := x.key(row)
	hash := x.hash(key)
	if x.rows[hash] == row {
		delete(x.rows, hash)
	} else if x.more[key] == row {
		delete(x.more, key)
	}
}

// all returns the rows in no order. Rows may be removed meanwhile.
func (x *index[K, R]) all() iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for _, row := range x.rows {
			if !yield(row) {
				return
			}
		}
		for _, row := range x.more {
			if !yield(row) {
				return
			}
		}
	}
}
