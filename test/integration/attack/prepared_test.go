//go:build fuguhooks

package attack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// sequences are ways to have one statement answered several times over the protocol, or one answer read several times.
var sequences = map[string][]pgproto3.FrontendMessage{
	"three portals of one statement": {parse("s", rich), bind("a", "s"), bind("b", "s"), bind("c", "s"), execute("a"),
		execute("b"), execute("c"), synced},
	"a portal bound again": {parse("s", rich), bind("", "s"), execute(""), bind("", "s"), execute(""), synced,
		bind("", "s"), execute(""), synced},
	"two names, text and binary": {parse("s", rich), parse("t", rich), bind("", "s"), execute(""), bind("", "t", 1),
		execute(""), synced},
	"a statement closed under its portal": {parse("s", rich), bind("a", "s"), &pgproto3.Close{ObjectType: 'S',
		Name: "s"}, execute("a"), synced,
		parse("s", rich), bind("a", "s"), execute("a"), synced},
	"an error in the middle": {parse("s", rich), bind("", "s"), execute(""), parse("", "SELEC"), synced, bind("", "s"),
		execute(""), synced},
	"deallocated and prepared again": {parse("s", rich), bind("", "s"), execute(""), synced, query("DEALLOCATE s"),
		parse("s", rich), bind("", "s"), execute(""), synced,
		query("DISCARD ALL"), parse("s", rich), bind("", "s"), execute(""), synced},
	"simple and extended in turn": {query(rich), parse("", rich), bind("", ""), execute(""), synced,
		query(rich + ";" + rich)},
	"rolled back": {query("BEGIN"), parse("", rich), bind("", ""), execute(""), synced, query("ROLLBACK"),
		query("BEGIN ISOLATION LEVEL SERIALIZABLE"),
		query(rich), query("ROLLBACK"), query(rich)},
	"types given": {parse("", rich+" AND id > $1", 23), bindValue("-1"), execute(""), synced,
		parse("", rich+" AND id > $1", 23), bindValue(" -1 "), execute(""), synced,
		parse("", rich+" AND id > $1"), bindValue("-01"), execute(""), synced,
		parse("", rich+" AND id > $1"), bindBinary(0xff, 0xff, 0xff, 0xff), execute(""), synced},
	"a cursor": {query("BEGIN"), query("DECLARE c SCROLL CURSOR FOR " + rich), query("FETCH c"),
		query("MOVE BACKWARD ALL c"), query("FETCH c"), query("FETCH FIRST c"), query("ROLLBACK"),
		query("BEGIN"), query("DECLARE c CURSOR WITH HOLD FOR " + rich), query("COMMIT"), query("FETCH c"),
		query("CLOSE c")},
	"PREPARE and EXECUTE": {query("PREPARE p AS " + rich), query("EXECUTE p"), query("EXECUTE p"),
		query("DEALLOCATE p"), query("PREPARE p AS " + rich), query("EXECUTE p")},
}

var synced = &pgproto3.Sync{}

func parse(name, sql string, types ...uint32) *pgproto3.Parse {
	return &pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: types}
}

func bind(portal, name string, formats ...int16) *pgproto3.Bind {
	return &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: name, ResultFormatCodes: formats}
}

func bindValue(v string) *pgproto3.Bind { return &pgproto3.Bind{Parameters: [][]byte{[]byte(v)}} }

func bindBinary(v ...byte) *pgproto3.Bind {
	return &pgproto3.Bind{Parameters: [][]byte{v}, ParameterFormatCodes: []int16{1}}
}

func execute(portal string) *pgproto3.Execute { return &pgproto3.Execute{Portal: portal} }

func query(sql string) *pgproto3.Query { return &pgproto3.Query{String: sql} }

// One statement answered over and over by tricks of the protocol is one answer, paid for once.
func TestPreparedStatements(t *testing.T) {
	// values are the different numbers that a sequence brings, and the releases that it was charged for.
	values := func(t *testing.T, f *fugu, messages []pgproto3.FrontendMessage) (map[string]int, int) {
		t.Helper()
		f.renew()
		p := dial(t, f)
		defer p.Conn.Close()
		seen := map[string]int{}
		for _, m := range messages {
			p.Frontend.Send(m)
			switch m.(type) {
			case *pgproto3.Sync, *pgproto3.Query:
				if err := p.Frontend.Flush(); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(p.untilReady(t)) {
					if strings.Contains(line, `"DataRow"`) {
						seen[number64(t, line)]++
					}
				}
			}
		}
		_, n := spent(t, f.connect(t, ""))
		return seen, n
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.NoStored, &hook.NoCharge)
		f := serve(t, worlds[0], options{})
		for name, messages := range sequences {
			// Two answers of their own are the same number once in some hundred times, six times in a row never.
			different := false
			for try := 0; try < 6 && !different; try++ {
				seen, _ := values(t, f, messages)
				different = len(seen) > 1
			}
			if !different {
				t.Errorf("%s: always one number: it is no test of the defence", name)
			}
		}
	})
	t.Run("defence on", func(t *testing.T) {
		f := serve(t, worlds[0], options{})
		for name, messages := range sequences {
			if seen, n := values(t, f, messages); len(seen) != 1 || n != 1 {
				t.Errorf("%s: %v in %d releases", name, seen, n)
			}
		}
	})
}

// number64 is the bigint in a DataRow of one value, as text or in binary.
func number64(t *testing.T, line string) string {
	t.Helper()
	_, text, ok := strings.Cut(line, `"text":"`)
	if ok {
		text, _, _ = strings.Cut(text, `"`)
		return text
	}
	_, text, ok = strings.Cut(line, `"binary":"`)
	text, _, _ = strings.Cut(text, `"`)
	var n uint64
	if _, err := fmt.Sscanf(text, "%x", &n); !ok || err != nil {
		t.Fatalf("not a number: %s", line)
	}
	return fmt.Sprint(int64(n))
}
