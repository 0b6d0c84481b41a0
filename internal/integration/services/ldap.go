package services

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A Directory is an OpenLDAP server. It begins with the organisation BaseDN and no
// other entry.
type Directory struct {
	*Server

	BaseDN        string // dc=example,dc=org
	AdminDN       string
	AdminPassword string
}

// LDAP starts an OpenLDAP server for this test alone.
func LDAP(t testing.TB) *Directory {
	t.Helper()
	d := &Directory{BaseDN: "dc=example,dc=org", AdminDN: "cn=admin,dc=example,dc=org", AdminPassword: "admin's own"}
	s, err := startLDAP(d)
	if err != nil {
		t.Fatal(err)
	}
	d.Server = s.ownedBy(t)
	d.Add(t, "dn: "+d.BaseDN+"\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n")
	return d
}

// Add adds entries, written in LDIF.
func (d *Directory) Add(t testing.TB, ldif string) {
	t.Helper()
	ldapadd, err := program("ldapadd")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), ldapadd, "-x", "-H", d.URL, "-D", d.AdminDN, "-w", d.AdminPassword)
	cmd.Stdin = strings.NewReader(ldif)
	if err := run(cmd); err != nil {
		t.Fatal(err)
	}
}

func startLDAP(d *Directory) (*Server, error) {
	slapd, err := program("slapd")
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged("openldap")
	if err != nil {
		return nil, err
	}
	dir, err := owner.tempDir("pintle-ldap-")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "slapd.conf")
	if err := os.WriteFile(config, []byte(slapdConfig(d, dir)), 0o644); err != nil {
		return nil, fmt.Errorf("services: %w", err)
	}
	s := &Server{name: "OpenLDAP", dir: dir, goodbye: syscall.SIGTERM}
	s.command = func(port string) *exec.Cmd {
		// A debug level, even none, keeps slapd in the foreground.
		return owner.command(dir, slapd, "-d", "0", "-f", config, "-h", "ldap://127.0.0.1:"+port)
	}
	s.ready = func(ctx context.Context) error {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	if err := s.open(func(addr string) string { return "ldap://" + addr }); err != nil {
		return nil, err
	}
	return s, nil
}

func slapdConfig(d *Directory, dir string) string {
	return fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile %[2]q
argsfile %[3]q
database mdb
suffix %[4]q
rootdn %[5]q
rootpw %[6]q
directory %[1]q
access to attrs=userPassword by anonymous auth by * none
access to * by * read
`, dir, filepath.Join(dir, "pid"), filepath.Join(dir, "args"), d.BaseDN, d.AdminDN, d.AdminPassword)
}
