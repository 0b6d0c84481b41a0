package handshake

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// An assertionFile is a file with a client assertion that a platform replaces before it
// expires. The mutex makes requests at one moment read it once.
type assertionFile struct {
	mu   sync.Mutex
	read time.Time // zero: not yet
	text string
	err  error
}

// get returns the content of the file, which is a few seconds old at most.
func (f *assertionFile) get(path string, now time.Time) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read.IsZero() || now.Sub(f.read) >= assertionFileAge || now.Before(f.read) {
		f.read = now
		f.text, f.err = readAssertionFile(path)
	}
	return f.text, f.err
}

// readAssertionFile reads a file. An error names the path, and nothing of the content.
func readAssertionFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // reading a pipe could take forever
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, maxAssertion+1))
	if err != nil {
		return "", err
	}
	text, err := trimmedAssertion(string(content))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// trimmedAssertion returns a text without the white space around it if it has the form of
// an assertion.
func trimmedAssertion(text string) (string, error) {
	if len(text) > maxAssertion {
		return "", fmt.Errorf("it is longer than %d bytes", maxAssertion)
	}
	text = strings.TrimSpace(text)
	if header, err := headerOf(text); !isCompact(text) || err != nil || header["alg"] == nil {
		return "", errors.New("it is not a signed JWT in compact form")
	}
	return text, nil
}

// checkNotExpired rejects an assertion that the provider would reject. Whether it is
// otherwise good is the provider's to say.
func checkNotExpired(assertion string, now time.Time) error {
	_, rest, _ := strings.Cut(assertion, ".")
	payload, _, _ := strings.Cut(rest, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return errors.New("it is not a JWT")
	}
	claims, err := decodeObject(decoded)
	if err != nil {
		return errors.New("it is not a JWT")
	}
	exp, ok, err := seconds(claims, "exp")
	switch {
	case err != nil:
		return err
	case ok && !exp.After(now):
		return fmt.Errorf("it expired at %s", exp.UTC().Format(time.RFC3339))
	}
	return nil
}

// hasAssertion reports whether the assertions of the client are made elsewhere.
func (p *Provider) hasAssertion() bool { return p.Assertion != nil || p.AssertionFile != "" }

// givenAssertion returns an assertion of the application or its platform.
func (p *Provider) givenAssertion(ctx context.Context, audience string) (assertion string, err error) {
	if p.AssertionFile != "" {
		assertion, err = p.assertedIn.get(p.AssertionFile, time.Now())
		if err == nil {
			if err = checkNotExpired(assertion, time.Now()); err != nil {
				err = fmt.Errorf("%s: %w", p.AssertionFile, err)
			}
		}
		return assertion, err
	}
	ctx, cancel := context.WithTimeout(ctx, assertionTimeout)
	defer cancel()
	given, err := p.Assertion(ctx, audience)
	if err != nil {
		return "", conceal(err, given)
	}
	if assertion, err = trimmedAssertion(given); err != nil {
		return "", fmt.Errorf("what ClientAssertion returned: %w", err)
	}
	if err = checkNotExpired(assertion, time.Now()); err != nil {
		return "", fmt.Errorf("what ClientAssertion returned: %w", err)
	}
	return assertion, nil
}
