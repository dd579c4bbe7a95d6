package upstream

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/pgcluster"
)

// A connection string may name several hosts, and what the session must be able to do: the first host that answers and
// fits is taken, by guest and reader, and cancel requests go there too.
func TestSeveralHosts(t *testing.T) {
	writes := pgcluster.Shared(t)
	reads := pgcluster.StartTest(t,
		pgcluster.Options{Settings: map[string]string{"default_transaction_read_only": "on"}})
	dsn := func(attrs string) string {
		return fmt.Sprintf("host=127.0.0.1,127.0.0.1,127.0.0.1 port=%d,%d,%d user=postgres dbname=postgres "+
			"sslmode=disable target_session_attrs=%s",
			closedPort(t), reads.Port(), writes.Port(), attrs)
	}
	for attrs, want := range map[string]*pgcluster.Cluster{"any": reads, "read-write": writes, "read-only": reads,
		"primary": reads} {
		t.Run(attrs, func(t *testing.T) {
			config, err := pgconn.ParseConfig(dsn(attrs))
			if err != nil {
				t.Fatal(err)
			}
			config.DialFunc = Dialer(time.Minute)
			g, err := OpenGuest(t.Context(), config, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Conn().Close()
			port := fmt.Sprint(want.Port())
			_, at, err := net.SplitHostPort(g.Conn().RemoteAddr().String())
			if err != nil || at != port {
				t.Errorf("the guest is at port %s, want %s", at, port)
			}
			if err := g.Cancel(t.Context()); err != nil {
				t.Errorf("canceling: %v", err)
			}
			if attrs == "read-only" {
				return // which the reader is whatever the server
			}
			r, err := OpenReader(dsn(attrs), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rows, err := r.Query(t.Context(),
				"SELECT current_setting('port'), current_setting('default_transaction_read_only'), "+
					"current_setting('transaction_read_only')", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(rows[0][0].Text, rows[0][1].Text, rows[0][2].Text); got != port+"onon" {
				t.Errorf("the reader is at %s, want %s, read-only", got, port)
			}
		})
	}
	config, err := pgconn.ParseConfig(dsn("standby"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenGuest(t.Context(), config, nil)
	wantCode(t, err, "08006")
}
