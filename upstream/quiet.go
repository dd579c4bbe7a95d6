package upstream

import (
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// maxIdle is how long a quiet connection is trusted: what lies between may drop one without a word.
const maxIdle = 30 * time.Second

// doubtful reports whether a connection of the pool may be dead, and has to answer before it is used. A database that
// ends a session says so, or closes the connection, and the kernel knows; only where it does not is a round trip
// needed.
func doubtful(p pgxpool.ShouldPingParams) bool {
	return p.IdleDuration > maxIdle || !quiet(p.Conn.PgConn().Conn())
}

// quiet reports whether an idle connection is open and has nothing to be read. It never waits: a background reader of
// the driver's may be waiting on the same connection, so it takes the descriptor and not the right to read.
func quiet(conn net.Conn) bool {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = t.NetConn()
	}
	s, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	var waiting error
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, waiting = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && waiting == syscall.EAGAIN
}
