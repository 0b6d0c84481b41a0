// Package smtp sends the mails of a [pintle.Email] provider through a mail
// server:
//
//	sender, err := smtp.FromURL(os.Getenv("SMTP_URL")) // smtps://user:password@mail.example.com
//	if err != nil {
//		log.Fatal(err)
//	}
//	mail := &pintle.Email{From: "App <no-reply@app.example.com>", Send: sender.Send}
//
// A sign-in link is a key to somebody's account, so it travels encrypted: the
// server must offer STARTTLS, or be reached by TLS from the start, and show a
// certificate for its name. A server that stops offering encryption, or somebody
// who makes it seem so, gets neither password nor mail.
//
// Errors say what the operator can change. They never hold the link, the
// password, or the address of the person who signs in.
package smtp
