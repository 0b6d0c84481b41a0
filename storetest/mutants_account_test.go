package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

var accountMutants = []mutant{
	{"provider and id are joined", func(s *memstore.Store) pintle.Store { return joined{s} }, "the border between provider and account id"},
	{"ids are numbers", func(s *memstore.Store) pintle.Store { return numeric{s} }, "ids that look like numbers"},
	{"account ids match in any case", func(s *memstore.Store) pintle.Store { return lowAccount{s} }, "provider and account id are found exactly"},
	{"an account moves to the user who links it last", func(s *memstore.Store) pintle.Store { return lastOwner{s} }, "an account that exists is refused"},
	{"linking twice is silent", func(s *memstore.Store) pintle.Store { return silentLink{s} }, "an account that exists is refused"},
	{"tokens are cut", func(s *memstore.Store) pintle.Store { return shortTokens{s} }, "tokens of 4 KB survive"},
	{"seconds have 32 bits", func(s *memstore.Store) pintle.Store { return narrow{s} }, "a token may expire after 2038"},
	{"an update moves the account", func(s *memstore.Store) pintle.Store { return moving{s} }, "new tokens replace the old ones and nothing else"},
	{"an update keeps what was cleared", func(s *memstore.Store) pintle.Store { return keeping{s} }, "new tokens replace the old ones"},
	{"session_state is text or nothing", func(s *memstore.Store) pintle.Store { return textState{s} }, "session_state may be any value of JSON"},
	{"session_state is read as JSON", func(s *memstore.Store) pintle.Store { return parsedState{s} }, "session_state may be any value of JSON"},
	{"accounts have no ids", func(s *memstore.Store) pintle.Store { return noIDs{s} }, "an account has an id"},
	{"an update moves the id", func(s *memstore.Store) pintle.Store { return reverified{s} }, "an account has an id"},
	{"a verified address is dropped", func(s *memstore.Store) pintle.Store { return unverified{s} }, "the address that the provider had verified is kept"},
	{"an update moves the verified address", func(s *memstore.Store) pintle.Store { return reverified{s} }, "the address that the provider had verified is kept"},
	{"an update links", func(s *memstore.Store) pintle.Store { return linking{s} }, "an update of an account that does not exist"},
	{"any user unlinks", func(s *memstore.Store) pintle.Store { return anyUserUnlinks{s} }, "only the owner's account is unlinked"},
	{"unlinking keeps nothing", func(s *memstore.Store) pintle.Store { return keepsNothing{s} }, "an account is unlinked only if one of those to keep stays"},
	{"unlinking keeps itself", func(s *memstore.Store) pintle.Store { return keepsItself{s} }, "an account is unlinked only if one of those to keep stays"},
	{"unlinking keeps what is another's", func(s *memstore.Store) pintle.Store { return keepsAnothers{s} }, "an account is unlinked only if one of those to keep stays"},
	{"unlinking looks, then removes", func(s *memstore.Store) pintle.Store { return looksFirst{s} }, "the last two accounts of a user are not unlinked at once"},
	{"many who unlink look, then remove", func(s *memstore.Store) pintle.Store { return looksFirst{s} }, "of 64 who unlink an account each"},
	{"many who unlink passkeys look, then remove", func(s *memstore.Store) pintle.Store { return looksFirst{s} }, "a user whose passkeys are unlinked at once"},
	{"a passkey outlives its account", func(s *memstore.Store) pintle.Store { return outlivingPasskey{s} }, "a passkey goes with its account"},
	{"every account takes a passkey along", func(s *memstore.Store) pintle.Store { return takesPasskey{s} }, "a passkey goes with its account, and no other"},
	{"an account of no user is kept", func(s *memstore.Store) pintle.Store { return &leftovers{Store: s} }, "an account of a user who does not exist"},
	{"a passkey of no user is kept", func(s *memstore.Store) pintle.Store { return &leftovers{Store: s} }, "a passkey of a user who does not exist"},
	{"accounts are linked while their user is deleted", func(s *memstore.Store) pintle.Store { return &leftovers{Store: s} }, "SH-16 a user who is deleted while linking"},
	{"passkeys are registered while their user is deleted", func(s *memstore.Store) pintle.Store { return &leftovers{Store: s} }, "SH-16 a user who is deleted while registering"},
	{"a missing user is another error", func(s *memstore.Store) pintle.Store { return otherLinkError{s} }, "an account of a user who does not exist"},
	{"unlinking nothing is silent", func(s *memstore.Store) pintle.Store { return silentUnlink{s} }, "only the owner's account is unlinked"},
	{"the accounts of all users are listed", func(s *memstore.Store) pintle.Store { return &allAccounts{Store: s} }, "the accounts of a user are theirs alone"},
	{"a counter is set whatever it was", func(s *memstore.Store) pintle.Store { return unguarded{s} }, "SH-25 a counter that is not the expected one"},
	{"a counter is compared, then set", func(s *memstore.Store) pintle.Store { return comparing{s} }, "SH-25 of 64 assertions"},
	{"a counter must rise", func(s *memstore.Store) pintle.Store { return rising{s} }, "does not count stays at zero"},
	{"a counter of nothing is silent", func(s *memstore.Store) pintle.Store { return silentCounter{s} }, "an unknown credential is not used"},
	{"credentials match in any case", func(s *memstore.Store) pintle.Store { return lowCredential{s} }, "an unknown credential is not found"},
	{"any user removes passkeys", func(s *memstore.Store) pintle.Store { return anyUserRemoves{s} }, "SH-21, ASVS-6.5.6 a passkey is removed by its owner"},
	{"removing no passkey is silent", func(s *memstore.Store) pintle.Store { return silentRemoval{s} }, "SH-21, ASVS-6.5.6 a passkey is removed by its owner"},
	{"a use says nothing of its time", func(s *memstore.Store) pintle.Store { return timeless{s} }, "22 a use moves the counter on"},
	{"a use writes the whole passkey", func(s *memstore.Store) pintle.Store { return wholePasskey{s} }, "22 a use moves the counter on"},
	{"any user renames passkeys", func(s *memstore.Store) pintle.Store { return anyUserRenames{s} }, "SH-21 a passkey is renamed by its owner"},
	{"renaming no passkey is silent", func(s *memstore.Store) pintle.Store { return silentRenaming{s} }, "SH-21 a passkey is renamed by its owner"},
	{"an empty name is no name", func(s *memstore.Store) pintle.Store { return stickyName{s} }, "SH-21 a passkey is renamed by its owner"},
	{"a passkey is replaced", func(s *memstore.Store) pintle.Store { return replaced{s} }, "a credential id that is taken"},
}

