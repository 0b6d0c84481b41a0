package authtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/authtest"
)

// received delivers raw and returns the received message.
func received(t *testing.T, raw string) (*authtest.Message, error) {
	t.Helper()
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	if err := box.Deliver("a@example.com", []string{"b@example.com"}, []byte(strings.ReplaceAll(raw, "\n", "\r\n"))); err != nil {
		return nil, err
	}
	return box.Messages()[0], nil
}

func TestMailIsDecoded(t *testing.T) {
	m, err := received(t, `Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Open https://app.example.test/cb?token=3Dabc&email=3Dk%40example.co=
m, please.

--inner
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PGEgaHJlZj0iaHR0cHM6Ly9hcHAuZXhhbXBsZS50ZXN0L2NiP3Rva2VuPWFiYyZhbXA7ZW1haWw9
ayU0MGV4YW1wbGUuY29tIj5Hw7w8L2E+Cg==
--inner--

--outer
Content-Type: text/plain
Content-Disposition: attachment; filename=note.txt

https://not.example.test/
--outer--
`)
	if err != nil {
		t.Fatal(err)
	}
	if m.Subject != "Grüße" {
		t.Errorf("subject = %q", m.Subject)
	}
	if want := "Open https://app.example.test/cb?token=abc&email=k%40example.com, please.\n"; m.Text != want {
		t.Errorf("text = %q, want %q", m.Text, want)
	}
	if !strings.Contains(m.HTML, ">Gü<") {
		t.Errorf("HTML = %q", m.HTML)
	}
	if got := m.Links(); !slices.Equal(got, []string{"https://app.example.test/cb?token=abc&email=k%40example.com"}) {
		t.Errorf("links = %q, want the one that both parts have", got)
	}
}

func TestLinksAreThoseOneCanFollow(t *testing.T) {
	m, err := received(t, `Content-Type: text/html; charset=iso-8859-1

<link href="https://styles.example.test/"><a class='x' HREF='https://one.example.test/?a=1&amp;b=2'>1</a>
<a href="mailto:x@example.com">2</a><a href="javascript:alert(1)//https://two.example.test/">3</a>
<a href="http://three.example.test/">3</a><a href="http://three.example.test/">again</a>
`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Links(), []string{"https://one.example.test/?a=1&b=2", "http://three.example.test/"}; !slices.Equal(got, want) {
		t.Errorf("links = %q, want %q", got, want)
	}
}

func TestUnreadableMailIsRejected(t *testing.T) {
	for name, raw := range map[string]string{
		"no header":        "hello\n",
		"no text":          "Subject: x\nContent-Type: image/png\n\nx\n",
		"empty":            "Subject: x\n\n",
		"unknown charset":  "Content-Type: text/plain; charset=koi8-r\n\nx\n",
		"not its charset":  "Content-Type: text/plain; charset=utf-8\n\n\xff\xfe\n",
		"unknown encoding": "Content-Transfer-Encoding: x-uuencode\n\nx\n",
		"broken encoding":  "Content-Transfer-Encoding: base64\n\n!!!\n",
		"broken type":      "Content-Type: text/plain; charset\n\nx\n",
		"missing boundary": "Content-Type: multipart/mixed\n\nx\n",
		"cut off":          "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n",
		"too deep":         deep(20),
	} {
		if m, err := received(t, raw); err == nil {
			t.Errorf("%s: accepted as %q", name, m.Text)
		}
	}
	if _, err := received(t, deep(5)); err != nil {
		t.Errorf("five levels: %v", err)
	}
}

// deep is a mail of n parts inside one another.
func deep(n int) string {
	if n == 0 {
		return "Content-Type: text/plain\n\nhello\n"
	}
	b := strings.Repeat("b", n)
	return "Content-Type: multipart/mixed; boundary=" + b + "\n\n--" + b + "\n" + deep(n-1) + "\n--" + b + "--\n"
}

func FuzzDeliver(f *testing.F) {
	f.Add([]byte(plainMail))
	f.Add([]byte(deep(3)))
	f.Add([]byte("Content-Type: text/html\n\n<a href='http://x'>"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		box := authtest.NewMailbox(authtest.MailboxOptions{})
		err := box.Deliver("a@b", []string{"c@d"}, raw)
		if (err == nil) != (len(box.Messages()) == 1) {
			t.Fatalf("error %v and %d messages", err, len(box.Messages()))
		}
		for _, m := range box.Messages() {
			for _, link := range m.Links() {
				if !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://") {
					t.Errorf("link %q", link)
				}
			}
		}
	})
}
