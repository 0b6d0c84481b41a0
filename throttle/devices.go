package throttle

import (
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

// A device records that this browser has signed in to an account. The account is
// hashed, so that the cookie stays small.
type device struct {
	Account key    `json:"a"`
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

// deviceAccount binds a device to an account at one provider: the same name at
// another provider is another account.
func deviceAccount(provider, who string) key { return hash(provider + "\x00" + who) }

// of returns the id of the device for an account, or "".
func (all devices) of(provider, who string) string {
	k := deviceAccount(provider, who)
	for _, d := range all {
		if d.Account == k {
			return d.ID
		}
	}
	return ""
}

// remember makes the browser a known device of an account. It gets another id each
// time, so that a copy of an earlier cookie does not use up its limit.
func (g *Guard) remember(s *pintle.Submission, all devices, provider, who string) error {
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
		Account: deviceAccount(provider, who),
		ID:      base64.RawURLEncoding.EncodeToString(id),
		Expires: time.Now().Add(age).Unix(),
	}
	all = slices.DeleteFunc(all, func(d device) bool { return d.Account == own.Account })
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
