package main

import (
	"context"
	"fmt"
	"log"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/mongostore"
)

func main() {
	client, err := mongo.Connect()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var revocations pintle.RevocationStore = mongostore.NewRevocations(client.Database("app"), mongostore.Options{})
	fmt.Println(revocations != nil, mongostore.EnsureIndexes(ctx, client.Database("app"), mongostore.Options{}) != nil)
}

// Output: true true
