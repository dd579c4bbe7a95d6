package wire

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"fugu/sqlstate"
)

// places counts the clients of each user.
type places struct {
	mu sync.Mutex
	n  map[string]int
}

// enter takes one of most places; 0: there are any number.
func (p *places) enter(name string, most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if most > 0 && p.n[name] >= most {
		return false
	}
	if p.n == nil {
		p.n = map[string]int{}
	}
	p.n[name]++
	return true
}

func (p *places) leave(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n[name]--; p.n[name] == 0 {
		delete(p.n, name)
	}
}

// late is the error of a login that went on for too long, or of a client that went away.
func late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return sqlstate.New(sqlstate.QueryCanceled, "canceling authentication due to timeout").Ending()
	}
	return errDone
}

// probes is how many of TCP's questions may go unanswered before a connection is given up.
const probes = 4

// keepAlive makes TCP find out about a peer that has gone without a word.
func keepAlive(conn net.Conn, after time.Duration) {
	if t, ok := conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok && after > 0 {
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: after,
			Interval: max(time.Second, after/probes), Count: probes})
	}
}
