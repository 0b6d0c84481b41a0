package main

import (
	"bytes"
	"io"
	"net"
	"sync"
)

// A serializer forwards the requests of clients to FerretDB, one change at a time.
type serializer struct {
	socket string
	change sync.Mutex
}

// serve serves until the listener is closed.
func (d *serializer) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("unix", d.socket)
			if err != nil {
				return
			}
			defer server.Close()
			for d.pass(client, server) == nil {
			}
		}()
	}
}

// pass forwards one request and its reply.
func (d *serializer) pass(client, server net.Conn) error {
	request, err := readMessage(client)
	if err != nil {
		return err
	}
	reply, err := d.exchange(server, request)
	if err != nil {
		return err
	}
	_, err = client.Write(reply)
	return err
}

func (d *serializer) exchange(server net.Conn, request message) (message, error) {
	command := request.command()
	if changes[command] {
		d.change.Lock()
		defer d.change.Unlock()
	}
	if _, err := server.Write(request); err != nil {
		return nil, err
	}
	if request.unanswered() {
		return nil, nil
	}
	reply, err := readMessage(server)
	if err == nil && bytes.Contains(reply, []byte("UNIQUE constraint failed")) {
		return duplicate(command, reply)
	}
	return reply, err
}

// changes are the commands that find documents and then change them.
var changes = map[string]bool{
	"createIndexes": true,
	"delete":        true,
	"findAndModify": true,
	"insert":        true,
	"update":        true,
}

// readMessage reads one message, up to the size MongoDB allows.
//
// https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#standard-message-header
func readMessage(r io.Reader) (message, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int(order.Uint32(length[:]))
	if n < headerSize || n > 48_000_000 {
		return nil, io.ErrUnexpectedEOF
	}
	m := make(message, n)
	copy(m, length[:])
	_, err := io.ReadFull(r, m[len(length):])
	return m, err
}
