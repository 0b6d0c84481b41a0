package password_test

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/password"
)

//go:embed testdata/foreign.tsv
var foreignText string

type foreignHash struct{ source, password, hash string }

// foreign are hashes that other systems made.
func foreign(t testing.TB) (all []foreignHash) {
	t.Helper()
	for line := range strings.Lines(foreignText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 3 {
			t.Fatalf("%q has %d columns", line, len(columns))
		}
		all = append(all, foreignHash{columns[0], columns[1], columns[2]})
	}
	return all
}

// importAny imports a hash as an application does for its source.
func importAny(source, hash string) (string, error) {
	if !strings.HasPrefix(source, "Keycloak") {
		return password.Import(hash)
	}
	var credential struct{ SecretData, CredentialData string }
	if err := json.Unmarshal([]byte(hash), &credential); err != nil {
		return "", err
	}
	return password.ImportKeycloak(credential.SecretData, credential.CredentialData)
}

func TestHashesOfOtherSystems(t *testing.T) {
	h := cheap()
	for _, f := range foreign(t) {
		t.Run(f.source, func(t *testing.T) {
			stored, err := importAny(f.source, f.hash)
			if err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				what, entered string
				want          bool
			}{
				{"right", f.password, true},
				{"wrong", f.password + "z", false},
				{"with a zero byte", f.password + "\x00", false},
				{"of the old hash itself", f.hash, false},
				{"empty", "", false},
			} {
				if tt.entered != f.password && strings.Contains(f.source, ", its ") {
					continue // these are costly; their formats have a cheap hash, too
				}
				if ok, err := h.Verify(t.Context(), stored, tt.entered); ok != tt.want || err != nil {
					t.Errorf("password %s: Verify = %t, %v, want %t", tt.what, ok, err, tt.want)
				}
			}
			if !h.Outdated(stored) {
				t.Error("the hash is not replaced")
			}
			if !strings.HasPrefix(f.source, "Keycloak") && stored != f.hash {
				t.Errorf("Import changed the text to %q", stored)
			}
		})
	}
}

func TestUsersWithoutAPassword(t *testing.T) {
	h := cheap()
	for _, hash := range []string{"", "!", "!EpKVkBUTkIpIIlIGKnoaiA4cTkCxELIXNQPW1mvR"} {
		stored, err := password.Import(hash)
		if stored != "" || err != nil {
			t.Errorf("Import(%q) = %q, %v, want the empty text", hash, stored, err)
		}
		for _, entered := range []string{"", "!", hash, "password"} {
			if ok, err := h.Verify(t.Context(), hash, entered); ok || err != nil {
				t.Errorf("Verify(%q, %q) = %t, %v", hash, entered, ok, err)
			}
		}
		if h.Outdated(hash) {
			t.Errorf("Outdated(%q)", hash)
		}
	}
}

