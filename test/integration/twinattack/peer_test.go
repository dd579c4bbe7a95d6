//go:build fuguhooks

package twinattack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/pgcluster"
)

// peer is a client that sees every message.
type peer struct{ pgcluster.Peer }

func dial(t testing.TB, dsn string) peer {
	t.Helper()
	return peer{pgcluster.Dial(t, dsn)}
}

// road is a way to send a statement.
type road int

const (
	simple road = iota
	inText
	inBinary
)

// send sends scripts of statements divided by " | ", and returns all that comes back for each of them.
func (p peer) ask(script string, r road) (string, error) {
	_ = p.Conn.SetDeadline(time.Now().Add(2 * time.Minute))
	var out strings.Builder
	for _, sql := range strings.Split(script, " | ") {
		if r == simple {
			p.Frontend.Send(&pgproto3.Query{String: sql})
		} else {
			p.Frontend.Send(&pgproto3.Parse{Query: sql})
			p.Frontend.Send(&pgproto3.Bind{ResultFormatCodes: []int16{int16(r - inText)}})
			p.Frontend.Send(&pgproto3.Describe{ObjectType: 'P'})
			p.Frontend.Send(&pgproto3.Execute{})
			p.Frontend.Send(&pgproto3.Sync{})
		}
		if err := p.Frontend.Flush(); err != nil {
			return "", err
		}
		if err := p.untilReady(&out); err != nil {
			return "", fmt.Errorf("%s: %w", sql, err)
		}
	}
	return out.String(), nil
}

// session is what names a session of the server's: the next one has another.
var session = regexp.MustCompile(`pg_(toast_)?temp_[0-9]+`)

func (p peer) untilReady(out *strings.Builder) error {
	for {
		m, err := p.Frontend.Receive()
		if err != nil {
			return err
		}
		if n, ok := m.(*pgproto3.NotificationResponse); ok {
			n.PID = 0
		}
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		out.Write(append(session.ReplaceAll(text, []byte("pg_temp")), '\n'))
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			return nil
		}
	}
}

// difference is the first line in which two transcripts differ.
func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("%.600s\n%.600s", as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(as), len(bs))
}
