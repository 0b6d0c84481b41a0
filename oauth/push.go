package oauth

// Push says whether the parameters of a sign-in are sent to the provider directly, and
// the browser carries only a reference to them: a pushed authorization request. The user
// can then neither read nor change them.
//
// https://www.rfc-editor.org/rfc/rfc9126
type Push int

// The values.
const (
	// PushWhenRequired pushes them if the metadata of the provider requires that.
	PushWhenRequired Push = iota

	// PushAlways pushes them. A sign-in fails if the provider does not accept them.
	PushAlways

	// PushNever has the browser carry them.
	PushNever
)
