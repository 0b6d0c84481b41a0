package xatatest

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"
)

// A query is a request whose results come in pages.
type query struct {
	table   *table
	columns []path
	filter  filter
	size    int
	after   string // the id of the last record before this page
}

const (
	defaultPage = 20
	maxPage     = 1000
)

// query returns a page of records, in the order of their ids.
func (s *Server) query(t *table, body []byte) (any, error) {
	q, err := s.readQuery(t, body)
	if err != nil {
		return nil, err
	}
	records := []any{}
	more := false
	for _, r := range t.sorted() {
		if r.id <= q.after || !s.holds(t, r, q.filter) {
			continue
		}
		if more = len(records) == q.size; more {
			break
		}
		records = append(records, s.show(t, r, q.columns))
	}
	if len(records) > 0 {
		q.after = records[len(records)-1].(map[string]any)["id"].(string)
	}
	cursor := rand.Text()
	s.cursors[cursor] = q
	return map[string]any{"records": records, "meta": map[string]any{"page": map[string]any{"cursor": cursor, "more": more, "size": q.size}}}, nil
}

func (s *Server) readQuery(t *table, body []byte) (query, error) {
	var asked struct {
		Columns []string        `json:"columns"`
		Filter  json.RawMessage `json:"filter"`
		Page    struct {
			Size  *int   `json:"size"`
			After string `json:"after"`
		} `json:"page"`
	}
	if err := unmarshal(body, &asked); err != nil {
		return query{}, err
	}
	q := query{table: t, size: defaultPage}
	if asked.Page.After != "" {
		var ok bool
		if q, ok = s.cursors[asked.Page.After]; !ok || q.table != t {
			return query{}, invalid("the cursor is invalid")
		}
		if asked.Filter != nil {
			return query{}, invalid("a cursor and a filter exclude one another")
		}
	}
	if asked.Page.Size != nil {
		q.size = *asked.Page.Size
	}
	if q.size < 1 || q.size > maxPage {
		return query{}, invalid("the size of a page is 1 to %d", maxPage)
	}
	columns := asked.Columns
	if len(columns) == 0 {
		columns = []string{"*"}
	}
	var err error
	if q.columns, err = s.paths(t, columns); err != nil {
		return query{}, err
	}
	if asked.Filter != nil {
		q.filter, err = s.readFilter(t, asked.Filter)
	}
	return q, err
}

// A filter is a list of tests. A record must pass all of them.
type filter []test

type test struct {
	path  path
	holds func(v any) bool
}

// readFilter reads {"$all": [{column: value}, …]}, where a value may be an
// object with one operator.
func (s *Server) readFilter(t *table, text []byte) (filter, error) {
	var asked struct {
		All []map[string]any `json:"$all"`
	}
	if err := unmarshal(text, &asked); err != nil {
		return nil, err
	}
	if len(asked.All) == 0 {
		return nil, invalid("the filter is empty")
	}
	var f filter
	for _, part := range asked.All {
		if len(part) != 1 {
			return nil, invalid("a part of the filter has %d members", len(part))
		}
		for name, v := range part {
			p, c, err := s.path(t, name, false)
			if err != nil {
				return nil, err
			}
			holds, err := operator(c, v)
			if err != nil {
				return nil, err
			}
			f = append(f, test{p, holds})
		}
	}
	return f, nil
}

// operator reads a comparison. It supports the operators and types that the store
// uses.
func operator(c column, v any) (func(any) bool, error) {
	wrong := invalid("filter of column [%s]: the value is not of type %s", c.Name, c.Type)
	object, ok := v.(map[string]any)
	if !ok {
		text, ok := v.(string)
		if !ok || c.Type != "string" && c.Type != "text" && c.Type != "email" || !keepable(text) {
			return nil, wrong
		}
		return func(v any) bool { return v == text }, nil
	}
	if len(object) != 1 {
		return nil, invalid("filter of column [%s]: one operator is wanted", c.Name)
	}
	if limit, ok := object["$lt"].(string); ok && c.Type == "datetime" {
		at, err := time.Parse(time.RFC3339Nano, limit)
		if err != nil {
			return nil, wrong
		}
		return func(v any) bool {
			of, ok := v.(time.Time)
			return ok && of.Before(at)
		}, nil
	}
	if list, ok := object["$any"].([]any); ok && len(list) > 0 && c.Type == "string" {
		for _, v := range list {
			if _, ok := v.(string); !ok {
				return nil, wrong
			}
		}
		return func(v any) bool { return slices.Contains(list, v) }, nil
	}
	return nil, invalid("filter of column [%s]: the operator is not played", c.Name)
}

// holds reports whether a record passes a filter.
func (s *Server) holds(t *table, r *row, f filter) bool {
	for _, test := range f {
		of, from := r, t
		if test.path.link != "" {
			from = s.tables[t.columns[test.path.link].Link.Table]
			id, _ := r.values[test.path.link].(string)
			of = from.rows[id]
		}
		if of == nil {
			return false
		}
		v := of.values[test.path.name]
		if test.path.name == "id" {
			v = of.id
		}
		if !test.holds(v) {
			return false
		}
	}
	return true
}
