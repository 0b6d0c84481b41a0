package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// A recorder appends observations to the record file. It writes a line before the
// observed call continues, so that the line is there before the response is sent.
type recorder struct {
	file string
	mu   sync.Mutex
}

// object is a JSON object under construction; nil members are left out.
type object map[string]any

func (r *recorder) record(kind, name string, args any) {
	if r.file == "" {
		return
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(object{"kind": kind, "name": name, "args": args}); err != nil {
		panic(err) // a program error of this server
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write(line.Bytes()); err != nil {
		panic(err)
	}
}

// logHandler records errors and warnings by the code they carry. How much a
// failure matters to an operator is not in the contract, so that a code of an error
// is one at every level. Those of warnings are written in-this-way. What tells the
// operator once of a mistake has a fix, and nothing like it in the reference.
type logHandler struct{ *recorder }

func (h logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}
func (h logHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h logHandler) WithGroup(string) slog.Handler      { return h }

func (h logHandler) Handle(_ context.Context, rec slog.Record) error {
	entry := object{}
	fix := false
	rec.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "fix":
			fix = true
		case "code":
			entry["type"] = a.Value.String()
		case "error":
			if err, ok := a.Value.Any().(error); ok {
				entry["cause"] = rootCause(err).Error()
			}
		}
		return true
	})
	name := "error"
	if code, _ := entry["type"].(string); code == strings.ToLower(code) {
		name = "warn"
	}
	if fix && name == "error" {
		return nil
	}
	h.record("log", name, entry)
	return nil
}

// rootCause returns the innermost error of a chain.
func rootCause(err error) error {
	for {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			list := many.Unwrap()
			err = list[len(list)-1]
			continue
		}
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
