package main

import (
	"fmt"
	"log"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/smtp"
	"github.com/pintleauth/pintle/store/memstore"
)

func main() {
	sender, err := smtp.FromURL("smtps://user:password@mail.example.com")
	if err != nil {
		log.Fatal(err)
	}
	_, err = pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Email{From: "App <no-reply@app.example.com>", Send: sender.Send}},
		Store:     memstore.New(),
		Secrets:   []string{"the output of: openssl rand -base64 33"},
		URL:       "https://app.example.com",
	})
	fmt.Println(err)
}

// Output: <nil>
