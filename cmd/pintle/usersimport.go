package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/userimport"
)

// statusRefused is the status of the process if the file was read to its end and users were
// refused.
const statusRefused = 3

// A source reads the file of a system.
type source struct {
	name string
	read func(o *importFlags, file io.Reader) (iter.Seq2[*userimport.User, error], error)
}

// plain is a source without options.
func plain(read func(io.Reader) iter.Seq2[*userimport.User, error]) func(*importFlags, io.Reader) (iter.Seq2[*userimport.User, error], error) {
	return func(_ *importFlags, file io.Reader) (iter.Seq2[*userimport.User, error], error) {
		return read(file), nil
	}
}

// ownForm is the name of the form that programs of the application write.
const ownForm = "jsonl"

var sources = []source{
	{ownForm, plain(userimport.JSONLines)},
	{"auth0", plain(userimport.Auth0)},
	{"firebase", func(o *importFlags, file io.Reader) (iter.Seq2[*userimport.User, error], error) {
		if o.hashConfig == "" {
			return nil, usagef("-from firebase needs -hash-config: a file with the password hash parameters of the console")
		}
		text, err := os.ReadFile(o.hashConfig)
		if err != nil {
			return nil, err
		}
		project, err := readHashConfig(string(text))
		return userimport.Firebase(file, project), err
	}},
	{"keycloak", plain(userimport.Keycloak)},
	{"django", plain(userimport.Django)},
	{"aspnet", plain(userimport.ASPNETIdentity)},
	{"better-auth", func(o *importFlags, file io.Reader) (iter.Seq2[*userimport.User, error], error) {
		if o.accounts == "" {
			return nil, usagef("-from better-auth needs -accounts: a file with the table account, which has the passwords")
		}
		accounts, err := os.Open(o.accounts)
		if err != nil {
			return nil, err
		}
		o.close = append(o.close, accounts)
		return userimport.BetterAuth(file, accounts), nil
	}},
	{"devise", func(_ *importFlags, file io.Reader) (iter.Seq2[*userimport.User, error], error) {
		return userimport.Devise(file, password.Devise{Pepper: os.Getenv("DEVISE_PEPPER")}), nil
	}},
}

func sourceNames() string {
	var all []string
	for _, s := range sources {
		all = append(all, s.name)
	}
	return strings.Join(all, ", ")
}

// newNames are the values of a flag OLD=NEW that may be repeated.
type newNames map[string]string

func (n newNames) String() string { return "" }

// Set implements [flag.Value].
func (n newNames) Set(text string) error {
	from, to, found := strings.Cut(text, "=")
	if !found || from == "" || to == "" {
		return errors.New("want OLD=NEW")
	}
	n[from] = to
	return nil
}

// importFlags are the options of the command.
type importFlags struct {
	usersFlags
	from, hashConfig, accounts, tenant    string
	dryRun, allVerified, partial, keepIDs bool
	roles, providers                      newNames
	close                                 []io.Closer
}

func (o *importFlags) register(flags *flag.FlagSet) {
	o.usersFlags.register(flags)
	o.roles, o.providers = newNames{}, newNames{}
	flags.StringVar(&o.from, "from", "", "the `SYSTEM` that has written the file: "+sourceNames())
	flags.BoolVar(&o.dryRun, "dry-run", false, "read and check everything, and store nothing")
	flags.BoolVar(&o.partial, "partial", false, "store users whose password hash cannot be used without a password")
	flags.BoolVar(&o.keepIDs, "keep-ids", false, "give the users the ids of the file, if the tables can hold them")
	flags.BoolVar(&o.allVerified, "all-verified", false, "the system has verified every address, and has no record of it")
	flags.Var(o.roles, "role", "give a role: its name in the file, and the `NAME=NAME` here; may be repeated. Roles of "+ownForm+" keep their names by default, and those of other systems are left out")
	flags.Var(o.providers, "provider", "link accounts at a provider: its name in the file, and the `NAME=ID` here; may be repeated. By default all keep their names")
	flags.StringVar(&o.hashConfig, "hash-config", "", "the `FILE` with the password hash parameters of Firebase")
	flags.StringVar(&o.accounts, "accounts", "", "the `FILE` with the table account of Better Auth")
	flags.StringVar(&o.tenant, "tenant", "", "the `NAME` of the tenant whose users these are")
}

// options are the rules of the import.
func (o *importFlags) options() userimport.Options {
	rules := userimport.Options{
		Secrets: environmentSecrets(), Tenant: o.tenant, DryRun: o.dryRun, AllVerified: o.allVerified, Partial: o.partial, KeepIDs: o.keepIDs,
	}
	if len(o.roles) > 0 || o.from != ownForm {
		rules.Roles = o.roles
	}
	if len(o.providers) > 0 {
		rules.Providers = o.providers
	}
	return rules
}

// users opens the file and returns what reads it.
func (o *importFlags) users(name string) (iter.Seq2[*userimport.User, error], error) {
	i := slices.IndexFunc(sources, func(s source) bool { return s.name == o.from })
	if i < 0 {
		return nil, usagef("-from is one of %s", sourceNames())
	}
	file := os.Stdin
	if name != "-" {
		var err error
		if file, err = os.Open(name); err != nil { //nolint:gosec // the operator names the file
			return nil, err
		}
		o.close = append(o.close, file)
	}
	return sources[i].read(o, file)
}

// importUsers stores the users of another system.
func importUsers(w io.Writer, args []string) (err error) {
	flags := flag.NewFlagSet("users import", flag.ContinueOnError)
	var o importFlags
	o.register(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	if err := withoutDatabase(flags.Args()); err != nil {
		return err
	}
	switch {
	case flags.NArg() == 0:
		return usagef("which file? Give its name, or - for the standard input, after the options")
	case flags.NArg() > 1:
		return usagef("which file? Give its name, or - for the standard input, after the options: %s", shownArguments(flags.Args()))
	}
	defer func() {
		for _, c := range o.close {
			err = errors.Join(err, c.Close())
		}
	}()
	users, err := o.users(flags.Arg(0))
	if err != nil {
		return err
	}
	store, db, err := o.open()
	if err != nil {
		return err
	}
	o.close = append(o.close, db)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := bufio.NewWriter(w)
	rules := o.options()
	rules.Report = func(outcome userimport.Outcome) { printOutcome(out, withOption(outcome), o.json) }
	rules.Progress = printProgress(os.Stderr, 2*time.Second)
	result, err := o.recorded(store, func() (userimport.Result, error) { return userimport.Import(ctx, store, users, rules) })
	printResult(out, result, &o)
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w\nthe import has stopped: remove the cause and run the command again, which goes on", err)
	case result.Refused > 0:
		return statusError{statusRefused, fmt.Errorf("refused users: %d", result.Refused)}
	}
	return nil
}

// recorded imports users, as an act of the operator of the command. An import gives roles and
// passwords, so one that cannot be recorded does not happen. A dry run changes nothing and is no act.
func (o *importFlags) recorded(store *sqlstore.Store, run func() (userimport.Result, error)) (userimport.Result, error) {
	if o.dryRun {
		return run()
	}
	var secrets []string
	if len(environmentSecrets()) == 0 { // they are needed for keyed hashes, which the record of an import does not have
		secrets = []string{rand.Text() + rand.Text()}
	}
	a := acting{usersFlags: o.usersFlags, tenant: o.tenant}
	if err := a.attach(store, secrets); err != nil {
		return userimport.Result{}, err
	}
	var result userimport.Result
	err := a.ops.RecordImport(a.ctx, func() (counts account.ImportCounts, err error) {
		result, err = run()
		return account.ImportCounts{Stored: result.Stored + result.Partial, Refused: result.Refused}, err
	})
	return result, err
}

// printOutcome prints an outcome in JSON, or that of a user who was not stored as a whole.
func printOutcome(w io.Writer, o userimport.Outcome, asJSON bool) {
	switch {
	case asJSON:
		_ = jsonTo(w).Encode(o) // texts and numbers
	case o.Status == userimport.Refused, o.Status == userimport.Partial:
		fmt.Fprintf(w, "user %d: %s: %s\n", o.Number, o.Status, printable(o.Reason))
	}
}

// printProgress returns a function that prints the counts, if it has not done so for a while.
func printProgress(w io.Writer, every time.Duration) func(userimport.Result) {
	last := time.Now()
	return func(r userimport.Result) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		fmt.Fprintf(w, "so far: read %d, stored %d, exist already %d, refused %d\n", r.Read, r.Stored+r.Partial, r.Existing, r.Refused)
	}
}

func printResult(w io.Writer, r userimport.Result, o *importFlags) {
	if o.json {
		text, _ := json.Marshal(map[string]userimport.Result{"summary": r}) // numbers
		fmt.Fprintf(w, "%s\n", text)
		return
	}
	stored := "stored"
	if o.dryRun {
		stored = "would be stored"
	}
	fmt.Fprintf(w, "users read: %d; %s: %d (in part: %d); exist already: %d; refused: %d\n", r.Read, stored, r.Stored+r.Partial, r.Partial, r.Existing, r.Refused)
	printNames(w, "roles left out", "-role", r.Roles)
	printNames(w, "providers left out", "-provider", r.Providers)
}

func printNames(w io.Writer, what, option string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s (%d)", printable(name), counts[name]))
	}
	fmt.Fprintf(w, "%s: %s; see %s\n", what, strings.Join(all, ", "), option)
}

// readHashConfig reads the text that the console of Firebase shows:
//
//	hash_config {
//	  algorithm: SCRYPT,
//	  base64_signer_key: …,
//
// https://firebase.google.com/docs/cli/auth#password_hash_parameters
func readHashConfig(text string) (password.Firebase, error) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(line, ":"); found {
			values[strings.Trim(strings.TrimSpace(name), `"`)] = strings.Trim(strings.TrimSpace(value), `,"`)
		}
	}
	rounds, roundsErr := strconv.Atoi(values["rounds"])
	memory, memoryErr := strconv.Atoi(values["mem_cost"])
	if values["algorithm"] != "SCRYPT" || values["base64_signer_key"] == "" || roundsErr != nil || memoryErr != nil {
		return password.Firebase{}, errors.New("the file of -hash-config does not have algorithm: SCRYPT, base64_signer_key, base64_salt_separator, rounds and mem_cost")
	}
	return password.Firebase{
		SignerKey: values["base64_signer_key"], SaltSeparator: values["base64_salt_separator"], Rounds: rounds, MemoryCost: memory,
	}, nil
}
