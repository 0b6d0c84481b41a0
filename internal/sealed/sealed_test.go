package sealed_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/sealed"
)

var secrets = []string{"the new secret", "the old secret"}

const (
	salt   = "authjs.state"
	maxAge = 15 * time.Minute
)

type note struct {
	Value string `json:"value"`
	sealed.Stamp
	Rest string `json:"rest,omitempty"`
}

type short struct {
	Value string `json:"value"`
	sealed.Expiry
}

func box(t *testing.T, secrets []string, salt string, maxAge time.Duration) *sealed.Box {
	t.Helper()
	b, err := sealed.NewBox(secrets, salt, maxAge)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seals(t *testing.T, b *sealed.Box, v sealed.Value) string {
	t.Helper()
	text, err := b.Seal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// keys are those of Auth.js for the same secret and salt.
func keys(t *testing.T) *seal.Keys {
	t.Helper()
	k, err := seal.New(secrets, salt)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The members and their order are what Auth.js reads and writes.
func TestTheFormIsThatOfTheReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins on 1 January 2000
		b := box(t, secrets, salt, maxAge)
		for text, want := range map[string]string{
			seals(t, b, &note{Value: "<a>&", Rest: "r"}):                      `^\{"value":"<a>&","iat":946684800,"exp":946685700,"jti":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}","rest":"r"\}$`,
			seals(t, b, &note{Value: "a", Stamp: sealed.Stamp{ID: "chosen"}}): `^\{"value":"a","iat":946684800,"exp":946685700,"jti":"chosen"\}$`,
			seals(t, b, &short{Value: "a"}):                                   `^\{"value":"a","exp":946685700\}$`,
		} {
			plain, err := keys(t).Open(nil, text)
			if err != nil || !regexp.MustCompile(want).Match(plain) {
				t.Errorf("sealed is %s, %v, want %s", plain, err, want)
			}
		}
		var got note
		foreign := string(keys(t).AppendSeal(nil, []byte(`{"jti":"j","exp":946685700,"more":[1],"value":"of Auth.js","iat":946684800}`)))
		if err := b.Open(foreign, &got); err != nil || got.Value != "of Auth.js" || got.ID != "j" || got.IssuedAt != 946684800 || got.Expires != 946685700 {
			t.Errorf("opened is %+v, %v", got, err)
		}
	})
}

func TestAValueIsGoodForItsTime(t *testing.T) {
	const tolerance = sealed.ClockTolerance
	for _, tt := range []struct {
		name string
		made time.Duration // before it is opened, by the clock of the server that made it
		want error
	}{
		{"at once", 0, nil},
		{"in its last second", maxAge - time.Second, nil},
		{"in the last second of the tolerance", maxAge + tolerance - time.Second, nil},
		{"after the tolerance", maxAge + tolerance, sealed.ErrExpired},
		{"a day later", 24 * time.Hour, sealed.ErrExpired},
		{"by a clock that is a little ahead", -tolerance, nil},
		{"by a clock that is further ahead", -tolerance - time.Second, sealed.ErrAhead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, forEver := box(t, secrets, salt, maxAge), box(t, secrets, salt, 0)
				made := time.Now().Unix()
				text := seals(t, b, &note{Value: "a"})
				if tt.made < 0 {
					text = seals(t, box(t, secrets, salt, maxAge-tt.made), &note{Value: "a"})
				}
				time.Sleep(max(tt.made, 0))
				var got note
				if err := b.Open(text, &got); !errors.Is(err, tt.want) {
					t.Errorf("Open: %v, want %v", err, tt.want)
				}
				if tt.want == nil && (got.Value != "a" || got.IssuedAt != made || got.ID == "") {
					t.Errorf("opened is %+v", got)
				}
				// Values of another age each are bounded by what is in them.
				want := tt.want
				if errors.Is(want, sealed.ErrAhead) {
					want = nil
				}
				if err := forEver.Open(text, &got); !errors.Is(err, want) {
					t.Errorf("Open of a box without an age: %v, want %v", err, want)
				}
			})
		})
	}
}

