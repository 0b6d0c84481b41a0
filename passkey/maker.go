package passkey

import "encoding/hex"

// makers are the names of the most common authenticators, by AAGUID in
// hexadecimal digits. They are the names of new passkeys until the user sets
// another. They are no proof: without an attestation a client can send any AAGUID.
//
// https://github.com/passkeydeveloper/passkey-authenticator-aaguids
var makers = map[string]string{
	"fbfc3007154e4ecc8c0b6e020557d7bd": "Apple Passwords",
	"dd4ec289e01d41c9bb8970fa845d4bf2": "Apple Passwords",
	"ea9b8d664d011d213ce4b6b48cb575d4": "Google Password Manager",
	"08987058cadc4b81b6e130de50dcbe96": "Windows Hello",
	"9ddd1817af5a4672a2b93e3dd95000a9": "Windows Hello",
	"6028b017b1d44c02b4b3afcdafc96bb2": "Windows Hello",
	"bada5566a7aa401fbd9645619a55120d": "1Password",
	"d548826e79b4db40a3d811116f7e8349": "Bitwarden",
	"531126d6e717415c93203d9aa6981239": "Dashlane",
	"fdb141b25d84443e8a354698c205a502": "KeePassXC",
	"0ea242b443c44a1b8b17dd6d0b6baec6": "Keeper",
	"50726f746f6e5061737350726f746f6e": "Proton Pass",
	"53414d53554e47000000000000000000": "Samsung Pass",
}

// maker returns the name of the authenticator with an AAGUID, or "".
func maker(aaguid []byte) string { return makers[hex.EncodeToString(aaguid)] }
