package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/password"
)

// A demoUser is a user for trying the program. The page shows the password.
type demoUser struct{ Name, Email, Password string }

var demoUsers = []demoUser{
	{"Mary Anning", "mary@example.com", "ammonite and belemnite"},
	{"Omar Khayyam", "omar@example.com", "the moving finger writes"},
}

// people stores passwords. Pintle stores users without passwords, so the table is
// the application's.
type people struct {
	db        *sql.DB
	users     pintle.Store
	passwords *password.Hasher
}

// authorize returns the user of a submitted form, or nil to reject it.
func (p *people) authorize(ctx context.Context, form *pintle.Submission) (*pintle.User, error) {
	user, hash, err := p.lookUp(ctx, strings.ToLower(form.Text("email")))
	if err != nil {
		return nil, err
	}
	// An unknown user has an empty hash, which takes as long to verify as a wrong
	// password: the response time does not reveal which users have an account.
	ok, err := p.passwords.Verify(ctx, hash, form.Text("password"))
	if err != nil || !ok {
		return nil, err
	}
	return user, nil
}

func (p *people) lookUp(ctx context.Context, email string) (user *pintle.User, hash string, err error) {
	user, err = p.users.UserByEmail(ctx, email)
	if err == nil {
		err = p.db.QueryRowContext(ctx, "SELECT hash FROM passwords WHERE user_id = ?", user.ID).Scan(&hash)
	}
	if errors.Is(err, pintle.ErrNotFound) || errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return user, hash, err
}

// createDemoUsers creates the demo users that do not exist yet.
func (p *people) createDemoUsers(ctx context.Context) error {
	for _, demo := range demoUsers {
		user, hash, err := p.lookUp(ctx, demo.Email)
		if err == nil && user == nil {
			user, err = p.users.CreateUser(ctx, &pintle.User{ID: rand.Text(), Name: demo.Name, Email: demo.Email})
		}
		if err == nil && hash == "" {
			err = p.setPassword(ctx, user.ID, demo.Password)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasPassword reports whether a user can sign in with a password.
func (p *people) hasPassword(ctx context.Context, user *pintle.User) (bool, error) {
	var has bool
	err := p.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM passwords WHERE user_id = ?)", user.ID).Scan(&has)
	return has, err
}

// forget removes the application's data of a user.
func (p *people) forget(ctx context.Context, userID string) error {
	_, err := p.db.ExecContext(ctx, "DELETE FROM passwords WHERE user_id = ?", userID)
	return err
}

func (p *people) setPassword(ctx context.Context, userID, chosen string) error {
	hash, err := p.passwords.Hash(ctx, chosen)
	if err == nil {
		_, err = p.db.ExecContext(ctx, "REPLACE INTO passwords (user_id, hash) VALUES (?, ?)", userID, hash)
	}
	return err
}
