package authtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// mailCertificates are the certificate clients can trust, the pool to do it
// with, and one they cannot.
type mailCertificates struct {
	own, foreign tls.Certificate
	pool         *x509.CertPool
}

func newMailCertificates() (c mailCertificates, err error) {
	loopback := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if c.own, err = selfSigned("localhost", loopback); err != nil {
		return c, err
	}
	if c.foreign, err = selfSigned("mail.example.test", nil); err != nil {
		return c, err
	}
	c.pool = x509.NewCertPool()
	c.pool.AddCert(c.own.Leaf)
	return c, nil
}

// selfSigned returns a certificate that is valid for a day.
func selfSigned(name string, ips []net.IP) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		DNSNames:              []string{name},
		IPAddresses:           ips,
		NotBefore:             time.Now().Add(-time.Minute), // clocks in containers jump
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
