package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A script is messages of a client's and, as strings, the types of replies to wait for: "Z" reads up to the next
// ReadyForQuery, "1Z" up to a ParseComplete and then a ReadyForQuery.
type script []any

func q(sql string) *pgproto3.Query { return &pgproto3.Query{String: sql} }
func parse(name, sql string, oids ...uint32) *pgproto3.Parse {
	return &pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: oids}
}
func bind(portal, statement string, values ...string) *pgproto3.Bind {
	m := &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement}
	for _, v := range values {
		m.Parameters = append(m.Parameters, []byte(v))
	}
	return m
}
func describeS(name string) *pgproto3.Describe {
	return &pgproto3.Describe{ObjectType: 'S', Name: name}
}
func describeP(name string) *pgproto3.Describe {
	return &pgproto3.Describe{ObjectType: 'P', Name: name}
}
func closeS(name string) *pgproto3.Close   { return &pgproto3.Close{ObjectType: 'S', Name: name} }
func exec(portal string) *pgproto3.Execute { return &pgproto3.Execute{Portal: portal} }
func execN(portal string, n uint32) *pgproto3.Execute {
	return &pgproto3.Execute{Portal: portal, MaxRows: n}
}
func data(s string) *pgproto3.CopyData { return &pgproto3.CopyData{Data: []byte(s)} }

var (
	sync_    = &pgproto3.Sync{}
	flush    = &pgproto3.Flush{}
	copyDone = &pgproto3.CopyDone{}
	copyFail = &pgproto3.CopyFail{Message: "changed my mind"}
)

// protected is a statement of the fake engine's.
const protected = "SELECT x FROM noisy ORDER BY x /*p*/"

const one = `C "INSERT 0 1\x00"`

// inStep are the replies that every script ends with, up to ReadyForQuery.
var inStep = []string{`T ?column?:25/-1/0`, `D ["in step"]`, `C "SELECT 1\x00"`}

// peer is a client's end of a connection, read as raw frames.
type peer struct {
	net.Conn
	in  *frames
	key []byte // process id and secret, as cancel requests need them
}

// patience is how long a peer waits for a reply before the test fails: long, as a machine may have much else to do.
const patience = 2 * time.Minute

// dial connects and logs in, up to the first ReadyForQuery.
func dial(t testing.TB, address string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return greet(t, c)
}

func greet(t testing.TB, c net.Conn) *peer {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	p := &peer{Conn: c, in: newFrames(c)}
	hello := &pgproto3.StartupMessage{ProtocolVersion: protocol30, Parameters: map[string]string{"user": "postgres",
		"database": "postgres", "application_name": "wiretest"}}
	p.put(t, encode(t, hello))
	if got := p.until(t, "Z"); len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "Z") {
		t.Fatalf("logging in: %q", got)
	}
	return p
}

func encode(t testing.TB, messages ...pgproto3.FrontendMessage) []byte {
	t.Helper()
	var b []byte
	var err error
	for _, m := range messages {
		if b, err = m.Encode(b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (p *peer) put(t testing.TB, b []byte) {
	t.Helper()
	if _, err := p.Write(b); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// until reads replies up to those of the given types, in turn; the end of the connection ends it too.
func (p *peer) until(t testing.TB, types string) []string {
	t.Helper()
	var got []string
	for types != "" {
		_ = p.SetReadDeadline(time.Now().Add(patience))
		typ, length, err := p.in.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				t.Errorf("waiting for %q after %q: %v", types, got, err)
			}
			return append(got, "end")
		}
		body, err := p.in.read(length)
		if err != nil {
			t.Errorf("reading a %c: %v", typ, err)
			return got
		}
		if typ == types[0] {
			types = types[1:]
		}
		if typ == 'K' {
			p.key = slices.Clone(body)
		}
		got = append(got, show(typ, body))
	}
	return got
}

// run plays a script and returns the replies. It ends with a query, which shows that client and server are in step, and
// whose replies are checked and left out. Nothing is played behind the end of the connection.
func (p *peer) run(t testing.TB, s script) []string {
	t.Helper()
	var got []string
	var out []byte
	var writing sync.WaitGroup
	defer writing.Wait()
	write := func() {
		b := out
		out = nil
		writing.Wait()
		// A client that does not read while it writes can stand still, as with PostgreSQL.
		writing.Go(func() { _, _ = p.Write(b) })
	}
	for _, step := range append(slices.Clone(s), q("SELECT 'in step'"), "TZ") {
		switch step := step.(type) {
		case pgproto3.FrontendMessage:
			out = append(out, encode(t, step)...)
		case []byte:
			out = append(out, step...)
		case action:
			write()
			writing.Wait()
			step(t, p)
		case string:
			write()
			got = append(got, p.until(t, step)...)
			if len(got) > 0 && got[len(got)-1] == "end" {
				return got
			}
		default:
			t.Fatalf("%T in a script", step)
		}
	}
	if n := len(got) - 4; n < 0 || !slices.Equal(got[n:n+3], inStep) {
		t.Errorf("out of step: %q", got)
	}
	return got
}

// show writes a reply as text, without what a rewritten statement may change: tables behind columns, and where in the
// server's source an error was raised.
func show(typ byte, body []byte) string {
	var m pgproto3.BackendMessage
	switch typ {
	case 'T':
		m = &pgproto3.RowDescription{}
	case 'D':
		m = &pgproto3.DataRow{}
	case 'E', 'N':
		m = &pgproto3.ErrorResponse{}
	case 't':
		m = &pgproto3.ParameterDescription{}
	case 'K':
		return "K"
	case 'A':
		return fmt.Sprintf("A %q", body[4:]) // behind the server's process id
	default:
		return fmt.Sprintf("%c %q", typ, body)
	}
	if err := m.Decode(body); err != nil {
		return fmt.Sprintf("%c %v", typ, err)
	}
	switch m := m.(type) {
	case *pgproto3.RowDescription:
		s := "T"
		for _, f := range m.Fields {
			s += fmt.Sprintf(" %s:%d/%d/%d", f.Name, f.DataTypeOID, f.TypeModifier, f.Format)
		}
		return s
	case *pgproto3.DataRow:
		return fmt.Sprintf("D %q", m.Values)
	case *pgproto3.ErrorResponse:
		s := fmt.Sprintf("%c %s %s %s", typ, m.Severity, m.Code, m.Message)
		for _, f := range []struct{ name, value string }{{"detail", m.Detail}, {"hint", m.Hint}} {
			if f.value != "" {
				s += " " + f.name + ": " + f.value
			}
		}
		if m.Position != 0 {
			s += fmt.Sprintf(" at %d", m.Position)
		}
		return s
	case *pgproto3.ParameterDescription:
		return fmt.Sprint("t ", m.ParameterOIDs)
	}
	return ""
}

// same plays a script on PostgreSQL itself and through the proxy, and compares every reply.
func same(t *testing.T, p *proxy, s script) {
	t.Helper()
	direct := dial(t, fmt.Sprintf("127.0.0.1:%d", cluster(t).Port()))
	want := direct.run(t, s)
	_ = direct.Close()
	through := dial(t, p.address)
	got := through.run(t, s)
	_ = through.Close()
	compare(t, got, want)
}

func compare(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// frame is a raw frame, for messages that pgproto3 would not write.
func frame(typ byte, body string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{typ}, uint32(4+len(body)))
	return append(b, body...)
}
