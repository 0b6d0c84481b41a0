package recent

import "testing"

func TestTheLeastRecentlyUsedIsForgotten(t *testing.T) {
	m := Map[string, int]{Max: 2}
	if _, ok := m.Get("a"); ok || m.order.Len() != 0 {
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
	if m.order.Len() != 2 || len(m.byKey) != 2 {
		t.Errorf("there are %d and %d values, want 2", m.order.Len(), len(m.byKey))
	}
}

func TestAKeyHasOneValue(t *testing.T) {
	m := Map[string, int]{Max: 2}
	m.Put("b", 2)
	m.Put("a", 1)
	m.Put("b", 3)
	m.Put("c", 4)
	if got, _ := m.Get("b"); got != 3 || m.order.Len() != 2 {
		t.Errorf("it is %d of %d values, want 3 of 2", got, m.order.Len())
	}
	if _, ok := m.Get("a"); ok {
		t.Error("what was put last is not the most recent")
	}
}
