package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the hash that all authenticator apps have; HMAC does not need it to resist collisions
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/seal"
)

// factorTOTP is the kind of the rows of authenticator apps. Step of a row is the last time
// step at which a code was accepted, and Secret is sealed.
const factorTOTP = "totp"

const (
	totpDigits = 6
	totpPeriod = 30 // seconds of one time step
	totpSize   = 20 // bytes of a secret, which RFC 4226 recommends
	maxTOTP    = 5  // authenticator apps of one user
)

// totpStep is the time step of a time.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-4.2
func totpStep(at time.Time) int64 { return at.Unix() / totpPeriod }

// totpCode is the code of a time step.
//
// https://www.rfc-editor.org/rfc/rfc4226#section-5.3
func totpCode(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash does not fail
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 15
	number := binary.BigEndian.Uint32(sum[offset:]) & (1<<31 - 1)
	return fmt.Sprintf("%0*d", totpDigits, number%1_000_000)
}

// matchStep returns the time step of a code, among that of a time and those beside it: the
// clock of a phone may be half a minute off, and typing takes time.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-5.2
func matchStep(secret []byte, code string, at time.Time) (step int64, found bool) {
	now := totpStep(at)
	for candidate := now - 1; candidate <= now+1; candidate++ {
		if subtle.ConstantTimeCompare([]byte(totpCode(secret, candidate)), []byte(code)) == 1 {
			step, found = candidate, true
		}
	}
	return step, found
}

// newTOTPSecret returns a random secret.
func newTOTPSecret() []byte {
	secret := make([]byte, totpSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// totpText is a secret as apps and people read it.
func totpText(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// A sealedSecret is the secret of a row. It names the user and the row, so that a row that
// is copied to another user in the database does not open there.
type sealedSecret struct {
	User   string `json:"user"`
	Row    string `json:"row"`
	Secret []byte `json:"secret"`
}

// A totpBox seals the secrets of authenticator apps, which have to be read again and
// therefore cannot be hashed. What it seals does not expire.
type totpBox struct {
	all *seal.Keys

	// first opens what the first of Config.Secrets has sealed. Other rows are sealed
	// anew when they are used, so that the old secret can be taken away.
	first *seal.Keys
}

func newTOTPBox(secrets []string, purpose string) (*totpBox, error) {
	all, err := seal.New(secrets, purpose)
	if err != nil {
		return nil, err
	}
	first, err := seal.New(secrets[:1], purpose)
	return &totpBox{all, first}, err
}

func (b *totpBox) seal(userID, row string, secret []byte) (string, error) {
	text, err := json.Marshal(sealedSecret{userID, row, secret}) //nolint:gosec // sealed in the next line
	return string(b.first.AppendSeal(nil, text)), err
}

// open returns the secret of a row, and whether an old one of Config.Secrets has sealed it.
func (b *totpBox) open(row *accountstore.Factor) (secret []byte, old bool, err error) {
	text, err := b.first.Open(nil, row.Secret)
	if err != nil {
		old = true
		if text, err = b.all.Open(nil, row.Secret); err != nil {
			return nil, false, errors.New("it was not sealed with a current one of Config.Secrets")
		}
	}
	var s sealedSecret
	if json.Unmarshal(text, &s) != nil || len(s.Secret) == 0 {
		return nil, false, errors.New("it holds no secret")
	}
	if s.User != row.UserID || s.Row != row.ID {
		return nil, false, errors.New("it is that of another row")
	}
	return s.Secret, old, nil
}

// An openedTOTP is a row with its secret.
type openedTOTP struct {
	row    *accountstore.Factor
	secret []byte
	old    bool
}

// openTOTP opens rows. Those that do not open are for the operator: secrets were taken out
// of Config.Secrets too early, or a row was tampered with. Users must not be told that
// their code is wrong.
func (v *visit) openTOTP(rows []*accountstore.Factor) (opened []openedTOTP) {
	for _, row := range rows {
		secret, old, err := v.boxes.totp.open(row)
		if err != nil {
			v.log().ErrorContext(v.ctx, "pintle: secret of an authenticator app does not open", slog.String("code", codeUnopenedSecret),
				slog.String("user", row.UserID), slog.String("factor", row.ID), slog.Any("error", err))
			continue
		}
		opened = append(opened, openedTOTP{row, secret, old})
	}
	return opened
}

// useTOTP accepts a code of one of the rows, once. Steps only go forward: a code works
// once, and none that is older than one that was used.
func (v *visit) useTOTP(opened []openedTOTP, code string, at time.Time) error {
	for _, o := range opened {
		step, found := matchStep(o.secret, code, at)
		if !found {
			continue
		}
		err := v.rows.AdvanceFactor(v.ctx, o.row.UserID, factorTOTP, o.row.ID, step, at)
		if errors.Is(err, pintle.ErrNotFound) {
			continue // removed meanwhile
		}
		if errors.Is(err, pintle.ErrConflict) {
			break // used before: a form that was sent twice may have stored the secret in another row, too
		}
		if err != nil {
			return unavailable(err)
		}
		if o.old {
			v.resealTOTP(o, at)
		}
		return nil
	}
	return inField("code", "code_wrong")
}

// resealTOTP seals the secret of a row with the first of Config.Secrets. A failure is
// recorded and leaves the row, which still opens.
func (v *visit) resealTOTP(o openedTOTP, at time.Time) {
	text, err := v.boxes.totp.seal(o.row.UserID, o.row.ID, o.secret)
	if err == nil {
		err = v.replaceTOTP(o.row, func(f *accountstore.Factor) { f.Secret, f.LastUsed = text, at })
	}
	if err != nil && !errors.Is(err, pintle.ErrConflict) && !errors.Is(err, pintle.ErrNotFound) {
		v.log().WarnContext(v.ctx, "pintle: secret of an authenticator app not sealed anew", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}

// replaceTOTP changes a row. Its step may be less than that of a code that was accepted
// since the row was read: ReplaceFactor keeps the greater one.
func (v *visit) replaceTOTP(row *accountstore.Factor, change func(*accountstore.Factor)) error {
	changed := *row
	change(&changed)
	return v.rows.ReplaceFactor(v.ctx, &changed)
}
