package limit

// Of returns fields that did not come with a request, for code that stands in
// for a form.
func Of(members map[string]any) Fields { return Fields{members} }
