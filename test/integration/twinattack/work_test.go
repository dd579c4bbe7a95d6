//go:build fuguhooks

package twinattack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// What a statement takes is a function of what the server reads and of what it does with that, of the machine and of
// who else is there. Clocks are no test of it: they differ between equal worlds. So the first two are compared. The
// twin's files are the same in coupled worlds, byte for byte, and so is the work of each statement: its plan, how many
// rows went through each step of it and how often, the blocks that each step looked at, and the room that it took.
// Times that differ nevertheless depend on nothing of a world.

// slow are statements that take the longer the more rows have the secret: attacks on the clock, of which the dear
// branch and its mirror image come in turn, and what an index, a sort, a hash table, a join, a sample and a function
// make of it.
func slow() (out []string) {
	for _, line := range strings.Split(strings.TrimSpace(attacks), "\n") {
		if strings.HasPrefix(line, "select count(*) from adult where case") {
			out = append(out, line)
		}
	}
	dear := "repeat(md5(repeat(note, 50)), 20) > 'x'"
	for _, op := range []string{"=", "<>"} {
		branch := "income " + op + " '>50K'"
		out = append(out, "SELECT count(*) FROM adult WHERE CASE WHEN "+branch+" THEN "+dear+" END",
			"SELECT count(*) FILTER (WHERE "+branch+" AND "+dear+") FROM adult",
			"SELECT sum(CASE WHEN "+branch+" THEN length("+strings.Repeat("upper(lower(", 20)+"note"+
				strings.Repeat("))", 20)+") END) FROM adult",
			"SELECT count(*) FROM adult WHERE "+branch+" AND note LIKE '"+strings.Repeat("%x_", 40)+"y'",
			"SELECT count(*) FROM adult a JOIN adult b ON a.sex = b.sex WHERE a."+branch+" AND b."+branch,
			"SELECT age FROM adult WHERE "+branch+" ORDER BY age, id",
			"SELECT name, count(*) FROM adult WHERE "+branch+" GROUP BY name",
			"SELECT count(*) FROM adult JOIN visit v ON v.person = adult.id WHERE "+branch,
			"SELECT count(*) FROM adult TABLESAMPLE BERNOULLI (50) REPEATABLE (3) WHERE "+branch)
	}
	return out
}

// workOf is what the server does for each statement, as EXPLAIN says. Each is asked twice: the first time fills caches.
func workOf(t testing.TB, c *pgx.Conn, list []string) (out []string) {
	t.Helper()
	for _, sql := range list {
		var text []byte
		for range 2 {
			const explain = "EXPLAIN (ANALYZE, BUFFERS, VERBOSE, TIMING off, SUMMARY off, FORMAT json) "
			if err := c.QueryRow(t.Context(), explain+sql).Scan(&text); err != nil {
				t.Fatalf("%.200s: %v", sql, err)
			}
		}
		var plans []map[string]any
		if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
			t.Fatalf("%.200s: %d plans, %v", sql, len(plans), err)
		}
		work, err := json.Marshal(plans[0]["Plan"]) // beside it stand the catalog's blocks that planning looked at
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(work))
	}
	return out
}

// filesOf are the bytes of a world's twins and their indexes by name, as a superuser reads them.
func filesOf(t testing.TB, w *world) map[string][]byte {
	t.Helper()
	c := connect(t, w.cluster.DSN("postgres", database))
	// Who reads a row first after it was written marks it as committed. All have been read then.
	if _, err := c.Exec(t.Context(), `SET enable_indexscan = off; SET enable_bitmapscan = off; SET
		enable_indexonlyscan = off; SELECT count(*) FROM fugu_twin.adult; SELECT count(*) FROM fugu_twin.visit;
		CHECKPOINT`); err != nil {
		t.Fatal(err)
	}
	rows, _ := c.Query(t.Context(), `SELECT relname::text, pg_read_binary_file(pg_relation_filepath(oid)) FROM pg_class
		WHERE relnamespace = 'fugu_twin'::regnamespace AND relkind IN ('r', 'i') AND relname !~ '^fugu twins'`)
	out, name, pages := map[string][]byte{}, "", []byte(nil)
	_, err := pgx.ForEachRow(rows, []any{&name, &pages}, func() error {
		// A page begins with where in the log it was last written, which is by what else the cluster has written.
		for page := range slices.Chunk(pages, 8192) {
			clear(page[:8])
		}
		out[name], pages = pages, nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// workIsEqual shows that the coupled worlds' twins are the same files, and that no statement is more work in one of
// them; over the tables themselves each is, or the comparison could not fail.
func workIsEqual(t *testing.T, w [3]*world) {
	a, b := filesOf(t, w[first]), filesOf(t, w[second])
	if names := slices.Sorted(maps.Keys(a)); len(names) < 7 || !slices.Equal(names, slices.Sorted(maps.Keys(b))) {
		t.Fatalf("the twins are %q and %q", names, slices.Sorted(maps.Keys(b)))
	}
	size := 0
	for name := range a {
		if size += len(a[name]); !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s: %d and %d bytes, which differ", name, len(a[name]), len(b[name]))
		}
	}

	list := slow()
	var through, beside [2][]string
	for i, side := range []int{first, second} {
		through[i] = workOf(t, connect(t, w[side].serve(t)), list)
		beside[i] = workOf(t, connect(t, w[side].cluster.DSN("postgres", database)), list)
	}
	tell := 0
	for i, sql := range list {
		if through[0][i] != through[1][i] {
			t.Errorf("%.200s\n%s", sql, difference(through[0][i], through[1][i]))
		}
		if beside[0][i] != beside[1][i] {
			tell++
		} else {
			t.Logf("over the tables themselves this is no more work in one world: %.200s", sql)
		}
	}
	t.Logf("%d bytes in %d files and the work of %d statements are the same; over the tables themselves that of %d "+
		"differs", size, len(a), len(list), tell)
	if len(list) < 20 || tell < len(list) {
		t.Errorf("the work of %d of %d statements differs over the tables themselves: they are no test", tell,
			len(list))
	}
}

// workShows reports how many of the statements are more work in one of two worlds whose twins have a fault.
func workShows(t testing.TB, w [3]*world) error {
	list := slow()
	a := workOf(t, connect(t, w[first].serve(t)), list)
	b := workOf(t, connect(t, w[second].serve(t)), list)
	differing := 0
	for i := range list {
		if a[i] != b[i] {
			differing++
		}
	}
	if t.Logf("the work of %d of %d statements differs", differing, len(list)); differing == 0 {
		return fmt.Errorf("the fault does not show in the work of %d statements", len(list))
	}
	return nil
}