type joined struct{ *memstore.Store }

func (s joined) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	c.Provider, c.ProviderAccountID = "", a.Provider+":"+a.ProviderAccountID
	return s.Store.LinkAccount(ctx, &c)
}

func (s joined) UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error) {
	return s.Store.UserByAccount(ctx, "", provider+":"+id)
}

type numeric struct{ *memstore.Store }

func number(id string) string {
	if f, err := strconv.ParseFloat(id, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return id
}

func (s numeric) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	c.ProviderAccountID = number(a.ProviderAccountID)
	return s.Store.LinkAccount(ctx, &c)
}

func (s numeric) UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error) {
	return s.Store.UserByAccount(ctx, provider, number(id))
}

type lowAccount struct{ *memstore.Store }

func (s lowAccount) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	c.ProviderAccountID = strings.ToLower(a.ProviderAccountID)
	return s.Store.LinkAccount(ctx, &c)
}

func (s lowAccount) UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error) {
	return s.Store.UserByAccount(ctx, provider, strings.ToLower(id))
}

type lastOwner struct{ *memstore.Store }

func (s lastOwner) LinkAccount(ctx context.Context, a *pintle.Account) error {
	if owner, err := s.UserByAccount(ctx, a.Provider, a.ProviderAccountID); err == nil {
		_ = s.UnlinkAccount(ctx, owner.ID, a.Provider, a.ProviderAccountID, nil)
	}
	return s.Store.LinkAccount(ctx, a)
}

type silentLink struct{ *memstore.Store }

func (s silentLink) LinkAccount(ctx context.Context, a *pintle.Account) error {
	if err := s.Store.LinkAccount(ctx, a); !errors.Is(err, pintle.ErrConflict) {
		return err
	}
	return nil
}

type shortTokens struct{ *memstore.Store }

func (s shortTokens) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	c.AccessToken = c.AccessToken[:min(len(c.AccessToken), 255)]
	return s.Store.LinkAccount(ctx, &c)
}

type narrow struct{ *memstore.Store }

func (s narrow) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	c.ExpiresAt = int64(int32(c.ExpiresAt))
	return s.Store.LinkAccount(ctx, &c)
}

type moving struct{ *memstore.Store }

func (s moving) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	owner, err := s.UserByAccount(ctx, a.Provider, a.ProviderAccountID)
	if err != nil {
		return err
	}
	_ = s.UnlinkAccount(ctx, owner.ID, a.Provider, a.ProviderAccountID, nil)
	return s.LinkAccount(ctx, a)
}

type keeping struct{ *memstore.Store }

func (s keeping) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	if before, err := s.Account(ctx, a.Provider, a.ProviderAccountID); err == nil && c.RefreshToken == "" {
		c.RefreshToken = before.RefreshToken
	}
	return s.Store.UpdateAccount(ctx, &c)
}

type textState struct{ *memstore.Store }

func (s textState) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	if _, isText := c.SessionState.(string); !isText {
		c.SessionState = nil
	}
	return s.Store.LinkAccount(ctx, &c)
}

type parsedState struct{ *memstore.Store }

func (s parsedState) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	a, err := s.Store.Account(ctx, provider, id)
	if err == nil {
		if text, isText := a.SessionState.(string); isText {
			var value any
			if json.Unmarshal([]byte(text), &value) == nil {
				a.SessionState = value
			}
		}
	}
	return a, err
}

type noIDs struct{ *memstore.Store }

func (s noIDs) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	a, err := s.Store.Account(ctx, provider, id)
	if err == nil {
		a.ID = ""
	}
	return a, err
}

type unverified struct{ *memstore.Store }

func (s unverified) LinkAccount(ctx context.Context, a *pintle.Account) error {
	c := *a
	c.VerifiedEmail = ""
	return s.Store.LinkAccount(ctx, &c)
}

type reverified struct{ *memstore.Store }

func (s reverified) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	before, err := s.Account(ctx, a.Provider, a.ProviderAccountID)
	if err != nil {
		return err
	}
	if err := s.UnlinkAccount(ctx, before.UserID, a.Provider, a.ProviderAccountID, nil); err != nil {
		return err
	}
	c := *a
	c.UserID, c.Type = before.UserID, before.Type
	return s.Store.LinkAccount(ctx, &c)
}

type linking struct{ *memstore.Store }

func (s linking) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	if err := s.Store.UpdateAccount(ctx, a); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return s.LinkAccount(ctx, a)
}

type anyUserUnlinks struct{ *memstore.Store }

func (s anyUserUnlinks) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	if owner, err := s.UserByAccount(ctx, provider, account); err == nil {
		id = owner.ID
	}
	return s.Store.UnlinkAccount(ctx, id, provider, account, keep)
}

type keepsNothing struct{ *memstore.Store }

func (s keepsNothing) UnlinkAccount(ctx context.Context, id, provider, account string, _ []*pintle.Account) error {
	return s.Store.UnlinkAccount(ctx, id, provider, account, nil)
}

// unlinkIf unlinks whatever is left, if one of keep will do.
func unlinkIf(ctx context.Context, s *memstore.Store, id, provider, account string, keep []*pintle.Account, does func(*pintle.Account) bool) error {
	if keep != nil && !slices.ContainsFunc(keep, does) {
		return pintle.ErrConflict
	}
	return s.UnlinkAccount(ctx, id, provider, account, nil)
}

