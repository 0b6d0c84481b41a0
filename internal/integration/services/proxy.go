package services

import (
	"net"
	"sync"
	"testing"
	"time"
)

// A Proxy stands between a client and a server and simulates faults of networks.
// Its methods may be called concurrently.
type Proxy struct {
	// Addr is the host and port the client connects to.
	Addr string

	upstream string
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	flow  chan struct{} // closed while bytes are passed on
	conns map[net.Conn]bool
	ended bool
}

// NewProxy starts a proxy for the server at an address, which need not be
// running.
func NewProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("services: start a proxy: %v", err)
	}
	p := &Proxy{
		Addr: listener.Addr().String(), upstream: upstream, listener: listener,
		flow: make(chan struct{}), conns: make(map[net.Conn]bool),
	}
	close(p.flow)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.Resume()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// Cut resets every connection, as a router does that was switched off and on.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

// Stall holds back the data of both directions, on old connections and new ones,
// until [Proxy.Resume].
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flow:
		p.flow = make(chan struct{})
	default: // stalled already
	}
}

// Resume forwards the data that [Proxy.Stall] held back.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flow:
	default:
		close(p.flow)
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.upstream, time.Second)
	if err != nil || !p.keep(client, server) {
		_ = client.Close()
		return
	}
	p.running.Go(func() { p.pass(server, client) })
	p.pass(client, server)
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		for _, c := range conns {
			_ = c.Close()
		}
		return false
	}
	for _, c := range conns {
		p.conns[c] = true
	}
	return true
}

// pass copies until either side ends, and then ends both.
func (p *Proxy) pass(to, from net.Conn) {
	defer p.forget(to, from)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		flow := p.flow
		p.mu.Unlock()
		<-flow
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}
