package pintle

import "time"

// An Authentication says when and how the user of a session proved who they are.
type Authentication struct {
	// Time is when; zero where it is not recorded.
	Time time.Time

	// Provider is the id of the provider; empty where it is not recorded.
	Provider string

	// Methods are the methods, as values of the amr claim (RFC 8176): "pwd", "otp",
	// "hwk"…; nil where not recorded.
	Methods []string
}
