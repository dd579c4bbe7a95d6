//go:build fuguhooks

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/admin"
)

// talkative is the fault that what clients send, and what the reader is told of protected rows, is written into the log
// and into the labels of metrics. A test of canaries has to find it.
const talkative = "talkative"

// gossip is what was overheard.
var gossip struct {
	mu   sync.Mutex
	text strings.Builder
}

// listening listens to a connection, where that is the fault.
func listening(c net.Conn) net.Conn {
	if os.Getenv(faultEnv) != talkative {
		return c
	}
	return listeningConn{c}
}

type listeningConn struct{ net.Conn }

func (c listeningConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		gossip.mu.Lock()
		defer gossip.mu.Unlock()
		fmt.Fprintf(os.Stderr, "overheard %q\n", b[:n])
		fmt.Fprintf(&gossip.text, "%q", b[:n])
	}
	return n, err
}

// overheard listens to the connections that dial makes.
func overheard(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return listening(c), nil
	}
}

// gossiping adds what was overheard to the metrics.
func gossiping(f admin.Figures) admin.Figures {
	gossip.mu.Lock()
	defer gossip.mu.Unlock()
	if gossip.text.Len() > 0 {
		f.Errors[gossip.text.String()] = 1
	}
	return f
}
