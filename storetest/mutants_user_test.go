package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

var userMutants = []mutant{
	{"addresses match in any case", func(s *memstore.Store) pintle.Store { return &anyCase{Store: s} }, "an address is found exactly"},
	{"addresses match without trailing spaces", func(s *memstore.Store) pintle.Store { return padded{s} }, "an address is found exactly"},
	{"a taken address is given away", func(s *memstore.Store) pintle.Store { return addressTwice{s} }, "a second user with one address"},
	{"no address is an address", func(s *memstore.Store) pintle.Store { return &oneEmpty{Store: s} }, "users without an address do not collide"},
	{"an update creates", func(s *memstore.Store) pintle.Store { return upsert{s} }, "is not found, and not created"},
	{"an update of an unknown user is silent", func(s *memstore.Store) pintle.Store { return silentUpdate{s} }, "is not found, and not created"},
	{"an update forgets the rest", func(s *memstore.Store) pintle.Store { return forgetful{s} }, "the other fields survive"},
	{"an update returns only what changed", func(s *memstore.Store) pintle.Store { return partial{s} }, "the other fields survive"},
	{"a field cannot be cleared", func(s *memstore.Store) pintle.Store { return sticky{s} }, "clears a field"},
	{"the old address still leads there", func(s *memstore.Store) pintle.Store { return &staleIndex{Store: s} }, "is the only one the user is found by"},
	{"the condition of an update is ignored", func(s *memstore.Store) pintle.Store { return unconditional{s} }, "moves only from the one that was read"},
	{"the condition is read, and then the address written", func(s *memstore.Store) pintle.Store { return readThenMove{s} }, "moves of one address"},
	{"times are cut to seconds", func(s *memstore.Store) pintle.Store { return seconds{s} }, "keeps its milliseconds"},
	{"times lose their zone", func(s *memstore.Store) pintle.Store { return zoneless{s} }, "keeps its milliseconds and its instant"},
	{"what is returned is shared", func(s *memstore.Store) pintle.Store { return &shared{Store: s} }, "what is returned is the caller's"},
	{"an unknown user is nil and no error", func(s *memstore.Store) pintle.Store { return nilUser{s} }, "an unknown id is not found"},
	{"an unknown user is another error", func(s *memstore.Store) pintle.Store { return otherError{s} }, "an unknown id is not found"},
	{"ids are trimmed", func(s *memstore.Store) pintle.Store { return trimmedID{s} }, "an id is found as it was returned"},
	{"texts have three bytes per character", func(s *memstore.Store) pintle.Store { return noEmoji{s} }, "names keep quotes, emoji"},
	{"images are cut", func(s *memstore.Store) pintle.Store { return shortImage{s} }, "an image may be a data URI"},
	{"extra fields are forgotten on reading", func(s *memstore.Store) pintle.Store { return noExtra{s} }, "extra fields read back"},
	{"a context is ignored", func(s *memstore.Store) pintle.Store { return patient{s} }, "a look-up whose context has ended"},
	{"a change happens although its context has ended", func(s *memstore.Store) pintle.Store { return unstoppable{s} }, "a change whose context has ended"},
	{"the address is looked up, then taken", func(s *memstore.Store) pintle.Store { return &checkThenAct{Store: s} }, "of 64 users with one address"},
	{"bytes that are no text are an error", func(s *memstore.Store) pintle.Store { return strictText{s} }, "SH-73 look-ups of hostile texts"},
	{"quotes are taken away", func(s *memstore.Store) pintle.Store { return unquoted{s} }, "SH-73 hostile texts are stored"},
}

type anyCase struct{ *memstore.Store }

func (s anyCase) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return s.Store.UserByEmail(ctx, strings.ToLower(email))
}

type padded struct{ *memstore.Store }

func (s padded) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return s.Store.UserByEmail(ctx, strings.TrimRight(email, " "))
}

type addressTwice struct{ *memstore.Store }

func (s addressTwice) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	created, err := s.Store.CreateUser(ctx, u)
	if errors.Is(err, pintle.ErrConflict) {
		return u, nil
	}
	return created, err
}

type oneEmpty struct {
	*memstore.Store
	used bool
}

func (s *oneEmpty) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	if u.Email == "" {
		if s.used {
			return nil, pintle.ErrConflict
		}
		s.used = true
	}
	return s.Store.CreateUser(ctx, u)
}

type unconditional struct{ *memstore.Store }

func (s unconditional) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	c.IfEmail = nil
	return s.Store.UpdateUser(ctx, id, c)
}

type readThenMove struct{ *memstore.Store }

