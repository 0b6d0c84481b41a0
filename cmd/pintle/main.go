package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// A command is one word after the program's name.
type command struct {
	name, usage string
	run         func(w io.Writer, args []string) error
}

var commands = []command{
	{"secret", "secret", printSecret},
	{"providers", "providers [list | search WORD | show ID]", providers},
	{"migrate", "migrate [URL]", migrate},
	{"doctor", "doctor [-layout NAME] [URL]", doctor},
	{"token", "token [-cookie NAME] < TOKEN", func(w io.Writer, args []string) error { return openToken(os.Stdin, w, args) }},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with everything it touches. It returns 1 when the command failed
// and 2 when it was not understood.
func run(args []string, stdout, stderr io.Writer) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	for _, c := range commands {
		if c.name != name {
			continue
		}
		err := c.run(stdout, args[1:])
		switch {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.As(err, new(usageError)):
			fmt.Fprintf(stderr, "pintle %s: %v\nusage: pintle %s\n", c.name, err, c.usage)
			return 2
		}
		fmt.Fprintf(stderr, "pintle %s: %v\n", c.name, err)
		return 1
	}
	switch name {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return 0
	case "":
		usage(stderr)
	default:
		fmt.Fprintf(stderr, "pintle: unknown command %q\n", name)
		usage(stderr)
	}
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, c := range commands {
		fmt.Fprintf(w, "\tpintle %s\n", c.usage)
	}
}

// A usageError is a command line that was not understood.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }
