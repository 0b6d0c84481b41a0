package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// An acting is what a command does to users. It sends no mail: the accounts of the application
// have its mail server, and the command has not.
type acting struct {
	usersFlags
	secretsOut bool
	tenant     string

	ctx   context.Context
	store *sqlstore.Store
	ops   *account.Operators

	revoked    *sqlstore.Revocations
	saidTokens bool
}

// act reads the options and the arguments of a command, and does it. takes says what the
// arguments are, of which there are at least one and at most as many as most. Options end at the
// first argument: one that comes later must not be ignored, since the command would then do more
// than the operator wants.
func act(
	name string, w io.Writer, args []string, options func(*flag.FlagSet), takes string, most int, secret func() bool, do func(a *acting, args []string) error,
) error {
	flags := flag.NewFlagSet(usersName+" "+name, flag.ContinueOnError)
	a := &acting{}
	a.register(flags)
	flags.StringVar(&a.tenant, "tenant", "", "the `name` of the tenant, with pintle.NewFunc")
	flags.BoolVar(&a.secretsOut, "stdout", false, "print links and passwords also if the output is not a terminal")
	if options != nil {
		options(flags)
	}
	if err := parse(flags, args); err != nil {
		return err
	}
	if err := withoutDatabase(flags.Args()); err != nil {
		return err
	}
	switch n := flags.NArg(); {
	case n == 0:
		return usagef("want %s, after the options", takes)
	case n > most:
		return usagef("want %s, after the options: %s", takes, shownArguments(flags.Args()))
	}
	if secret != nil && secret() && !a.secretsOut && !isTerminal(w) {
		return usagef("what it prints is a secret, and the output is not a terminal: add -stdout if it goes to the right place")
	}
	if len(environmentSecrets()) == 0 {
		return usagef("set AUTH_SECRET, and AUTH_SECRET_1 to AUTH_SECRET_3, to the secrets of the application")
	}
	store, db, err := a.open()
	if err != nil {
		return err
	}
	defer db.Close()
	if a.tables.layout == "" { // tables of Auth.js have no list
		a.revoked = sqlstore.NewRevocations(db.DB, db.dialect)
	}
	if err := a.attach(store, nil); err != nil {
		return err
	}
	return do(a, flags.Args())
}

