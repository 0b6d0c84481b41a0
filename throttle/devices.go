package throttle

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
)

const (
	// deviceCookie is the cookie that identifies a browser that has signed in.
	//
	// https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
	deviceCookie = "pintle.devices"

	// maxDevices bounds the accounts in the cookie of one browser.
	maxDevices = 8

	defaultDeviceAge = 180 * 24 * time.Hour
)

// A device records that this browser has signed in as a user with a name. Both are
// hashed, so that the cookie stays small.
type device struct {
	Name    key    `json:"n"`
	User    key    `json:"u"`
	ID      string `json:"i"`
	Expires int64  `json:"e"` // in Unix seconds
}

// devices are the content of a browser's cookie, the most recent first.
type devices []device

// readDevices returns the devices of a browser, without those that have expired.
func readDevices(s *pintle.Submission) devices {
	var all devices
	if err := json.Unmarshal([]byte(s.Cookie(deviceCookie)), &all); err != nil {
		return nil
	}
	now := time.Now().Unix()
	return slices.DeleteFunc(all, func(d device) bool { return d.Expires <= now })
}

// of returns the device for a name at one provider, or nil. The same name at
// another provider is another account.
func (all devices) of(provider, name string) *device {
	k := hash(provider + "\x00" + name)
	for i := range all {
		if all[i].Name == k {
			return &all[i]
		}
	}
	return nil
}

// remember makes the browser a known device of a user under the name that was
// submitted. It gets another id each time, so that a copy of an earlier cookie does
// not use up its limit.
func (g *Guard) remember(s *pintle.Submission, all devices, provider, name string, user *pintle.User) error {
	age := g.DeviceAge
	switch {
	case age < 0:
		return nil
	case age == 0:
		age = defaultDeviceAge
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	own := device{
		Name:    hash(provider + "\x00" + name),
		User:    hash(provider + "\x00user " + cmp.Or(user.ID, name)),
		ID:      base64.RawURLEncoding.EncodeToString(id),
		Expires: time.Now().Add(age).Unix(),
	}
	all = slices.DeleteFunc(all, func(d device) bool { return d.Name == own.Name })
	all = slices.Insert(all, 0, own)
	text, err := json.Marshal(all[:min(len(all), maxDevices)])
	if err != nil {
		return fmt.Errorf("throttle: remember the device: %w", err)
	}
	return s.SetCookie(deviceCookie, string(text), age)
}

// MarshalText writes a key as base64url.
func (k key) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, k[:]), nil
}

// UnmarshalText reads the form that MarshalText writes.
func (k *key) UnmarshalText(text []byte) error {
	b, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil || len(b) != len(k) {
		return fmt.Errorf("throttle: %d bytes are not a key", len(b))
	}
	*k = key(b)
	return nil
}
