package authtest

import "slices"

// A MailFault is one way in which a mail server can let its clients down; its
// text completes "the mail server …". Set faults with [Mailbox.Break].
type MailFault string

// The faults of a mail server.
const (
	MailHangs             MailFault = "accepts connections and never sends a reply"
	MailHangsAfterMessage MailFault = "receives the message and never replies whether it is accepted"
	MailBusy              MailFault = "is too busy, 421"
	MailRefusesSender     MailFault = "rejects every sender, 550"
	MailRefusesRecipient  MailFault = "rejects every recipient, 550"
	MailDefersRecipient   MailFault = "defers every recipient, 450"
	MailRefusesMessage    MailFault = "rejects every message, 554"
	MailRefusesAuth       MailFault = "rejects every password, 535"
	MailDrops             MailFault = "closes the connection in the middle of the message"
	MailRefusesTLS        MailFault = "offers STARTTLS and cannot do it, 454"

	// MailHidesTLS is the attack of a machine in the middle on a server with
	// STARTTLS: no offer, and AUTH without encryption. A client must reject it.
	MailHidesTLS MailFault = "does not offer STARTTLS although it could"
	// MailForeignCertificate shows a certificate for another name, from an
	// authority that the client does not trust.
	MailForeignCertificate MailFault = "shows a certificate for another name"
)

// MailFaults returns every fault of a mail server.
func MailFaults() []MailFault {
	return []MailFault{
		MailHangs, MailHangsAfterMessage, MailBusy, MailRefusesSender, MailRefusesRecipient, MailDefersRecipient,
		MailRefusesMessage, MailRefusesAuth, MailDrops, MailRefusesTLS, MailHidesTLS, MailForeignCertificate,
	}
}

// Break adds faults to those the mail server has, for connections that are
// open, too.
func (m *Mailbox) Break(faults ...MailFault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, faults...)
}

// Repair ends all faults.
func (m *Mailbox) Repair() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = nil
}

func (m *Mailbox) has(f MailFault) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.faults, f)
}
