package xatastore

import (
	"context"
	"errors"
)

// DeleteUser implements [pintle.Store]. It is one transaction, unless the
// user has hundreds of sessions: then sessions go first, so that access ends at
// once, and the user last, so that what broke off can be repeated. What Auth.js
// wrote goes too.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	if !isID(id) {
		return absent(ctx)
	}
	user, err := s.client.read(ctx, s.names.users, id)
	if err != nil {
		return fail(ctx, "delete user", err)
	}
	// A session that begins meanwhile is found in the next round; one that
	// begins after the user is gone is refused by the service.
	for range 20 {
		if err = s.deleteUser(ctx, id); refused(err) == nil {
			break
		}
	}
	if err == nil && user == nil {
		return absent(ctx)
	}
	return fail(ctx, "delete user", err)
}

func (s *Store) deleteUser(ctx context.Context, id string) error {
	operations, err := s.belongings(ctx, id)
	if err != nil {
		return err
	}
	operations = append(operations, remove(s.names.users, id))
	for len(operations) > 0 {
		part := operations[:min(maxOperations, len(operations))]
		operations = operations[len(part):]
		if _, err := s.client.transaction(ctx, part...); err != nil {
			return err
		}
	}
	return nil
}

// belongings returns the removal of everything that links to a user, what links
// to other things of the user before these.
func (s *Store) belongings(ctx context.Context, id string) ([]operation, error) {
	tables := []string{s.names.userSessions, s.names.sessions, s.names.userAccounts, s.names.accounts}
	if s.client.Extended {
		tables = append(tables, s.names.passkeys)
	}
	var operations []operation
	for _, table := range tables {
		records, err := s.client.all(ctx, table, []string{"user"}, condition{"user.id": id})
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			c := &reader{record: r}
			if user := c.link("user"); c.err != nil || user.id() != id {
				return nil, errors.Join(errors.New("the service listed what belongs to another user"), c.err)
			}
			if table == s.names.userAccounts {
				// An account that is unlinked meanwhile may belong to another user.
				operations = append(operations, removeExisting(table, r.id()))
				continue
			}
			operations = append(operations, remove(table, r.id()))
		}
	}
	return operations, nil
}
