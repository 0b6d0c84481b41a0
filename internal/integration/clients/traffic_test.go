package clients_test

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A traffic has the requests of the tabs of one user.
type traffic struct {
	mu   sync.Mutex
	open map[request]bool
	last time.Time // when a request last began or ended
}

type request struct {
	tab context.Context // it names the tab
	id  network.RequestID
}

// watch notes the requests of a tab.
func (a *traffic) watch(tab context.Context) error {
	return chromedp.Listen(tab, func(event any) {
		a.mu.Lock()
		defer a.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if a.open == nil {
				a.open = map[request]bool{}
			}
			a.open[request{tab, e.RequestID}] = true
		case *network.EventLoadingFinished:
			delete(a.open, request{tab, e.RequestID})
		case *network.EventLoadingFailed:
			delete(a.open, request{tab, e.RequestID})
		default:
			return
		}
		a.last = time.Now()
	})
}

// waitUntilQuiet waits until no tab has sent a request for a while, as a user does.
// Pages read the session more than once when they are opened, and make the other tabs
// read it. A response that is under way when the session ends or changes sets an
// outdated cookie, also with Auth.js.
//
// It does not wait for ever, since a page that is left may never report the end of
// its requests.
func (a *traffic) waitUntilQuiet() {
	const quiet, enough = 200 * time.Millisecond, 3 * time.Second
	for end := time.Now().Add(enough); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		a.mu.Lock()
		done := len(a.open) == 0 && time.Since(a.last) > quiet
		a.mu.Unlock()
		if done {
			return
		}
	}
}
