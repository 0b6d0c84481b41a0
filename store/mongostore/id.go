package mongostore

import "go.mongodb.org/mongo-driver/v2/bson"

// objectID reads an id in the one form in which the store returns it. Ids are
// compared as texts: with capital letters it is another id, which does not exist.
func objectID(id string) (bson.ObjectID, bool) {
	o, err := bson.ObjectIDFromHex(id)
	return o, err == nil && o.Hex() == id
}

// proposed is the ObjectID of a new user. Like Auth.js's adapter it keeps an id
// that can be one.
func proposed(id string) bson.ObjectID {
	if o, ok := objectID(id); ok {
		return o
	}
	return bson.NewObjectID()
}
