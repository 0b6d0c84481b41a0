package passkey_test

import (
	"encoding/base64"
)

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
