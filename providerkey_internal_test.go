package pintle

import "testing"

// RPX-5: no two lists of parts have the same key, and no value of one kind is one of another.
func TestAProviderKeyNamesOneThing(t *testing.T) {
	seen := map[[32]byte][4]string{}
	for _, parts := range [][4]string{
		{keyOfSession, "iss", "client", "x"},
		{keyOfUser, "iss", "client", "x"},
		{keyOfLogoutToken, "iss", "client", "x"},
		{keyOfSession, "issc", "lient", "x"},
		{keyOfSession, "iss", "clientx", ""},
		{keyOfSession, "", "issclient", "x"},
		{keyOfSession, "iss", "client", "X"},
		{keyOfSession, "ISS", "client", "x"},
	} {
		key := providerKey(parts[0], parts[1], parts[2], parts[3])
		if before, twice := seen[key]; twice {
			t.Errorf("%q and %q have one key", before, parts)
		}
		seen[key] = parts
	}
}
