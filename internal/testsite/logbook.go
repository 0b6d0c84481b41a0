package testsite

import (
	"bytes"
	"sync"
)

// A LogBook is what a log handler writes to, and a test reads meanwhile.
type LogBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *LogBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns what was written so far.
func (l *LogBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
