package main

import (
	"bufio"
	"fmt"
	"io"
)

// A report is the output of the doctor, one finding a line. Only problems make it
// fail.
type report struct {
	out      *bufio.Writer
	problems int
}

func newReport(w io.Writer) *report { return &report{out: bufio.NewWriter(w)} }

// good reports a finding without a fault.
func (r *report) good(format string, args ...any) { r.line("ok", format, args...) }

// note reports a finding that may be intended.
func (r *report) note(format string, args ...any) { r.line("note", format, args...) }

// problem reports a fault.
func (r *report) problem(format string, args ...any) {
	r.problems++
	r.line("problem", format, args...)
}

// fix adds the remedy to a problem.
func (r *report) fix(text string) {
	if text != "" {
		fmt.Fprintf(r.out, "         %s\n", text)
	}
}

func (r *report) line(kind, format string, args ...any) {
	fmt.Fprintf(r.out, "%-8s %s\n", kind, fmt.Sprintf(format, args...))
}

// end returns an error if there was a problem.
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
