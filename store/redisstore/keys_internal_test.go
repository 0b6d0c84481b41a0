package redisstore

import "testing"

func TestKeysOfDifferentThingsAreDifferent(t *testing.T) {
	k := newKeys(Options{BaseKeyPrefix: "app:"})
	tests := []struct{ name, got, want string }{
		{"an account", k.account("github", "1"), "app:user:account:github:1"},
		{"an account id with a colon", k.account("a", "b:c"), "app:user:account:a:b:c"},
		{"a provider with a colon", k.account("a:b", "c"), "app:user:account:a%3Ab:c"},
		{"a provider called like the index", k.account("by-user-id", "u1"), "app:user:account:%62y-user-id:u1"},
		{"a credential id", k.passkey("YQ=="), "app:authenticator:YQ=="},
		{"slashes as unstorage has them", k.passkey("//a/b+c/"), "app:authenticator:a:b+c"},
		{"no credential id", k.passkey("by-user-id:u1"), "app:authenticator:%by-user-id%3Au1"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestNamesThatWouldBeKeysOfAnotherKindAreRefused(t *testing.T) {
	k := newKeys(Options{})
	for _, id := range []string{"", "email:ada@example.org", "session:t0"} {
		if isUserID(id) {
			t.Errorf("isUserID(%q) = true: the key would be that of something else", id)
		}
	}
	for _, token := range []string{"", "by-user-id:u1"} {
		if _, ok := k.session(token); ok {
			t.Errorf("session(%q) is a key: want none", token)
		}
	}
	if _, ok := k.verification("a", "b:c"); ok {
		t.Error("a token with a colon has a key: the border to the address would be ambiguous")
	}
}
