// Package body reads request bodies. A limit bounds the memory that a client
// can make a request take. The fields are those that Auth.js would read: the
// members of JSON of any shape, or of a form.
package body
