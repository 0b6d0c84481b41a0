package xatatest

import (
	"slices"
	"strings"
	"time"
)

// A path is a column, or one of the record that a column links to. "*" is all
// columns.
type path struct {
	link, name string
}

// paths reads the names of the columns that the response must have.
func (s *Server) paths(t *table, names []string) ([]path, error) {
	var paths []path
	for _, name := range names {
		p, _, err := s.path(t, name, true)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// path reads the name of a column and returns the column.
func (s *Server) path(t *table, name string, all bool) (path, column, error) {
	first, rest, dotted := strings.Cut(name, ".")
	if c, ok := t.columns[first]; ok && dotted && c.Link != nil {
		p, c, err := s.path(s.tables[c.Link.Table], rest, all)
		if err == nil && p.link != "" {
			err = invalid("column [%s] goes through two links", name)
		}
		return path{first, p.name}, c, err
	}
	c, ok := t.columns[name]
	switch {
	case ok:
		return path{"", name}, c, nil
	case name == "*" && all:
		return path{"", name}, column{}, nil
	case name == "id":
		return path{"", name}, column{Name: name, Type: "string"}, nil
	}
	return path{}, column{}, invalid("column [%s] not found", name)
}

// show returns a record as responses have it.
func (s *Server) show(t *table, r *row, columns []path) map[string]any {
	out := map[string]any{"id": r.id, "xata": metadata(r)}
	for name, c := range t.columns {
		var of []path
		for _, p := range columns {
			if p.link == name {
				of = append(of, path{"", p.name})
			}
		}
		v := shown(c, r.values[name])
		switch {
		case len(of) > 0 && v != nil:
			target := s.tables[c.Link.Table]
			v = s.show(target, target.rows[r.values[name].(string)], of)
		case len(of) == 0 && !slices.Contains(columns, path{"", "*"}) && !slices.Contains(columns, path{"", name}):
			continue
		}
		if v != nil || s.Nulls {
			out[name] = v
		}
	}
	return out
}

func metadata(r *row) map[string]any {
	return map[string]any{"version": r.version, "createdAt": r.created.Format(time.RFC3339Nano), "updatedAt": r.updated.Format(time.RFC3339Nano)}
}
