package memstore

import (
	"slices"
	"testing"
)

func TestRowsWhoseKeysHaveTheSameHashAreFoundByTheirKeys(t *testing.T) {
	type row struct{ name string }
	x := newIndex(func(name string) uint64 { return uint64(len(name)) }, func(r *row) string { return r.name })
	ada, bob, eve, grace := &row{"ada"}, &row{"bob"}, &row{"eve"}, &row{"grace"}
	find := func(want ...*row) {
		t.Helper()
		for _, r := range []*row{ada, bob, eve, grace} {
			found := x.get(r.name)
			if slices.Contains(want, r) && found != r || !slices.Contains(want, r) && found != nil {
				t.Errorf("get(%q) = %v", r.name, found)
			}
		}
		all := slices.Collect(x.all())
		if len(all) != len(want) {
			t.Errorf("all() has %d rows, want %d", len(all), len(want))
		}
		if found := x.get("amy"); found != nil {
			t.Errorf("get(amy) = %v, and nobody added her", found)
		}
	}
	for _, r := range []*row{ada, bob, eve, grace} {
		x.add(r)
	}
	find(ada, bob, eve, grace)
	x.remove(ada)
	find(bob, eve, grace)
	x.remove(&row{"eve"}) // has the key of a row, and is none
	find(bob, eve, grace)
	x.add(ada)
	x.remove(bob)
	find(ada, eve, grace)
	for _, r := range []*row{ada, eve, grace, bob} {
		x.remove(r)
	}
	find()
}
