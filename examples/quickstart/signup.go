package main

import (
	"context"
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// newAccounts adds sign-up, passwords, second factors and the record of what happens to an
// account, with their pages below /auth/account. send delivers the mails.
func newAccounts(send func(context.Context, *pintle.Message) error) *account.Accounts {
	return account.New(account.Options{
		From:     "Pintle quickstart <no-reply@localhost>",
		Mail:     send,
		Deletion: account.Deletion{Off: true}, // deleteaccount.go has a page of ours
	})
}

// printMail prints a mail on the terminal: no mail leaves this machine.
func printMail(_ context.Context, m *pintle.Message) error {
	_, err := fmt.Printf("\nTo: %s\nSubject: %s\n\n%s\n", m.To, m.Subject, m.Text)
	return err
}
