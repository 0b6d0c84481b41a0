package sqlstore

import (
	"regexp"
	"testing"
	"time"
)

func TestIDsAreWhatTheyLookLike(t *testing.T) {
	const uuid = "0b8ec6a1-6d5c-4b1a-9d5e-3f8a4b2c1d0e"
	tests := []struct {
		format IDFormat
		id     string
		want   bool
	}{
		{Integer, "7", true},
		{Integer, "-7", true},
		{Integer, "+7", false},
		{Integer, "07", false},
		{Integer, "7.0", false},
		{Integer, " 7", false},
		{Integer, "", false},
		{Integer, "0x7", false},
		{Integer, "9223372036854775807", true},
		{Integer, "9223372036854775808", false},
		{Integer, uuid, false},
		{Integer, "7 OR 1=1", false},
		{UUID, uuid, true},
		{UUID, "0B8EC6A1-6D5C-4B1A-9D5E-3F8A4B2C1D0E", false},
		{UUID, "{" + uuid + "}", false},
		{UUID, uuid[:35], false},
		{UUID, "", false},
		{UUID, "0b8ec6a16d5c4b1a9d5e3f8a4b2c1d0e", false},
		{UUID, uuid[:35] + "g", false},
		{TextID, uuid, true},
		{TextID, "anything", true},
		{TextID, "nul\x00", false},
		{TextID, "\xff", false},
	}
	for _, tt := range tests {
		if _, got := tt.format.column(tt.id); got != tt.want {
			t.Errorf("format %d can be %q: %t, want %t", tt.format, tt.id, got, tt.want)
		}
	}
}

func TestIDsOfNewRows(t *testing.T) {
	const uuid = "0b8ec6a1-6d5c-4b1a-9d5e-3f8a4b2c1d0e"
	cuid := regexp.MustCompile(`^c[0-9a-z]{24}$`)
	for range 100 {
		if id, _ := CUID.propose(uuid).(string); !cuid.MatchString(id) {
			t.Fatalf("CUID %q", id)
		}
	}
	if a, b := newCUID(time.Now()), newCUID(time.Now()); a == b {
		t.Errorf("two ids are %q", a)
	}
	if got := TextID.propose("mine"); got != "mine" {
		t.Errorf("TextID replaced the proposed id by %v", got)
	}
	if got := UUID.propose(uuid); got != uuid {
		t.Errorf("UUID replaced the proposed id by %v", got)
	}
	for _, f := range []IDFormat{TextID, UUID} {
		if id, _ := f.propose("").(string); !isUUID(id) {
			t.Errorf("format %d made the id %q", f, id)
		}
	}
	if id, _ := UUID.propose("mine").(string); !isUUID(id) {
		t.Errorf("UUID kept the id %q", id)
	}
	for _, f := range []IDFormat{Integer, NoID} {
		if got := f.propose("7"); got != nil {
			t.Errorf("format %d proposes %v: the database makes it", f, got)
		}
	}
}
