package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// A command is one word after the program's name.
type command struct {
	name, usage, summary string
	run                  func(w io.Writer, args []string) error
}

var commands = []command{
	{"secret", "secret", "Prints a fresh AUTH_SECRET, with 256 random bits, for an environment file.", printSecret},
	{"providers", "providers [list | search WORD | show ID [-url URL] [-as ID]]", "Lists the catalogue of providers, searches it, or shows what to register and set for one.", providers},
	{"migrate", "migrate [-layout NAME -accounts | -own] [-database URL | URL]", "Makes the tables of package sqlstore in a database, or brings them up to date. With -layout it makes those of package account beside the tables of Auth.js, and changes none of these. Without it, a database with tables of Auth.js is refused, unless -own is given.", migrate},
	{"activity", "activity [-user ID] [-actor ID] [-kind KIND] [-outcome OUTCOME] [-since TIME] [-until TIME] [-limit N] [-json] [-layout NAME] [-database URL | URL]", "Lists what happened to the accounts of users, the newest first: sign-ins, failed attempts, changes, acts of operators.", activity},
	{"reseal", "reseal [-layout NAME] [-tenant NAME] [-database URL | URL]", "Seals the secrets of all authenticator apps with the first of the secrets in the environment, so that the others can be taken away. It may be stopped and run again.", reseal},
	{"sweep", "sweep [-batch N] [-pause DURATION] [-grace DURATION] [-json] [-layout NAME] [-database URL | URL]", "Removes what has expired from a database in SQL, Redis or MongoDB, in batches with pauses, while requests go on. It may be stopped, and several may run at once.", runSweep},
	{"doctor", "doctor [-layout NAME] [-table NAME=NAME] [-column TABLE.NAME=NAME] [-extra TABLE=NAME] [-passkeys] [-accounts] [-tenant NAME] [-database URL | URL]", "Examines the environment and the servers it names, or the database at a URL alone, and changes nothing.", doctor},
	{"token", "token [-cookie NAME] [-tenant NAME] < TOKEN", "Opens the session token on standard input with AUTH_SECRET and shows its claims.", func(w io.Writer, args []string) error { return openToken(os.Stdin, w, args) }},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its arguments and streams. It returns 1 if the command failed
// and 2 if the command line is invalid.
func run(args []string, stdout, stderr io.Writer) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	if name == usersName {
		return runUsers(args[1:], stdout, stderr)
	}
	for _, c := range commands {
		if c.name == name {
			return c.execute(args[1:], stdout, stderr)
		}
	}
	switch name {
	case "help", "-h", "-help", "--help":
		if words := args[1:]; len(words) > 0 && words[0] != "help" && !strings.HasPrefix(words[0], "-") {
			if words = words[:min(len(words), 2)]; words[0] != usersName {
				words = words[:1]
			}
			return run(append(slices.Clone(words), "-h"), stdout, stderr)
		}
		usage(stdout)
		return 0
	case "version", "-version", "--version":
		if err := printVersion(stdout); err != nil {
			return 1
		}
		return 0
	case "":
		usage(stderr)
	default:
		fmt.Fprintf(stderr, "pintle: %s\n", unknownCommand(name, ""))
	}
	return 2
}

// unknownCommand is the message about a mistyped command, with the one that may be meant. Those
// about users begin with the prefix "users ".
func unknownCommand(typed, prefix string) string {
	var names []string
	meant := make(map[string]string)
	add := func(name, command string) {
		if meant[name] == "" {
			names, meant[name] = append(names, name), command
		}
	}
	if prefix == "" {
		for _, c := range commands {
			add(c.name, c.name)
		}
		add(usersName, usersName)
		add("version", "version")
	}
	for _, c := range userCommands {
		add(c.name, usersName+" "+c.name)
	}
	text := "unknown command"
	if !strings.ContainsAny(typed, ":=") { // the URL of a database may have a password
		text += fmt.Sprintf(" %q", typed)
	}
	if near := nearestName(names, typed); near != "" {
		text += ": did you mean pintle " + meant[near] + "?"
	}
	return text + "\nsee pintle " + prefix + "help"
}

// execute runs a command and returns the status of the process.
func (c command) execute(args []string, stdout, stderr io.Writer) int {
	err := c.run(stdout, args)
	help, asked := errors.AsType[helpError](err)
	switch {
	case err == nil:
		return 0
	case asked:
		help.print(stdout, c)
		return 0
	case errors.As(err, new(usageError)):
		fmt.Fprintf(stderr, "pintle %s: %v\nusage: pintle %s\n", c.name, err, c.usage)
		return 2
	}
	fmt.Fprintf(stderr, "pintle %s: %v\n", c.name, err)
	if failed, ok := errors.AsType[statusError](err); ok {
		return failed.status
	}
	return 1
}

// A statusError is an error with a status of the process other than 1.
type statusError struct {
	status int
	error
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, c := range commands {
		fmt.Fprintf(w, "\tpintle %s\n\t\t%s\n", c.usage, c.summary)
	}
	fmt.Fprintf(w, "\tpintle %s COMMAND\n\t\t%s\n", usersName, usersSummary)
	fmt.Fprintln(w, "\tpintle version\n\t\tPrints the version of the command.")
}

// parse reads the options of a command.
func parse(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return helpError{flags}
	case err != nil:
		return usagef("%s", withForm(flags, err.Error()))
	}
	return nil
}

// withForm says what a number or a duration looks like, where package flag says "parse error".
func withForm(flags *flag.FlagSet, message string) string {
	text, failed := strings.CutSuffix(message, ": parse error")
	if !failed {
		return message
	}
	flags.VisitAll(func(f *flag.Flag) {
		value, known := f.Value.(flag.Getter)
		if !known || !strings.HasSuffix(text, " for flag -"+f.Name) {
			return
		}
		switch value.Get().(type) {
		case int:
			message = text + ": write a whole number, such as 100"
		case time.Duration:
			message = text + ": write a number with its unit, such as 100ms, 10m or 24h"
		}
	})
	return message
}

// A helpError is a command line that requests help.
type helpError struct{ flags *flag.FlagSet }

func (h helpError) Error() string { return "help requested" }

func (h helpError) print(w io.Writer, c command) {
	fmt.Fprintf(w, "usage: pintle %s\n\n%s\n", c.usage, c.summary)
	options := false
	h.flags.VisitAll(func(*flag.Flag) { options = true })
	if options {
		fmt.Fprintln(w, "\nOptions:")
		h.flags.SetOutput(w)
		h.flags.PrintDefaults()
	}
}

// A usageError is a command line that was not understood.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }
