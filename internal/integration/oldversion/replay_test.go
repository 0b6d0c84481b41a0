package oldversion

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A recording is what the old program sent to one database.
type recording struct {
	// Cookie is that of a session in the database, and Token that of a session without a
	// row, both of joan@example.com.
	Cookie, Token string

	// written makes the database. later is what the program sent afterwards.
	written, later []json.RawMessage
}

func read(t *testing.T, name string) (r recording) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(first, &r); err != nil {
		t.Fatal(err)
	}
	written, later, _ := strings.Cut(string(rest), "\"later\"\n")
	lines := func(text string) (all []json.RawMessage) {
		for line := range strings.Lines(text) {
			all = append(all, json.RawMessage(strings.TrimSpace(line)))
		}
		return all
	}
	r.written, r.later = lines(written), lines(later)
	if len(r.written) < 40 || len(r.later) < 40 || r.Cookie == "" || r.Token == "" {
		t.Fatalf("the recording has %d and %d lines", len(r.written), len(r.later))
	}
	return r
}

// A sender sends what was recorded, and describes the answer. An error is an answer, too.
type sender func(ctx context.Context, line json.RawMessage) string

func (send sender) all(t *testing.T, lines []json.RawMessage) (answers []string) {
	t.Helper()
	for _, line := range lines {
		answers = append(answers, send(t.Context(), line))
	}
	return answers
}

// described is a value without the order of what it has in it: of members, of elements, of
// rows that are asked for without an order.
func described(value any) string {
	switch v := value.(type) {
	case []any:
		return list(len(v), func(i int) string { return described(v[i]) })
	case map[any]any:
		var parts []string
		for key, one := range v {
			parts = append(parts, described(key)+": "+described(one))
		}
		return list(len(parts), func(i int) string { return parts[i] })
	case []byte:
		return fmt.Sprintf("%q", v)
	case error:
		return "error: " + v.Error()
	}
	return fmt.Sprint(value)
}

func list(n int, part func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = part(i)
	}
	slices.Sort(parts)
	return "[" + strings.Join(parts, ", ") + "]"
}

// ofSQL sends the statements on one connection, as the old program did.
func ofSQL(t *testing.T, db *sql.DB) sender {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return func(ctx context.Context, line json.RawMessage) string {
		var s struct {
			Text string
			Args []map[string]any
			Exec bool
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		args := make([]any, len(s.Args))
		for i, a := range s.Args {
			args[i] = argument(t, a)
		}
		if s.Exec {
			result, err := conn.ExecContext(ctx, s.Text, args...)
			if err != nil {
				return described(err)
			}
			n, err := result.RowsAffected()
			return fmt.Sprint(n, " rows, ", err)
		}
		rows, err := conn.QueryContext(ctx, s.Text, args...)
		if err != nil {
			return described(err)
		}
		defer func() { _ = rows.Close() }()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var all []any
		for rows.Next() {
			values, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			row := ""
			for i, value := range values {
				row += columns[i] + "=" + described(value) + " "
			}
			all = append(all, row)
		}
		if err := rows.Err(); err != nil {
			return described(err)
		}
		return described(all)
	}
}

func argument(t *testing.T, a map[string]any) any {
	t.Helper()
	for kind, value := range a {
		switch kind {
		case "bytes":
			decoded, err := base64.StdEncoding.DecodeString(value.(string))
			if err != nil {
				t.Fatal(err)
			}
			return decoded
		case "number":
			n, err := value.(json.Number).Int64()
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		return value
	}
	return nil
}

func ofRedis(client *redis.Client) sender {
	return func(ctx context.Context, line json.RawMessage) string {
		var args []any
		if err := json.Unmarshal(line, &args); err != nil {
			return "not a command: " + err.Error()
		}
		answer, err := client.Do(ctx, args...).Result()
		if err != nil {
			return described(err)
		}
		return described(answer)
	}
}

func ofMongoDB(db *mongo.Database) sender {
	return func(ctx context.Context, line json.RawMessage) string {
		var command, answer bson.D
		if err := bson.UnmarshalExtJSON(line, false, &command); err != nil {
			return "not a command: " + err.Error()
		}
		if err := db.RunCommand(ctx, command).Decode(&answer); err != nil {
			return strings.ReplaceAll(described(err), db.Name(), "DATABASE")
		}
		text, err := bson.MarshalExtJSON(answer, true, false)
		if err != nil {
			return described(err)
		}
		return anID.ReplaceAllStringFunc(strings.ReplaceAll(string(text), db.Name(), "DATABASE"), func(id string) string {
			if strings.Contains(string(line), id) || strings.HasPrefix(id, ada[:20]) {
				return id
			}
			return "an id that the server has made"
		})
	}
}

var anID = regexp.MustCompile(`\b[0-9a-f]{24}\b`)
