//go:build fuguhooks

package attack

import "testing"

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
	madeLinked.both(t, databases(t), linked, letters+"; "+visits)
	link := []string{"secrets:", "  public.visit: {link: {to: public.customer, on: {customer: id}}, " +
		"reference: public.visit_reference}\nsecrets:"}
	for _, sql := range joinedVisits {
		readAlike(t, linked, sql, func(w world) []string {
			f, root := serve(t, w, options{policy: link}), w.as(t, "postgres")
			return f.readings(t, root, sql, scansOf("customer"), scansOf("visit"))
		})
	}
}
