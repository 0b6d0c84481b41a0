package userimport_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/userimport"
)

var benchUsers = flag.Int("users", 1000, "how many users BenchmarkImport imports")

// firebaseProject has the parameters of https://github.com/firebase/scrypt.
func firebaseProject() password.Firebase {
	return password.Firebase{
		SignerKey:     "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
		SaltSeparator: "Bw==", Rounds: 8, MemoryCost: 14,
	}
}

const bcryptHash = "$2a$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua"

// benchFormats are the texts of a file before, for and after its users; %[1]d is a number.
var benchFormats = []struct {
	name, before, user, between, after string
	side                               string // a row of the second file
	read                               func(file, side *os.File) iter.Seq2[*userimport.User, error]
}{
	{
		name: "JSONLines", user: `{"id":%[1]d,"email":"user%[1]d@example.com","name":"User %[1]d","emailVerified":true,"roles":["editor"],"password":"` + bcryptHash + `","createdAt":"2024-05-01T10:00:00Z","accounts":[{"provider":"github","providerAccountId":%[1]d}]}`, between: "\n",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] { return userimport.JSONLines(file) },
	},
	{
		name: "Auth0", user: `{"_id":{"$oid":"5dea9f9c%016[1]d"},"email_verified":true,"email":"user%[1]d@example.com","passwordHash":"` + bcryptHash + `","password_set_date":{"$date":"2019-12-06T18:36:12.412Z"},"tenant":"example","connection":"Username-Password-Authentication","_tmp_is_unique":true,"identifiers":[{"type":"email","value":"user%[1]d@example.com","verified":true}]}`, between: "\n",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] { return userimport.Auth0(file) },
	},
	{
		name: "Firebase", before: `{"users":[`, user: `{
  "localId": "user%[1]d", "email": "user%[1]d@example.com", "emailVerified": true,
  "passwordHash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==", "salt": "42xEC+ixf3L2lw==",
  "displayName": "User %[1]d", "lastSignedInAt": "1614774896000", "createdAt": "1614774896123",
  "providerUserInfo": [{"providerId": "google.com", "rawId": "%[1]d", "email": "user%[1]d@example.com"}]
}`, between: ",\n", after: "]}",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] {
			return userimport.Firebase(file, firebaseProject())
		},
	},
	{
		name: "Keycloak", before: `{"realm":"shop","users":[`, user: `{"id":"%[1]d","username":"user%[1]d","email":"user%[1]d@example.com","enabled":true,"emailVerified":true,"firstName":"User","lastName":"%[1]d","createdTimestamp":1700000000123,"realmRoles":["editor"],"requiredActions":[],"credentials":[{"type":"password","secretData":"{\"value\":\"BuViHNDGmCq80fvpty/QoggTI8NSt0CuNDGgeoa5f5A=\",\"salt\":\"RJ0aLMQ2qKbZuROs7qQhcA==\",\"additionalParameters\":{}}","credentialData":"{\"hashIterations\":5,\"algorithm\":\"argon2\",\"additionalParameters\":{\"hashLength\":[\"32\"],\"memory\":[\"7168\"],\"type\":[\"id\"],\"version\":[\"1.3\"],\"parallelism\":[\"1\"]}}"}]}`, between: ",\n", after: "]}",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] { return userimport.Keycloak(file) },
	},
	{
		name: "Django", before: "id,password,is_superuser,username,last_name,email,is_staff,is_active,date_joined,first_name\n",
		user: "%[1]d,pbkdf2_sha256$260000$P30tETyHDwMl5qeZnbE7f0$QIudGhsLuQ35KzqGDRetqK/rya1kIxBPsTLhUCeabm4=,f,user%[1]d,%[1]d,user%[1]d@example.com,f,t,2021-02-03 04:05:06.789+00,User\n",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] { return userimport.Django(file) },
	},
	{
		name: "ASPNETIdentity", before: "Id,Email,EmailConfirmed,PasswordHash,TwoFactorEnabled,LockoutEnd,LockoutEnabled\n",
		user: "%[1]d,user%[1]d@example.com,1,AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==,0,NULL,1\n",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] { return userimport.ASPNETIdentity(file) },
	},
	{
		name: "BetterAuth", before: "id,name,email,emailVerified,createdAt,role,banned\n", user: "u%08[1]d,User %[1]d,user%[1]d@example.com,t,2024-05-01 10:00:00+00,user,f\n",
		side: "u%08[1]d,credential,u%08[1]d,eb26f70321666b2911e95bd6efb4a4ab:c1623f9fedc56ea99beec72e61bb29f058a414534ebeeca8189011a1d46941c8e87f7fa56cc31dac8c300ce5bff2a1de446ba8a8b610027875732460352e6241\n",
		read: func(file, side *os.File) iter.Seq2[*userimport.User, error] { return userimport.BetterAuth(file, side) },
	},
	{
		name: "Devise", before: "id,email,encrypted_password,confirmed_at,created_at\n", user: "%[1]d,user%[1]d@example.com," + bcryptHash + ",2022-03-04 05:06:07.891,2022-03-04 05:06:00\n",
		read: func(file, _ *os.File) iter.Seq2[*userimport.User, error] {
			return userimport.Devise(file, password.Devise{})
		},
	},
}

