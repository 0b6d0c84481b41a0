package mongostore

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// duplicates returns an error that names the covered documents that stop a unique
// index, by their ids: the value they have in common may be a token.
func (n need) duplicates(ctx context.Context, covered bson.D) error {
	const most = 10
	value := bson.D{}
	for _, field := range n.fields {
		value = append(value, bson.E{Key: field, Value: "$" + field})
	}
	cursor, err := n.collection.Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: covered}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: value}, {Key: "count", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "count", Value: bson.D{{Key: "$gt", Value: 1}}}}}},
		bson.D{{Key: "$limit", Value: most}},
	})
	if err != nil {
		return fmt.Errorf("look for the duplicates that stop the unique index %v: %w", n, err)
	}
	var groups []struct {
		Value map[string]any `bson:"_id"`
		Count int            `bson:"count"`
	}
	if err := cursor.All(ctx, &groups); err != nil {
		return fmt.Errorf("look for the duplicates that stop the unique index %v: %w", n, err)
	}
	var lines []string
	for _, group := range groups {
		filter := bson.D{}
		for _, field := range n.fields {
			filter = append(filter, bson.E{Key: field, Value: bson.D{{Key: "$eq", Value: group.Value[field]}}})
		}
		some := options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}).SetLimit(most)
		documents, err := all[struct {
			ID bson.RawValue `bson:"_id"`
		}](ctx, n.collection, filter, some)
		if err != nil {
			return fmt.Errorf("look for the duplicates that stop the unique index %v: %w", n, err)
		}
		ids := make([]string, len(documents))
		for i, document := range documents {
			ids[i] = document.ID.String()
		}
		lines = append(lines, fmt.Sprintf("%d documents have one value: %s", group.Count, strings.Join(ids, ", ")))
	}
	return fmt.Errorf("duplicates stop the unique index %v; merge or remove them, and try again:\n%s", n, strings.Join(lines, "\n"))
}
