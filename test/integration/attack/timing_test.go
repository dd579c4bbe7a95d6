//go:build fuguhooks

package attack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
)

// nest calls a function on what it returned, n times.
func nest(f, x string, n int) string {
	open, end, _ := strings.Cut(f, "$")
	return strings.Repeat(open, n) + x + strings.Repeat(end, n)
}

// when is a count for which the rows of one class alone do work.
func when(work string) string {
	return "SELECT count(*) FROM customer WHERE CASE WHEN income = 'high' THEN " + work + " END"
}

// only is when for the customers that have a high income in the second world alone.
func only(work string) string {
	return "SELECT count(*) FROM customer WHERE CASE WHEN income = 'high' AND id >= 400 THEN " + work + " END"
}

// slow are statements that take the longer the more customers have a high income: attacks on the clock.
var slow = map[string]string{
	"letters by letters": when("replace(" + nest("upper(lower($))", "note", 30) + ", 'y', 'z') < note"),
	"product":            when(strings.Repeat("spend * ", 100) + "1 > 7"),
	"powers":             when("power(spend, 1.5) + power(spend, 2.5) + power(spend, 3.5) > 7"),
	"logarithms":         when(strings.TrimSuffix(strings.Repeat("ln(spend) * ", 12), "* ") + " > 7"),
	"roots":              when(nest("sqrt(1 + $)", "spend", 80) + " > 7"),
	"replacing":          when("length(" + nest("replace($, 'x', 'xxx')", "note", 5) + ") > 7"),
	"padding":            when("length(lpad(note, 9999, 'ab')) + length(lpad(note, 9998, 'ab')) > 7"),
	"letters":            when(nest("upper(lower($))", "note", 30) + " = note"),
	"dates": when(strings.TrimSuffix(strings.Repeat("length(to_char(joined, 'Day Month YYYY')) + ", 40),
		"+ ") + " > 7"),
	"patterns":     when("note LIKE '" + strings.Repeat("%x", 299) + "y'"),
	"backtracking": when("note LIKE '" + strings.Repeat("%x_", 299) + "y'"),
	"either case":  when("note ILIKE '" + strings.Repeat("%X", 99) + "y'"),
	"casts":        when(nest("$::float8::numeric", "spend", 200) + " > 7"),
	"AND": "SELECT count(*) FROM customer WHERE income = 'high' AND " + nest("upper(lower($))", "note",
		30) + " < note",
	"FILTER": "SELECT count(*) FILTER (WHERE income = 'high' AND " + nest("upper(lower($))", "note", 30) +
		" < note) FROM customer",
	"sum": "SELECT sum(CASE WHEN income = 'high' THEN length(" + nest("upper(lower($))", "note", 30) +
		") END) FROM customer",
	"NULL goes fast": "SELECT count(*) FROM customer WHERE " + nest("upper(lower($))", "NULLIF(note, 'x')", 30) +
		" < note",
	"COALESCE": "SELECT count(*) FROM customer WHERE COALESCE(CASE WHEN income <> 'high' THEN true END, " +
		nest("upper(lower($))", "note", 30) + " < note)",
	"percentile": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN income = 'high' THEN length(" +
		nest("upper(lower($))", "note", 30) + ") ELSE 1 END) FROM customer",
}

// work is for how long, on a processor, the reader's sessions in a database have run until now.
func work(t testing.TB, root *pgx.Conn) (all time.Duration) {
	t.Helper()
	r, err := root.Query(t.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "+
		"AND usename = 'fugu_reader'")
	if err != nil {
		t.Fatal(err)
	}
	pids, err := pgx.CollectRows(r, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			t.Skip("this system does not tell what a process has worked: ", err)
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all += time.Duration(ns)
	}
	return all
}

// Each slow statement takes at least a twentieth longer, in work of the processor's, where 500 customers have a high
// income than where 400 have; and it is refused before a row is read, in both worlds in the same words.
func TestSlowStatements(t *testing.T) {
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.DearRows, &hook.NoStored, &hook.NoCharge)
		var conns, roots [2]*pgx.Conn
		for i, w := range worlds {
			conns[i], roots[i] = serve(t, w, options{}).connect(t, ""), w.as(t, "postgres")
		}
		for name, sql := range slow {
			least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			for range 25 { // the least of several: what else the machine does only adds
				if least[0] < math.MaxInt64 && float64(least[1]) > 1.05*float64(least[0]) {
					break
				}
				for i := range worlds {
					before := work(t, roots[i])
					if _, err := value(t, conns[i], sql); err != nil && code(err) != "PV005" {
						t.Fatalf("%s: %v", name, err)
					}
					least[i] = min(least[i], work(t, roots[i])-before)
				}
			}
			t.Logf("%s: %v and %v", name, least[0], least[1])
			if !(float64(least[1]) > 1.05*float64(least[0])) {
				t.Errorf("%s takes %v and %v: it is no test of the defence", name, least[0], least[1])
			}
		}
	})
	t.Run("defence on", func(t *testing.T) {
		var servers [2]*fugu
		for i, w := range worlds {
			servers[i] = serve(t, w, options{})
		}
		for name, sql := range slow {
			var told [2]string
			for i := range worlds {
				for _, r := range roads {
					told[i] += channel{}.transcript(t, servers[i], sql+" | SELECT 1", r)
				}
			}
			if told[0] != told[1] || strings.Count(told[0], `"PV001"`) != len(roads) {
				t.Errorf("%s: the worlds differ, or it is answered:\n%s", name, difference(told[0], told[1]))
			}
			if e, _ := spent(t, servers[0].connect(t, "")); e != 0 {
				t.Errorf("%s: epsilon %g was spent on what was refused", name, e)
			}
		}
	})
}