// BenchmarkImport imports a file of each format:
//
//	go test -run xxx -bench Import -benchtime 1x -users 100000
//
// MiB is the most memory that the process had in use since the import began, and cpu-s the
// seconds for which it computed, which other work on the machine does not change much; Linux
// only. The servers are other processes.
func BenchmarkImport(b *testing.B) {
	for _, d := range []struct {
		name    string
		dialect sqlstore.Dialect
		open    func(testing.TB) *services.Database
	}{{"SQLite", sqlstore.SQLite, services.SQLiteDatabase}, {"PostgreSQL", sqlstore.PostgreSQL, services.PostgreSQLDatabase}} {
		for _, f := range benchFormats {
			b.Run(d.name+"/"+f.name, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					db := d.open(b)
					if err := sqlstore.Migrate(b.Context(), db.DB, d.dialect); err != nil {
						b.Fatal(err)
					}
					file := write(b, f.before, f.user, f.between, f.after)
					side := write(b, "userId,providerId,accountId,password\n", f.side, "", "")
					resetPeak(b)
					before := computed()
					b.StartTimer()
					store := sqlstore.New(db.DB, d.dialect)
					importBench(b, store, f.read(file, side))
					b.ReportMetric(computed()-before, "cpu-s")
				}
				b.ReportMetric(peak(b), "MiB")
				b.ReportMetric(float64(*benchUsers*b.N)/b.Elapsed().Seconds(), "users/s")
			})
		}
	}
}

func importBench(b *testing.B, store pintle.Store, users iter.Seq2[*userimport.User, error]) {
	b.Helper()
	result, err := userimport.Import(b.Context(), store, users, userimport.Options{})
	if err != nil || result.Stored != *benchUsers {
		b.Fatalf("%+v, %v", result, err)
	}
}

// write writes a file of so many users and opens it.
func write(b *testing.B, before, user, between, after string) *os.File {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "users"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	out := bufio.NewWriter(file)
	fmt.Fprint(out, before)
	for i := 0; user != "" && i < *benchUsers; i++ {
		if i > 0 {
			fmt.Fprint(out, between)
		}
		fmt.Fprintf(out, user, i)
	}
	fmt.Fprint(out, after)
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		b.Fatal(err)
	}
	return file
}

// resetPeak makes the kernel forget how much memory the process had in use.
//
// https://www.kernel.org/doc/html/latest/filesystems/proc.html
func resetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Log("the peak of memory is that of the process:", err)
	}
}

// peak is the most memory in use, in MiB.
func peak(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if rest, found := bytes.CutPrefix(line, []byte("VmHWM:")); found {
			kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	return 0
}

// computed is for how many seconds the process has computed.
//
// https://www.kernel.org/doc/html/latest/filesystems/proc.html
func computed() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(text, []byte(") ")) // the name of the program
	fields := bytes.Fields(after)
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return float64(user+system) / 100 // USER_HZ
}