func (s readThenMove) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if u, err := s.User(ctx, id); err != nil || c.IfEmail != nil && u.Email != *c.IfEmail {
		return nil, cmp.Or(err, pintle.ErrConflict)
	}
	others()
	c.IfEmail = nil
	return s.Store.UpdateUser(ctx, id, c)
}

type upsert struct{ *memstore.Store }

func (s upsert) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	u, err := s.Store.UpdateUser(ctx, id, c)
	if errors.Is(err, pintle.ErrNotFound) {
		u = &pintle.User{ID: id}
		apply(u, c)
		return s.CreateUser(ctx, u)
	}
	return u, err
}

type silentUpdate struct{ *memstore.Store }

func (s silentUpdate) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	u, err := s.Store.UpdateUser(ctx, id, c)
	if errors.Is(err, pintle.ErrNotFound) {
		return &pintle.User{ID: id}, nil
	}
	return u, err
}

type forgetful struct{ *memstore.Store }

func (s forgetful) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if c.Image == nil {
		c.Image = new("")
	}
	return s.Store.UpdateUser(ctx, id, c)
}

type partial struct{ *memstore.Store }

func (s partial) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if _, err := s.Store.UpdateUser(ctx, id, c); err != nil {
		return nil, err
	}
	u := &pintle.User{ID: id}
	apply(u, c)
	return u, nil
}

type sticky struct{ *memstore.Store }

func (s sticky) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if c.Image != nil && *c.Image == "" {
		c.Image = nil
	}
	return s.Store.UpdateUser(ctx, id, c)
}

type staleIndex struct {
	*memstore.Store
	mu     sync.Mutex // many change at once
	before map[string]string
}

func (s *staleIndex) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if u, err := s.User(ctx, id); err == nil && c.Email != nil {
		s.mu.Lock()
		s.before = map[string]string{u.Email: id}
		s.mu.Unlock()
	}
	return s.Store.UpdateUser(ctx, id, c)
}

func (s *staleIndex) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if id, ok := s.before[email]; ok {
		return s.User(ctx, id)
	}
	return s.Store.UserByEmail(ctx, email)
}

type seconds struct{ *memstore.Store }

func (s seconds) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	c := *u
	c.EmailVerified = c.EmailVerified.Truncate(time.Second)
	return s.Store.CreateUser(ctx, &c)
}

type zoneless struct{ *memstore.Store }

func (s zoneless) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	c := *u
	if !c.EmailVerified.IsZero() {
		text := c.EmailVerified.Format("2006-01-02 15:04:05.000")
		c.EmailVerified, _ = time.Parse("2006-01-02 15:04:05.000", text)
	}
	return s.Store.CreateUser(ctx, &c)
}

type shared struct {
	*memstore.Store
	last *pintle.User
}

func (s *shared) User(ctx context.Context, id string) (*pintle.User, error) {
	if s.last != nil && s.last.ID == id {
		return s.last, nil
	}
	u, err := s.Store.User(ctx, id)
	s.last = u
	return u, err
}

type nilUser struct{ *memstore.Store }

func (s nilUser) User(ctx context.Context, id string) (*pintle.User, error) {
	u, err := s.Store.User(ctx, id)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, nil
	}
	return u, err
}

type otherError struct{ *memstore.Store }

func (s otherError) User(ctx context.Context, id string) (*pintle.User, error) {
	u, err := s.Store.User(ctx, id)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, errors.New("no rows")
	}
	return u, err
}

type trimmedID struct{ *memstore.Store }

func (s trimmedID) User(ctx context.Context, id string) (*pintle.User, error) {
	return s.Store.User(ctx, strings.TrimSpace(id))
}

type noEmoji struct{ *memstore.Store }

func (s noEmoji) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	c := *u
	c.Name = strings.Map(func(r rune) rune {
		if r > 0xffff {
			return '?'
		}
		return r
	}, c.Name)
	return s.Store.CreateUser(ctx, &c)
}

type shortImage struct{ *memstore.Store }

func (s shortImage) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	c := *u
	c.Image = c.Image[:min(len(c.Image), 2048)]
	return s.Store.CreateUser(ctx, &c)
}

type noExtra struct{ *memstore.Store }

func (s noExtra) User(ctx context.Context, id string) (*pintle.User, error) {
	u, err := s.Store.User(ctx, id)
	if u != nil {
		u.Extra = nil
	}
	return u, err
}

type patient struct{ *memstore.Store }

func (s patient) User(ctx context.Context, id string) (*pintle.User, error) {
	return s.Store.User(context.WithoutCancel(ctx), id)
}