// AT-27: nothing that costs more than the bounds is stored, or computed if another program
// stored it. It is an error, not a wrong password: a user must not be sent away
// without the operator knowing.
func TestWhatIsRefusedAtImportAndAtVerification(t *testing.T) {
	const (
		key32  = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
		padded = key32 + "="
		hex32  = "8a9b0f5c6d7e8f901a2b3c4d5e6f70818a9b0f5c6d7e8f901a2b3c4d5e6f7081"
		hex64  = hex32 + hex32
		salt   = "c29tZXNhbHQ"
		bcrypt = "$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua"
	)
	wrapped := "$argon2id$v=19$m=64,t=1,p=1$" + salt + "$" + key32
	for _, tt := range []struct{ name, hash, why string }{
		{"plain text", "correct horse", "no known form"},
		{"a name of an algorithm alone", "bcrypt", "no known form"},
		{"very long", strings.Repeat("$", 1<<20), "too long"},
		{"crypt of Unix", "$6$rounds=5000$usesomesillystri$D4IrlXatmP7rx3P3InaxBeoomnAihCKRVQAr/36GBEzFYi", "no known form"},

		{"Argon2i", "$argon2i$v=19$m=64,t=1,p=1$" + salt + "$" + key32, "Argon2i"},
		{"Argon2d", "$argon2d$v=19$m=64,t=1,p=1$" + salt + "$" + key32, "Argon2d"},
		{"Argon2i of Django", "argon2$argon2i$v=19$m=64,t=1,p=1$" + salt + "$" + key32, "not Argon2id"},
		{"Argon2id, version 16", "$argon2id$v=16$m=64,t=1,p=1$" + salt + "$" + key32, "version"},
		{"Argon2id, 4 TiB", "$argon2id$v=19$m=4294967295,t=1,p=1$" + salt + "$" + key32, "memory"},
		{"Argon2id of Django, too much work", "argon2$argon2id$v=19$m=262144,t=5,p=1$" + salt + "$" + key32, "too much work"},

		{"bcrypt, cost 15", strings.Replace(bcrypt, "$04$", "$15$", 1), "cost 15"},
		{"bcrypt, cost 3", strings.Replace(bcrypt, "$04$", "$03$", 1), "damaged"},
		{"bcrypt of a faulty program", strings.Replace(bcrypt, "$2b$", "$2x$", 1), "variant"},
		{"bcrypt, without its last sign", bcrypt[:59], "damaged"},
		{"bcrypt, another sign between cost and salt", bcrypt[:6] + "x" + bcrypt[7:], "damaged"},
		{"bcrypt, another alphabet", bcrypt[:30] + "+" + bcrypt[31:], "damaged"},
		{"bcrypt of Django, cost 15", "bcrypt$" + strings.Replace(bcrypt, "$04$", "$15$", 1), "cost 15"},
		{"bcrypt_sha256 of Django, cost 15", "bcrypt_sha256$" + strings.Replace(bcrypt, "$04$", "$15$", 1), "cost 15"},
		{"bcrypt_sha256 of passlib, cost 15", "$bcrypt-sha256$v=2,t=2b,r=15$" + bcrypt[7:29] + "$" + bcrypt[29:], "cost 15"},
		{"bcrypt_sha256 of passlib, version 3", "$bcrypt-sha256$v=3,t=2b,r=4$" + bcrypt[7:29] + "$" + bcrypt[29:], "damaged"},
		{"bcrypt_sha256 of passlib, short salt", "$bcrypt-sha256$v=2,t=2b,r=4$" + bcrypt[7:28] + "$" + bcrypt[28:], "damaged"},
		{"bcrypt_sha256 of passlib, without a key", "$bcrypt-sha256$v=2,t=2b,r=4$" + bcrypt[7:29], "without"},

		{"PBKDF2 of Django, too many iterations", "pbkdf2_sha256$2000001$seasalt$" + padded, "2000001 iterations"},
		{"PBKDF2 of Django, a thousand million iterations", "pbkdf2_sha256$1000000000$seasalt$" + padded, "iterations"},
		{"PBKDF2 of Django, iterations beyond 64 bits", "pbkdf2_sha256$99999999999999999999$seasalt$" + padded, "iterations"},
		{"PBKDF2 of Django, no iteration", "pbkdf2_sha256$0$seasalt$" + padded, "iterations"},
		{"PBKDF2 of Django, negative iterations", "pbkdf2_sha256$-1$seasalt$" + padded, "iterations"},
		{"PBKDF2 of Django, no salt", "pbkdf2_sha256$1000$$" + padded, "salt"},
		{"PBKDF2 of Django, long salt", "pbkdf2_sha256$1000$" + strings.Repeat("x", 65) + "$" + padded, "salt"},
		{"PBKDF2 of Django, no key", "pbkdf2_sha256$1000$seasalt$", "key"},
		{"PBKDF2 of Django, short key", "pbkdf2_sha256$1000$seasalt$c29tZXNhbHQ=", "key"},
		{"PBKDF2 of Django, long key", "pbkdf2_sha256$1000$seasalt$" + strings.Repeat("AAAA", 22), "key"},
		{"PBKDF2 of Django, more", "pbkdf2_sha256$1000$seasalt$" + padded + "$", "without"},
		{"PBKDF2 of Django, line break", "pbkdf2_sha256$1000$seasalt$" + padded + "\n", "base64"},
		{"PBKDF2 of passlib, too many iterations", "$pbkdf2-sha512$2000001$" + salt + "$" + key32, "iterations"},
		{"PBKDF2 of passlib, no salt", "$pbkdf2-sha512$1000$$" + key32, "salt"},
		{"PBKDF2 of Werkzeug, too many iterations", "pbkdf2:sha256:2000001$salt$" + hex32, "iterations"},
		{"PBKDF2 of Werkzeug, MD5", "pbkdf2:md5:1000$salt$" + hex32, "another digest"},
		{"PBKDF2 of Werkzeug, no iterations", "pbkdf2:sha256$salt$" + hex32, "without"},
		{"PBKDF2 of Werkzeug, no hexadecimal", "pbkdf2:sha256:1000$salt$" + padded, "hexadecimal"},
		{"ASP.NET Identity, too many iterations", "AQAAAAEAHoSBAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==", "iterations"},
		{"ASP.NET Identity, most iterations of 32 bits", "AQAAAAH/////AAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==", "iterations"},
		{"ASP.NET Identity, no iteration", "AQAAAAEAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==", "iterations"},
		{"ASP.NET Identity, a salt of 4 GiB", "AQAAAAEAACcQ/////wABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==", "cut short"},
		{"ASP.NET Identity, unknown digest", "AQAAAAMAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==", "digest"},
		{"ASP.NET Identity 3, short key", "AQAAAAIAAAAyAAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4A=", "key"},
		{"ASP.NET Identity 2, cut short", "AAABAgMEBQYHCAkKCwwNDg+ukCEMDf0yyQ29NYubggE=", "no known form"},
		{"ASP.NET Identity 2, more", "AAABAgMEBQYHCAkKCwwNDg+ukCEMDf0yyQ29NYubggHIVY0sdEUfdyeM+E1LtH1uJgAAAAAAAAAAAAA=", "no known form"},

		{"scrypt, N 2^18", "$scrypt$ln=18,r=8,p=1$" + salt + "$" + key32, "N 262144"},
		{"scrypt, N 2^31", "$scrypt$ln=31,r=8,p=1$" + salt + "$" + key32, "scrypt with N"},
		{"scrypt, N 2^63", "$scrypt$ln=63,r=8,p=1$" + salt + "$" + key32, "parameters"},
		{"scrypt, r 17", "$scrypt$ln=14,r=17,p=1$" + salt + "$" + key32, "r 17"},
		{"scrypt, p 17", "$scrypt$ln=10,r=8,p=17$" + salt + "$" + key32, "p 17"},
		{"scrypt, too much work", "$scrypt$ln=17,r=8,p=3$" + salt + "$" + key32, "too much work"},
		{"scrypt, a parameter more", "$scrypt$ln=10,r=8,p=1,k=1$" + salt + "$" + key32, "parameters"},
		{"scrypt, short key", "$scrypt$ln=10,r=8,p=1$" + salt + "$" + key32[:20], "key"},
		{"scrypt, long key", "$scrypt$ln=10,r=8,p=1$" + salt + "$" + strings.Repeat("AAAA", 22), "key"},
		{"scrypt, no salt", "$scrypt$ln=10,r=8,p=1$$" + key32, "salt"},
		{"scrypt of Django, N not a power of two", "scrypt$16385$seasalt$8$1$" + padded, "N 16385"},
		{"scrypt of Django, N 1", "scrypt$1$seasalt$8$1$" + padded, "N 1"},
		{"scrypt of Django, r 0", "scrypt$16384$seasalt$0$1$" + padded, "parameters"},
		{"scrypt of Django, no salt", "scrypt$16384$$8$1$" + padded, "salt"},
		{"scrypt of Werkzeug, too much memory", "scrypt:1048576:8:1$salt$" + hex64, "N 1048576"},
		{"scrypt of Werkzeug, no parameters", "scrypt$salt$" + hex64, "without"},
		{"Better Auth, short key", "salt:" + hex32, "no known form"},
		{"Better Auth, no salt", ":" + hex64, "salt"},
		{"Better Auth, more", "salt:" + hex64 + ":", "no known form"},
		{"Lucia, another version", "s3:salt:" + hex64, "no known form"},

		{"Firebase, too much memory", "$firescrypt$ln=18,r=8,p=1,k=00$" + salt + "$" + key32, "N 262144"},
		{"Firebase, no key", "$firescrypt$ln=14,r=8,p=1$" + salt + "$" + key32, "parameters"},
		{"Firebase, short key", "$firescrypt$ln=14,r=8,p=1,k=00$" + salt + "$" + key32[:20], "key"},
		{"Firebase, long salt", "$firescrypt$ln=14,r=8,p=1,k=00$" + strings.Repeat("AAAA", 43) + "$" + key32, "salt"},
		{"Firebase, no salt", "$firescrypt$ln=14,r=8,p=1,k=00$$" + key32, "salt"},

		{"MD5", "5f4dcc3b5aa765d61d8327deb882cf99", "Hasher.Wrap"},
		{"SHA-1", "5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8", "Hasher.Wrap"},
		{"SHA-256", hex32, "Hasher.Wrap"},
		{"SHA-512", hex64, "Hasher.Wrap"},
		{"MD5 of Django", "md5$seasalt$3f86d0d3d465b7b458c231bf3555c0e3", "Hasher.Wrap"},
		{"SHA-1 of Django or Werkzeug", "sha1$seasalt$cff36ea83f5706ce9aa7454e63e431fc726b2dc8", "Hasher.Wrap"},
		{"SHA-1 of LDAP", "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "Hasher.Wrap"},
		{"wrapped, too much memory", "$wrapped$md5$" + strings.Replace(wrapped, "m=64", "m=4294967295", 1), "memory"},
		{"wrapped, unknown digest", "$wrapped$md4$" + wrapped, "unknown digest"},
		{"wrapped, no hash", "$wrapped$md5$" + salt, "not Argon2id"},
		{"wrapped, long salt", "$wrapped$md5$" + strings.Repeat("AAAA", 22) + wrapped, "salt"},
		{"wrapped twice", "$wrapped$md5$$wrapped$md5$" + wrapped, "not Argon2id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored, err := password.Import(tt.hash)
			if stored != "" || !errors.Is(err, password.ErrHash) || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("Import = %q, %v, want ErrHash about %q", stored, err, tt.why)
			}
			ok, verr := cheap().Verify(t.Context(), tt.hash, "password")
			if ok || !errors.Is(verr, password.ErrHash) || verr.Error() != err.Error() {
				t.Errorf("Verify = %t, %v, want %v", ok, verr, err)
			}
			if len(tt.hash) > 20 && strings.Contains(err.Error(), tt.hash[len(tt.hash)-20:]) {
				t.Errorf("the error repeats the hash: %v", err)
			}
		})
	}
}

