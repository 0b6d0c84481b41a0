// Package pages has the words and the look of Pintle's built-in pages and mails:
// what Config.Texts, Config.Languages and Config.Theme of package pintle take.
package pages
