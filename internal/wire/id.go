package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ID returns the text of an id that may be text or a number. It rejects
// placeholders such as "undefined", which some services send in place of an id
// after an error: with them all users of the service would share one account.
func ID(value any) (id string, ok bool) {
	switch v := value.(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	case float64:
		text, err := Marshal(v)
		if err != nil {
			return "", false // NaN or an infinity
		}
		id = string(text)
	case int:
		id = strconv.Itoa(v)
	case int64:
		id = strconv.FormatInt(v, 10)
	}
	switch strings.TrimSpace(id) {
	case "", "undefined", "null", "<nil>", "NaN":
		return "", false
	}
	return id, true
}
