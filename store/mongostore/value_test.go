package mongostore

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestValuesOfOtherProgramsHaveAFormInJSON(t *testing.T) {
	id := bson.NewObjectID()
	decimal, err := bson.ParseDecimal128("12345678901234567890.5")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"null", nil, `null`},
		{"text", "é👍", `"é👍"`},
		{"truth", true, `true`},
		{"32 bits", int32(-7), `-7`},
		{"64 bits", int64(math.MaxInt64), `9223372036854775807`},
		{"double", 0.5, `0.5`},
		{"double that is whole", 4102542245.0, `4102542245`},
		{"not a number", math.NaN(), `null`},
		{"infinity", math.Inf(-1), `null`},
		{"decimal", decimal, `12345678901234567890.5`},
		{"date", bson.NewDateTimeFromTime(time.UnixMilli(1767323045670)), `"2026-01-02T03:04:05.670Z"`},
		{"id", id, `"` + id.Hex() + `"`},
		{"bytes", bson.Binary{Data: []byte{0xff, 0xfe}}, `"//4="`},
		{"array", bson.A{int32(1), bson.D{{Key: "a", Value: "b"}}}, `[1,{"a":"b"}]`},
		{"document", bson.D{{Key: "a", Value: bson.A{}}, {Key: "b", Value: bson.D{}}}, `{"a":[],"b":{}}`},
		{"pattern", bson.Regex{Pattern: ".*"}, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := bson.Marshal(bson.D{{Key: "v", Value: tt.value}})
			if err != nil {
				t.Fatal(err)
			}
			var read struct {
				Rest map[string]any `bson:",inline"`
			}
			if err := bson.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(fromDocument(read.Rest)["v"])
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("fromDocument: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestValuesThatJSONMakesOfOthersAreKept(t *testing.T) {
	got, err := toBSON(struct {
		Tags []string `json:"tags"`
		Size uint8    `json:"size"`
	}{[]string{"a"}, 7})
	want := map[string]any{"tags": bson.A{"a"}, "size": int64(7)}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("toBSON: %v\n%s", err, diff)
	}
	for _, value := range []any{make(chan int), math.NaN, "\xff", []any{"\xff"}, json.Number("1e999"), map[string]any{"$a": 1}} {
		if got, err := toBSON(value); err == nil {
			t.Errorf("toBSON(%v) = %v, want an error", value, got)
		}
	}
}

// Stored values read back unchanged, and none is taken for a path or an operator.
func FuzzExtraReadsBackAsItWas(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"a":{"b":[null,true,"x",0.1,1e3,-0,9007199254740993]}}`, `{"$ne":null}`, `{"a.b":1}`,
		`{"_id":"x","email":{"$gt":""}}`, `{"":""}`, `{"a":18446744073709551615}`, `{"\u0000":1}`, `{"a":"\u0000"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		object, err := decodeJSON[map[string]any]([]byte(text))
		if err != nil {
			return
		}
		document, err := toDocument(object, userFields...)
		if err != nil {
			return
		}
		data, err := bson.Marshal(userDocument{Extra: document})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, name := range userFields {
			delete(object, name)
		}
		var read userDocument
		if err := bson.Unmarshal(data, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if read.ID != (bson.ObjectID{}) || read.Email != nil {
			t.Errorf("%s replaces a field of the document: %+v", text, read)
		}
		if diff := cmp.Diff(plain(object), plain(fromDocument(read.Extra, userFields...))); diff != "" {
			t.Errorf("%s reads back otherwise:\n%s", text, diff)
		}
	})
}

// plain has numbers that are equal in one form.
func plain(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		n, _ := v.Float64()
		if whole := int64(n); float64(whole) == n && math.Abs(n) < 1<<53 {
			return whole
		}
		return n
	case []any:
		array := make([]any, len(v))
		for i := range v {
			array[i] = plain(v[i])
		}
		return array
	case map[string]any:
		object := make(map[string]any, len(v))
		for name := range v {
			object[name] = plain(v[name])
		}
		return object
	}
	return value
}