type unstoppable struct{ *memstore.Store }

func (s unstoppable) DeleteUser(ctx context.Context, id string) error {
	if err := s.Store.DeleteUser(context.WithoutCancel(ctx), id); err != nil {
		return err
	}
	return ctx.Err()
}

// checkThenAct has no uniqueness rule but a look-up before.
type checkThenAct struct {
	*memstore.Store
	mu     sync.Mutex
	emails map[string]string
}

func (s *checkThenAct) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	s.mu.Lock()
	_, taken := s.emails[u.Email]
	s.mu.Unlock()
	if taken {
		return nil, pintle.ErrConflict
	}
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emails == nil {
		s.emails = map[string]string{}
	}
	s.emails[u.Email] = u.ID
	c := *u
	c.Email = ""
	created, err := s.Store.CreateUser(ctx, &c)
	if err == nil {
		created.Email = u.Email
	}
	return created, err
}

type strictText struct{ *memstore.Store }

func (s strictText) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if strings.ContainsRune(email, 0) {
		return nil, errors.New("invalid byte sequence for encoding")
	}
	return s.Store.UserByEmail(ctx, email)
}

type unquoted struct{ *memstore.Store }

func (s unquoted) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	c := *u
	c.Name = strings.ReplaceAll(c.Name, "''", "'")
	return s.Store.CreateUser(ctx, &c)
}

var extraMutants = []mutant{
	{"an update ignores Extra", func(s *memstore.Store) pintle.Store { return ignoresExtra{s} }, "members of Extra are changed by name"},
	{"an update replaces Extra", func(s *memstore.Store) pintle.Store { return replacesExtra{s} }, "members of Extra are changed by name"},
	{"an update returns Extra as it was", func(s *memstore.Store) pintle.Store { return returnsOldExtra{s} }, "members of Extra are changed by name"},
	{"a member of Extra cannot be removed", func(s *memstore.Store) pintle.Store { return keepsMembers{s} }, "a nil value removes a member"},
	{"objects in Extra are merged", func(s *memstore.Store) pintle.Store { return mergesObjects{s} }, "a member of Extra is replaced as a whole"},
	{"digits of numbers in Extra are lost", func(s *memstore.Store) pintle.Store { return roundsNumbers{s} }, "a member of Extra is replaced as a whole"},
	{"only a user with Extra gets members of it", func(s *memstore.Store) pintle.Store { return needsExtra{s} }, "a user gets the first member"},
	{"Extra is written before an address is refused", func(s *memstore.Store) pintle.Store { return extraFirst{s} }, "with the address of another user changes nothing in Extra"},
	{"an address in Extra is the user's", func(s *memstore.Store) pintle.Store { return addressInExtra{s} }, "with the names of fields change none of these"},
	{"quotes in Extra are taken away", func(s *memstore.Store) pintle.Store { return unquotedExtra{s} }, "SH-73 hostile texts in Extra"},
	{"a changed Extra is shared", func(s *memstore.Store) pintle.Store { return &sharedExtra{Store: s} }, "a changed Extra is not kept"},
	{"Extra is read, then written", func(s *memstore.Store) pintle.Store { return &ownExtra{Store: s} }, "members of Extra that are changed at once"},
	{"a change of Extra outlives its transaction", func(s *memstore.Store) pintle.Store { return extraOutside{s} }, "undoes a change of Extra"},
}

type ignoresExtra struct{ *memstore.Store }

func (s ignoresExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	c.Extra = nil
	return s.Store.UpdateUser(ctx, id, c)
}

type replacesExtra struct{ *memstore.Store }

func (s replacesExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if u, err := s.User(ctx, id); err == nil && c.Extra != nil {
		c.Extra = maps.Clone(c.Extra)
		for name := range u.Extra {
			if _, stays := c.Extra[name]; !stays {
				c.Extra[name] = nil
			}
		}
	}
	return s.Store.UpdateUser(ctx, id, c)
}

type returnsOldExtra struct{ *memstore.Store }

func (s returnsOldExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	before, err := s.User(ctx, id)
	if err != nil {
		return nil, err
	}
	u, err := s.Store.UpdateUser(ctx, id, c)
	if err == nil {
		u.Extra = before.Extra
	}
	return u, err
}

// changed changes the values in Extra on their way to the store.
func changed(c pintle.UserUpdate, change func(name string, value any) (kept any, ok bool)) pintle.UserUpdate {
	extra := map[string]any{}
	for name, value := range c.Extra {
		if kept, ok := change(name, value); ok {
			extra[name] = kept
		}
	}
	c.Extra = extra
	return c
}

