package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// settings are those of the command instance.
type settings struct {
	URL, Issuer, Mailbox string
	PostgreSQL           string
	RedisCluster         []string
	Secrets              []string
	Tokens               bool
}

// A process is one run of the command instance.
type process struct {
	addr   string
	cmd    *exec.Cmd
	exited chan struct{}
	output lastLines

	mu     sync.Mutex
	wanted bool // its end is wanted
}

// startProcess runs an instance until it listens.
func startProcess(program string, s *settings) (*process, error) {
	given, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "SOAK_INSTANCE="+string(given))
	p.cmd.Stderr = &p.output
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	if err != nil {
		p.end(syscall.SIGKILL)
		return nil, fmt.Errorf("an instance printed no address: %w\n%s", err, p.output.text())
	}
	p.addr = strings.TrimSpace(line)
	return p, nil
}

// end sends a signal and waits for the end of the process.
func (p *process) end(sig syscall.Signal) {
	p.mu.Lock()
	p.wanted = true
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(sig)
	<-p.exited
}

// endedByItself reports whether the process has ended though nothing ended it.
func (p *process) endedByItself() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		return !p.wanted
	default:
		return false
	}
}

// lastLines keep the end of what a process prints.
type lastLines struct {
	mu  sync.Mutex
	buf []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - 16<<10; over > 0 {
		l.buf = l.buf[over:]
	}
	return len(p), nil
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf)
}

// A proxy passes each request on to one of the instances that are in service, in turn. It
// connects to another one if an instance accepts no connection, and never sends a request
// twice.
type proxy struct {
	url string

	mu      sync.Mutex
	addrs   []string
	next    int
	pending map[string]*sync.WaitGroup // by the address
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{pending: map[string]*sync.WaitGroup{}}
	dialer := net.Dialer{Timeout: 5 * time.Second}
	handler := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "instance"})
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
				for _, addr := range p.turn() {
					done, in := p.enter(addr)
					if !in {
						continue
					}
					if conn, err = dialer.DialContext(ctx, network, addr); err == nil {
						return &counted{Conn: conn, done: done}, nil
					}
					done()
				}
				if err == nil {
					err = fmt.Errorf("no instance is in service")
				}
				return nil, err
			},
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// counted is a connection that is under way until it is closed.
type counted struct {
	net.Conn
	once sync.Once
	done func()
}

func (c *counted) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

// turn returns the instances, beginning with the one whose turn it is.
func (p *proxy) turn() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.addrs) == 0 {
		return nil
	}
	p.next = (p.next + 1) % len(p.addrs)
	return append(append([]string(nil), p.addrs[p.next:]...), p.addrs[:p.next]...)
}

// enter counts a connection to an instance that is in service.
func (p *proxy) enter(addr string) (done func(), in bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	group := p.pending[addr]
	if group == nil {
		return nil, false
	}
	group.Add(1)
	return group.Done, true
}

func (p *proxy) add(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addrs = append(p.addrs, addr)
	p.pending[addr] = &sync.WaitGroup{}
}

// remove takes an instance out of service. drained waits for the requests that it has.
func (p *proxy) remove(addr string) (drained func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []string
	for _, a := range p.addrs {
		if a != addr {
			left = append(left, a)
		}
	}
	p.addrs = left
	group := p.pending[addr]
	delete(p.pending, addr)
	return func() {
		if group != nil {
			group.Wait()
		}
	}
}

// A site has two instances behind a proxy.
type site struct {
	t        *testing.T
	proxy    *proxy
	program  string
	settings settings

	mu        sync.Mutex
	instances [2]*process
	all       []*process
}

// start runs the instance of a place.
func (s *site) start(i int) {
	p, err := startProcess(s.program, &s.settings)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	s.instances[i], s.all = p, append(s.all, p)
	s.mu.Unlock()
	s.proxy.add(p.addr)
}

func (s *site) at(i int) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instances[i]
}

// kill ends an instance while it works. The proxy learns of it by connections that fail.
func (s *site) kill(i int) {
	p := s.at(i)
	p.end(syscall.SIGKILL)
	s.proxy.remove(p.addr)
}

// replace ends an instance after its last request, as an operator does, and starts it again.
func (s *site) replace(i int) {
	p := s.at(i)
	s.proxy.remove(p.addr)()
	p.end(syscall.SIGTERM)
	s.start(i)
}

func (s *site) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		if p.endedByItself() {
			s.t.Errorf("an instance has ended by itself:\n%s", p.output.text())
		}
		if strings.Contains(p.output.text(), "panic") {
			s.t.Errorf("an instance has panicked:\n%s", p.output.text())
		}
	}
	for _, p := range s.all {
		p.end(syscall.SIGKILL)
	}
}

// A measure is what an instance holds.
type measure struct {
	Heap       int `json:"heap"`
	Goroutines int `json:"goroutines"`
	Files      int `json:"files"`
}

// measure asks both instances.
func (s *site) measure(ctx context.Context) (both [2]measure, err error) {
	for i := range both {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.at(i).addr+"/debug/soak", http.NoBody)
		if err != nil {
			return both, err
		}
		r.Close = true
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return both, err
		}
		err = json.NewDecoder(resp.Body).Decode(&both[i])
		_ = resp.Body.Close()
		if err != nil {
			return both, err
		}
	}
	return both, nil
}