// attach makes the accounts of a configuration that is like that of the application. Without secrets
// it has those of the environment.
func (a *acting) attach(store *sqlstore.Store, secrets []string) error {
	accounts := account.New(account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }})
	_, err := pintle.New(pintle.Config{
		Store: store, Secrets: secrets, Accounts: accounts, Tenant: a.tenant,
		URL:     cmp.Or(os.Getenv("AUTH_URL"), os.Getenv("NEXTAUTH_URL")),
		Session: pintle.SessionConfig{Strategy: pintle.StrategyDatabase},
		Getenv:  secretVariable,
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	a.store, a.ops = store, accounts.Operators()
	a.ctx = account.WithOperator(context.Background(), operatorID)
	if u, err := user.Current(); err == nil && u.Username != "" {
		a.ctx = account.WithOperatorName(a.ctx, u.Username)
	}
	return nil
}

// secretVariable is the environment without what is not about secrets.
func secretVariable(name string) string {
	if slices.Contains(secretVariables, name) {
		return os.Getenv(name)
	}
	return ""
}

// needsAddress reports that the address of the application is not known. The links that the
// command prints begin with it.
func needsAddress() error {
	if cmp.Or(os.Getenv("AUTH_URL"), os.Getenv("NEXTAUTH_URL")) == "" {
		return usagef("set AUTH_URL to the address that users open, such as https://app.example.com: the link begins with it")
	}
	return nil
}

// operatorID is the operator of all acts of the command. The user of the system is a detail of
// them, so that one query finds the acts of all.
const operatorID = "operator:cli"

// isTerminal reports whether what is written is seen at once, and kept in no file.
func isTerminal(w io.Writer) bool {
	f, is := w.(*os.File)
	if !is {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// tokenLife is for how long a list of revocations keeps that the tokens of a user have ended.
// An application whose tokens live longer ends them itself.
const tokenLife = 90 * 24 * time.Hour

// endTokens ends the sessions in tokens of a user, as far as the application has its list in
// this database. The acts have ended those in the database.
func (a *acting) endTokens(userID string) error {
	if a.revoked == nil {
		if !a.saidTokens {
			a.remark("sessions in tokens of the user %s have not ended: the tables of Auth.js have no list of ended sessions; "+
				"if the application has such sessions, call Auth.SignOutEverywhere there", userID)
		}
		a.saidTokens = true
		return nil
	}
	return a.revoked.RevokeUser(a.ctx, userID, time.Now().Add(tokenLife))
}

// on runs an act on the user that the first argument names.
func on(do func(a *acting, w io.Writer, userID string, args []string) error) func(*acting, io.Writer, []string) error {
	return onOf(findProven, do)
}

// A finder returns the user that an id or an address names.
type finder func(ctx context.Context, store pintle.Store, named string) (*pintle.User, error)

// onOf is on with another way to find the user.
func onOf(find finder, do func(a *acting, w io.Writer, userID string, args []string) error) func(*acting, io.Writer, []string) error {
	return func(a *acting, w io.Writer, args []string) error {
		u, err := find(a.ctx, a.store, args[0])
		if err != nil {
			return err
		}
		return do(a, w, u.ID, args[1:])
	}
}

// remark tells the operator what the command has not done. It is no part of the output.
func (a *acting) remark(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "note: "+format+"\n", args...)
}

// said prints that it is done.
func said(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

// simple is a command on one user without further options.
func simple(name, done string, tokens bool, do func(a *acting, userID string) error) func(io.Writer, []string) error {
	return simpleOf(findProven, name, done, tokens, do)
}

// simpleOf is simple with another way to find the user. [account.Operators.ProveAddress] is about
// the user of an address, and removes what another person who entered it could sign in with.
func simpleOf(find finder, name, done string, tokens bool, do func(a *acting, userID string) error) func(io.Writer, []string) error {
	return func(w io.Writer, args []string) error {
		return act(name, w, args, nil, "the id or the address of a user", 1, nil, func(a *acting, args []string) error {
			return onOf(find, func(a *acting, w io.Writer, userID string, _ []string) error {
				if err := do(a, userID); err != nil {
					return err
				}
				if tokens {
					if err := a.endTokens(userID); err != nil {
						return err
					}
				}
				return said(w, "%s", done)
			})(a, w, args)
		})
	}
}

var errAddressTaken = errors.New("there is a user with the address: see pintle users show")

func createUser(w io.Writer, args []string) error {
	var name string
	var roles names
	return act("create", w, args, func(flags *flag.FlagSet) {
		flags.StringVar(&name, "name", "", "the `name` of the user")
		flags.Var(&roles, "role", "a `role` of the user; may be repeated")
	}, "an address", 1, nil, func(a *acting, args []string) error {
		u, err := a.ops.Create(a.ctx, account.NewUser{Email: args[0], Name: name, Roles: roles})
		if errors.Is(err, pintle.ErrConflict) {
			return errAddressTaken
		}
		if err != nil {
			return err
		}
		return said(w, "%s", u.ID)
	})
}

func inviteUser(w io.Writer, args []string) error {
	var name string
	var roles names
	revoke := false
	return act("invite", w, args, func(flags *flag.FlagSet) {
		flags.StringVar(&name, "name", "", "the `name` of the user")
		flags.Var(&roles, "role", "a `role` of the user; may be repeated")
		flags.BoolVar(&revoke, "revoke", false, "take the invitation back")
	}, "an address", 1, func() bool { return !revoke }, func(a *acting, args []string) error {
		if revoke {
			err := a.ops.RevokeInvitation(a.ctx, args[0])
			if errors.Is(err, pintle.ErrNotFound) {
				return errors.New("there is no invitation of the address that still works")
			}
			if err != nil {
				return err
			}
			return said(w, "the invitation is taken back")
		}
		if err := needsAddress(); err != nil {
			return err
		}
		link, err := a.ops.Invite(a.ctx, account.Invitation{Email: args[0], Name: name, Roles: roles})
		if errors.Is(err, pintle.ErrConflict) {
			return errAddressTaken
		}
		if err != nil {
			return err
		}
		return said(w, "%s", link)
	})
}

func banUser(w io.Writer, args []string) error {
	var until time.Time
	var reason string
	return act("ban", w, args, func(flags *flag.FlagSet) {
		flags.Func("until", "the `time` at which the ban ends: "+forms(ahead)+"; without it the ban has no end", moment(&until, ahead))
		flags.StringVar(&reason, "reason", "", "the `reason`, for operators")
	}, "the id or the address of a user", 1, nil, func(a *acting, args []string) error {
		return on(func(a *acting, w io.Writer, userID string, _ []string) error {
			err := a.ops.Ban(a.ctx, userID, until, reason)
			if err == nil {
				err = a.endTokens(userID)
			}
			if err != nil {
				return err
			}
			if !until.IsZero() {
				return said(w, "the user is banned until %s", until.UTC().Format("2006-01-02 15:04 UTC"))
			}
			return said(w, "the user is banned")
		})(a, w, args)
	})
}

func changeRoles(w io.Writer, args []string) error {
	var none bool
	options := func(flags *flag.FlagSet) { flags.BoolVar(&none, "none", false, "take all roles from the user") }
	return act("roles", w, args, options, "a user, and then the roles: all of them, at most 32", 1+32, nil, func(a *acting, args []string) error {
		// No role begins with "-": it is an option in the wrong place.
		if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
			return usagef("want the user and the roles after the options: %s", shownArguments(args))
		}
		switch given := len(args) > 1; {
		case !given && !none:
			return usagef("want the roles after the user, or -none before it to take all roles away; pintle users show has those of now")
		case given && none:
			return usagef("-none takes all roles away, and these are to be given: %s", shownArguments(args[1:]))
		}
		return on(func(a *acting, w io.Writer, userID string, roles []string) error {
			err := a.ops.SetRoles(a.ctx, userID, roles)
			if err == nil {
				err = a.endTokens(userID)
			}
			if err != nil {
				return err
			}
			if len(roles) == 0 {
				return said(w, "the user has no roles")
			}
			return said(w, "the roles are: %s", strings.Join(roles, " "))
		})(a, w, args)
	})
}

func resetPassword(w io.Writer, args []string) error {
	temporary := false
	return act("reset-password", w, args, func(flags *flag.FlagSet) {
		flags.BoolVar(&temporary, "temporary", false, "print a password that works once, within a day, instead of a link")
	}, "the id or the address of a user", 1, func() bool { return true }, func(a *acting, args []string) error {
		return on(func(a *acting, w io.Writer, userID string, _ []string) error {
			do := a.ops.SendReset
			if temporary {
				do = a.ops.SetTemporaryPassword
			} else if err := needsAddress(); err != nil {
				return err
			}
			text, err := do(a.ctx, userID)
			if err == nil && temporary {
				err = a.endTokens(userID)
			}
			if err != nil {
				return err
			}
			return said(w, "%s", text)
		})(a, w, args)
	})
}

func deleteUser(w io.Writer, args []string) error {
	var after time.Duration
	return act("delete", w, args, func(flags *flag.FlagSet) {
		flags.Func("after", "how `long` the user can still keep the account, as 336h; without it the user is deleted at once", func(text string) (err error) {
			switch after, err = time.ParseDuration(text); {
			case err != nil:
				return errors.New("write 336h for two weeks")
			case after <= 0:
				return errors.New("want more than 0: leave the option out to delete the user at once")
			}
			return nil
		})
	}, "the id or the address of a user", 1, nil, func(a *acting, args []string) error {
		return on(func(a *acting, w io.Writer, userID string, _ []string) error {
			if after > 0 {
				return a.planDeletion(w, userID, time.Now().Add(after))
			}
			return a.deleteNow(w, userID)
		})(a, w, args)
	})
}

func (a *acting) planDeletion(w io.Writer, userID string, at time.Time) error {
	err := a.ops.PlanDeletion(a.ctx, userID, at)
	if err == nil {
		err = a.endTokens(userID)
	}
	if err != nil {
		return err
	}
	return said(w, "the user will be deleted after %s, when the application calls Accounts.DeleteDue", at.UTC().Format("2006-01-02 15:04 UTC"))
}

// deleteNow ends the sessions in tokens before the user is gone as well: the command finds no
// user afterwards, so it could not be run again.
func (a *acting) deleteNow(w io.Writer, userID string) error {
	if err := a.endTokens(userID); err != nil {
		return err
	}
	if err := a.ops.Delete(a.ctx, userID); err != nil {
		return err
	}
	a.remark("the data that the application has of the user %s is still there: Options.Deletion.Delete and Config.Events were not called, "+
		"and no provider has revoked tokens", userID)
	if err := a.endTokens(userID); err != nil {
		return fmt.Errorf("the user %s is deleted, and sessions in tokens that began meanwhile have not ended: %w", userID, err)
	}
	return said(w, "the user is deleted")
}

// truth is an option that is true, false or not given.
func truth(to **bool) func(string) error {
	return func(text string) error {
		switch text {
		case "yes", "true":
			*to = new(true)
		case "no", "false":
			*to = new(false)
		default:
			return errors.New("want yes or no")
		}
		return nil
	}
}

func listUsers(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("users list", flag.ContinueOnError)
	var o usersFlags
	o.register(flags)
	q := accountstore.UserQuery{At: time.Now()}
	flags.StringVar(&q.EmailPrefix, "email", "", "how the `address` begins")
	flags.StringVar(&q.NamePrefix, "name", "", "how the `name` begins")
	flags.StringVar(&q.Role, "role", "", "a `role` of the user")
	flags.Func("banned", "`yes` for users who are banned, no for the others", truth(&q.Banned))
	flags.Func("deleting", "`yes` for users who will be deleted, no for the others", truth(&q.Deleting))
	flags.Func("unproved", "`yes` for users who have not proven their address, no for the others", truth(&q.Unproved))
	flags.Func("second-factor", "`yes` for users who have an authenticator app, no for the others", truth(&q.SecondFactor))
	most := flags.Int("limit", 50, "how many users are listed at most; 0 lists all")
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 1 || flags.NArg() == 1 && !isDatabase(flags.Arg(0)) {
		return usagef("want no more than the URL of the database after the options: %s", shownArguments(flags.Args()))
	}
	if *most < 0 {
		return usagef("-limit is negative: 0 lists all")
	}
	store, db, err := o.open(flags.Args()...)
	if err != nil {
		return err
	}
	defer db.Close()
	q.EmailPrefix = strings.ToLower(q.EmailPrefix)
	return printUsers(w, store.AccountStore(), q, *most, o.json)
}