type keepsMembers struct{ *memstore.Store }

func (s keepsMembers) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	return s.Store.UpdateUser(ctx, id, changed(c, func(_ string, value any) (any, bool) { return value, value != nil }))
}

type mergesObjects struct{ *memstore.Store }

func (s mergesObjects) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	u, err := s.User(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.Store.UpdateUser(ctx, id, changed(c, func(name string, value any) (any, bool) {
		before, isObject := u.Extra[name].(map[string]any)
		after, both := value.(map[string]any)
		if isObject && both {
			maps.Copy(before, after)
			return before, true
		}
		return value, true
	}))
}

type roundsNumbers struct{ *memstore.Store }

func (s roundsNumbers) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	return s.Store.UpdateUser(ctx, id, changed(c, func(_ string, value any) (any, bool) {
		if n, ok := value.(json.Number); ok {
			value, _ = n.Float64()
		}
		return value, true
	}))
}

type needsExtra struct{ *memstore.Store }

func (s needsExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if u, err := s.User(ctx, id); err == nil && u.Extra == nil {
		c.Extra = nil // as a JSON function that is given NULL returns NULL
	}
	return s.Store.UpdateUser(ctx, id, c)
}

type extraFirst struct{ *memstore.Store }

func (s extraFirst) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if _, err := s.Store.UpdateUser(ctx, id, pintle.UserUpdate{Extra: c.Extra}); err != nil {
		return nil, err
	}
	return s.Store.UpdateUser(ctx, id, c)
}

type addressInExtra struct{ *memstore.Store }

func (s addressInExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	if email, ok := c.Extra["email"].(string); ok {
		c.Email = &email
	}
	return s.Store.UpdateUser(ctx, id, c)
}

type unquotedExtra struct{ *memstore.Store }

func (s unquotedExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	return s.Store.UpdateUser(ctx, id, changed(c, func(_ string, value any) (any, bool) {
		if text, ok := value.(string); ok {
			value = strings.ReplaceAll(text, "''", "'")
		}
		return value, true
	}))
}

// ownExtra keeps Extra itself, and reads it some time before it writes it.
type ownExtra struct {
	*memstore.Store
	mu    sync.Mutex
	extra map[string]map[string]any
}

func (s *ownExtra) User(ctx context.Context, id string) (*pintle.User, error) {
	u, err := s.Store.User(ctx, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine := s.extra[id]; mine != nil && err == nil {
		u.Extra = maps.Clone(mine)
	}
	return u, err
}

func (s *ownExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	u, err := s.User(ctx, id)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Millisecond)
	if u.Extra == nil {
		u.Extra = map[string]any{}
	}
	maps.Copy(u.Extra, c.Extra)
	s.mu.Lock()
	if s.extra == nil {
		s.extra = map[string]map[string]any{}
	}
	s.extra[id] = u.Extra
	s.mu.Unlock()
	return s.User(ctx, id)
}

// sharedExtra keeps the maps that it is given.
type sharedExtra struct {
	*memstore.Store
	mu   sync.Mutex // many change at once
	kept map[string]map[string]any
}

func (s *sharedExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	s.mu.Lock()
	if s.kept == nil {
		s.kept = map[string]map[string]any{}
	}
	s.kept[id] = c.Extra
	s.mu.Unlock()
	return s.Store.UpdateUser(ctx, id, c)
}

func (s *sharedExtra) User(ctx context.Context, id string) (*pintle.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.Store.User(ctx, id)
	for name, value := range s.kept[id] {
		if err == nil && value != nil {
			u.Extra[name] = value
		}
	}
	return u, err
}

// extraOutside writes Extra at once, whatever becomes of a transaction.
type extraOutside struct{ *memstore.Store }

func (s extraOutside) InTx(ctx context.Context, f func(pintle.Store) error) error {
	late := pintle.UserUpdate{}
	var of string
	err := s.Store.InTx(ctx, func(tx pintle.Store) error {
		return f(notesExtra{tx, &of, &late})
	})
	if late.Extra != nil {
		_, _ = s.Store.UpdateUser(ctx, of, late)
	}
	return err
}

type notesExtra struct {
	pintle.Store
	of   *string
	late *pintle.UserUpdate
}

func (s notesExtra) UpdateUser(ctx context.Context, id string, c pintle.UserUpdate) (*pintle.User, error) {
	*s.of, s.late.Extra = id, c.Extra
	return s.Store.UpdateUser(ctx, id, c)
}
