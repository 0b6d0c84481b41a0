package soak

import (
	"context"
	"database/sql"
	"errors"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"

	"github.com/pintleauth/pintle"
)

// compare compares the journal with what both instances answer and with the store.
func (r *run) compare(store pintle.Store) (j journal) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	l := r.load
	wrongly := func(err error) {
		if err != nil {
			l.wrong = append(l.wrong, err.Error())
		}
	}
	for _, u := range l.users {
		j.Users++
		j.Deleted += len(u.before)
		if u.doubtful {
			j.Doubtful++
		}
		for _, gone := range u.before {
			_, err := store.User(ctx, gone)
			if !errors.Is(err, pintle.ErrNotFound) {
				wrongly(wrong("the user %s (%s) was deleted, and the store returns %v", u.email, gone, err))
			}
		}
		for _, b := range u.browsers {
			switch b.state {
			case live:
				j.Live++
			case ended:
				j.Ended++
			default:
				continue // and may be either
			}
			wrongly(again(func() error { return (&visit{ctx, l.url, r.box, l.tokens, u}).replay(b) }))
		}
		if u.id == "" || u.doubtful {
			continue
		}
		wrongly(again(func() error { return isStored(ctx, store, u) }))
	}
	if r.postgres != nil {
		wrongly(r.hasNoRemains(ctx))
	}
	for i, text := range l.wrong {
		if i < 30 {
			r.t.Error(text)
		}
	}
	j.Wrong = len(l.wrong)
	return j
}

// again repeats what fails, and may succeed the next time.
func again(f func() error) (err error) {
	for range 10 {
		if err = f(); err == nil || isWrong(err) {
			return err
		}
	}
	return err
}

// isStored looks a user up in each way.
func isStored(ctx context.Context, store pintle.Store, u *user) error {
	stored, err := store.User(ctx, u.id)
	if errors.Is(err, pintle.ErrNotFound) {
		return wrong("%s (%s) is lost", u.email, u.id)
	}
	if err != nil {
		return err
	}
	if stored.Email != u.email {
		return wrong("%s (%s) has the address %s in the store", u.email, u.id, stored.Email)
	}
	owner, err := store.UserByEmail(ctx, u.email)
	if err := owns(u, "address", owner, err); err != nil || u.way != "provider" {
		return err
	}
	owner, err = store.UserByAccount(ctx, "acme", (&visit{user: u}).subject())
	return owns(u, "account", owner, err)
}

func owns(u *user, what string, owner *pintle.User, err error) error {
	if errors.Is(err, pintle.ErrNotFound) {
		return wrong("the %s of %s (%s) leads to no user", what, u.email, u.id)
	}
	if err == nil && owner.ID != u.id {
		return wrong("the %s of %s (%s) is that of %s", what, u.email, u.id, owner.ID)
	}
	return err
}

// hasNoRemains looks in the tables for what no user has, and for what two users have.
func (r *run) hasNoRemains(ctx context.Context) error {
	db, err := sql.Open("pgx", r.site.settings.PostgreSQL)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var errs []error
	for what, query := range map[string]string{
		"addresses with several users":      `SELECT count(*) FROM (SELECT lower(email) FROM pintle_users WHERE email IS NOT NULL GROUP BY 1 HAVING count(*) > 1) d`,
		"accounts with several users":       `SELECT count(*) FROM (SELECT provider, provider_account_id FROM pintle_accounts GROUP BY 1, 2 HAVING count(*) > 1) d`,
		"users with several accounts":       `SELECT count(*) FROM (SELECT user_id FROM pintle_accounts GROUP BY 1 HAVING count(*) > 1) d`,
		"accounts without a user":           `SELECT count(*) FROM pintle_accounts a WHERE NOT EXISTS (SELECT 1 FROM pintle_users u WHERE u.id = a.user_id)`,
		"sessions without a user":           `SELECT count(*) FROM pintle_sessions a WHERE NOT EXISTS (SELECT 1 FROM pintle_users u WHERE u.id = a.user_id)`,
		"passkeys without a user":           `SELECT count(*) FROM pintle_authenticators a WHERE NOT EXISTS (SELECT 1 FROM pintle_users u WHERE u.id = a.user_id)`,
		"factors without a user":            `SELECT count(*) FROM pintle_factors a WHERE NOT EXISTS (SELECT 1 FROM pintle_users u WHERE u.id = a.user_id)`,
		"users without a way to sign in":    `SELECT count(*) FROM pintle_users u WHERE email_verified IS NULL AND NOT EXISTS (SELECT 1 FROM pintle_accounts a WHERE a.user_id = u.id)`,
		"users with more than one password": `SELECT count(*) FROM (SELECT user_id FROM pintle_factors WHERE kind = 'password' GROUP BY 1 HAVING count(*) > 1) d`,
	} {
		var n int
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			errs = append(errs, err)
		} else if n != 0 {
			errs = append(errs, wrong("there are %d %s", n, what))
		}
	}
	return errors.Join(errs...)
}
