package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pintleauth/pintle/connection"
)

// tables are those of the source. A domain is a primary key, so that two customers cannot both
// prove it, and deleted connections keep their row, so that no id is used again.
const tables = `
CREATE TABLE IF NOT EXISTS connections (
	id            varchar(64)  PRIMARY KEY,
	version       bigint       NOT NULL,
	name          varchar(200) NOT NULL,
	issuer        varchar(500) NOT NULL,
	client_id     varchar(200) NOT NULL,
	client_secret bytea        NOT NULL,
	disabled      boolean      NOT NULL DEFAULT false,
	hidden        boolean      NOT NULL DEFAULT false,
	deleted       boolean      NOT NULL DEFAULT false
);
CREATE TABLE IF NOT EXISTS connection_domains (
	domain        varchar(253) PRIMARY KEY,
	connection_id varchar(64)  NOT NULL REFERENCES connections (id)
);`

// source has the connections of the customers in a database. It implements
// [connection.Source].
type source struct {
	db  *sql.DB
	key cipher.AEAD // encrypts the secrets
}

// newSource returns a source whose secrets are encrypted with a key of 32 bytes.
func newSource(ctx context.Context, db *sql.DB, key []byte) (*source, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, err
	}
	return &source{db, aead}, nil
}

// Connection implements [connection.Source].
func (s *source) Connection(ctx context.Context, id string) (*connection.Connection, error) {
	c := &connection.Connection{ID: id}
	var sealed []byte
	row := s.db.QueryRowContext(ctx, `SELECT version, name, issuer, client_id, client_secret, disabled, hidden
		FROM connections WHERE id = $1 AND NOT deleted`, id)
	err := row.Scan(&c.Version, &c.Name, &c.Issuer, &c.ClientID, &sealed, &c.Disabled, &c.Hidden)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, connection.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	// The id is part of what is sealed: the secret of another row does not open.
	secret, err := s.key.Open(nil, nil, sealed, []byte(id))
	if err != nil {
		return nil, fmt.Errorf("decrypt the secret of connection %s: %w", id, err)
	}
	c.ClientSecret = string(secret)
	c.Domains, err = s.texts(ctx, `SELECT domain FROM connection_domains WHERE connection_id = $1`, id)
	return c, err
}

// IDs implements [connection.Source].
func (s *source) IDs(ctx context.Context, domain string) ([]string, error) {
	return s.texts(ctx, `SELECT c.id FROM connections c JOIN connection_domains d ON d.connection_id = c.id
		WHERE d.domain = $1 AND NOT c.deleted`, domain)
}

// texts returns the texts of a query.
func (s *source) texts(ctx context.Context, query, argument string) (all []string, err error) {
	rows, err := s.db.QueryContext(ctx, query, argument)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// put stores a connection, with the domains that the customer has proven. Its version has to
// be higher than that of the one before.
func (s *source) put(ctx context.Context, c *connection.Connection) (err error) {
	if !connection.ValidID(c.ID) {
		return fmt.Errorf("%q is no id of a connection", c.ID)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	result, err := tx.ExecContext(ctx, `INSERT INTO connections (id, version, name, issuer, client_id, client_secret, disabled, hidden)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, name = excluded.name, issuer = excluded.issuer,
			client_id = excluded.client_id, client_secret = excluded.client_secret, disabled = excluded.disabled, hidden = excluded.hidden
		WHERE NOT connections.deleted AND connections.version < excluded.version`,
		c.ID, c.Version, c.Name, c.Issuer, c.ClientID, s.key.Seal(nil, nil, []byte(c.ClientSecret), []byte(c.ID)), c.Disabled, c.Hidden) //nolint:gosec // the cipher makes the nonce
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return fmt.Errorf("connection %s was deleted, or has this version or a higher one", c.ID)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM connection_domains WHERE connection_id = $1`, c.ID); err != nil {
		return err
	}
	for _, domain := range c.Domains {
		if _, err := tx.ExecContext(ctx, `INSERT INTO connection_domains (domain, connection_id) VALUES ($1, $2)`, domain, c.ID); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// remove deletes a connection. Its row stays.
func (s *source) remove(ctx context.Context, id string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM connection_domains WHERE connection_id = $1`, id); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, `UPDATE connections SET deleted = true, client_secret = $2 WHERE id = $1`, id, []byte(rand.Text()))
	return err
}
