//go:build fuguhooks

package attack

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// long is an expression that takes a customer with a high income some milliseconds, and all others no time.
var long = "CASE WHEN income = 'high' AND id >= 400 THEN length(" + nest("replace($, 'x', 'xxx')", "note", 6) +
	") > 7 END"

// watch is a way to see how long rows were read for; it returns that time, and all that it was told.
type watch func(t *testing.T, f *fugu, condition string) (time.Duration, string)

// sending is the time from the last flush until everything is there. Each entry of steps is flushed by itself.
func sending(steps ...func(sql string) []pgproto3.FrontendMessage) watch {
	return func(t *testing.T, f *fugu, condition string) (took time.Duration, told string) {
		t.Helper()
		p := dial(t, f)
		defer p.Conn.Close()
		for _, step := range steps {
			for _, m := range step("SELECT count(*) FROM customer WHERE " + condition) {
				p.Frontend.Send(m)
			}
			start := time.Now()
			if err := p.Frontend.Flush(); err != nil {
				t.Fatal(err)
			}
			told += p.untilReady(t)
			took = time.Since(start)
		}
		return took, told
	}
}

// text is a step that sends a string of statements; $ is the statement in it.
func text(around string) func(sql string) []pgproto3.FrontendMessage {
	return func(sql string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{query(strings.ReplaceAll(around, "$", sql))}
	}
}

// watches are ways to see it, besides waiting for the answer.
var watches = map[string]watch{
	"several statements in a string": sending(text("SELECT 1; $; SELECT 2")),
	"a string of many":               sending(text("$ AND age > 0; $ AND age > 1; $ AND age > 2; $ AND age > 3")),
	"an error above the cut":         sending(text("SELECT 1 / (n - n) FROM ($) AS x(n)")),
	"an error in a later statement":  sending(text("$; SELECT 1 / 0")),
	"statement_timeout":              sending(text("SET statement_timeout = '50ms'"), text("$")),
	"lock_timeout":                   sending(text("SET lock_timeout = '50ms'"), text("$")),
	"COPY":                           sending(text("COPY ($) TO STDOUT")),
	"a cursor":                       sending(text("BEGIN"), text("DECLARE c CURSOR FOR $")),
	"PREPARE and EXECUTE":            sending(text("PREPARE p AS $"), text("EXECUTE p")),
	"CREATE TABLE AS":                sending(text("CREATE TEMPORARY TABLE mine AS $")),
	"two in one statement":           sending(text("SELECT ($) + ($ AND age > 0)")),
	"a transaction":                  sending(text("BEGIN; $; COMMIT")),
	"a row of a portal":              sending(func(sql string) []pgproto3.FrontendMessage { return parts(sql, 1) }),
	"a pipeline": sending(func(sql string) []pgproto3.FrontendMessage {
		return append(extended(sql, 0)[:5:5], extended("SELECT 1", 0)...)
	}),
	"Bind alone": sending(func(sql string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{parse("", sql), bind("", ""), synced}
	}),
	"the server's clock":              clocked,
	"whether it is done when another": raced,
}

// parts fetches the rows of a portal some at a time.
func parts(sql string, n uint32) []pgproto3.FrontendMessage {
	return []pgproto3.FrontendMessage{parse("", sql+" UNION ALL SELECT 7"), bind("", ""), &pgproto3.Execute{MaxRows: n},
		&pgproto3.Execute{MaxRows: n}, synced}
}

// clocked has the server write down when a statement came, and when the next.
func clocked(t *testing.T, f *fugu, condition string) (time.Duration, string) {
	t.Helper()
	c := f.connect(t, "")
	before := moment(t, c)
	_, err := value(t, c, "SELECT count(*) FROM customer WHERE "+condition)
	after := moment(t, c)
	_ = c.Close(t.Context())
	if err != nil {
		return time.Duration((after - before) * float64(time.Second)), err.Error()
	}
	return time.Duration((after - before) * float64(time.Second)), ""
}

// raced counts how many statements of another session's are answered meanwhile.
func raced(t *testing.T, f *fugu, condition string) (time.Duration, string) {
	t.Helper()
	c, other := f.connect(t, ""), f.connect(t, "bob")
	done := make(chan error, 1)
	go func() {
		_, err := value(t, c, "SELECT count(*) FROM customer WHERE "+condition)
		done <- err
	}()
	for n := 1; ; n++ {
		select {
		case err := <-done:
			_ = c.Close(t.Context())
			_ = other.Close(t.Context())
			if err != nil {
				return time.Duration(n), err.Error()
			}
			return time.Duration(n), ""
		default:
			if _, err := value(t, other, "SELECT 1"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// By whatever way it is seen how long rows are read for, an expression that takes long for some of them tells how many
// they are: at least three times as long in the world that has them. With the defence it is refused before a row is
// read, in the same words by all ways.
func TestWaysToTakeTheTime(t *testing.T) {
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.DearRows, &hook.NoGrid, &hook.NoCharge)
		var servers [2]*fugu
		for i, w := range worlds {
			servers[i] = serve(t, w, options{})
		}
		for name, see := range watches {
			var least [2]time.Duration
			for try := range 9 { // the least of several: what else the machine does only adds
				for i, f := range servers {
					// The model is there, so that all that is left is to read the rows; their number is another
					// question each time.
					f.renew()
					c := f.connect(t, "")
					if _, err := c.Exec(t.Context(), "EXPLAIN (PRIVACY) SELECT count(*) FROM customer WHERE "+
						long); err != nil {
						t.Fatal(err)
					}
					_ = c.Close(t.Context())
					if took, _ := see(t, f, long); try == 0 || took < least[i] {
						least[i] = took
					}
				}
				if least[1] > 3*least[0] {
					break
				}
			}
			t.Logf("%s: %v and %v", name, least[0], least[1])
			if least[1] <= 3*least[0] {
				t.Errorf("%s: %v and %v: it is no test of the defence", name, least[0], least[1])
			}
		}
	})
	t.Run("defence on", func(t *testing.T) {
		var servers [2]*fugu
		for i, w := range worlds {
			servers[i] = serve(t, w, options{})
		}
		for name, see := range watches {
			var told [2]string
			for i, f := range servers {
				f.renew()
				_, told[i] = see(t, f, long)
				if e, n := spent(t, f.connect(t, "")); e != 0 || n != 0 {
					t.Errorf("%s: epsilon %g was spent on what is refused", name, e)
				}
			}
			if told[0] != told[1] || !strings.Contains(told[0], "PV001") {
				t.Errorf("%s: the worlds differ, or it is answered:\n%s\n%s", name, told[0], told[1])
			}
		}
	})
}
