package redisstore

import "testing"

// A provider's token response may have members whose names are those of the
// account's own but for upper and lower case.
func TestAnAccountIsReadByExactNames(t *testing.T) {
	a, err := decodeAccount([]byte(`{"userId":"ada","provider":"acme","providerAccountId":"1","type":"oidc","USERID":"eve","Provider":"other","provideraccountid":"2"}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.UserID != "ada" || a.Provider != "acme" || a.ProviderAccountID != "1" {
		t.Errorf("the account is %s of %s, owned by %s", a.ProviderAccountID, a.Provider, a.UserID)
	}
	if len(a.Extra) != 3 {
		t.Errorf("the rest is %v", a.Extra)
	}
}
