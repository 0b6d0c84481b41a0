// Package mistakes makes the mistakes that people make who set up a site with
// Pintle, and checks what they are told.
package mistakes
