package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// run relays until one side is gone, and closes both. A session ends as PostgreSQL's do: what the client sent before is
// still carried out, and its replies go out, before the client is told why.
func (s *session) run() {
	if s.held != nil {
		s.start()
	}
	s.stop(s.guarded(s.frontend))
	if s.pool != nil && s.held != nil && !s.torn && s.out.Flush() == nil {
		s.release()
	}
	if s.held != nil {
		s.dismiss()
	}
	s.tell()
	s.in.r.close()
	if last := farewell(s.endReason()); last != nil &&
		(last.Code == sqlstate.ProtocolViolation || last.Code == sqlstate.ProgramLimitExceeded) {
		discard(s.conn)
	}
	_ = s.conn.Close()
}

// dismiss takes leave of the guest, behind all that was sent to it.
func (s *session) dismiss() {
	if !s.torn {
		_ = s.send(&pgproto3.Terminate{})
		_ = s.out.Flush()
	}
	<-s.done
	if idle, _ := s.exchange.idle(); !idle && errors.Is(s.endReason(), errShutdown) {
		ctx, stop := context.WithTimeout(context.Background(), linger)
		defer stop()
		if err := s.held.Cancel(ctx); err != nil {
			s.log.Warn("a statement could not be canceled", "error", err)
		}
	}
	if s.pool == nil {
		return
	}
	if s.leave(); s.parting == nil {
		s.pool.vacate()
	}
}

// discard reads what a client still sends, for a moment: a connection that is closed before is reset, and the client
// may never see what it was told last.
func discard(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(linger / 4))
		_, _ = io.Copy(io.Discard, conn)
	}
}