func BenchmarkVerifyOtherSystems(b *testing.B) {
	for _, name := range []string{"Django pbkdf2_sha256, its test", "Better Auth", "Django scrypt", "Django bcrypt"} {
		for _, f := range foreign(b) {
			if f.source != name {
				continue
			}
			b.Run(name, func(b *testing.B) {
				var h password.Hasher
				b.ReportAllocs()
				for b.Loop() {
					if ok, err := h.Verify(b.Context(), f.hash, f.password); !ok || err != nil {
						b.Fatal(ok, err)
					}
				}
			})
		}
	}
	// The most that a stored hash may cost.
	for name, hash := range map[string]string{
		"most PBKDF2":  "$pbkdf2$2000000$c29tZXNhbHQ$" + strings.Repeat("A", 86),
		"most SHA-512": "$pbkdf2-sha512$2000000$c29tZXNhbHQ$" + strings.Repeat("A", 86),
		"most scrypt":  "$scrypt$ln=17,r=16,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 86),
		"most bcrypt":  "$2b$14$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua",
		"most Argon2":  "$argon2id$v=19$m=262144,t=4,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 43),
	} {
		b.Run(name, func(b *testing.B) {
			var h password.Hasher
			for b.Loop() {
				if _, err := h.Verify(b.Context(), hash, "password"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
