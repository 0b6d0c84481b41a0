package services

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// debianPackage names the package of a program that is missing.
var debianPackage = map[string]string{
	"caddy":              "caddy",
	"chromium":           "chromium",
	"initdb":             "postgresql",
	"ldapadd":            "ldap-utils",
	"mariadb-install-db": "mariadb-server",
	"mariadbd":           "mariadb-server",
	"nginx":              "nginx",
	"postgres":           "postgresql",
	"redis-cli":          "redis-tools",
	"redis-server":       "redis-server",
	"slapd":              "slapd",
}

// program returns the path of a program. It does not only search PATH, because
// Debian keeps servers in sbin, which only root has in its PATH, and several
// versions of PostgreSQL in directories that are in no PATH.
func program(name string) (string, error) {
	versions, err := filepath.Glob(filepath.Join("/usr/lib/postgresql/*/bin", name))
	if err != nil {
		return "", fmt.Errorf("services: find %s: %w", name, err)
	}
	if len(versions) > 0 {
		return slices.MaxFunc(versions, func(a, b string) int {
			return cmp.Compare(postgresVersion(a), postgresVersion(b))
		}), nil
	}
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		path, err := exec.LookPath(candidate)
		if err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("services: %s is not installed; on Debian run: apt-get install %s", name, debianPackage[name])
}

// postgresVersion reads 15 from /usr/lib/postgresql/15/bin/postgres.
func postgresVersion(path string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	if err != nil {
		return 0
	}
	return n
}

// An account is the one a server's processes and files belong to.
type account struct {
	uid, gid int
}

// unprivileged returns the account a server runs as: ours, unless we are root.
// PostgreSQL and MariaDB do not run as root, so then it is the account that the
// server's package created.
func unprivileged(name string) (account, error) {
	if os.Geteuid() != 0 {
		return account{os.Geteuid(), os.Getegid()}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return account{}, fmt.Errorf("services: find an account to run %s as: %w", name, err)
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return account{}, fmt.Errorf("services: account %s: %w", u.Username, err)
	}
	return account{uid, gid}, nil
}

// tempDir makes a directory that belongs to the account.
func (a account) tempDir(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("services: %w", err)
	}
	if err := os.Chown(dir, a.uid, a.gid); err != nil {
		return "", errors.Join(fmt.Errorf("services: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

// command prepares a program that runs as the account, in dir.
func (a account) command(dir, path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	// MariaDB removes the temporary tables it finds when it starts, also those of
	// another one that uses the same directory.
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	endWithParent(cmd.SysProcAttr)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return cmd
}
