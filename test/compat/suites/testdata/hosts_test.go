package pq

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
)

// The hosts postgres and postgres-invalid are this machine, without a word in its /etc/hosts: names that are not there
// are asked of a server in this process, which knows these two.
func init() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for answer(server) == nil {
			}
		}()
		return client, nil
	}}
}

// answer answers one question as DNS over TCP (RFC 1035, section 4): a length, a header of 12 bytes, the question.
func answer(conn io.ReadWriter) error {
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	m := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, m); err != nil {
		return err
	}
	end := 12
	var labels []string
	for m[end] != 0 {
		next := end + 1 + int(m[end])
		labels, end = append(labels, string(m[end+1:next])), next
	}
	asked := binary.BigEndian.Uint16(m[end+1:])
	m = m[:end+5]                        // without what stands behind the question
	copy(m[2:], []byte{0x81, 0x80, 0, 1, // a response, recursion available; one question,
		0, 0, 0, 0, 0, 0}) // no answer, and nothing else
	switch name := strings.ToLower(labels[0]); {
	case name != "postgres" && name != "postgres-invalid":
		m[3] |= 3 // there is no such name
	case asked == 1: // A
		m[7] = 1
		// the question's name, A, IN, for no time, its address
		m = append(m, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
	}
	binary.BigEndian.PutUint16(length[:], uint16(len(m)))
	_, err := conn.Write(append(length[:], m...))
	return err
}