// pairs is how often two worlds are asked in turn.
const pairs = 100

// chance is the least number of right guesses of n that a coin which falls right with probability p exceeds with a
// probability below 1e-6.
func chance(n int, p float64) int {
	tail, term := 0.0, math.Pow(p, float64(n)) // P(n right guesses)
	for k := n; ; k-- {
		if tail += term; tail > 1e-6 {
			return k
		}
		term *= float64(k) / float64(n-k+1) * (1 - p) / p
	}
}

// guesses asks the statement in both worlds, in random order, and counts how often the longer time was that of the
// world with more dear rows. A time that is no function of the world is as often the longer one as not, whatever else
// the machine does meanwhile: that is the same for both. It ends when it is sure of all pairs whether more than least
// of them would be right, whatever the others are.
func guesses(t *testing.T, sql string, least int) (right, wrong int) {
	t.Helper()
	var conns [2]*pgx.Conn
	for i, w := range worlds {
		f := serve(t, w, options{})
		f.engine.Load().Grid(20 * time.Millisecond)
		conns[i] = f.connect(t, "")
		if _, err := value(t, conns[i], sql); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(13, 3))
	for right <= least && wrong < pairs-least {
		var took [2]time.Duration
		first := random.IntN(2)
		for _, i := range []int{first, 1 - first} {
			start := time.Now()
			if _, err := value(t, conns[i], sql); err != nil {
				t.Fatal(err)
			}
			took[i] = time.Since(start)
		}
		if took[1] > took[0] {
			right++
		} else {
			wrong++
		}
	}
	return right, wrong
}

// The times of up to 200 answers in two worlds, in pairs, cannot be told apart better than by a coin that is right six
// times of ten, but for a probability below 1e-6: 83 of 100 pairs. With the defences off they can.
func TestTimesOfAnswers(t *testing.T) {
	least := chance(pairs, .6)
	off(t, &hook.NoStored, &hook.NoCharge)
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.DearRows, &hook.NoGrid)
		right, wrong := guesses(t, only(nest("upper(lower($))", "note", 60)+" < note"), least)
		t.Logf("right in %d and wrong in %d of %d pairs", right, wrong, pairs)
		if right <= least {
			t.Errorf("right in no more than %d of %d pairs: it is no test of the defence", least, pairs)
		}
	})
	// The dearest of its kind that is still answered, and a common one.
	for name, sql := range map[string]string{"dear": only(nest("upper(lower($))", "note", 5) + " < note"),
		"cheap": scanned} {
		t.Run("defence on, "+name, func(t *testing.T) {
			right, wrong := guesses(t, sql, least)
			t.Logf("right in %d and wrong in %d of %d pairs, at most %d right ones expected", right, wrong, pairs,
				least)
			if right > least {
				t.Errorf("right in more than %d of %d pairs", least, pairs)
			}
		})
	}
}

