package xatatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// data answers a request about one record.
func (s *Server) data(method string, t *table, id string, parameters url.Values, body []byte) (int, any, error) {
	p, err := s.parameters(method, t, parameters)
	if err != nil {
		return 0, nil, err
	}
	switch method {
	case http.MethodGet:
		r := t.rows[id]
		if r == nil {
			return 0, nil, refuse(http.StatusNotFound, "record [%s] not found", id)
		}
		return http.StatusOK, s.show(t, r, p.columns), nil
	case http.MethodDelete:
		r, err := s.remove(t, id)
		if err == nil && r == nil {
			err = refuse(http.StatusNotFound, "record [%s] not found", id)
		}
		if err != nil || !parameters.Has("columns") {
			return http.StatusNoContent, nil, err
		}
		return http.StatusOK, s.show(t, r, p.columns), nil
	case http.MethodPut, http.MethodPatch:
		given, err := object(body)
		if err != nil {
			return 0, nil, err
		}
		p.when.mustExist = method == http.MethodPatch
		created := t.rows[id] == nil
		r, err := s.put(t, id, given, p.when)
		if err != nil {
			return 0, nil, err
		}
		status := http.StatusOK
		if created {
			status = http.StatusCreated
		}
		if !parameters.Has("columns") {
			return status, map[string]any{"id": r.id, "xata": metadata(r)}, nil
		}
		return status, s.show(t, r, p.columns), nil
	}
	return 0, nil, refuse(http.StatusMethodNotAllowed, "the method is not played")
}

type parameters struct {
	columns []path
	when    condition
}

// parameters reads the query of a URL.
func (s *Server) parameters(method string, t *table, given url.Values) (p parameters, err error) {
	for name, values := range given {
		writes := method == http.MethodPut || method == http.MethodPatch
		switch {
		case len(values) != 1:
			return p, invalid("parameter [%s] is there %d times", name, len(values))
		case name == "columns":
			if p.columns, err = s.paths(t, strings.Split(values[0], ",")); err != nil {
				return p, err
			}
		case name == "createOnly" && method == http.MethodPut:
			if p.when.createOnly, err = strconv.ParseBool(values[0]); err != nil {
				return p, invalid("parameter [createOnly] is no truth value")
			}
		case name == "ifVersion" && writes:
			version, err := strconv.ParseInt(values[0], 10, 64)
			if err != nil {
				return p, invalid("parameter [ifVersion] is no number")
			}
			p.when.ifVersion = &version
		default:
			return p, invalid("parameter [%s] is not known", name)
		}
	}
	return p, nil
}

// object reads a record.
func object(body []byte) (map[string]any, error) {
	var given map[string]any
	if err := unmarshal(body, &given); err != nil || given == nil {
		return nil, invalid("the request is not an object")
	}
	return given, nil
}

// unmarshal reads JSON that has no members the API does not have.
func unmarshal(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return invalid("the request cannot be read: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid("the request has something behind its end")
	}
	return nil
}
