package main

import (
	"context"

	"github.com/pintleauth/pintle"
)

// read runs a look-up that the contract does not record.
func (m *memory) read(run func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return run()
}

func (m *memory) Account(_ context.Context, provider, id string) (account *pintle.Account, err error) {
	err = m.read(func() error {
		found, err := m.account(provider, id)
		if err == nil {
			copied := *found
			account = &copied
		}
		return err
	})
	return account, err
}

func (m *memory) CreatePasskey(_ context.Context, a *pintle.Passkey) error {
	return m.operation("createAuthenticator", object{"credentialID": a.CredentialID, "userId": a.UserID}, func() error {
		if _, err := m.authenticator(a.CredentialID); err == nil {
			return pintle.ErrConflict
		}
		m.rows.Authenticators = append(m.rows.Authenticators, &row[pintle.Passkey]{*a})
		return nil
	})
}

func (m *memory) authenticator(id string) (*row[pintle.Passkey], error) {
	return find(m.rows.Authenticators, func(r *row[pintle.Passkey]) bool { return r.value.CredentialID == id })
}

func (m *memory) Passkey(_ context.Context, id string) (a *pintle.Passkey, err error) {
	err = m.read(func() error {
		found, err := m.authenticator(id)
		if err == nil {
			copied := found.value
			a = &copied
		}
		return err
	})
	return a, err
}

func (m *memory) UserPasskeys(_ context.Context, userID string) (list []*pintle.Passkey, err error) {
	err = m.read(func() error {
		for _, r := range m.rows.Authenticators {
			if r.value.UserID == userID {
				copied := r.value
				list = append(list, &copied)
			}
		}
		return nil
	})
	return list, err
}

func (m *memory) UsePasskey(_ context.Context, used *pintle.Passkey, old uint32) error {
	return m.operation("updateAuthenticatorCounter", object{"credentialID": used.CredentialID, "counter": used.Counter}, func() error {
		found, err := m.authenticator(used.CredentialID)
		if err != nil {
			return err
		}
		if found.value.Counter != old {
			return pintle.ErrConflict
		}
		found.value.Counter, found.value.BackedUp, found.value.LastUsed = used.Counter, used.BackedUp, used.LastUsed
		return nil
	})
}
