package smtp

import (
	"testing"

	"github.com/wneessen/go-mail"
)

// Encryption is optional on loopback only.
func TestEncryptionIsRequiredOfOtherMachines(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want mail.TLSPolicy
	}{
		{Options{Host: "mail.example.com"}, mail.TLSMandatory},
		{Options{Host: "localhost.example.com"}, mail.TLSMandatory},
		{Options{Host: "10.0.0.1"}, mail.TLSMandatory},
		{Options{Host: "127.1"}, mail.TLSMandatory},
		{Options{Host: "evillocalhost"}, mail.TLSMandatory},
		{Options{Host: "mail.example.com", Encryption: STARTTLS}, mail.TLSMandatory},
		{Options{Host: "localhost", Encryption: STARTTLS}, mail.TLSMandatory},
		{Options{Host: "localhost"}, mail.TLSOpportunistic},
		{Options{Host: "::1"}, mail.TLSOpportunistic},
		{Options{Host: "Mail.LocalHost"}, mail.TLSOpportunistic},
		{Options{Host: "localhost", Encryption: NoEncryption}, mail.NoTLS},
	} {
		client, err := mail.NewClient(tt.o.Host, tt.o.encryption())
		if err != nil {
			t.Fatal(err)
		}
		if got := client.TLSPolicy(); got != tt.want.String() {
			t.Errorf("%v with encryption %d: %s, want %s", tt.o, tt.o.Encryption, got, tt.want)
		}
	}
}
