//go:build fuguhooks

package attack

import (
	"fmt"
	"slices"
	"testing"

	"fugu/internal/hook"
)

// linked are worlds in which each customer has three visits, whose kind tells the customer's income. The reference has
// customers with high incomes of numbers that only one world has.
var linked = [2]world{{"k400", 400}, {"k500", 500}}

var madeLinked making

const visits = `
	UPDATE customer_reference SET id = CASE income WHEN 'high' THEN id + 100 ELSE id + 100000 END;
	CREATE TABLE visit AS SELECT c.id AS customer, left(c.income, 1) AS kind FROM customer c, generate_series(1, 3);
	CREATE TABLE visit_reference AS SELECT c.id AS customer, left(c.income, 1) AS kind
	  FROM customer_reference c, generate_series(1, 3);
	GRANT SELECT ON visit, visit_reference TO fugu_reader`

// joinedVisits are joins of which PostgreSQL reads one table only if the other has a row that meets a condition, and
// the other way round; and one that it takes for a join of two rows, so that it reads one for each row of the other.
var joinedVisits = []string{
	"SELECT count(*) FROM visit v JOIN customer c ON v.customer = c.id WHERE c.income = 'high' AND c.id BETWEEN 450 " +
		"AND 460",
	"SELECT count(*) FROM visit v JOIN customer c ON v.customer = c.id WHERE v.kind = 'h' AND v.customer BETWEEN 450 " +
		"AND 460",
	"SELECT count(*) FROM visit v JOIN customer c ON v.customer = c.id WHERE c.income || '' = 'high' AND c.income || " +
		"'a' = 'higha' AND lower(c.income) = 'high' AND v.kind || '' = 'h' AND v.kind || 'a' = 'ha' AND " +
		"lower(v.kind) = 'h'",
	"SELECT sum(length(c.letter)) FROM visit v JOIN customer c ON v.customer = c.id WHERE v.kind = 'h' AND " +
		"v.customer BETWEEN 450 AND 460",
}

// How often and how far the reader reads protected tables that it joins is seen by time, and by the blocks that
// others have in the server's memory no more. PostgreSQL's own counters say it.
func TestLinkedTablesAreReadWhole(t *testing.T) {
	c := databases(t)
	madeLinked.Do(func() {
		for _, w := range linked {
			madeLinked.world(c, w, letters+"; "+visits)
		}
	})
	if madeLinked.err != nil {
		t.Fatal(madeLinked.err)
	}
	link := []string{"secrets:", "  public.visit: {link: {to: public.customer, on: {customer: id}}, " +
		"reference: public.visit_reference}\nsecrets:"}
	for _, sql := range joinedVisits {
		read := func(w world) (counted []string) {
			f, root := serve(t, w, options{policy: link}), w.as(t, "postgres")
			run(t, root, "SELECT pg_stat_reset()")
			number(t, f.connect(t, ""), sql)
			f.counted(t, root, "seq_scan")
			for _, of := range []string{"customer", "visit"} {
				x, err := value(t, root, "SELECT seq_scan * 1e9 + seq_tup_read FROM pg_stat_user_tables WHERE "+
					"relname = '"+of+"'")
				counted = append(counted, fmt.Sprint(x, " ", err))
			}
			return counted
		}
		t.Run("defence off", func(t *testing.T) {
			off(t, &hook.ReadLazily)
			if a, b := read(linked[0]), read(linked[1]); slices.Equal(a, b) {
				t.Errorf("%s: %s in both worlds: it is no test of the defence", sql, a)
			} else {
				t.Log(a, b)
			}
		})
		t.Run("defence on", func(t *testing.T) {
			if a, b := read(linked[0]), read(linked[1]); !slices.Equal(a, b) {
				t.Errorf("%s: %s and %s", sql, a, b)
			}
		})
	}
}
