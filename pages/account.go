package pages

// AccountTexts are the words on the pages of package account and in its mails. What is
// empty, and names that are missing in a map, are English. pintle.New returns an error for
// a name that is not known, except in Problems, which may have codes of the application.
// The files of package translation have all names; the English texts are in Auth.Texts, and in
// the file internal/page/accounttexts.go.
type AccountTexts struct {
	// Pages are the texts of the pages by their names: the last part of their path,
	// such as "sign-up".
	Pages map[string]PageText

	// Words are labels, hints and links, by their names.
	Words map[string]string

	// Problems say what is wrong, by the code of the error, such as
	// "password_too_short". Where a number belongs the text has %s. Codes that are
	// not in it get the text of "".
	Problems map[string]string

	// Notices say what has been done, by the code in the parameter "notice" of the
	// page. Codes that are not in it show no notice.
	Notices map[string]string

	// Activity says what has happened to the account, by the kind of the event, such as
	// "sign_in". Kinds that are not in it get the text of "".
	Activity map[string]string

	// Mails are the texts of the mails by their kind, such as "reset".
	Mails map[string]MailText

	// Date is how a day is written, as a layout of package time: "2 January 2006". Days
	// are those of UTC.
	Date string

	// Months are the names of the months, from January on, which stand where the layout
	// has the long name of one. There are twelve.
	Months []string
}

// PageText is the text of a page with a form.
type PageText struct {
	// Heading is the title of the page.
	Heading string

	// Text has one paragraph per entry. Where an address or a name belongs an entry
	// has %s.
	Text []string

	// Button sends the form.
	Button string

	// Hint stands below the form.
	Hint string
}

// MailText is the text of a mail. Both parts of the mail have it, and the one that is plain text
// has the link without a button: a text says "open the link", and not "press the button".
type MailText struct {
	// Subject is one line; %s is the name of the site. Heading stands above the text.
	Subject, Heading string

	// Text has one paragraph per entry. Where a name belongs an entry has %s.
	Text []string

	// Button labels the link; Ignore is for readers who did not ask for the mail.
	Button, Ignore string
}