type keepsItself struct{ *memstore.Store }

func (s keepsItself) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	return unlinkIf(ctx, s.Store, id, provider, account, keep, func(a *pintle.Account) bool {
		owner, err := s.UserByAccount(ctx, a.Provider, a.ProviderAccountID)
		return err == nil && owner.ID == id
	})
}

type keepsAnothers struct{ *memstore.Store }

func (s keepsAnothers) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	return unlinkIf(ctx, s.Store, id, provider, account, keep, func(a *pintle.Account) bool {
		_, err := s.UserByAccount(ctx, a.Provider, a.ProviderAccountID)
		return err == nil && a.ProviderAccountID != account
	})
}

type looksFirst struct{ *memstore.Store }

func (s looksFirst) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	stays := func(a *pintle.Account) bool {
		owner, err := s.UserByAccount(ctx, a.Provider, a.ProviderAccountID)
		return err == nil && owner.ID == id && a.ProviderAccountID != account
	}
	if keep != nil && !slices.ContainsFunc(keep, stays) {
		return pintle.ErrConflict
	}
	time.Sleep(50 * time.Millisecond) // until all have looked
	return s.Store.UnlinkAccount(ctx, id, provider, account, nil)
}

type outlivingPasskey struct{ *memstore.Store }

func (s outlivingPasskey) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	passkey, missing := s.Passkey(ctx, account)
	err := s.Store.UnlinkAccount(ctx, id, provider, account, keep)
	if _, gone := s.Passkey(ctx, account); missing == nil && gone != nil {
		_ = s.CreatePasskey(ctx, passkey)
	}
	return err
}

type takesPasskey struct{ *memstore.Store }

func (s takesPasskey) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	err := s.Store.UnlinkAccount(ctx, id, provider, account, keep)
	if err == nil {
		_ = s.DeletePasskey(ctx, id, account)
	}
	return err
}

// leftovers keeps accounts and passkeys, whether their users exist or not.
type leftovers struct {
	*memstore.Store
	accounts, passkeys sync.Map
}

func (s *leftovers) LinkAccount(ctx context.Context, a *pintle.Account) error {
	if _, err := s.User(ctx, a.UserID); err != nil {
		s.accounts.Store(a.ProviderAccountID, a)
		return nil //nolint:nilerr // the fault of this store: the user need not exist
	}
	time.Sleep(time.Millisecond)
	if err := s.Store.LinkAccount(ctx, a); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	s.accounts.Store(a.ProviderAccountID, a)
	return nil
}

func (s *leftovers) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	if a, kept := s.accounts.Load(id); kept {
		return a.(*pintle.Account), nil
	}
	return s.Store.Account(ctx, provider, id)
}

func (s *leftovers) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	err := s.Store.CreatePasskey(ctx, a)
	if errors.Is(err, pintle.ErrNotFound) {
		s.passkeys.Store(a.CredentialID, a)
		return nil
	}
	return err
}

func (s *leftovers) Passkey(ctx context.Context, id string) (*pintle.Passkey, error) {
	if a, kept := s.passkeys.Load(id); kept {
		return a.(*pintle.Passkey), nil
	}
	return s.Store.Passkey(ctx, id)
}

type otherLinkError struct{ *memstore.Store }

func (s otherLinkError) LinkAccount(ctx context.Context, a *pintle.Account) error {
	if err := s.Store.LinkAccount(ctx, a); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return errors.New("foreign key")
}

type silentUnlink struct{ *memstore.Store }

