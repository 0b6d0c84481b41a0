// Package mail writes the mail with a sign-in link: subject, plain text and
// HTML. It sends nothing.
//
// Subject and text have the form of Auth.js, on which mail filters and tests
// rely. The HTML is built for mail programs: tables, styles in attributes, no
// images, nothing loaded, one link or two. It has a dark variant for programs that
// follow the reader's preference.
package mail
