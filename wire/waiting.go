package wire

import (
	"math"
	"time"

	"fugu/sqlstate"
)

var (
	errIdle = sqlstate.New(sqlstate.IdleSessionTimeout,
		"terminating connection due to idle-session timeout").Ending()
	errIdleInTransaction = sqlstate.New(sqlstate.IdleInTransaction,
		"terminating connection due to idle-in-transaction timeout").Ending()
)

// drain asks the session to end as soon as nothing is under way, not even a transaction.
func (s *session) drain() {
	s.draining.Store(true)
	s.wake()
}

// attend sets how long to wait for the client, or says why not to.
func (s *session) attend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.reason != nil:
		return s.reason
	case s.following.Load() && !s.within && !s.copyIn():
		return errCopyOver
	case s.draining.Load() && !s.within && s.in.r.Buffered() == 0 && s.exchange.free():
		return errShutdown
	case s.armed && s.armedFor <= s.shorter(): // perhaps for sooner than need be: then it is looked at again
		return nil
	}
	deadline, err := s.patience()
	if err != nil {
		return err
	}
	return s.arm(deadline)
}

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

	// Whoever has a transaction open keeps more from others than its connection.
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

// arm lets the frontend wait up to a time; for ever, if that is zero. With mu held.
func (s *session) arm(t time.Time) error {
	s.armed, s.armedFor = true, time.Until(t)
	if t.IsZero() && s.shorter() > 0 { // but not in another state
		s.armedFor = math.MaxInt64
	}
	return s.conn.SetReadDeadline(t)
}

// wake makes the frontend attend, if it waits for the client.
func (s *session) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
}

// expire ends the wait at once. With mu held.
func (s *session) expire() {
	s.armed = false
	_ = s.conn.SetReadDeadline(time.Unix(1, 0))
}

// expired takes note that the deadline has come.
func (s *session) expired() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
}

// afterReady lets the frontend of a session that drains, or whose guest is wanted, see that its transaction may be
// over.
func (s *session) afterReady() {
	if s.draining.Load() || s.pool.wanted() {
		s.wake()
	}
}
