package pintle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPasskeyName is the most characters of a passkey's name.
const maxPasskeyName = 64

// Passkeys returns the passkeys of the user of a session, the newest last, for an
// account page. [Auth.Unlink] removes one, by the id of its provider and its
// CredentialID. The store needs [Features.Passkeys].
func (a *Auth) Passkeys(ctx context.Context, s *Session) (passkeys []*Passkey, err error) {
	defer a.logFailed(ctx, "Passkeys", &err)
	set, err := a.ofPerson(ctx, "Passkeys", s)
	if err != nil {
		return nil, err
	}
	store, err := storeFor(set, "Passkeys", featurePasskeys)
	if err != nil {
		return nil, err
	}
	passkeys, err = store.userAuthenticators(ctx, s.User.ID)
	slices.SortFunc(passkeys, func(a, b *Passkey) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.CredentialID, b.CredentialID))
	})
	return passkeys, err
}

// RenamePasskey gives a passkey of the user of s another name. A name has at most 64
// characters, none of them a control character; an empty one takes the name
// away.
//
// The error matches [ErrNotFound] when the user has no such passkey, even if
// another user has it. The store needs [Features.PasskeyNames].
func (a *Auth) RenamePasskey(ctx context.Context, s *Session, credentialID, name string) (err error) {
	defer a.logFailed(ctx, "RenamePasskey", &err)
	set, err := a.ofPerson(ctx, "RenamePasskey", s)
	if err != nil {
		return err
	}
	store, err := storeFor(set, "RenamePasskey", featurePasskeyNames)
	if err != nil {
		return err
	}
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return byClient(errors.New("RenamePasskey: the name is not UTF-8, or has a control character: take only what a person can have typed"))
	case utf8.RuneCountInString(name) > maxPasskeyName:
		return byClient(fmt.Errorf("RenamePasskey: the name has more than %d characters: check its length before", maxPasskeyName))
	}
	return store.renameAuthenticator(ctx, s.User.ID, credentialID, name)
}