func (s silentUnlink) UnlinkAccount(ctx context.Context, id, provider, account string, keep []*pintle.Account) error {
	if err := s.Store.UnlinkAccount(ctx, id, provider, account, keep); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

type allAccounts struct {
	*memstore.Store
	mu  sync.Mutex // many link at once
	all []*pintle.Account
}

func (s *allAccounts) LinkAccount(ctx context.Context, a *pintle.Account) error {
	s.mu.Lock()
	s.all = append(s.all, a)
	s.mu.Unlock()
	return s.Store.LinkAccount(ctx, a)
}

func (s *allAccounts) UserAccounts(context.Context, string) ([]*pintle.Account, error) {
	return s.all, nil
}

type unguarded struct{ *memstore.Store }

func (s unguarded) UsePasskey(ctx context.Context, used *pintle.Passkey, _ uint32) error {
	a, err := s.Passkey(ctx, used.CredentialID)
	if err != nil {
		return err
	}
	return s.Store.UsePasskey(ctx, used, a.Counter)
}

type comparing struct{ *memstore.Store }

func (s comparing) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	a, err := s.Passkey(ctx, used.CredentialID)
	if err != nil {
		return err
	}
	if a.Counter != old {
		return pintle.ErrConflict
	}
	time.Sleep(time.Millisecond)
	if err := s.Store.UsePasskey(ctx, used, old); errors.Is(err, pintle.ErrConflict) {
		return nil
	}
	return nil
}

type rising struct{ *memstore.Store }

func (s rising) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	if _, err := s.Passkey(ctx, used.CredentialID); err == nil && used.Counter <= old {
		return pintle.ErrConflict
	}
	return s.Store.UsePasskey(ctx, used, old)
}

type silentCounter struct{ *memstore.Store }

func (s silentCounter) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	if err := s.Store.UsePasskey(ctx, used, old); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

type lowCredential struct{ *memstore.Store }

func (s lowCredential) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	c := *a
	c.CredentialID = strings.ToLower(c.CredentialID)
	return s.Store.CreatePasskey(ctx, &c)
}

func (s lowCredential) Passkey(ctx context.Context, id string) (*pintle.Passkey, error) {
	a, err := s.Store.Passkey(ctx, strings.ToLower(id))
	if a != nil {
		a.CredentialID = id
	}
	return a, err
}

type replaced struct{ *memstore.Store }

func (s replaced) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	if err := s.Store.CreatePasskey(ctx, a); !errors.Is(err, pintle.ErrConflict) {
		return err
	}
	return nil
}

type anyUserRemoves struct{ *memstore.Store }

func (s anyUserRemoves) DeletePasskey(ctx context.Context, id, credentialID string) error {
	if a, err := s.Passkey(ctx, credentialID); err == nil {
		id = a.UserID
	}
	return s.Store.DeletePasskey(ctx, id, credentialID)
}

type silentRemoval struct{ *memstore.Store }

func (s silentRemoval) DeletePasskey(ctx context.Context, id, credentialID string) error {
	if err := s.Store.DeletePasskey(ctx, id, credentialID); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

type timeless struct{ *memstore.Store }

func (s timeless) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	c := *used
	c.LastUsed = time.Time{}
	return s.Store.UsePasskey(ctx, &c, old)
}

type wholePasskey struct{ *memstore.Store }

func (s wholePasskey) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	if err := s.Store.UsePasskey(ctx, used, old); err != nil {
		return err
	}
	a, err := s.Passkey(ctx, used.CredentialID)
	if err != nil {
		return err
	}
	return s.RenamePasskey(ctx, a.UserID, a.CredentialID, used.Name)
}

type anyUserRenames struct{ *memstore.Store }

func (s anyUserRenames) RenamePasskey(ctx context.Context, id, credentialID, name string) error {
	if a, err := s.Passkey(ctx, credentialID); err == nil {
		id = a.UserID
	}
	return s.Store.RenamePasskey(ctx, id, credentialID, name)
}

type silentRenaming struct{ *memstore.Store }

func (s silentRenaming) RenamePasskey(ctx context.Context, id, credentialID, name string) error {
	if err := s.Store.RenamePasskey(ctx, id, credentialID, name); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

type stickyName struct{ *memstore.Store }

func (s stickyName) RenamePasskey(ctx context.Context, id, credentialID, name string) error {
	if name == "" {
		return nil
	}
	return s.Store.RenamePasskey(ctx, id, credentialID, name)
}
