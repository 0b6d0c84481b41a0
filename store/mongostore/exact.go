package mongostore

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The driver fills a field named "email" from a member "eMail" too. What a host or
// a provider puts beside the fields of a user or an account could so replace them,
// and the user would be found, shown and linked by another address. The
// documents with such members are read by their exact names.

// UnmarshalBSON implements [bson.Unmarshaler].
func (d *userDocument) UnmarshalBSON(data []byte) error {
	type fields userDocument // without this method
	rest, err := exact((*fields)(d), data, "_id", "name", "email", "emailVerified", "image")
	d.Extra = rest
	return err
}

// UnmarshalBSON implements [bson.Unmarshaler].
func (d *accountDocument) UnmarshalBSON(data []byte) error {
	type fields accountDocument // without this method
	rest, err := exact((*fields)(d), data, "_id", "userId", "type", "provider", "providerAccountId", "verifiedEmail")
	d.Rest = rest
	return err
}

// A removalsDocument is the part of a user that lists the calls of UnlinkAccount
// under way.
type removalsDocument struct {
	Removals []string `bson:"pintle_unlinking"`
}

// UnmarshalBSON implements [bson.Unmarshaler].
func (d *removalsDocument) UnmarshalBSON(data []byte) error {
	type fields removalsDocument // without this method
	_, err := exact((*fields)(d), data, removalsField)
	return err
}

// exact reads the members with the given names into a struct and returns the rest.
func exact(into any, data []byte, names ...string) (rest map[string]any, err error) {
	members, err := bson.Raw(data).Elements()
	if err != nil {
		return nil, err
	}
	own, others := bson.D{}, bson.D{}
	for _, m := range members {
		if slices.Contains(names, m.Key()) {
			own = append(own, bson.E{Key: m.Key(), Value: m.Value()})
		} else {
			others = append(others, bson.E{Key: m.Key(), Value: m.Value()})
		}
	}
	if err := copyInto(into, own); err != nil {
		return nil, err
	}
	rest = map[string]any{}
	return rest, copyInto(&rest, others)
}

func copyInto(into any, members bson.D) error {
	data, err := bson.Marshal(members)
	if err != nil {
		return err
	}
	return bson.Unmarshal(data, into)
}
