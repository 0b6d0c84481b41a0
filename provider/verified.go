package provider

// verifiedAddress returns the primary address if it is verified, and otherwise
// the first that is.
func verifiedAddress(list any) string {
	var address string
	all, _ := list.([]any)
	for _, entry := range all {
		e, _ := entry.(map[string]any)
		text, _ := e["email"].(string)
		primary, verified := e["primary"] == true, e["verified"] == true
		if verified && (primary || address == "") {
			address = text
		}
	}
	return address
}
