package upstream

import (
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// probes is how many of TCP's questions a database may leave unanswered before its connection is given up.
const probes = 4

// Dialer dials databases so that TCP asks, after so long a silence, whether they are still there.
func Dialer(keepAlive time.Duration) pgconn.DialFunc {
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: max(time.Second, keepAlive/probes), Count: probes}}
	return d.DialContext
}
