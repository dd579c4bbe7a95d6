package wire

import (
	"bufio"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// encoded writes messages one behind the other.
func encoded(b *testing.B, messages ...interface{ Encode([]byte) ([]byte, error) }) []byte {
	var out []byte
	for _, m := range messages {
		var err error
		if out, err = m.Encode(out); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

// echo is a server that answers every Query and Sync with the same bytes, at once: what is left is the relay's own cost.
func echo(conn net.Conn, reply map[byte][]byte) {
	in := newFrames(conn)
	out := bufio.NewWriter(conn)
	for {
		if in.r.Buffered() == 0 && out.Flush() != nil {
			return
		}
		typ, length, err := in.next()
		if err != nil || in.skip(length) != nil {
			return
		}
		_, _ = out.Write(reply[typ])
	}
}

// What a point select costs between the client and the server, in time and allocations; the server is a stub, so that
// nothing else is in it. direct is the same without the relay.
func BenchmarkRelay(b *testing.B) {
	row := []pgproto3.FieldDescription{{Name: []byte("abalance"), DataTypeOID: 23, DataTypeSize: 4, TypeModifier: -1}}
	description, data := encoded(b, &pgproto3.RowDescription{Fields: row}), encoded(b, &pgproto3.DataRow{Values: [][]byte{[]byte("1234")}}, &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	ready := encoded(b, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	reply := map[byte][]byte{'Q': slices.Concat(description, data, ready), 'P': encoded(b, &pgproto3.ParseComplete{}), 'B': encoded(b, &pgproto3.BindComplete{}),
		'D': description, 'E': data, 'S': ready}
	const sql = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711"
	portal := []interface{ Encode([]byte) ([]byte, error) }{&pgproto3.Bind{PreparedStatement: "p1", Parameters: [][]byte{[]byte("4711")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{}}
	for name, request := range map[string][]byte{
		"simple":   encoded(b, &pgproto3.Query{String: sql}),
		"extended": append(encoded(b, &pgproto3.Parse{Query: sql}), encoded(b, portal...)...),
		"prepared": encoded(b, portal...),
	} {
		for _, direct := range []bool{true, false} {
			b.Run(map[bool]string{true: name + "/direct", false: name + "/relayed"}[direct], func(b *testing.B) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				near, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				far, err := l.Accept()
				if err != nil {
					b.Fatal(err)
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					echo(far, reply)
				}()
				client := near
				if !direct {
					p := serve(b, func(_ *Config, f *fake) { f.guestConn.Store(&near) })
					c, err := pgx.Connect(b.Context(), p.dsn())
					if err != nil {
						b.Fatal(err)
					}
					h, err := c.PgConn().Hijack()
					if err != nil {
						b.Fatal(err)
					}
					client = h.Conn
				}
				in := newFrames(client)
				var times []time.Duration
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					if _, err := client.Write(request); err != nil {
						b.Fatal(err)
					}
					for typ := byte(0); typ != 'Z'; {
						var length int
						if typ, length, err = in.next(); err != nil {
							b.Fatal(err)
						}
						_ = in.skip(length)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns/op")
				client.Close()
				far.Close()
				<-done
			})
		}
	}
}
