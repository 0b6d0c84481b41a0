package body

// Of returns fields that did not come with a request, for code that submits a
// form without one.
func Of(members map[string]any) Fields { return Fields{members} }
