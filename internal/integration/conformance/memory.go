package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
)

type adapterSettings struct {
	Kind             string
	Failing, Missing []string

	URL string // of a PostgreSQL database; see shared
}

// tables are the rows of the store as the contract writes them.
type tables struct {
	Users              []*seededUser     `json:"users"`
	Accounts           []*pintle.Account `json:"accounts"`
	Sessions           []*row[pintle.StoredSession]
	VerificationTokens []*row[pintle.Verification]
	Authenticators     []*row[pintle.Passkey]
}

// seededUser is a user whose emailVerified is null unless the kit sets it.
type seededUser struct{ pintle.User }

func (u *seededUser) UnmarshalJSON(data []byte) error {
	members := object{"emailVerified": nil}
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	return remarshal(members, &u.User)
}

// row gives a type its JSON of the contract.
type row[T any] struct{ value T }

type jsonSession struct {
	SessionToken string    `json:"sessionToken"`
	UserID       string    `json:"userId"`
	Expires      time.Time `json:"expires"`
}

type jsonVerification struct {
	Identifier string    `json:"identifier"`
	Token      string    `json:"token"`
	Expires    time.Time `json:"expires"`
}

type jsonAuthenticator struct {
	CredentialID      string `json:"credentialID"`
	UserID            string `json:"userId"`
	ProviderAccountID string `json:"providerAccountId"`
	PublicKey         string `json:"credentialPublicKey"`
	Counter           uint32 `json:"counter"`
	DeviceType        string `json:"credentialDeviceType"`
	BackedUp          bool   `json:"credentialBackedUp"`
	Transports        string `json:"transports"`
}

func (r *row[T]) UnmarshalJSON(data []byte) error {
	switch v := any(&r.value).(type) {
	case *pintle.StoredSession:
		var j jsonSession
		err := json.Unmarshal(data, &j)
		*v = pintle.StoredSession{Token: j.SessionToken, UserID: j.UserID, Expires: j.Expires}
		return err
	case *pintle.Verification:
		var j jsonVerification
		err := json.Unmarshal(data, &j)
		*v = pintle.Verification(j)
		return err
	case *pintle.Passkey:
		var j jsonAuthenticator
		err := json.Unmarshal(data, &j)
		*v = pintle.Passkey{
			CredentialID: j.CredentialID, UserID: j.UserID, ProviderAccountID: j.ProviderAccountID, PublicKey: j.PublicKey,
			Counter: j.Counter, DeviceType: j.DeviceType, BackedUp: j.BackedUp, Transports: strings.FieldsFunc(j.Transports, func(r rune) bool { return r == ',' }),
		}
		return err
	}
	return fmt.Errorf("no JSON form of %T", r.value)
}

// memory is the store of the contract: rows in the order of insertion, ids that
// count up, and operations that can be made to fail.
type memory struct {
	pintle.UnimplementedStore

	rec     *recorder
	failing []string

	// passkeys means that the state has a list of them.
	passkeys bool

	mu      sync.Mutex
	created int
	rows    tables
	users   []*pintle.User
}

var _ pintle.Store = (*memory)(nil)

// Features is what the adapter of the contract can do.
func (*memory) Features() pintle.Features {
	return pintle.Features{Accounts: true, Sessions: true, Verifications: true, Passkeys: true}
}

func newMemory(rec *recorder, a adapterSettings) *memory {
	return &memory{rec: rec, failing: a.Failing}
}

func (m *memory) reset(rows tables) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.created, m.rows, m.users = 0, rows, nil
	for _, u := range rows.Users {
		m.users = append(m.users, &u.User)
	}
}

