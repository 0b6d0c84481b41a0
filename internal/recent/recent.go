// Package recent keeps the values that were used last, and forgets the others:
// for names that come from requests, of which a stranger can invent any number.
package recent

import (
	"container/list"
	"iter"
)

// A Map has at most Max values. Set Max before the first use. It must not be used
// concurrently.
type Map[K comparable, V any] struct {
	Max int

	byKey map[K]*list.Element
	order list.List // of entry, the most recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key, which becomes the most recently used.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	e, ok := m.byKey[key]
	if !ok {
		return value, false
	}
	m.order.MoveToFront(e)
	return e.Value.(entry[K, V]).value, true
}

// Put keeps a value, in place of the one the key had. The least recently used one
// goes if there are too many.
func (m *Map[K, V]) Put(key K, value V) {
	if m.byKey == nil {
		m.byKey = map[K]*list.Element{}
	}
	if old, ok := m.byKey[key]; ok {
		m.order.Remove(old)
	}
	m.byKey[key] = m.order.PushFront(entry[K, V]{key, value})
	if m.order.Len() > m.Max {
		oldest := m.order.Remove(m.order.Back()).(entry[K, V])
		delete(m.byKey, oldest.key)
	}
}

// Values yields the values, the most recently used first, without using them.
func (m *Map[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for e := m.order.Front(); e != nil; e = e.Next() {
			if !yield(e.Value.(entry[K, V]).value) {
				return
			}
		}
	}
}
