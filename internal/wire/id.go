package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ID returns the text of an id that may be text or a number. A placeholder that
// some services send in the place of an id after an error, such as "undefined", is
// none: with it, every user of the service would be the same one.
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
