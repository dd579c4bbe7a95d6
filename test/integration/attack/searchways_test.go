//go:build fuguhooks

package attack

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
)

// searchWays are ways to have noise looked for that is of more values than are free: {i} tells one statement from
// another. What stands before the last statement of a way is sent first, by itself.
var searchWays = map[string][]string{
	"EXPLAIN":       {explained + byVisits("count(*)", "age > {i}")},
	"in JSON":       {"EXPLAIN (PRIVACY, FORMAT json) " + byVisits("avg(age)", "age > {i}")},
	"an answer":     {byVisits("count(*)", "age < {i}")},
	"work above it": {"SELECT max(n) FROM (" + byVisits("count(*) AS n", "age <> {i}") + ") g"},
	"COPY":          {"COPY (" + byVisits("sum(age)", "age > {i}") + ") TO STDOUT"},
	"a cursor":      {"BEGIN", "DECLARE c CURSOR FOR " + byVisits("sum(age)", "age < {i}")},
	"a table":       {"CREATE TEMP TABLE x AS " + byVisits("avg(age)", "age < {i}")},
	"PREPARE":       {"PREPARE p AS " + byVisits("count(*)", "age = {i}"), "EXECUTE p"},
	"of an EXECUTE": {"PREPARE p AS " + byVisits("count(*)", "age + 1 = {i}"), explained + "EXECUTE p"},
	"several texts": {"SELECT 1; " + explained + byVisits("sum(visits)", "age > {i}")},
	"grouping sets": {explained + "SELECT count(*) FROM customer WHERE age > {i} GROUP BY CUBE (region, visits)"},
	"columns": {explained + "SELECT visits, count(*), sum(age), avg(spend) FROM customer WHERE age > {i} " +
		"GROUP BY 1"},
	"a mechanism": {"SET fugu.mechanism = directional", explained + byVisits("count(*)", "age > {i}")},
	"one, priced": {"SET fugu.epsilon = 0.{i}", explained + byVisits("count(*)", "true")},
	"CASE": {explained + "SELECT visits, CASE WHEN age < {i} THEN 1 WHEN age < 2{i} THEN 2 ELSE 3 END, count(*) " +
		"FROM customer GROUP BY 1, 2"},
	"FILTER": {explained + byVisits("count(*) FILTER (WHERE age > {i})", "true")},
	"UNION": {explained + byVisits("count(*)", "age > {i}") + " UNION ALL SELECT region, 1, count(*) FROM customer " +
		"GROUP BY 1"},
}

const explained = "EXPLAIN (PRIVACY) "

// byVisits asks for 750 values.
func byVisits(aggregate, where string) string {
	return "SELECT region, visits, " + aggregate + " FROM customer WHERE " + where + " GROUP BY 1, 2"
}

// Four sessions of one user's ask for large searches at the same time, in each of these ways, and so do sessions of as
// many users as have no room together: with the defence as many are begun as there are places, and who has none and
// none to wait is told so, in either world. Nobody waits for a search here: the reference is locked, so that a search
// stands where it reads it, and then it is cancelled.
func TestWaysToSearch(t *testing.T) {
	places := max(1, runtime.GOMAXPROCS(0)/2)
	var users []string // one more than may run and wait, and another
	for i := range places + 4 + 2 {
		users = append(users, fmt.Sprint("user", i))
	}
	alone := []string{"alice", "alice", "alice", "alice"}
	together := map[string][]string{"users together": searchWays["EXPLAIN"]}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.OpenSearches)
		rushed{searchWays, alone, len(alone), 0}.play(t, worlds[0])
		rushed{together, users, min(len(users), 8), 0}.play(t, worlds[0]) // of the reader's connections
	})
	for _, w := range worlds {
		t.Run("defence on, "+w.database, func(t *testing.T) {
			rushed{searchWays, alone, min(2, places), 2}.play(t, w)
			rushed{together, users, min(places, 8), 2}.play(t, w)
		})
	}
}

// rushed are ways that sessions of some users go at the same time. begun is how many of them stand where they read the
// reference then, and refused how many are told that there is no room.
type rushed struct {
	ways           map[string][]string
	users          []string
	begun, refused int
}

func (r rushed) play(t *testing.T, w world) {
	t.Helper()
	f, root, watch := serve(t, w, options{policy: []string{"remote]", "remote]\n      visits: {from: 0, to: 149}"}}),
		w.as(t, "postgres"), w.as(t, "postgres")
	var conns []*pgx.Conn
	for _, user := range r.users {
		conns = append(conns, f.connect(t, user))
	}
	run(t, root, "BEGIN")
	run(t, root, "LOCK TABLE customer_reference IN ACCESS EXCLUSIVE MODE")
	for name, way := range r.ways {
		errs, since := make(chan error, len(conns)), clock(t, watch)
		for i, c := range conns {
			run(t, c, "DISCARD ALL")
			for k, sql := range way {
				sql = strings.ReplaceAll(sql, "{i}", fmt.Sprint(20+i))
				if k < len(way)-1 {
					run(t, c, sql)
					continue
				}
				go func() {
					_, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
					errs <- err
				}()
			}
		}

		// Who is refused is told at once; the others stand at the lock, or wait for a place.
		begun := 0
		for over := time.Now().Add(hang); over.After(time.Now()); time.Sleep(10 * time.Millisecond) {
			if begun = waiting(t, watch, since); begun == r.begun && len(errs) == r.refused {
				break
			}
		}
		if refused := len(errs); begun != r.begun || refused != r.refused {
			t.Errorf("%s: of %d %d are begun, and %d refused; want %d and %d", name, len(conns), begun, refused,
				r.begun, r.refused)
		}
		r.end(t, name, conns, watch, errs)
	}
	run(t, root, "ROLLBACK")
}

// end cancels what the sessions have begun, and leaves nothing of it.
func (r rushed) end(t *testing.T, name string, conns []*pgx.Conn, watch *pgx.Conn, errs chan error) {
	t.Helper()
	for _, c := range conns {
		_ = c.PgConn().CancelRequest(t.Context())
	}
	for range conns {
		if err := <-errs; code(err) != "57014" && code(err) != "53400" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range conns {
		run(t, c, "ROLLBACK")
	}
	// What was cancelled waits on for the lock, until somebody ends it.
	// A cancel that comes before what it is to end ends nothing: that stands at the lock a little later, and would be
	// counted for the next way. So all the sessions that there are end, also those that seem to be idle.
	const ended = `SELECT (count(pg_terminate_backend(pid)) = 0)::int::float8 FROM pg_stat_activity
		WHERE usename = 'fugu_reader' AND datname = current_database()`
	if waitFor(t, watch, ended) == 0 {
		t.Fatalf("%s: the reader's sessions do not end", name)
	}
}

// waiting counts the reader's connections that wait for a lock in the world, with a statement begun since then.
func waiting(t *testing.T, watch *pgx.Conn, since float64) int {
	t.Helper()
	n, err := value(t, watch, `SELECT count(*)::float8 FROM pg_locks JOIN pg_stat_activity a USING (pid)
		WHERE NOT granted AND a.usename = 'fugu_reader' AND a.datname = current_database()
			AND extract(epoch FROM a.query_start) >= $1::float8`, since)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// clock is PostgreSQL's, in seconds.
func clock(t *testing.T, c *pgx.Conn) float64 {
	t.Helper()
	now, err := value(t, c, "SELECT extract(epoch FROM clock_timestamp())::float8")
	if err != nil {
		t.Fatal(err)
	}
	return now
}
