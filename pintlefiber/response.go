package pintlefiber

import (
	"net/http"
	"slices"

	"github.com/gofiber/fiber/v3"
)

// A response collects the response of Pintle, beginning with the headers that are
// already set.
type response struct {
	header, before http.Header
	status         int // zero until Pintle writes a response
	body           []byte
}

func newResponse(c fiber.Ctx) *response {
	h := http.Header{}
	for key, value := range c.Response().Header.All() {
		switch name := http.CanonicalHeaderKey(string(key)); name {
		case "Content-Type", "Content-Length", "Content-Encoding", "Connection", "Server", "Trailer":
			// They describe another body than Pintle's.
		default:
			h[name] = append(h[name], string(value))
		}
	}
	return &response{header: h, before: h.Clone()}
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, b...)
	return len(b), nil
}

// send writes the changes to c.
func (w *response) send(c fiber.Ctx) {
	out := &c.Response().Header
	for name := range w.before {
		if len(w.header[name]) == 0 {
			out.Del(name)
		}
	}
	for name, values := range w.header {
		if slices.Equal(values, w.before[name]) {
			continue
		}
		out.Del(name)
		for _, value := range values {
			out.Add(name, value)
		}
	}
	if w.status == 0 {
		return
	}
	if w.header["Content-Type"] == nil {
		out.SetNoDefaultContentType(true)
		out.SetContentType("")
	}
	c.Status(w.status)
	c.Response().SetBody(w.body)
}
