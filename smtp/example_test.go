package smtp_test

import (
	"crypto/tls"
	"crypto/x509"
	"log"
	"os"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/smtp"
)

func ExampleFromURL() {
	sender, err := smtp.FromURL(os.Getenv("SMTP_URL")) // smtps://user:password@mail.example.com
	if err != nil {
		log.Print(err)
		return
	}
	provider := &pintle.Email{From: "App <no-reply@app.example.com>", Send: sender.Send}
	_ = pintle.Config{Providers: []pintle.Provider{provider}}
}

func ExampleNew() {
	authorities := x509.NewCertPool() // your own texts
	sender, err := smtp.New(smtp.Options{
		Host:      "mail.internal.example.com",
		Username:  "app",
		Password:  os.Getenv("SMTP_PASSWORD"),
		Timeout:   5 * time.Second,
		TLSConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		log.Print(err)
		return
	}
	provider := &pintle.Email{From: "App <no-reply@app.example.com>", Send: sender.Send}
	_ = pintle.Config{Providers: []pintle.Provider{provider}}
}
