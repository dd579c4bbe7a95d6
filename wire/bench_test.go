package wire

import (
	"bufio"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// encoded writes messages one behind the other.
func encoded(b testing.TB, messages ...interface{ Encode([]byte) ([]byte, error) }) []byte {
	var out []byte
	for _, m := range messages {
		var err error
		if out, err = m.Encode(out); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

// echo is a server that answers every Query and Sync with the same bytes, at once: what is left is the relay's own
// cost.
func echo(conn net.Conn, reply map[byte][]byte) {
	in := newFrames(conn)
	out := bufio.NewWriter(conn)
	for {
		if in.r.Buffered() == 0 && out.Flush() != nil {
			return
		}
		typ, length, err := in.next()
		if err != nil || in.skip(length) != nil || typ == 'X' {
			return
		}
		_, _ = out.Write(reply[typ])
	}
}

// exchanged are the requests of a point select in each protocol, rows and copies, and what the server answers to the
// messages that end something. Each request is answered with one ReadyForQuery.
func exchanged(t testing.TB) (requests map[string][]byte, reply map[byte][]byte) {
	row := []pgproto3.FieldDescription{{Name: []byte("abalance"), DataTypeOID: 23, DataTypeSize: 4, TypeModifier: -1}}
	description, data := encoded(t, &pgproto3.RowDescription{Fields: row}),
		encoded(t, &pgproto3.DataRow{Values: [][]byte{[]byte("1234")}},
			&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	ready := encoded(t, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	reply = map[byte][]byte{'Q': slices.Concat(description, data, ready), 'P': encoded(t, &pgproto3.ParseComplete{}),
		'B': encoded(t, &pgproto3.BindComplete{}),
		'D': description, 'E': data, 'S': ready}
	const sql = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711"
	portal := []interface{ Encode([]byte) ([]byte, error) }{&pgproto3.Bind{PreparedStatement: "p1",
		Parameters: [][]byte{[]byte("4711")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{},
		&pgproto3.Sync{}}
	return map[string][]byte{
		"simple":   encoded(t, &pgproto3.Query{String: sql}),
		"extended": append(encoded(t, &pgproto3.Parse{Query: sql}), encoded(t, portal...)...),
		"prepared": encoded(t, portal...),
	}, reply
}

// stubbed starts a server that answers every Query and Sync with the same bytes, and a relay before it; it gives the
// connections of a client of each.
func stubbed(t testing.TB, reply map[byte][]byte) (direct, relayed net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	pair := func() net.Conn {
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			defer far.Close()
			echo(far, reply)
		})
		t.Cleanup(func() { near.Close() })
		return near
	}
	guest := pair()
	p := serve(t, func(_ *Config, f *fake) { f.guestConn.Store(&guest) })
	c, err := pgx.Connect(t.Context(), p.dsn())
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.PgConn().Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Conn.Close() })
	return pair(), h.Conn
}

// roundTrip sends a request and reads up to the ReadyForQuery.
func roundTrip(t testing.TB, conn net.Conn, in *frames, request []byte) {
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	for typ := byte(0); typ != 'Z'; {
		var length int
		var err error
		if typ, length, err = in.next(); err != nil {
			t.Fatal(err)
		}
		if err := in.skip(length); err != nil {
			t.Fatal(err)
		}
	}
}

// What a point select costs between the client and the server, in time and allocations; the server is a stub, so that
// nothing else is in it. direct is the same without the relay.
func BenchmarkRelay(b *testing.B) {
	requests, reply := exchanged(b)
	for name, request := range requests {
		direct, relayed := stubbed(b, reply)
		for way, conn := range map[string]net.Conn{"direct": direct, "relayed": relayed} {
			b.Run(name+"/"+way, func(b *testing.B) {
				in := newFrames(conn)
				var times []time.Duration
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					roundTrip(b, conn, in, request)
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns/op")
			})
		}
	}
}

// Once it runs, a session allocates nothing for what it relays.
func TestRelayAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	requests, reply := exchanged(t)
	requests["rows"] = encoded(t, &pgproto3.Parse{Query: "SELECT"}, &pgproto3.Bind{}, &pgproto3.Execute{},
		&pgproto3.Sync{})
	wide := encoded(t, &pgproto3.DataRow{Values: [][]byte{make([]byte, 3000)}})
	rows := slices.Concat(reply['P'], reply['B'], slices.Repeat(wide, 100), reply['E'], reply['S'])
	requests["copy in"] = encoded(t, &pgproto3.Query{String: "COPY t FROM STDIN"},
		&pgproto3.CopyData{Data: make([]byte, 100_000)}, &pgproto3.CopyData{Data: make([]byte, 10)},
		&pgproto3.CopyData{Data: make([]byte, 10)}, &pgproto3.CopyDone{})
	copied := encoded(t, &pgproto3.CommandComplete{CommandTag: []byte("COPY 3")},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			reply := maps.Clone(reply)
			switch name {
			case "rows":
				reply = map[byte][]byte{'S': rows}
			case "copy in":
				reply = map[byte][]byte{'Q': encoded(t, &pgproto3.CopyInResponse{}), 'c': copied}
			}
			_, conn := stubbed(t, reply)
			in := newFrames(conn)
			// A few of the runtime's own, in the background, are less than one in a run; an allocation for each message
			// is not.
			if n := testing.AllocsPerRun(500, func() { roundTrip(t, conn, in, request) }); n > 0 {
				t.Errorf("%v allocations for each exchange", n)
			}
		})
	}
}
