package xatastore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// A Problem is something about a database that makes a store fail or unsafe.
type Problem struct {
	// Text describes the problem and its consequence.
	Text string

	// Fix describes the repair.
	Fix string
}

// Check reads the schema of the database and compares its tables with the
// options; it also reports columns that should be unique and are not. It changes
// nothing. It fails when the service does not answer or knows no such database.
//
// The tables that Auth.js's adapter publishes have no unique columns, without
// which two sign-ins at once make two users with one address.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	answer, err := ask[struct {
		Schema *struct {
			Tables []table `json:"tables"`
		} `json:"schema"`
	}](ctx, s.client, call{method: http.MethodGet})
	if err == nil && answer.Schema == nil {
		err = errors.New("the answer has no schema")
	}
	if err != nil {
		return nil, fail(ctx, "check", err)
	}
	there := map[string]map[string]column{}
	for _, t := range answer.Schema.Tables {
		there[t.Name] = map[string]column{}
		for _, c := range t.Columns {
			there[t.Name][c.Name] = c
		}
	}
	var problems []Problem
	for _, want := range tables(s.client.Prefix, s.client.Extended) {
		columns, ok := there[want.Name]
		if !ok {
			problems = append(problems, Problem{fmt.Sprintf("there is no table %s", want.Name), "make it as Schema says"})
			continue
		}
		for _, c := range want.Columns {
			problems = append(problems, c.compare(want.Name, columns)...)
		}
		if want.Name != s.names.users {
			continue
		}
		for _, name := range s.client.UserColumns {
			if _, ok := columns[name]; !ok {
				problems = append(problems, Problem{fmt.Sprintf("the table %s has no column %s, which Options.UserColumns names", want.Name, name), "add it, or leave it out of the options"})
			}
		}
	}
	return problems, nil
}

// compare returns what is wrong with the column that is there for c.
func (c column) compare(table string, there map[string]column) (problems []Problem) {
	found, ok := there[c.Name]
	switch {
	case !ok:
		return []Problem{{fmt.Sprintf("the table %s has no column %s", table, c.Name), "add it, of type " + c.Type}}
	case found.Type != c.Type && found.Type != c.also:
		return []Problem{{fmt.Sprintf("the column %s of %s is of type %s and not %s", c.Name, table, found.Type, c.Type), "make it again with the other type"}}
	case c.Link != nil && (found.Link == nil || found.Link.Table != c.Link.Table):
		return []Problem{{fmt.Sprintf("the column %s of %s does not link to %s", c.Name, table, c.Link.Table), "make it again with the other link"}}
	case found.Type == "string" && c.Type == "text":
		problems = append(problems, Problem{fmt.Sprintf("the column %s of %s is of type string: %s", c.Name, table, c.without), "make it again with the type text"})
	}
	if c.Unique && !found.Unique {
		problems = append(problems, Problem{
			fmt.Sprintf("the column %s of %s is not unique: %s", c.Name, table, c.without),
			"make it again as a unique column, once no value is there twice",
		})
	}
	return problems
}
