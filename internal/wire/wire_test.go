package wire_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/wire"
)

func TestMembersKeepTheirOrder(t *testing.T) {
	o := wire.NewObject()
	o.AddString("z", "last letter, first member")
	o.AddString("left out", "")
	o.AddText("absent", wire.Text{})
	o.AddText("null", wire.Text{Present: true, Null: true})
	o.AddText("empty", wire.Text{Present: true})
	o.AddText("text", wire.Text{Text: "é", Present: true})
	o.Begin("nothing in it")
	o.End()
	o.Begin("outer")
	o.Begin("inner")
	o.Add("list", []any{1, "<b>&", nil})
	o.End()
	o.AddRaw("raw", `{"a":1}`)
	o.End()
	o.AddRest(map[string]any{"c": 3, "a": 1, "b": json.Number("9007199254740993")})
	o.Add(`a "quoted" name`, true)

	const want = `{"z":"last letter, first member","null":null,"empty":"","text":"é","nothing in it":{},` +
		`"outer":{"inner":{"list":[1,"<b>&",null]},"raw":{"a":1}},"a":1,"b":9007199254740993,"c":3,"a \"quoted\" name":true}`
	got, err := o.Bytes()
	if err != nil || string(got) != want {
		t.Errorf("Bytes returns %s, %v, want %s", got, err, want)
	}
	if got, err := wire.NewObject().Bytes(); err != nil || string(got) != "{}" {
		t.Errorf("an object without members is %s, %v", got, err)
	}
}

func TestAValueThatIsNoJSONIsAnError(t *testing.T) {
	o := wire.NewObject()
	o.Begin("inner")
	o.Add("endless", math.Inf(1))
	o.Add("later", 1)
	o.End()
	if got, err := o.Bytes(); err == nil {
		t.Errorf("Bytes returns %s and no error", got)
	}
}

func TestTheValueOfATextIsForEncodingJSON(t *testing.T) {
	if got := (wire.Text{Present: true, Null: true}).Value(); got != nil {
		t.Errorf("the value of null is %#v", got)
	}
	if got := (wire.Text{Text: "a", Present: true}).Value(); got != "a" {
		t.Errorf("the value of a text is %#v", got)
	}
}

func TestTimesAreThoseOfJavaScript(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 80_900_000, time.FixedZone("", 3600))
	if got := wire.Time(at); got != "2026-03-04T04:06:07.080Z" {
		t.Errorf("Time(%v) = %s", at, got)
	}
	for _, tt := range []struct {
		value any
		want  time.Time
	}{
		{nil, time.Time{}},
		{"2026-03-04T04:06:07.080Z", time.Date(2026, 3, 4, 4, 6, 7, 80_000_000, time.UTC)},
		{"2026-03-04T05:06:07+01:00", time.Date(2026, 3, 4, 4, 6, 7, 0, time.UTC)},
		{at, at},
	} {
		if got, err := wire.ParseTime(tt.value); err != nil || !got.Equal(tt.want) {
			t.Errorf("ParseTime(%v) = %v, %v, want %v", tt.value, got, err, tt.want)
		}
	}
	for _, value := range []any{"", "yesterday", "2026-03-04", 1772597167, true, map[string]any{}} {
		if got, err := wire.ParseTime(value); err == nil || !got.IsZero() {
			t.Errorf("ParseTime(%#v) = %v, %v, want an error alone", value, got, err)
		}
	}
}

func TestSecondsInEveryTypeOfANumber(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  int64
		ok    bool
	}{
		{int64(1), 1, true},
		{-2, -2, true},
		{3.9, 3, true},
		{json.Number("4"), 4, true},
		{"5", 5, true},
		{-math.Pow(2, 63), math.MinInt64, true},
		{json.Number("1e3"), 0, false},
		{json.Number("9223372036854775808"), 0, false},
		{"soon", 0, false},
		{nil, 0, false},
		{true, 0, false},
	} {
		if got, ok := wire.Seconds(tt.value); ok != tt.ok || ok && got != tt.want {
			t.Errorf("Seconds(%#v) = %d, %t, want %d, %t", tt.value, got, ok, tt.want, tt.ok)
		}
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Pow(2, 63), 1e300, -1e300} {
		if got, ok := wire.Seconds(value); ok {
			t.Errorf("Seconds(%g) = %d, want no number", value, got)
		}
	}
}

func TestAnIDIsTextOrANumber(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{"abc", "abc"},
		{" 7 ", " 7 "},
		{"0", "0"},
		{json.Number("9007199254740993"), "9007199254740993"},
		{12345678.0, "12345678"},
		{1e21, "1e+21"},
		{0.5, "0.5"},
		{7, "7"},
		{int64(math.MaxInt64), "9223372036854775807"},
	} {
		if got, ok := wire.ID(tt.value); !ok || got != tt.want {
			t.Errorf("ID(%#v) = %q, %t, want %q", tt.value, got, ok, tt.want)
		}
	}
	for _, value := range []any{
		nil, "", " ", "\t", "undefined", " undefined ", "null", "<nil>", "NaN", json.Number(""),
		math.NaN(), math.Inf(1), true,
		[]any{"a"},
		map[string]any{"id": "a"},
	} {
		if got, ok := wire.ID(value); ok || got != "" {
			t.Errorf("ID(%#v) = %q, %t, want none", value, got, ok)
		}
	}
}

// A text is the same JSON whether it is copied or left to encoding/json, and no
// text ends its string early.
func FuzzATextIsOneJSONString(f *testing.F) {
	for _, seed := range []string{"", "Ada Lovelace", `"\`, "<script>&", "\x00\x1f\x7f", "é\u2028", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := wire.AppendString([]byte("before"), text)
		want, err := wire.Marshal(text)
		if err != nil || string(got) != "before"+string(want) {
			t.Errorf("AppendString(%q) = %q, want %q, %v", text, got, want, err)
		}
		o := wire.NewObject()
		o.AddString(text, text)
		o.Add(text, text)
		if object, err := o.Bytes(); err != nil || !json.Valid(object) {
			t.Errorf("an object with %q is %q, %v", text, object, err)
		}
	})
}
