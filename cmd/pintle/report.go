package main

import (
	"bufio"
	"fmt"
	"io"
)

// A report is what the doctor says, one thing a line. Only problems make it
// fail.
type report struct {
	out      *bufio.Writer
	problems int
}

func newReport(w io.Writer) *report { return &report{out: bufio.NewWriter(w)} }

// good says what was examined and is as it should be.
func (r *report) good(format string, args ...any) { r.line("ok", format, args...) }

// note says what is no mistake.
func (r *report) note(format string, args ...any) { r.line("note", format, args...) }

// problem says what is wrong.
func (r *report) problem(format string, args ...any) {
	r.problems++
	r.line("problem", format, args...)
}

// fix adds to a problem what repairs it.
func (r *report) fix(text string) {
	if text != "" {
		fmt.Fprintf(r.out, "         %s\n", text)
	}
}

func (r *report) line(kind, format string, args ...any) {
	fmt.Fprintf(r.out, "%-8s %s\n", kind, fmt.Sprintf(format, args...))
}

// end returns an error when something is wrong.
func (r *report) end() error {
	if err := r.out.Flush(); err != nil {
		return err
	}
	switch r.problems {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("1 problem")
	}
	return fmt.Errorf("%d problems", r.problems)
}
