package password

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The most that the bounds allow, and what it counts.
var dearest = []struct {
	hash string
	kind int
	most int
}{
	{"$argon2id$v=19$m=262144,t=4,p=16$c29tZXNhbHQ$" + strings.Repeat("A", 43), argon2Work, maxWork},
	{"$wrapped$md5$$argon2id$v=19$m=262144,t=4,p=16$c29tZXNhbHQ$" + strings.Repeat("A", 43), argon2Work, maxWork},
	{"$scrypt$ln=17,r=16,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 86), scryptWork, maxScryptWork},
	{"$firescrypt$ln=17,r=16,p=1,k=" + dearestSigner + "$c29tZXNhbHQ$" + strings.Repeat("A", 86), scryptWork, maxScryptWork},
	{"$pbkdf2$2000000$c29tZXNhbHQ$" + strings.Repeat("A", 86), pbkdf2Work, 4 * maxIterations}, // blocks of 20 bytes
	{"$2b$14$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua", bcryptWork, 1 << maxBcryptCost},
}

// dearestSigner is the id of the signer key of dryHasher.
const dearestSigner = "9d908ecfb6b256de"

// dryHasher counts the work of a call without doing it.
func dryHasher() *Hasher {
	return &Hasher{
		Memory: 64, Passes: 1, meter: &meter{dry: true},
		Firebase: []Firebase{{SignerKey: strings.Repeat("AAAA", 8)}},
	}
}

// SH-56: no stored text makes a server do more work than the bounds allow, whatever
// it is. The work is counted where it is done.
func FuzzVerify(f *testing.F) {
	for _, d := range dearest {
		f.Add(d.hash)
	}
	text, err := os.ReadFile("testdata/foreign.tsv")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(columns) == 3 {
			f.Add(columns[2])
		}
	}
	for _, hostile := range []string{
		"", "!", "$", "$$$$$$", ":", "::", "$2b$99$", "scrypt:::$$", "pbkdf2:$$", "$wrapped$$$", "$firescrypt$,,$$", "AQAAAAH/////",
		"$scrypt$ln=63,r=1073741824,p=1073741824$c29tZXNhbHQ$" + strings.Repeat("A", 86),
	} {
		f.Add(hostile)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := dryHasher()
		ok, err := h.Verify(t.Context(), text, "password")
		if ok {
			t.Error("a hash that was not computed matches")
		}
		if err != nil && !errors.Is(err, ErrHash) {
			t.Errorf("%v is not ErrHash", err)
		}
		bounds := [4]int{argon2Work: maxWork, scryptWork: maxScryptWork, pbkdf2Work: 4 * maxIterations, bcryptWork: 1 << maxBcryptCost}
		kinds := 0
		for kind, units := range h.meter.units {
			if units < 0 || units > bounds[kind] {
				t.Errorf("%d units of kind %d, at most %d are allowed", units, kind, bounds[kind])
			}
			if units > 0 {
				kinds++
			}
		}
		if kinds > 1 {
			t.Errorf("several kinds of work: %v", h.meter.units)
		}
		if f, err := parse(text); err == nil && (f.kib() < 0 || f.kib() > maxMemory) {
			t.Errorf("%d KiB of memory", f.kib())
		}
		stored, err := Import(text)
		if _, parseErr := parse(text); (err == nil) != (parseErr == nil || unusable(text)) {
			t.Errorf("Import = %q, %v, but parse = %v", stored, err, parseErr)
		}
	})
}

func TestTheDearestHashesAreCounted(t *testing.T) {
	for _, d := range dearest {
		h := dryHasher()
		if ok, err := h.Verify(t.Context(), d.hash, "password"); ok || err != nil {
			t.Errorf("%.30s: Verify = %t, %v", d.hash, ok, err)
		}
		var want [4]int
		want[d.kind] = d.most
		if h.meter.units != want {
			t.Errorf("%.30s: %v units, want %v", d.hash, h.meter.units, want)
		}
	}
}

// A text that is refused, or stands for no password, is computed like a hash of this
// Hasher, once.
func TestWhatIsRefusedCostsWhatAnUnknownUserDoes(t *testing.T) {
	for _, hash := range []string{
		"", "!", "!unusable", "plain text", "$2b$31$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua",
		"pbkdf2_sha256$1000000000$seasalt$8xBlGd3jVgvJ+92hWPxi5ww0uuAuAnKgC45eudxro7c=",
		"$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 43),
		"$scrypt$ln=31,r=8,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 43),
	} {
		h := dryHasher()
		_, _ = h.Verify(t.Context(), hash, "password")
		if want := [4]int{argon2Work: 64}; h.meter.units != want {
			t.Errorf("%q: %v units, want %v", hash, h.meter.units, want)
		}
	}
}

// Hashes of other systems wait for their turn like all others, by the memory that
// they take, and each takes a core.
func TestHashesOfOtherSystemsWait(t *testing.T) {
	for name, tt := range map[string]struct {
		hash  string
		taken int64 // KiB of 128 in use
		waits bool
	}{
		"PBKDF2, one place left":    {"$pbkdf2$1$c29tZXNhbHQ$" + strings.Repeat("A", 86), 64, false},
		"PBKDF2, no place left":     {"$pbkdf2$1$c29tZXNhbHQ$" + strings.Repeat("A", 86), 128, true},
		"bcrypt, one place left":    {"$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua", 64, false},
		"bcrypt, no place left":     {"$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua", 128, true},
		"scrypt, one place left":    {"$scrypt$ln=1,r=8,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 86), 64, false},
		"scrypt of 128 KiB":         {"$scrypt$ln=7,r=8,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 86), 64, true},
		"Firebase, 128 KiB":         {"$firescrypt$ln=7,r=8,p=1,k=" + dearestSigner + "$c29tZXNhbHQ$" + strings.Repeat("A", 86), 64, true},
		"little Argon2, no place":   {"$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 43), 128, true},
		"wrapped, no place left":    {"$wrapped$md5$$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 43), 128, true},
		"wrapped Argon2 of 128 KiB": {"$wrapped$md5$$argon2id$v=19$m=128,t=1,p=1$c29tZXNhbHQ$" + strings.Repeat("A", 43), 64, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := dryHasher()
				h.Concurrent = 2
				release, err := h.acquire(t.Context(), tt.taken)
				if err != nil {
					t.Fatal(err)
				}
				defer release()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err = h.Verify(ctx, tt.hash, "password")
				if waited := errors.Is(err, context.DeadlineExceeded); waited != tt.waits {
					t.Errorf("Verify = %v, want to wait: %t", err, tt.waits)
				}
			})
		})
	}
}

// ASVS-11.2.4: a comparison that ends at the first difference tells an attacker how
// much of a key is right.
func TestKeysAreComparedInConstantTime(t *testing.T) {
	constant := []string{"ConstantTimeCompare", "CompareHashAndPassword", "matches"} // the last is of the hash inside
	found := 0
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			method, ok := decl.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "matches" {
				continue
			}
			found++
			compares := false
			ast.Inspect(method, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					compares = compares || slices.Contains(constant, s.Sel.Name)
					if s.Sel.Name == "Equal" {
						t.Errorf("%s compares with Equal", file.Name())
					}
				}
				return true
			})
			if !compares {
				t.Errorf("%s has a hash that is not compared in constant time", file.Name())
			}
		}
	}
	if found < 5 {
		t.Errorf("%d forms were found", found)
	}
}