// What the dearest answered statements take in the world where they take longest is done before the first point of the
// grid.
func TestFirstPointOfTheGrid(t *testing.T) {
	w := worlds[1]
	f, root := serve(t, w, options{}), w.as(t, "postgres")
	off(t, &hook.NoStored, &hook.NoCharge)
	conn := f.connect(t, "")
	for name, sql := range map[string]string{
		"letters": when(nest("upper(lower($))", "note", 5) + " < note"),
		"product": when(strings.Repeat("spend * ", 12) + "1 > 7"),
		"casts":   when(nest("$::float8::numeric", "spend", 10) + " > 7"),
		"padding": when("length(lpad(note, 2000, 'ab')) > 7"),
		// Patterns go on from where the one before them was found, so that they are no dearer for a text that nearly
		// fits.
		"patterns":     when("note LIKE '" + strings.Repeat("%x", 200) + "y'"),
		"backtracking": when("note LIKE '" + strings.Repeat("%x_", 200) + "%y_x'"),
		"either case":  when("note ILIKE '" + strings.Repeat("%X_", 30) + "y'"),
		"dates": when(strings.TrimSuffix(strings.Repeat("length(to_char(joined, 'Day Month YYYY')) + ", 10),
			"+ ") + " > 7"),
	} {
		x, err := f.preview(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		least := time.Duration(math.MaxInt64)
		for range 5 {
			before := work(t, root)
			if _, err := value(t, conn, sql); err != nil {
				t.Fatal(err)
			}
			least = min(least, work(t, root)-before)
		}
		// The reader works for the model as well, which is part of what was measured.
		t.Logf("%s: %v of %v", name, least, x[0].Leaves)
		if least > x[0].Leaves {
			t.Errorf("%s: %v of work, and the answer may leave after %v", name, least, x[0].Leaves)
		}
	}
}

// prepared is a client whose statement is prepared, and the model for it there: all that is left is to read the rows.
func prepared(t *testing.T, f *fugu, user, sql string) peer {
	t.Helper()
	p := dialAs(t, f, user)
	p.Send(t, &pgproto3.Query{String: "EXPLAIN (PRIVACY) " + sql})
	p.untilReady(t)
	p.Send(t, &pgproto3.Parse{Query: sql}, &pgproto3.Sync{})
	p.untilReady(t)
	return p
}

// interruption is a way to end a statement while its rows are being read, and the code that its client is told.
type interruption struct {
	end  func(t *testing.T, p peer, root *pgx.Conn)
	code string
}

// scanning is true of the reader's sessions that wait for a lock.
const scanning = "FROM pg_locks JOIN pg_stat_activity a USING (pid) WHERE NOT granted AND a.usename = 'fugu_reader' " +
	"AND a.datname = current_database()"

// costs is what three tries cost that are interrupted, and what an answer does then: as much as was asked for, but for
// how the noise is rounded.
func (i interruption) costs(t *testing.T) (epsilon, answered float64) {
	t.Helper()
	f := serve(t, worlds[1], options{policy: []string{"budget: {epsilon: 1,", "budget: {epsilon: 10,"}})
	root, locker := worlds[1].as(t, "postgres"), worlds[1].as(t, "postgres")
	number(t, f.connect(t, ""), "SELECT count(*) FROM customer") // what is asked once of the catalog
	before, _ := spent(t, f.connect(t, ""))
	for range 3 {
		p := prepared(t, f, "alice", scanned)

		// Whoever reads the table now waits, and can be interrupted at leisure.
		run(t, locker, "BEGIN")
		run(t, locker, "LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
		p.Send(t, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{})
		if waitFor(t, root, "SELECT count(*)::float8 "+scanning) == 0 {
			t.Fatal("it does not come to reading")
		}
		i.end(t, p, root)
		told := p.untilReady(t)
		run(t, locker, "ROLLBACK")
		if !strings.Contains(told, `"`+i.code+`"`) {
			t.Fatalf("interrupted:\n%s", told)
		}
		_ = p.Conn.Close()
	}
	epsilon, _ = spent(t, f.connect(t, ""))
	number(t, f.connect(t, ""), scanned)
	answered, _ = spent(t, f.connect(t, ""))
	return epsilon - before, answered - epsilon
}

// play shows that with the defence on each try costs what an answer does; free says what they cost with it off.
func (i interruption) play(t *testing.T, defence *bool, free func(epsilon, answered float64) bool) {
	t.Helper()
	t.Run("defence off", func(t *testing.T) {
		off(t, defence)
		if e, answered := i.costs(t); !free(e, answered) {
			t.Errorf("three tries cost epsilon %g, and an answer %g: it is no test of the defence", e, answered)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if e, answered := i.costs(t); answered < .9 || e < 3*answered*(1-1e-6) {
			t.Errorf("three tries cost epsilon %g, and an answer %g", e, answered)
		}
	})
}

// A statement whose connection to the database is lost amid its scan is paid for again when it is asked again. Who can
// end the reader's session, as a member of pg_signal_backend, or by bringing the server down, would learn by answer or
// error whether the rows were read by then, and go on at another moment.
func TestLostConnections(t *testing.T) {
	lost := interruption{code: "08006", end: func(t *testing.T, _ peer, root *pgx.Conn) {
		run(t, root, "SELECT pg_terminate_backend(pid) "+scanning)
	}}
	// One try is paid for, and all the others and the answer go with it.
	lost.play(t, &hook.FreeLosses, func(e, answered float64) bool { return answered == 0 && e >= .9 })
}

// A statement that is cancelled has been paid for, and is paid for again when it is asked again: each try tells a
// little by its time.
func TestCanceledStatements(t *testing.T) {
	canceled := interruption{code: "57014", end: func(t *testing.T, p peer, _ *pgx.Conn) { p.cancel(t) }}
	canceled.play(t, &hook.ChargeLate, func(e, answered float64) bool { return answered >= .9 && e == 0 })
}
