package lru

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheLeastRecentlyUsedIsEvicted(t *testing.T) {
	m := Map[string, int]{Max: 2}
	if _, ok := m.Get("a"); ok || len(m.slots) != 0 {
		t.Error("an empty map has a value")
	}
	m.Put("a", 1)
	m.Put("b", 2)
	m.Get("a")
	m.Put("c", 3)
	for key, want := range map[string]int{"a": 1, "b": 0, "c": 3} {
		if got, ok := m.Get(key); got != want || ok != (want != 0) {
			t.Errorf("%s is %d, %t, want %d", key, got, ok, want)
		}
	}
	if len(m.slots) != 2 || len(m.byKey) != 2 {
		t.Errorf("there are %d and %d values, want 2", len(m.slots), len(m.byKey))
	}
}

func TestAKeyHasOneValue(t *testing.T) {
	m := Map[string, int]{Max: 2}
	m.Put("b", 2)
	m.Put("a", 1)
	m.Put("b", 3)
	m.Put("c", 4)
	if got, _ := m.Get("b"); got != 3 || len(m.slots) != 2 {
		t.Errorf("it is %d of %d values, want 3 of 2", got, len(m.slots))
	}
	if _, ok := m.Get("a"); ok {
		t.Error("what was put last is not the most recent")
	}
}

func TestAnyOrderOfUseKeepsWhatWasUsedLast(t *testing.T) {
	const max, keys = 5, 12
	m := Map[int, int]{Max: max}
	var order []int // the least recently used first
	random := rand.New(rand.NewPCG(1, 2))
	for step := range 20_000 {
		key := random.IntN(keys)
		at := slices.Index(order, key)
		if random.IntN(2) == 0 {
			got, ok := m.Get(key)
			if ok != (at >= 0) || ok && got != key {
				t.Fatalf("step %d: key %d is %d, %t, want %t", step, key, got, ok, at >= 0)
			}
			if !ok {
				continue
			}
		} else {
			m.Put(key, key)
		}
		if at >= 0 {
			order = slices.Delete(order, at, at+1)
		}
		if order = append(order, key); len(order) > max {
			order = order[1:]
		}
		if len(m.slots) != len(order) || len(m.byKey) != len(order) {
			t.Fatalf("step %d: %d and %d values, want %d", step, len(m.slots), len(m.byKey), len(order))
		}
	}
}
