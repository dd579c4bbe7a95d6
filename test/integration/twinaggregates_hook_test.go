//go:build fuguhooks

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/test/patient"
)

// Without the count of rows of the sample, grouping by a key lists rows, and what groups that are too small hold can
// be had.
func TestTwinSmallGroupsHook(t *testing.T) {
	patient.Test(t)
	attacks := []string{
		"SELECT id, name, cost, count(*) FROM patients GROUP BY 1, 2, 3",
		"SELECT max(name), max(cost) FROM patients",
		"SELECT sum(CASE WHEN id = 5 THEN cost ELSE 0 END) FROM patients",
		"SELECT percentile_cont(0) WITHIN GROUP (ORDER BY cost) FROM patients",
	}
	for _, undone := range []bool{false, true} {
		t.Run(fmt.Sprintf("defence off %t", undone), func(t *testing.T) {
			// No server runs while the switch is moved.
			hook.TwinSmallGroups = undone
			t.Cleanup(func() { hook.TwinSmallGroups = false })
			through, _ := serveClinic(t)
			c := connect(t, through)
			for _, sql := range attacks {
				list, err := values(t, c, sql)
				if err != nil || (len(list) > 0) != undone {
					t.Errorf("%s: %d values, %v", sql, len(list), err)
				}
			}
		})
	}
}

// Where any expression may be aggregated, over any join, one that is of a single row alone shows what it holds.
func TestTwinSingleRowsHook(t *testing.T) {
	patient.Test(t)
	for _, undone := range []bool{false, true} {
		t.Run(fmt.Sprintf("defence off %t", undone), func(t *testing.T) {
			hook.TwinSingleRows = undone
			t.Cleanup(func() { hook.TwinSingleRows = false })
			through, direct := serveClinic(t)
			c, d := connect(t, through), overTwins(t, direct)
			var id int
			var cost, all string
			const least = "SELECT id, cost::text FROM patients WHERE age = 41 ORDER BY cost LIMIT 1"
			if err := d.QueryRow(t.Context(), least).Scan(&id, &cost); err != nil {
				t.Fatal(err)
			}
			if err := d.QueryRow(t.Context(), "SELECT round(avg(cost), 2)::text FROM patients").Scan(&all); err != nil {
				t.Fatal(err)
			}

			// The least cost of a group of the same age is no median, and no average, of it.
			shown := 0
			for _, sql := range []string{
				"SELECT sum(cost * (1 - sign(abs(id - %d))))::numeric(9, 2) FROM patients",
				"SELECT sum(cost / (1 + 1e30 * (id - %d) * (id - %[1]d)))::numeric(9, 2) FROM patients",
				"SELECT round(regr_intercept(cost, sign(abs(id - %d)))::numeric, 2) FROM patients",
				"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a.cost) FROM patients a JOIN patients b " +
					"ON a.id = %d OR a.id = b.id WHERE a.age BETWEEN 41 AND 44 AND b.age BETWEEN 41 AND 44",
			} {
				sql = fmt.Sprintf(sql, id)
				list, err := values(t, c, sql)
				if told := err == nil && len(list) == 1 && list[0] == cost; told != undone {
					t.Errorf("%s: %q, %v; the row has %s", sql, list, err, cost)
				} else if told {
					shown++
				}
			}
			t.Logf("defence off %t: %d of 4 statements tell what one row holds (%s, where all have %s on average)",
				undone, shown, cost, all)

			// A flag is a condition where it is a factor, and what is as good as one in the other place is counted.
			for _, sql := range []string{
				"SELECT sum(cost * (smoker::int + 1e-9)) FROM patients WHERE NOT smoker OR id = %d",
				"SELECT sum(coalesce(weight, 0)) FROM patients WHERE weight IS NULL OR id = %d",
			} {
				list, err := values(t, c, fmt.Sprintf(sql, id))
				if err != nil || (len(list) > 0) != undone {
					t.Errorf("%s: %q, %v", sql, list, err)
				}
			}
		})
	}
}

// One user's aggregates of a twin whose rows are not listed cost nothing, and have four of the reader's connections at
// a time, so that others' are answered beside them; without the defence they have all of them. A lock keeps them there.
func TestTwinAggregatesShareTheReader(t *testing.T) {
	patient.Test(t)
	const all = 8
	for _, undone := range []bool{false, true} {
		t.Run(fmt.Sprintf("defence off %t", undone), func(t *testing.T) {
			hook.OpenPlaces = undone
			t.Cleanup(func() { hook.OpenPlaces = false })
			through, direct := serveClinic(t)
			d := overTwins(t, direct)
			told, asked := make(chan error), []*pgx.Conn{}
			for range all + 2 {
				c := connect(t, through)
				if _, err := c.Prepare(t.Context(), "counted", "SELECT count(*) FROM patients"); err != nil {
					t.Fatal(err)
				}
				asked = append(asked, c)
			}

			does(t, d, "BEGIN")
			does(t, d, "LOCK TABLE patients IN ACCESS EXCLUSIVE MODE")
			for _, c := range asked {
				go func() { told <- c.QueryRow(t.Context(), "counted").Scan(new(int64)) }()
			}
			reading := func() (n int) {
				err := d.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "+
					"'patients'::regclass").Scan(&n)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			want := all / 2
			if undone {
				want = all
			}
			eventually(t, func() bool { return reading() >= want }, "so many read")
			time.Sleep(200 * time.Millisecond) // in which more of them could come
			if n := reading(); n != want {
				t.Errorf("%d of one user's statements read at a time, not %d", n, want)
			}
			does(t, d, "ROLLBACK")
			for range asked {
				if err := <-told; err != nil {
					t.Error(err)
				}
			}
		})
	}
}
