package password

import (
	"errors"
	"strings"
	"testing"
)

func TestParsePHC(t *testing.T) {
	const (
		salt = "c29tZXNhbHQ"
		key  = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	)
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"reference", "$argon2id$v=19$m=65536,t=2,p=1$" + salt + "$" + key, true},
		{"least", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key[:22-1] + "A", true},
		{"most memory", "$argon2id$v=19$m=262144,t=4,p=16$" + salt + "$" + key, true},
		{"too much memory", "$argon2id$v=19$m=262145,t=1,p=1$" + salt + "$" + key, false},
		{"memory beyond 32 bits", "$argon2id$v=19$m=4294967304,t=1,p=1$" + salt + "$" + key, false},
		{"too much work", "$argon2id$v=19$m=262144,t=5,p=1$" + salt + "$" + key, false},
		{"too many passes", "$argon2id$v=19$m=8,t=65,p=1$" + salt + "$" + key, false},
		{"no pass", "$argon2id$v=19$m=8,t=0,p=1$" + salt + "$" + key, false},
		{"no thread", "$argon2id$v=19$m=8,t=1,p=0$" + salt + "$" + key, false},
		{"too many threads", "$argon2id$v=19$m=65536,t=1,p=17$" + salt + "$" + key, false},
		{"threads beyond 8 bits", "$argon2id$v=19$m=65536,t=1,p=257$" + salt + "$" + key, false},
		{"too little memory for the threads", "$argon2id$v=19$m=15,t=1,p=2$" + salt + "$" + key, false},
		{"leading zero", "$argon2id$v=19$m=08,t=1,p=1$" + salt + "$" + key, false},
		{"sign", "$argon2id$v=19$m=+8,t=1,p=1$" + salt + "$" + key, false},
		{"other order", "$argon2id$v=19$t=1,m=8,p=1$" + salt + "$" + key, false},
		{"parameter missing", "$argon2id$v=19$m=8,t=1$" + salt + "$" + key, false},
		{"parameter more", "$argon2id$v=19$m=8,t=1,p=1,keyid=x$" + salt + "$" + key, false},
		{"argon2i", "$argon2i$v=19$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"other version", "$argon2id$v=16$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"version missing", "$argon2id$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"salt too short", "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbA$" + key, false},
		{"salt too long", "$argon2id$v=19$m=8,t=1,p=1$" + strings.Repeat("A", 87) + "$" + key, false},
		{"padding", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "=$" + key, false},
		{"line break", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "\n$" + key, false},
		{"bits beyond the last byte", "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHR$" + key, false},
		{"URL alphabet", "$argon2id$v=19$m=8,t=1,p=1$c29tZXNh_HQ$" + key, false},
		{"key too short", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key[:20], false},
		{"key too long", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + strings.Repeat("A", 90), false},
		{"no key", "$argon2id$v=19$m=8,t=1,p=1$" + salt, false},
		{"more", "$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key + "$x", false},
		{"something before it", "x$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + key, false},
		{"very long", strings.Repeat("$", 1<<20), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parsePHC(tt.text)
			switch {
			case tt.ok && (err != nil || s.String() != tt.text):
				t.Errorf("parsePHC = %s, %v", s, err)
			case !tt.ok && (!errors.Is(err, ErrHash) || s.salt != nil || s.key != nil || s.params != params{}):
				t.Errorf("parsePHC = %s, %v, want ErrHash alone", s, err)
			}
		})
	}
}

// A hash has one spelling, and no accepted hash costs more than the bounds allow.
func FuzzParsePHC(f *testing.F) {
	f.Add("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parsePHC(text)
		if err != nil {
			if s.salt != nil || s.key != nil || s.params != (params{}) || !errors.Is(err, ErrHash) {
				t.Fatalf("%v beside %v", s, err)
			}
			return
		}
		if s.String() != text {
			t.Errorf("%q is written as %q", text, s)
		}
		if s.memory > maxMemory || s.memory < 8*uint32(s.threads) || s.passes < 1 || s.threads < 1 ||
			uint64(s.memory)*uint64(s.passes) > maxWork || len(s.salt) > maxSalt || len(s.key) > maxKey || len(s.key) < minKey {
			t.Errorf("%q exceeds the bounds", text)
		}
	})
}
