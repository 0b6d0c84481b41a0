package services

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A WebServer is a proxy in front of an application.
type WebServer struct {
	// Addr is the host and port that it listens on for https, and PlainAddr for http.
	Addr, PlainAddr string

	// Pool has clients trust its certificate.
	Pool *x509.CertPool
}

// Nginx starts nginx for this test alone. The servers are what stands in the http block
// of its configuration, for the ports and files of a [Site].
func Nginx(t testing.TB, certificate *Certificate, servers func(Site) string) *WebServer {
	t.Helper()
	nginx, err := program("nginx")
	if err != nil {
		t.Fatal(err)
	}
	listens := func(context.Context, string) error { return nil } // its certificate is a file
	w, err := openWebServer(t, "nginx", "www-data", listens, func(owner account, s Site, dir string) (*exec.Cmd, error) {
		for name, from := range map[string]string{s.Certificate: certificate.File, s.Key: certificate.KeyFile} {
			text, err := os.ReadFile(from)
			if err == nil {
				err = owner.writeFile(name, text)
			}
			if err != nil {
				return nil, err
			}
		}
		config := filepath.Join(dir, "nginx.conf")
		err := owner.writeFile(config, fmt.Appendf(nil, `daemon off;
pid %[1]s/pid;
error_log stderr;
events { worker_connections 64; }
http {
access_log off;
client_body_temp_path %[1]s/body;
proxy_temp_path %[1]s/proxy;
fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi;
scgi_temp_path %[1]s/scgi;
%[2]s
}
`, dir, servers(s)))
		return owner.command(dir, nginx, "-p", dir, "-e", "stderr", "-c", config), err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Pool = certificate.Pool
	return w
}

// Caddy starts Caddy for this test alone. It makes the certificate of the host itself.
func Caddy(t testing.TB, host string, sites func(Site) string) *WebServer {
	t.Helper()
	caddy, err := program("caddy")
	if err != nil {
		t.Fatal(err)
	}
	var root string
	pool := x509.NewCertPool()
	certified := func(ctx context.Context, addr string) error {
		text, err := os.ReadFile(root)
		if err != nil {
			return err
		}
		pool.AppendCertsFromPEM(text)
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: pool, ServerName: host, MinVersion: tls.VersionTLS12}}
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	w, err := openWebServer(t, "Caddy", "caddy", certified, func(owner account, s Site, dir string) (*exec.Cmd, error) {
		config := filepath.Join(dir, "Caddyfile")
		err := owner.writeFile(config, fmt.Appendf(nil, `{
	admin off
	default_bind 127.0.0.1
	https_port %s
	http_port %s
	local_certs
	skip_install_trust
}
%s
`, s.Port, s.PlainPort, sites(s)))
		cmd := owner.command(dir, caddy, "run", "--config", config, "--adapter", "caddyfile")
		cmd.Env = append(cmd.Env, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		root = filepath.Join(dir, "caddy", "pki", "authorities", "local", "root.crt")
		return cmd, err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Pool = pool
	return w
}

// A Site has what a configuration of a web server has to name.
type Site struct {
	Port, PlainPort  string // of https and of http, at 127.0.0.1
	Certificate, Key string // files
}

// openWebServer starts a web server with two ports. When both accept connections, it asks
// ready about that for https.
func openWebServer(t testing.TB, name, user string, ready func(ctx context.Context, addr string) error, command func(account, Site, string) (*exec.Cmd, error)) (*WebServer, error) {
	owner, err := unprivileged(user)
	if err != nil {
		return nil, err
	}
	dir, err := owner.tempDir("pintle-" + name + "-")
	if err != nil {
		return nil, err
	}
	w := &WebServer{}
	var configured error
	s := &Server{name: name, dir: dir, goodbye: syscall.SIGTERM}
	s.command = func(port string) *exec.Cmd {
		plain, err := freePort()
		w.PlainAddr = net.JoinHostPort("127.0.0.1", plain)
		site := Site{Port: port, PlainPort: plain, Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
		cmd, commandErr := command(owner, site, dir)
		configured = errors.Join(err, commandErr)
		return cmd
	}
	s.ready = func(ctx context.Context) error {
		if configured != nil {
			return configured
		}
		var dialer net.Dialer
		for _, addr := range []string{s.Addr, w.PlainAddr} {
			conn, err := dialer.DialContext(ctx, "tcp", addr)
			if err != nil {
				return err
			}
			_ = conn.Close()
		}
		return ready(ctx, s.Addr)
	}
	if err := s.open(func(addr string) string { return "https://" + addr }); err != nil {
		return nil, err
	}
	w.Addr = s.ownedBy(t).Addr
	return w, nil
}

// writeFile writes a file that the account alone reads.
func (a account) writeFile(name string, text []byte) error {
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("services: %w", err)
	}
	if err := os.Chown(name, a.uid, a.gid); err != nil {
		return fmt.Errorf("services: %w", err)
	}
	return nil
}