func TestOnlyWhatWasSealedForThePurposeOpens(t *testing.T) {
	b := box(t, secrets, salt, maxAge)
	good := seals(t, b, &note{Value: "a"})
	plain := func(text string) string { return string(keys(t).AppendSeal(nil, []byte(text))) }
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"nothing", "", sealed.ErrKey},
		{"no token", "value", sealed.ErrKey},
		{"a changed byte", good[:len(good)-10] + string(good[len(good)-10]^1) + good[len(good)-9:], sealed.ErrKey},
		{"another salt", seals(t, box(t, secrets, "authjs.nonce", maxAge), &note{Value: "a"}), sealed.ErrKey},
		{"another secret", seals(t, box(t, []string{"another"}, salt, maxAge), &note{Value: "a"}), sealed.ErrKey},
		{"the first secret", good, nil},
		{"an earlier secret", seals(t, box(t, secrets[1:], salt, maxAge), &note{Value: "a"}), nil},
		{"no JSON", plain("value"), sealed.ErrContent},
		{"no object", plain(`"value"`), sealed.ErrContent},
		{"a member of another type", plain(`{"value":1,"exp":9999999999}`), sealed.ErrContent},
		{"an end that is no number", plain(`{"value":"a","exp":"9999999999"}`), sealed.ErrContent},
		{"no end", plain(`{"value":"a","iat":1}`), sealed.ErrExpired},
		{"null", plain(`null`), sealed.ErrExpired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := b.Open(tt.text, &note{}); !errors.Is(err, tt.want) {
				t.Errorf("Open: %v, want %v", err, tt.want)
			}
		})
	}
}

func TestWhatIsNoJSONIsNotSealed(t *testing.T) {
	b := box(t, secrets, salt, maxAge)
	var v struct {
		sealed.Stamp
		Bad chan int
	}
	if text, err := b.Seal(&v); err == nil || text != "" {
		t.Errorf("Seal returns %q, %v", text, err)
	}
}

func TestABoxNeedsASecretAndASalt(t *testing.T) {
	for _, tt := range []struct {
		secrets []string
		salt    string
	}{{nil, salt}, {[]string{""}, salt}, {secrets, ""}} {
		if b, err := sealed.NewBox(tt.secrets, tt.salt, maxAge); err == nil || b != nil {
			t.Errorf("NewBox(%q, %q) = %v, %v", tt.secrets, tt.salt, b, err)
		}
	}
}

func TestAMarkIsOfOneValue(t *testing.T) {
	const purpose = "pintle sign-in starter"
	ada := sealed.Mark(secrets[0], purpose, "ada")
	if len(ada) != 22 || strings.ContainsAny(ada, ".=+/") {
		t.Errorf("the mark is %q", ada)
	}
	for _, tt := range []struct {
		name, mark string
		want       bool
	}{
		{"of the value", ada, true},
		{"with an earlier secret", sealed.Mark(secrets[1], purpose, "ada"), true},
		{"with another secret", sealed.Mark("another", purpose, "ada"), false},
		{"of another value", sealed.Mark(secrets[0], purpose, "grace"), false},
		{"for another purpose", sealed.Mark(secrets[0], "pintle address proof", "ada"), false},
		{"a part of it", ada[:10], false},
		{"none", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sealed.HasMark(tt.mark, secrets, purpose, "ada"); got != tt.want {
				t.Errorf("HasMark(%q) = %t, want %t", tt.mark, got, tt.want)
			}
		})
	}
	if sealed.HasMark(sealed.Mark("", purpose, "ada"), nil, purpose, "ada") {
		t.Error("a mark without a secret is accepted")
	}
	// Marks that are in the cookies of flows under way, by the same secret.
	if got := sealed.Mark("secret", purpose, "user-1"); got != "EJK9QMZ4smWsRsovdxy53w" {
		t.Errorf("the mark has another form than before: %s", got)
	}
}
