// Package mistakes makes the usual mistakes in the set-up of a site with Pintle,
// and checks what the log, the error and the page show.
package mistakes
