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

// enter takes a place of most, of which there are any number if most is 0.
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

var (
	errIdle              = sqlstate.New(sqlstate.IdleSessionTimeout, "terminating connection due to idle-session timeout").Ending()
	errIdleInTransaction = sqlstate.New(sqlstate.IdleInTransaction, "terminating connection due to idle-in-transaction timeout").Ending()
)

// patience says until when the client may say nothing, zero for ever; or that it has done so for too long. A pipeline
// without its Sync is a transaction too.
func (s *session) patience() (time.Time, error) {
	if s.idle == 0 && s.idleInTransaction == 0 {
		return time.Time{}, nil
	}
	quiet, since := s.exchange.idle()
	if !quiet { // which of the two it will be is known when the replies have come
		return time.Now().Add(s.shorter()), nil
	}
	limit, over := s.idle, errIdle
	if !s.exchange.free() {
		limit, over = s.idleInTransaction, errIdleInTransaction
	}
	switch deadline := since.Add(limit); {
	case limit == 0:
		return time.Time{}, nil
	case !time.Now().Before(deadline):
		return time.Time{}, over
	default:
		return deadline, nil
	}
}

// shorter is the shorter of the two times that a client may be idle, 0 where there is neither.
func (s *session) shorter() time.Duration {
	if s.idle == 0 || s.idleInTransaction > 0 && s.idleInTransaction < s.idle {
		return s.idleInTransaction
	}
	return s.idle
}

// probes is how many of TCP's questions may go unanswered before a connection is given up.
const probes = 4

// keepAlive makes TCP find out about a peer that has gone without a word.
func keepAlive(conn net.Conn, after time.Duration) {
	if t, ok := conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok && after > 0 {
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: after, Interval: max(time.Second, after/probes), Count: probes})
	}
}
