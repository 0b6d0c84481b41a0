// Package limit reads the body of a request without letting a stranger decide
// how much memory that takes, and takes the fields out of it that Auth.js
// would: JSON of any shape, or a form.
package limit
