package integration

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/pgcluster"
)

// peer is a client that speaks the protocol message by message.
type peer struct {
	pgcluster.Peer
	masked bool // hide what differs between the protected table and its reference
}

func dial(t testing.TB, dsn string) *peer {
	t.Helper()
	p := &peer{Peer: pgcluster.Dial(t, dsn)}
	p.patiently()
	return p
}

// patiently has whatever the client sends and reads from now on end, if nothing comes any more.
func (p *peer) patiently() { _ = p.Conn.SetDeadline(time.Now().Add(hang)) }

// until reads up to the message that stop accepts, and returns all as text, one line each.
func (p *peer) until(t testing.TB, stop func(pgproto3.BackendMessage) bool) string {
	t.Helper()
	var out strings.Builder
	for {
		p.patiently()
		m, err := p.Frontend.Receive()
		if err != nil {
			t.Fatalf("after\n%s: %v", out.String(), err)
		}
		switch m := m.(type) {
		case *pgproto3.NotificationResponse:
			m.PID = 0
		case *pgproto3.ErrorResponse:
			if strings.HasPrefix(m.SchemaName, "pg_temp_") {
				m.SchemaName = "pg_temp"
			}
			if p.masked {
				m.File, m.Line, m.Routine, m.Position = "", 0, "", 0
			}
		case *pgproto3.NoticeResponse:
			if p.masked {
				m.File, m.Line, m.Routine = "", 0, ""
			}
		case *pgproto3.RowDescription:
			for i := range m.Fields {
				m.Fields[i].TableOID = 0 // each session has a temporary table of its own
				if p.masked {
					m.Fields[i].TableAttributeNumber = 0
				}
			}
		case *pgproto3.CopyData:
			if p.masked {
				m.Data = []byte("?")
			}
		case *pgproto3.DataRow:
			if p.masked {
				for i := range m.Values {
					m.Values[i] = []byte("?")
				}
			}
		}
		if n, ok := m.(*pgproto3.NoticeResponse); ok && p.masked && strings.HasPrefix(n.Message, "fugu: ") {
			continue // where the noise is larger than the values, which PostgreSQL has not
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
		if stop(m) {
			return out.String()
		}
	}
}

// ready counts ReadyForQuery.
func ready(n int) func(pgproto3.BackendMessage) bool {
	return func(m pgproto3.BackendMessage) bool {
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			n--
		}
		return n == 0
	}
}

// Messages of the scripts below.
type message = pgproto3.FrontendMessage

func query(s string) message { return &pgproto3.Query{String: s} }
func parse(name, s string, types ...uint32) message {
	return &pgproto3.Parse{Name: name, Query: s, ParameterOIDs: types}
}
func bind(portal, name string, values ...string) message {
	b := &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: name}
	for _, v := range values {
		b.Parameters = append(b.Parameters, []byte(v))
	}
	return b
}
func execute(portal string, max uint32) message {
	return &pgproto3.Execute{Portal: portal, MaxRows: max}
}
func describe(kind byte, name string) message {
	return &pgproto3.Describe{ObjectType: kind, Name: name}
}
func closing(kind byte, name string) message { return &pgproto3.Close{ObjectType: kind, Name: name} }
func copyData(s string) message              { return &pgproto3.CopyData{Data: []byte(s)} }

var (
	sync  = message(&pgproto3.Sync{})
	flush = message(&pgproto3.Flush{})
	done  = message(&pgproto3.CopyDone{})
	fail  = message(&pgproto3.CopyFail{Message: "enough"})
)

// meet asks about the protected table, so that the session has been told that its answers have noise.
func (p *peer) meet(t *testing.T) {
	t.Helper()
	p.Send(t, query("SELECT count(*) FROM adult"))
	if got := p.until(t, ready(1)); !contains(got, "public.adult is answered with noise") {
		t.Errorf("at first: %s", got)
	}
}

// run is an unnamed statement through the extended protocol.
func run(s string, values ...string) []message {
	return []message{parse("", s), bind("", "", values...), describe('P', ""), execute("", 0)}
}

func queries(texts ...string) []message {
	var out []message
	for _, s := range texts {
		out = append(out, query(s))
	}
	return out
}

// answers is the number of ReadyForQuery that messages ask for. A Sync in front of the data of a copy asks for none:
// the server ignores it (manual, "COPY Operations").
func answers(messages []message) int {
	n := 0
	for i, m := range messages {
		switch m.(type) {
		case *pgproto3.Sync:
			if i+1 == len(messages) || !isCopy(messages[i+1]) {
				n++
			}
		case *pgproto3.Query:
			n++
		}
	}
	return n
}

func isCopy(m message) bool {
	switch m.(type) {
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return true
	}
	return false
}
