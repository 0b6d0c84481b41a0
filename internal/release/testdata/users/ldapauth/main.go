package main

import (
	"fmt"
	"log"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/ldapauth"
)

func main() {
	directory, err := ldapauth.New(ldapauth.Options{URL: "ldaps://ldap.example.com", BaseDN: "ou=people,dc=example,dc=com"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = pintle.New(pintle.Config{
		Providers: []pintle.Provider{directory},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
		URL:       "https://app.example.com",
	})
	fmt.Println(directory.ID, err)
}

// Output: ldap <nil>
