package xatatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A table is a collection of records.
type table struct {
	Name    string   `json:"name"`
	Columns []column `json:"columns"`

	columns map[string]column
	rows    map[string]*row // a row never changes: it is replaced
}

type column struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Unique bool   `json:"unique,omitempty"`
	Link   *struct {
		Table string `json:"table"`
	} `json:"link,omitempty"`
}

var columnTypes = []string{"string", "text", "email", "int", "bool", "datetime", "link"}

func parseSchema(text []byte) (map[string]*table, error) {
	var file struct {
		Tables []*table `json:"tables"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("xatatest: read schema: %w", err)
	}
	tables := map[string]*table{}
	for _, t := range file.Tables {
		if tables[t.Name] != nil || t.Name == "" {
			return nil, fmt.Errorf("xatatest: the table %q is there twice", t.Name)
		}
		t.columns, t.rows = map[string]column{}, map[string]*row{}
		tables[t.Name] = t
	}
	for _, t := range tables {
		for _, c := range t.Columns {
			if err := c.check(tables); err != nil {
				return nil, fmt.Errorf("xatatest: %s.%s: %w", t.Name, c.Name, err)
			}
			if _, twice := t.columns[c.Name]; twice {
				return nil, fmt.Errorf("xatatest: the column %s.%s is there twice", t.Name, c.Name)
			}
			t.columns[c.Name] = c
		}
	}
	return tables, nil
}

func (c column) check(tables map[string]*table) error {
	switch {
	case c.Name == "" || c.Name == "id" || c.Name == "xata":
		return errors.New("the name is the service's own")
	case !slices.Contains(columnTypes, c.Type):
		return fmt.Errorf("there is no type %q", c.Type)
	case (c.Type == "link") != (c.Link != nil) || c.Link != nil && tables[c.Link.Table] == nil:
		return errors.New("a link leads to a table that is there")
	case c.Unique && c.Type == "text":
		return errors.New("a text cannot be unique")
	}
	return nil
}

// schema returns the response about the branch.
func (s *Server) schema() any {
	var tables []*table
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		tables = append(tables, s.tables[name])
	}
	return map[string]any{"databaseName": Database, "branchName": Branch, "schema": map[string]any{"tables": tables}}
}