func (m *memory) dump() object {
	m.mu.Lock()
	defer m.mu.Unlock()
	sessions, links, passkeys := []jsonSession{}, []jsonVerification{}, []jsonAuthenticator{}
	for _, s := range m.rows.Sessions {
		sessions = append(sessions, jsonSession{s.value.Token, s.value.UserID, s.value.Expires})
	}
	for _, v := range m.rows.VerificationTokens {
		links = append(links, jsonVerification(v.value))
	}
	for _, r := range m.rows.Authenticators {
		a := r.value
		passkeys = append(passkeys, jsonAuthenticator{
			a.CredentialID, a.UserID, a.ProviderAccountID, a.PublicKey, a.Counter, a.DeviceType, a.BackedUp, strings.Join(a.Transports, ","),
		})
	}
	all := object{
		"users": append([]*pintle.User{}, m.users...), "accounts": append([]*pintle.Account{}, m.rows.Accounts...),
		"sessions": sessions, "verificationTokens": links,
	}
	if m.passkeys {
		all["authenticators"] = passkeys
	}
	return all
}

// operation records a call, fails it if it is to fail, and otherwise runs it.
func (m *memory) operation(name string, args any, run func() error) error {
	m.rec.record("adapter", name, args)
	if slices.Contains(m.failing, name) {
		return failed("adapter " + name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return run()
}

func find[T any](list []*T, matches func(*T) bool) (*T, error) {
	if i := slices.IndexFunc(list, matches); i >= 0 {
		return list[i], nil
	}
	return nil, pintle.ErrNotFound
}

func (m *memory) CreateUser(_ context.Context, u *pintle.User) (created *pintle.User, err error) {
	recorded := *u
	recorded.ID = ""
	err = m.operation("createUser", recorded, func() error {
		m.created++
		stored := *u
		stored.ID = fmt.Sprintf("created-%d", m.created)
		m.users = append(m.users, &stored)
		copied := stored
		created = &copied
		return nil
	})
	return created, err
}

func (m *memory) lookUp(name string, args any, matches func(*pintle.User) bool) (user *pintle.User, err error) {
	err = m.operation(name, args, func() error {
		found, err := find(m.users, matches)
		if err == nil {
			copied := *found
			user = &copied
		}
		return err
	})
	return user, err
}

func (m *memory) User(_ context.Context, id string) (*pintle.User, error) {
	return m.lookUp("getUser", object{"id": id}, func(u *pintle.User) bool { return u.ID == id })
}

func (m *memory) UserByEmail(_ context.Context, email string) (*pintle.User, error) {
	return m.lookUp("getUserByEmail", object{"email": email}, func(u *pintle.User) bool { return u.Email == email })
}

func (m *memory) UserByAccount(_ context.Context, provider, id string) (*pintle.User, error) {
	owner := ""
	key := object{"provider": provider, "providerAccountId": id}
	return m.lookUp("getUserByAccount", key, func(u *pintle.User) bool {
		if owner == "" {
			a, err := find(m.rows.Accounts, func(a *pintle.Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
			if err != nil {
				return false
			}
			owner = a.UserID
		}
		return u.ID == owner
	})
}

func (m *memory) UpdateUser(_ context.Context, id string, change pintle.UserUpdate) (updated *pintle.User, err error) {
	args := object{"id": id}
	if change.EmailVerified != nil {
		args["emailVerified"] = *change.EmailVerified
	}
	err = m.operation("updateUser", args, func() error {
		stored, err := find(m.users, func(u *pintle.User) bool { return u.ID == id })
		if err != nil {
			return err
		}
		if change.EmailVerified != nil {
			stored.EmailVerified = *change.EmailVerified
		}
		copied := *stored
		updated = &copied
		return nil
	})
	return updated, err
}

func (m *memory) LinkAccount(_ context.Context, a *pintle.Account) error {
	return m.operation("linkAccount", a, func() error {
		stored := *a
		m.rows.Accounts = append(m.rows.Accounts, &stored)
		return nil
	})
}

// The reference has no operations like the methods below, so they are not
// recorded. The library lists the accounts of a user before a mail link signs in as
// that user.

func (m *memory) UserAccounts(_ context.Context, userID string) (accounts []*pintle.Account, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.rows.Accounts {
		if a.UserID == userID {
			copied := *a
			accounts = append(accounts, &copied)
		}
	}
	return accounts, nil
}

func (m *memory) account(provider, id string) (*pintle.Account, error) {
	return find(m.rows.Accounts, func(a *pintle.Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
}

func (m *memory) UpdateAccount(_ context.Context, renewed *pintle.Account) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(renewed.Provider, renewed.ProviderAccountID)
	if err == nil {
		*a = *renewed
	}
	return err
}

func (m *memory) UnlinkAccount(_ context.Context, userID, provider, id string, keepOneOf []*pintle.Account) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(provider, id)
	if err != nil || a.UserID != userID {
		return pintle.ErrNotFound
	}
	kept := func(other *pintle.Account) bool {
		k, err := m.account(other.Provider, other.ProviderAccountID)
		return err == nil && k != a && k.UserID == userID
	}
	if keepOneOf != nil && !slices.ContainsFunc(keepOneOf, kept) {
		return pintle.ErrConflict
	}
	m.rows.Accounts = slices.DeleteFunc(m.rows.Accounts, func(other *pintle.Account) bool { return other == a })
	return nil
}

func (m *memory) CreateSession(_ context.Context, s *pintle.StoredSession) error {
	return m.operation("createSession", jsonSession{s.Token, s.UserID, s.Expires}, func() error {
		m.rows.Sessions = append(m.rows.Sessions, &row[pintle.StoredSession]{*s})
		return nil
	})
}

func (m *memory) session(token string) (*row[pintle.StoredSession], error) {
	return find(m.rows.Sessions, func(s *row[pintle.StoredSession]) bool { return s.value.Token == token })
}

func (m *memory) SessionAndUser(_ context.Context, token string) (session *pintle.StoredSession, user *pintle.User, err error) {
	err = m.operation("getSessionAndUser", object{"sessionToken": token}, func() error {
		found, err := m.session(token)
		if err != nil {
			return err
		}
		owner, err := find(m.users, func(u *pintle.User) bool { return u.ID == found.value.UserID })
		if err != nil {
			return err
		}
		copied, copiedUser := found.value, *owner
		session, user = &copied, &copiedUser
		return nil
	})
	return session, user, err
}

func (m *memory) UpdateSession(_ context.Context, token string, change pintle.SessionUpdate) error {
	return m.operation("updateSession", object{"sessionToken": token, "expires": change.Expires}, func() error {
		found, err := m.session(token)
		if err == nil && !change.Expires.IsZero() {
			found.value.Expires = change.Expires
		}
		return err
	})
}

func (m *memory) DeleteSession(_ context.Context, token string) (deleted *pintle.StoredSession, err error) {
	err = m.operation("deleteSession", object{"sessionToken": token}, func() error {
		i := slices.IndexFunc(m.rows.Sessions, func(s *row[pintle.StoredSession]) bool { return s.value.Token == token })
		if i < 0 {
			return pintle.ErrNotFound
		}
		deleted = &m.rows.Sessions[i].value
		m.rows.Sessions = slices.Delete(slices.Clone(m.rows.Sessions), i, i+1)
		return nil
	})
	return deleted, err
}

func (m *memory) CreateVerification(_ context.Context, v *pintle.Verification) error {
	return m.operation("createVerificationToken", jsonVerification(*v), func() error {
		m.rows.VerificationTokens = append(m.rows.VerificationTokens, &row[pintle.Verification]{*v})
		return nil
	})
}

func (m *memory) UseVerification(_ context.Context, identifier, token string) (used *pintle.Verification, err error) {
	err = m.operation("useVerificationToken", object{"identifier": identifier, "token": token}, func() error {
		i := slices.IndexFunc(m.rows.VerificationTokens, func(v *row[pintle.Verification]) bool {
			return v.value.Identifier == identifier && v.value.Token == token
		})
		if i < 0 {
			return pintle.ErrNotFound
		}
		used = &m.rows.VerificationTokens[i].value
		m.rows.VerificationTokens = slices.Delete(slices.Clone(m.rows.VerificationTokens), i, i+1)
		return nil
	})
	return used, err
}
