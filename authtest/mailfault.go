package authtest

import "slices"

// A MailFault is one way in which a mail server can let its clients down; its
// text completes "the mail server …". Set faults with [Mailbox.Break].
type MailFault string

// The faults of a mail server.
const (
	MailHangs             MailFault = "accepts connections and never says a word"
	MailHangsAfterMessage MailFault = "takes the message and never says whether it was accepted"
	MailBusy              MailFault = "is too busy to talk, 421"
	MailRefusesSender     MailFault = "refuses every sender, 550"
	MailRefusesRecipient  MailFault = "refuses every recipient, 550"
	MailDefersRecipient   MailFault = "asks to try every recipient later, 450"
	MailRefusesMessage    MailFault = "refuses every message, 554"
	MailRefusesAuth       MailFault = "refuses every password, 535"
	MailDrops             MailFault = "closes the connection in the middle of the message"
	MailRefusesTLS        MailFault = "offers STARTTLS and cannot do it, 454"

	// MailHidesTLS is what a machine in the middle makes of a server with
	// STARTTLS: no offer, and AUTH in the clear. A client must not take it.
	MailHidesTLS MailFault = "does not offer STARTTLS although it could"
	// MailForeignCertificate shows a certificate for another name, from
	// nobody the client trusts.
	MailForeignCertificate MailFault = "shows somebody else's certificate"
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
