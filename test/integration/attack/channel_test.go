//go:build fuguhooks

package attack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
	"fugu/test/pgcluster"
)

// channel is an attack on what Fugu draws no noise for: errors, NULLs, the number of rows, tags, types, notices,
// catalogs, plans. With every released value blanked, what is left of the two worlds must be the same bytes.
type channel struct {
	off    []*bool  // the defences that it breaks on
	open   bool     // with the defence off, statements go to a guest that may read the protected table itself
	policy []string // edits of the policy
	plant  string   // what the analyst makes first
	tell   []string // scripts of statements divided by " | ": with the defence off, each alone tells the worlds apart
	more   []string // scripts that are compared with the defence on only
	worlds [2]world // none: the odd ones
	log    bool     // the log is looked at as well
	waits  string   // what the defence waits for; empty once it is there
}

// compare runs each script in both worlds, by the simple and by the extended protocol in text and in binary. A script
// that is not the same twice in one world tells nothing.
func (c channel) compare(t *testing.T) {
	t.Helper()
	if c.worlds[0].database == "" {
		c.worlds = odd
	}
	for _, w := range c.worlds {
		if c.plant != "" {
			if err := databases(t).Exec(t.Context(), w.database, "SET ROLE fugu_guest; "+c.plant); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("defence off", func(t *testing.T) {
		t.Helper()
		off(t, append(c.off, &hook.BlankRelease)...)
		o := options{policy: c.policy}
		if c.open {
			off(t, &hook.Blind)
			o.guest = "fugu_open"
		}
		f, g := serve(t, c.worlds[0], o), serve(t, c.worlds[1], o)
		for _, script := range c.tell {
			told := false
			for _, r := range roads {
				if a := c.transcript(t, f, script, r); a == c.transcript(t, f, script, r) &&
					a != c.transcript(t, g, script, r) {
					told = true
					break
				}
			}
			if !told {
				t.Errorf("%s: the worlds look the same, so it is no test of the defence:\n%s", script,
					c.transcript(t, f, script, roads[0]))
			}
		}
	})
	t.Run("defence on", func(t *testing.T) {
		t.Helper()
		if c.waits != "" {
			t.Skip("waits for " + c.waits)
		}
		off(t, &hook.BlankRelease)
		f, g := serve(t, c.worlds[0], options{policy: c.policy}), serve(t, c.worlds[1], options{policy: c.policy})
		for _, script := range append(c.tell, c.more...) {
			for _, r := range roads {
				a, b := c.transcript(t, f, script, r), c.transcript(t, g, script, r)
				if a != b {
					t.Errorf("%s (%s): the worlds differ:\n%s", script, r.name, difference(a, b))
				} else if strings.Contains(a, "\"XX000\"") {
					t.Errorf("%s (%s): %s", script, r.name, a)
				}
			}
		}
	})
}

// road is a way to send a statement.
type road struct {
	name     string
	messages func(sql string) []pgproto3.FrontendMessage
}

var roads = []road{
	{"simple", func(sql string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{&pgproto3.Query{String: sql}}
	}},
	{"extended", func(sql string) []pgproto3.FrontendMessage { return extended(sql, 0) }},
	{"binary", func(sql string) []pgproto3.FrontendMessage { return extended(sql, 1) }},
}

func extended(sql string, format int16) []pgproto3.FrontendMessage {
	return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: sql}, &pgproto3.Describe{ObjectType: 'S'},
		&pgproto3.Bind{ResultFormatCodes: []int16{format}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{},
		&pgproto3.Sync{}}
}

// transcript is all that a new client of f gets to see while it sends the script, nobody having asked anything before.
func (c channel) transcript(t *testing.T, f *fugu, script string, r road) string {
	t.Helper()
	f.renew()
	f.log.reset()
	p := dial(t, f)
	defer p.Conn.Close()
	var out strings.Builder
	for _, sql := range strings.Split(script, " | ") {
		p.Send(t, r.messages(sql)...)
		fmt.Fprintf(&out, "> %s\n%s", sql, p.untilReady(t))
	}
	if c.log {
		out.WriteString(timestamp.ReplaceAllString(f.log.String(), ""))
	}
	return out.String()
}

// peer is a client that sees every message.
type peer struct{ pgcluster.Peer }

func dial(t testing.TB, f *fugu) peer {
	t.Helper()
	return dialAs(t, f, "alice")
}

func dialAs(t testing.TB, f *fugu, user string) peer {
	t.Helper()
	p := peer{pgcluster.Dial(t, f.dsn(user))}
	_ = p.Conn.SetDeadline(time.Now().Add(hang))
	return p
}

// untilReady reads up to ReadyForQuery, and returns everything as text, one line a message. What names a process or
// a session of the server's is left out: it differs from one connection to the next.
func (p peer) untilReady(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for {
		m, err := p.Frontend.Receive()
		if err != nil {
			t.Fatalf("after\n%s: %v", out.String(), err)
		}
		switch m := m.(type) {
		case *pgproto3.NotificationResponse:
			m.PID = 0
		case *pgproto3.RowDescription:
			for i := range m.Fields {
				m.Fields[i].TableOID = 0 // tables that a test makes have other numbers in each database
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(session.ReplaceAll(text, []byte("pg_temp")), '\n'))
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			return out.String()
		}
	}
}

var (
	session   = regexp.MustCompile(`pg_(toast_)?temp_[0-9]+`)
	timestamp = regexp.MustCompile(`"time":"[^"]*",|"address":"[^"]*"|"session":[0-9]+`)
)

// difference is the first line in which two transcripts differ.
func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i] + "\n" + bs[i]
		}
	}
	return fmt.Sprintf("%d and %d lines", len(as), len(bs))
}
