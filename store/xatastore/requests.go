package xatastore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// A condition is a column and the value it has.
type condition map[string]any

const (
	pageSize = 50

	// maxPages ends a list whose cursors lead nowhere.
	maxPages = 2_000

	// maxOperations is how many one transaction may have.
	maxOperations = 1000
)

// A page is a part of a list.
type page struct {
	Records []record `json:"records"`
	Meta    struct {
		Page *struct {
			Cursor string `json:"cursor"`
			More   bool   `json:"more"`
		} `json:"page"`
	} `json:"meta"`
}

// query yields the records of a table for which every condition holds, page by
// page. A cursor holds the query, so a later page is requested by its cursor
// alone.
func (c *client) query(ctx context.Context, table string, columns []string, conditions ...condition) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		body := map[string]any{
			"columns": columns,
			"filter":  map[string]any{"$all": conditions},
			"page":    map[string]any{"size": pageSize},
		}
		for range maxPages {
			answer, err := ask[page](ctx, c, call{method: http.MethodPost, table: table, path: []string{"query"}, body: body})
			if err == nil && answer.Meta.Page == nil {
				err = errors.New("the answer to a query does not say whether it is all there is")
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range answer.Records {
				if !isID(r.id()) {
					yield(nil, errors.New("a record has no id"))
					return
				}
				if !yield(r, nil) {
					return
				}
			}
			if !answer.Meta.Page.More {
				return
			}
			body = map[string]any{
				"columns": columns,
				"page":    map[string]any{"size": pageSize, "after": answer.Meta.Page.Cursor},
			}
		}
		yield(nil, errors.New("the list has no end"))
	}
}

// first returns the first record for which every condition holds and want
// returns true, or nil. want compares again what the service has compared,
// because the record decides which user is signed in.
func (c *client) first(ctx context.Context, table string, columns []string, want func(record) bool, conditions ...condition) (record, error) {
	for r, err := range c.query(ctx, table, columns, conditions...) {
		if err != nil || want(r) {
			return r, err
		}
	}
	return nil, nil
}

// all returns every record for which the conditions hold.
func (c *client) all(ctx context.Context, table string, columns []string, conditions ...condition) ([]record, error) {
	var records []record
	for r, err := range c.query(ctx, table, columns, conditions...) {
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// read returns a record by its id, or nil.
func (c *client) read(ctx context.Context, table, id string) (record, error) {
	r, err := ask[record](ctx, c, call{method: http.MethodGet, table: table, path: []string{"data", id}, query: allColumns()})
	if none, _ := missing(err); none {
		return nil, nil
	}
	return checked(r, id, err)
}

// create writes a record that must not exist.
func (c *client) create(ctx context.Context, table, id string, fields record) (record, error) {
	query := allColumns()
	query.Set("createOnly", "true")
	return c.write(ctx, call{method: http.MethodPut, table: table, path: []string{"data", id}, query: query, body: fields})
}

// put writes a record, whatever was there.
func (c *client) put(ctx context.Context, table, id string, fields record) error {
	_, err := c.write(ctx, call{method: http.MethodPut, table: table, path: []string{"data", id}, query: allColumns(), body: fields})
	return err
}

// update changes the given fields of a record that exists.
func (c *client) update(ctx context.Context, table, id string, fields record) (record, error) {
	return c.write(ctx, call{method: http.MethodPatch, table: table, path: []string{"data", id}, query: allColumns(), body: fields})
}

// updateIf changes a record that still has the version.
func (c *client) updateIf(ctx context.Context, table, id string, version int64, fields record) (record, error) {
	query := allColumns()
	query.Set("ifVersion", strconv.FormatInt(version, 10))
	return c.write(ctx, call{method: http.MethodPatch, table: table, path: []string{"data", id}, query: query, body: fields})
}

func (c *client) write(ctx context.Context, l call) (record, error) {
	r, err := ask[record](ctx, c, l)
	return checked(r, l.path[1], err)
}

// delete removes a record. Of two calls for one record the second fails because
// it is missing.
func (c *client) delete(ctx context.Context, table, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, table: table, path: []string{"data", id}})
	return err
}

// checked fails when the service returned another record than the requested one.
func checked(r record, id string, err error) (record, error) {
	if err != nil {
		return nil, err
	}
	if r.id() != id {
		return nil, errors.New("the service answered with another record than the one it was asked for")
	}
	return r, nil
}

func allColumns() url.Values { return url.Values{"columns": {"*"}} }

// An operation is a part of a transaction.
type operation map[string]any

func insertNew(table, id string, fields record) operation {
	row := record{"id": id}
	maps.Copy(row, fields)
	return operation{"insert": map[string]any{"table": table, "record": row, "createOnly": true}}
}

func updateVersion(table, id string, version int64, fields record) operation {
	return operation{"update": map[string]any{"table": table, "id": id, "fields": fields, "ifVersion": version}}
}

func remove(table, id string) operation {
	return operation{"delete": map[string]any{"table": table, "id": id}}
}

// removeExisting ends the transaction when there is no such record.
func removeExisting(table, id string) operation {
	return operation{"delete": map[string]any{"table": table, "id": id, "failIfMissing": true}}
}

// results are what came of a transaction.
type results struct {
	Results []struct {
		Rows int `json:"rows"`
	} `json:"results"`
}

// transaction makes all changes or none, and returns how many records each
// operation touched.
func (c *client) transaction(ctx context.Context, operations ...operation) ([]int, error) {
	answer, err := ask[results](ctx, c, call{method: http.MethodPost, path: []string{"transaction"}, body: map[string]any{"operations": operations}})
	if err != nil {
		return nil, err
	}
	if len(answer.Results) != len(operations) {
		return nil, fmt.Errorf("the answer to a transaction of %d operations has %d results", len(operations), len(answer.Results))
	}
	rows := make([]int, len(operations))
	for i, result := range answer.Results {
		rows[i] = result.Rows
	}
	return rows, nil
}
