package password_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/password"
)

func TestPasswordsOfKeycloakThatAreRefused(t *testing.T) {
	const (
		secret = `{"value":"BuViHNDGmCq80fvpty/QoggTI8NSt0CuNDGgeoa5f5A=","salt":"RJ0aLMQ2qKbZuROs7qQhcA==","additionalParameters":{}}`
		pbkdf2 = `{"hashIterations":27500,"algorithm":"pbkdf2-sha256","additionalParameters":{}}`
		argon2 = `{"hashIterations":5,"algorithm":"argon2","additionalParameters":{"hashLength":["32"],"memory":["7168"],` +
			`"type":["id"],"version":["1.3"],"parallelism":["1"]}}`
	)
	for _, credential := range []string{pbkdf2, argon2} {
		if _, err := password.ImportKeycloak(secret, credential); err != nil {
			t.Errorf("%s: %v", credential, err)
		}
	}
	for _, tt := range []struct{ name, secret, credential, why string }{
		{"no JSON", "", "", "JSON"},
		{"not the JSON of a password", secret, `{"counter":0,"digits":6}`, "algorithm"},
		{"damaged JSON", secret[:80], pbkdf2, "JSON"},
		{"very long", secret + strings.Repeat(" ", 4096), pbkdf2, "too long"},
		{"no salt", `{"value":"BuViHNDGmCq80fvpty/QoggTI8NSt0CuNDGgeoa5f5A="}`, pbkdf2, "salt"},
		{"no value", `{"salt":"RJ0aLMQ2qKbZuROs7qQhcA=="}`, pbkdf2, "key"},
		{"an algorithm of an extension", secret, strings.Replace(pbkdf2, "pbkdf2-sha256", "bcrypt", 1), "algorithm"},
		{"too many iterations", secret, strings.Replace(pbkdf2, "27500", "2000001", 1), "2000001 iterations"},
		{"iterations beyond 32 bits", secret, strings.Replace(pbkdf2, "27500", "4294967297", 1), "JSON"},
		{"negative iterations", secret, strings.Replace(pbkdf2, "27500", "-1", 1), "JSON"},
		{"no iteration", secret, strings.Replace(pbkdf2, "27500", "0", 1), "iterations"},
		{"Argon2i", secret, strings.Replace(argon2, `"id"`, `"i"`, 1), "type"},
		{"Argon2, version 1.0", secret, strings.Replace(argon2, `"1.3"`, `"1.0"`, 1), "version"},
		{"Argon2, two types", secret, strings.Replace(argon2, `["id"]`, `["id","i"]`, 1), "type"},
		{"Argon2, 4 TiB", secret, strings.Replace(argon2, "7168", "4294967295", 1), "memory"},
		{"Argon2, memory beyond 32 bits", secret, strings.Replace(argon2, "7168", "4294974464", 1), "memory"},
		{"Argon2, no thread", secret, strings.Replace(argon2, `"parallelism":["1"]`, `"parallelism":["0"]`, 1), "m, t and p"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stored, err := password.ImportKeycloak(tt.secret, tt.credential)
			if stored != "" || !errors.Is(err, password.ErrHash) || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("ImportKeycloak = %q, %v, want ErrHash about %q", stored, err, tt.why)
			}
			if err != nil && strings.Contains(err.Error(), "BuViHND") {
				t.Errorf("the error repeats the hash: %v", err)
			}
		})
	}
}
