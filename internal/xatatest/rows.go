package xatatest

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// A row is a record as it is kept.
type row struct {
	id               string
	version          int64
	created, updated time.Time
	values           map[string]any
}

// fields checks the values that a request writes.
func (s *Server) fields(t *table, given map[string]any) (map[string]any, error) {
	kept := map[string]any{}
	for name, v := range given {
		c, ok := t.columns[name]
		if !ok {
			return nil, invalid("invalid record: column [%s]: not found", name)
		}
		value, err := s.value(c, v)
		if err != nil {
			return nil, err
		}
		kept[name] = value
	}
	return kept, nil
}

// A condition is what must hold for a write.
type condition struct {
	createOnly bool
	mustExist  bool
	ifVersion  *int64
}

// put writes a record: all of it, or only the given fields if it must exist.
func (s *Server) put(t *table, id string, given map[string]any, when condition) (*row, error) {
	if !ids.MatchString(id) {
		return nil, invalid("invalid record id [%s]", id)
	}
	old := t.rows[id]
	switch {
	case old == nil && when.mustExist:
		return nil, refuse(http.StatusNotFound, "record [%s] not found", id)
	case old != nil && when.createOnly:
		return nil, refuse(http.StatusUnprocessableEntity, "record [%s] already exists", id)
	case when.ifVersion != nil && (old == nil || old.version != *when.ifVersion):
		return nil, refuse(http.StatusUnprocessableEntity, "record [%s] does not have version %d", id, *when.ifVersion)
	}
	values, err := s.fields(t, given)
	if err != nil {
		return nil, err
	}
	now := s.now()
	r := &row{id: id, created: now, updated: now, values: values}
	if old != nil {
		r.version, r.created = old.version+1, old.created
		if when.mustExist {
			r.values = maps.Clone(old.values)
			maps.Copy(r.values, values)
		}
	}
	if err := s.unique(t, r); err != nil {
		return nil, err
	}
	t.rows[id] = r
	return r, nil
}

// unique rejects a value that another record has. Null is not a value.
func (s *Server) unique(t *table, r *row) error {
	for name, c := range t.columns {
		if !c.Unique || r.values[name] == nil {
			continue
		}
		for _, other := range t.rows {
			if other.id != r.id && other.values[name] == r.values[name] {
				status := s.Conflict
				if status == 0 {
					status = http.StatusBadRequest
				}
				return refuse(status, "invalid record: column [%s]: is not unique", name)
			}
		}
	}
	return nil
}

// remove removes a record and returns it, or nil if it does not exist.
func (s *Server) remove(t *table, id string) (*row, error) {
	r := t.rows[id]
	if r == nil {
		return nil, nil
	}
	for _, other := range s.tables {
		for name, c := range other.columns {
			if c.Link == nil || c.Link.Table != t.Name {
				continue
			}
			for _, linking := range other.rows {
				if linking.values[name] != id {
					continue
				}
				if s.Restrict {
					return nil, invalid("record [%s] is linked to by [%s]", id, other.Name)
				}
				without := *linking
				without.values = maps.Clone(linking.values)
				without.values[name] = nil
				other.rows[linking.id] = &without
			}
		}
	}
	delete(t.rows, id)
	return r, nil
}

// sorted returns the rows in the order of their ids.
func (t *table) sorted() []*row {
	rows := make([]*row, 0, len(t.rows))
	for _, id := range slices.Sorted(maps.Keys(t.rows)) {
		rows = append(rows, t.rows[id])
	}
	return rows
}
