// Package smtp sends the mails of a [pintle.Email] provider, and of package account,
// through a mail server:
//
//	sender, err := smtp.FromURL(os.Getenv("SMTP_URL")) // smtps://user:password@mail.example.com
//	if err != nil {
//		log.Fatal(err)
//	}
//	mail := &pintle.Email{From: "App <no-reply@app.example.com>", Send: sender.Send}
//
// A sign-in link gives access to an account, so it travels encrypted: the server
// must offer STARTTLS, or be reached by TLS from the start, and have a certificate
// for its name. A server that does not offer encryption gets neither password nor
// mail, so an attacker who removes the offer gains nothing.
//
// Errors name what the operator can change. They never hold the link, the
// password, or the address of the user who signs in.
package smtp
