package account

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A user can choose the picture that the profile of a linked account had at the last sign-in with it.
// The store keeps the address with the factors of the user, so that it goes with them. A form names
// a picture by its id: an address in a form could be any.

// factorPicture is the kind of the rows of pictures. The id of a row is that of the linked account,
// Name its provider, and Secret the address of the picture.
const factorPicture = "picture"

// maxLinkedPictures is how many pictures of linked accounts are kept for a user.
const maxLinkedPictures = 10

// pictureID names the picture of a linked account.
func pictureID(provider, id string) string {
	sum := sha256.Sum256([]byte("pintle picture\x00" + provider + "\x00" + id))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// isLinkedPicture reports whether an address that a provider reported may be shown: a provider that
// lets its users choose it would otherwise have each browser load it without encryption, or make the
// token of a session too large for its cookie.
func isLinkedPicture(link string) bool {
	return strings.HasPrefix(link, "https://") && len(link) <= maxPictureURL && page.IsPicture(link)
}

// notePicture keeps the picture that a provider has reported at a sign-in, or removes the one of
// before. An error is recorded: the sign-in goes on.
func (a *Accounts) notePicture(ctx context.Context, userID string, account *pintle.Account, reported *pintle.User) {
	if account == nil || reported == nil || account.Type == pintle.TypeWebAuthn {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := a.keepPicture(ctx, userID, account, reported.Image); err != nil {
		a.log().WarnContext(ctx, "pintle: picture of a linked account not kept", slog.String("code", codeIncomplete), slog.String("provider", account.Provider), slog.Any("error", err))
	}
}

func (a *Accounts) keepPicture(ctx context.Context, userID string, account *pintle.Account, link string) error {
	rows, err := a.pictureRows(ctx, userID)
	if err != nil {
		return err
	}
	id, now := pictureID(account.Provider, account.ProviderAccountID), time.Now().UTC().Truncate(time.Millisecond)
	i := slices.IndexFunc(rows, func(row *accountstore.Factor) bool { return row.ID == id })
	switch usable := isLinkedPicture(link); {
	case i >= 0 && usable && rows[i].Secret == link, i < 0 && !usable:
		return nil
	case i >= 0 && usable:
		row := *rows[i]
		row.Secret, row.LastUsed = link, now
		err = a.rows.ReplaceFactor(ctx, &row)
	case i >= 0:
		err = a.rows.DeleteFactor(ctx, userID, factorPicture, id)
	default:
		for len(rows) >= maxLinkedPictures {
			err := a.rows.DeleteFactor(ctx, userID, factorPicture, rows[0].ID)
			if err != nil && !errors.Is(err, pintle.ErrNotFound) {
				return err
			}
			rows = rows[1:]
		}
		err = a.rows.AddFactor(ctx, &accountstore.Factor{
			UserID: userID, Kind: factorPicture, ID: id, Name: account.Provider, Secret: link, Created: now, LastUsed: now,
		})
	}
	if errors.Is(err, pintle.ErrConflict) || errors.Is(err, pintle.ErrNotFound) {
		return nil // another sign-in of the user has changed the row
	}
	return err
}

// pictureRows are the rows of pictures. The first is the one whose address has not changed for the
// longest time.
func (a *Accounts) pictureRows(ctx context.Context, userID string) (rows []*accountstore.Factor, err error) {
	all, err := a.rows.Factors(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, row := range all {
		if row.Kind == factorPicture {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b *accountstore.Factor) int { return a.LastUsed.Compare(b.LastUsed) })
	return rows, nil
}

// linkedPictures are the pictures that a user can choose: those of accounts that are linked now. The
// store may have others, of accounts that were unlinked by other means than the page.
func (v *visit) linkedPictures(u *pintle.User) (pictures []*accountstore.Factor, err error) {
	rows, err := v.pictureRows(v.ctx, u.ID)
	if err != nil || len(rows) == 0 {
		return nil, asStoreProblem(err)
	}
	linked, err := v.store.UserAccounts(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, row := range rows {
		of := func(l *pintle.Account) bool { return pictureID(l.Provider, l.ProviderAccountID) == row.ID }
		if slices.ContainsFunc(linked, of) && isLinkedPicture(row.Secret) {
			pictures = append(pictures, row)
		}
	}
	return pictures, nil
}

func asStoreProblem(err error) error {
	if err == nil {
		return nil
	}
	return unavailable(err)
}

// chosenPicture returns the address of a picture that the form has chosen by its id.
func (v *visit) chosenPicture(u *pintle.User, id string) (string, error) {
	pictures, err := v.linkedPictures(u)
	if err != nil {
		return "", err
	}
	for _, row := range pictures {
		if row.ID == id {
			return row.Secret, nil
		}
	}
	return "", inField("image", "invalid")
}

// pictureGroup shows the pictures of linked accounts, each with the form that chooses it. Without pictures
// it returns nil.
func (v *visit) pictureGroup(u *pintle.User, pictures []*accountstore.Factor) *page.Group {
	if len(pictures) == 0 {
		return nil
	}
	g := &page.Group{Heading: v.word("linked_pictures")}
	for _, row := range pictures {
		shown := v.providerRow(row.Name)
		shown.Provider, shown.Picture, shown.Initials = nil, row.Secret, initials(shown.Title.Value)
		if row.Secret != u.Image {
			shown.Forms = []page.Form{{
				Action: v.site.path("profile"), Hidden: hidden("image", row.ID), Button: v.word("use_picture"), Secondary: true,
			}}
		}
		g.Rows = append(g.Rows, shown)
	}
	return g
}

func describePictures(rows []*accountstore.Factor) []map[string]any {
	list := []map[string]any{}
	for _, row := range rows {
		list = append(list, map[string]any{"id": row.ID, "provider": row.Name, "image": row.Secret})
	}
	return list
}

// forgetPicture removes the picture of an account that is no longer linked.
func (v *visit) forgetPicture(userID, provider, id string) {
	err := v.rows.DeleteFactor(v.ctx, userID, factorPicture, pictureID(provider, id))
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		v.log().WarnContext(v.ctx, "pintle: picture of an unlinked account still stored", slog.String("code", codeIncomplete), slog.String("provider", provider), slog.Any("error", err))
	}
}
