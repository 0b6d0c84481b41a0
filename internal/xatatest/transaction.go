package xatatest

import (
	"maps"
	"net/http"
)

const maxOperations = 1000

type operation struct {
	Insert *struct {
		Table      string         `json:"table"`
		Record     map[string]any `json:"record"`
		CreateOnly bool           `json:"createOnly"`
		IfVersion  *int64         `json:"ifVersion"`
	} `json:"insert"`
	Update *struct {
		Table     string         `json:"table"`
		ID        string         `json:"id"`
		Fields    map[string]any `json:"fields"`
		IfVersion *int64         `json:"ifVersion"`
	} `json:"update"`
	Delete *struct {
		Table         string `json:"table"`
		ID            string `json:"id"`
		FailIfMissing bool   `json:"failIfMissing"`
	} `json:"delete"`
}

// transaction carries out all operations or none.
func (s *Server) transaction(body []byte) (any, error) {
	var asked struct {
		Operations []operation `json:"operations"`
	}
	if err := unmarshal(body, &asked); err != nil {
		return nil, err
	}
	if len(asked.Operations) == 0 || len(asked.Operations) > maxOperations {
		return nil, invalid("a transaction has 1 to %d operations", maxOperations)
	}
	before := map[string]map[string]*row{}
	for name, t := range s.tables {
		before[name] = maps.Clone(t.rows)
	}
	var results []any
	for i, o := range asked.Operations {
		result, err := s.operate(o)
		if err != nil {
			for name, rows := range before {
				s.tables[name].rows = rows
			}
			return nil, &failedTransaction{i, err}
		}
		results = append(results, result)
	}
	return map[string]any{"results": results}, nil
}

func (s *Server) operate(o operation) (any, error) {
	named := func(name string) (*table, error) {
		if t := s.tables[name]; t != nil {
			return t, nil
		}
		return nil, refuse(http.StatusNotFound, "table [%s] not found", name)
	}
	switch {
	case o.Insert != nil && o.Update == nil && o.Delete == nil:
		t, err := named(o.Insert.Table)
		if err != nil {
			return nil, err
		}
		id, ok := o.Insert.Record["id"].(string)
		if !ok {
			return nil, invalid("the record has no id, which is not played")
		}
		fields := maps.Clone(o.Insert.Record)
		delete(fields, "id")
		if _, err := s.put(t, id, fields, condition{createOnly: o.Insert.CreateOnly, ifVersion: o.Insert.IfVersion}); err != nil {
			return nil, err
		}
		return map[string]any{"operation": "insert", "rows": 1, "id": id}, nil
	case o.Update != nil && o.Insert == nil && o.Delete == nil:
		t, err := named(o.Update.Table)
		if err != nil {
			return nil, err
		}
		if _, err := s.put(t, o.Update.ID, o.Update.Fields, condition{mustExist: true, ifVersion: o.Update.IfVersion}); err != nil {
			return nil, err
		}
		return map[string]any{"operation": "update", "rows": 1, "id": o.Update.ID}, nil
	case o.Delete != nil && o.Insert == nil && o.Update == nil:
		t, err := named(o.Delete.Table)
		if err != nil {
			return nil, err
		}
		r, err := s.remove(t, o.Delete.ID)
		if err == nil && r == nil && o.Delete.FailIfMissing {
			err = refuse(http.StatusNotFound, "record [%s] not found", o.Delete.ID)
		}
		rows := 0
		if r != nil {
			rows = 1
		}
		return map[string]any{"operation": "delete", "rows": rows}, err
	}
	return nil, invalid("an operation is one of insert, update and delete")
}
