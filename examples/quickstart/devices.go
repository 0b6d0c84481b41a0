package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/pintleauth/pintle"
)

// browserName is the name of a device for its user. It is stored at the sign-in.
var browserName = pintle.NewClaim[string]("browser")

// describe stores the name of the browser of a new session. The header itself
// reveals more about a user than the list needs.
func describe(r *http.Request) map[string]any {
	return map[string]any{"browser": browserOf(r.UserAgent())}
}

// A device is a session as its owner sees it.
type device struct {
	Name     string
	Current  bool
	Handle   string
	SignedIn time.Time
	LastUsed string
}

func (s *site) devices(ctx context.Context, session *pintle.Session) ([]*device, error) {
	var devices []*device
	for d, err := range s.auth.Devices(ctx, session) {
		if err != nil {
			return nil, err
		}
		name, ok := browserName.In(d.Data)
		if !ok {
			name = "A browser"
		}
		devices = append(devices, &device{name, d.Current, d.Handle, d.Created, ago(time.Since(d.LastUsed))})
	}
	return devices, nil
}

func (s *site) endDevice(w http.ResponseWriter, r *http.Request) {
	err := s.auth.EndDevice(r.Context(), pintle.SessionFrom(r.Context()), r.PostFormValue("device"))
	s.finish(w, r, "ended", err)
}

func (s *site) endOtherDevices(w http.ResponseWriter, r *http.Request) {
	_, err := s.auth.EndOtherDevices(r.Context(), pintle.SessionFrom(r.Context()))
	s.finish(w, r, "others", err)
}

// endAllDevices is for sessions in cookies, of which the server can only end all.
func (s *site) endAllDevices(w http.ResponseWriter, r *http.Request) {
	if err := s.auth.SignOutEverywhere(r.Context(), pintle.SessionFrom(r.Context()).User.ID); err != nil {
		s.fail(w, r, err)
		return
	}
	s.signOut(w, r)
}

// ago returns how long ago a device was used, to the day.
func ago(d time.Duration) string {
	switch days := int(d.Hours() / 24); days {
	case 0:
		return "within a day"
	case 1:
		return "a day ago"
	default:
		return fmt.Sprintf("%d days ago", days)
	}
}
