// Package lru has a map that evicts the least recently used value. It is
// for keys that come from requests: an attacker can invent any number of them.
package lru

import "iter"

// A Map has at most Max values, which must be at least one. Set Max before the
// first use. It must not be used concurrently.
//
// The values are in one slice and linked by their positions in it, so that a
// full map costs little more than its keys and values.
type Map[K comparable, V any] struct {
	Max int

	byKey map[K]int32
	slots []slot[K, V]

	// newest and oldest are the positions of the ends of the list, plus one.
	newest, oldest int32
}

type slot[K comparable, V any] struct {
	key          K
	value        V
	newer, older int32 // positions plus one; zero ends the list
}

// Get returns the value of a key, which becomes the most recently used.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	at, ok := m.byKey[key]
	if !ok {
		return value, false
	}
	m.unlink(at)
	m.pushNewest(at)
	return m.slots[at-1].value, true
}

// Put stores a value, in place of the one the key had. A full map evicts the
// least recently used value.
func (m *Map[K, V]) Put(key K, value V) {
	if m.byKey == nil {
		m.byKey = map[K]int32{}
	}
	at, known := m.byKey[key]
	switch {
	case known:
		m.unlink(at)
	case len(m.slots) < m.Max:
		m.slots = append(m.slots, slot[K, V]{})
		at = int32(len(m.slots)) //nolint:gosec // Max is far below 1<<31
	default:
		at = m.oldest
		m.unlink(at)
		delete(m.byKey, m.slots[at-1].key)
	}
	s := &m.slots[at-1]
	s.key, s.value = key, value
	m.byKey[key] = at
	m.pushNewest(at)
}

// Values yields the values, the most recently used first. It does not count as
// use.
func (m *Map[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for at := m.newest; at != 0; at = m.slots[at-1].older {
			if !yield(m.slots[at-1].value) {
				return
			}
		}
	}
}

func (m *Map[K, V]) unlink(at int32) {
	s := &m.slots[at-1]
	if s.newer == 0 {
		m.newest = s.older
	} else {
		m.slots[s.newer-1].older = s.older
	}
	if s.older == 0 {
		m.oldest = s.newer
	} else {
		m.slots[s.older-1].newer = s.newer
	}
}

func (m *Map[K, V]) pushNewest(at int32) {
	s := &m.slots[at-1]
	s.newer, s.older = 0, m.newest
	if m.newest != 0 {
		m.slots[m.newest-1].newer = at
	}
	m.newest = at
	if m.oldest == 0 {
		m.oldest = at
	}
}
