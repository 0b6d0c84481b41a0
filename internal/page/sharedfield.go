package page

import "slices"

// A page with one form for a password and one for a passkey has one field for the address: users
// type the address into the first field that they see, and would type it again into the other.
// Browsers list passkeys at the field of the password, and the passkey is a button below.

// shareField returns the providers as the page shows them. The form for passkeys, if its field is
// the default, uses the field of another form and stands right after it. It returns the id of the
// provider whose field is used, or "", and the name of the field.
func shareField(shown []Provider) (ordered []Provider, owner, field string) {
	key := slices.IndexFunc(shown, func(p Provider) bool { return p.Kind == WebAuthn && p.Borrows })
	if key < 0 {
		return shown, "", ""
	}
	passkey := shown[key]
	for _, kind := range []Kind{Credentials, Email} {
		for i, p := range shown {
			name := p.passkeyField()
			if p.Kind != kind || name == "" || !passkey.IgnoresAddress && name != "email" {
				continue // a new user is made with an address
			}
			passkey.Fields = []Field{}
			ordered = slices.Insert(slices.Clone(shown), i+1, passkey)
			if key > i {
				key++
			}
			return slices.Delete(ordered, key, key+1), p.ID, name
		}
	}
	if passkey.IgnoresAddress && !passkey.ConditionalUI {
		ordered = slices.Clone(shown)
		ordered[key].Fields = []Field{} // no browser lists passkeys at it
		return ordered, "", ""
	}
	return shown, "", ""
}

// passkeyField returns the name of the field of a form at which browsers can list passkeys, or "".
func (p Provider) passkeyField() string {
	if p.Kind == Credentials {
		if i := slices.IndexFunc(p.Fields, Field.listsPasskeys); i >= 0 {
			return p.Fields[i].Name
		}
	}
	return p.UserField()
}
