package integration

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/twin"
	"fugu/twin/build"
)

// shopSQL is a shop: 6,000 customers in 60 groups of 100, of whom 35 are rich; orders, 1 to 12 of a customer, whose
// amounts go with the customer; and items, one to three of an order. Towns are ordinary.
const shopSQL = `
CREATE TABLE customers (id int PRIMARY KEY, grp int NOT NULL, rich bool NOT NULL, town int);
INSERT INTO customers SELECT i, i % 60, (i / 60) % 20 < 7, i % 50 FROM generate_series(0, 5999) AS i;
CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL REFERENCES customers, grp int NOT NULL,
  amount numeric NOT NULL, paid bool);
INSERT INTO orders SELECT 20 * c.id + k, c.id, c.grp, 100 + hashint4(c.id) % 50 + hashint4(20 * c.id + k) % 10,
  nullif(k % 3, 0) > 1
  FROM customers AS c, generate_series(1, 12) AS k WHERE k <= 1 + abs(hashint4(c.id + 7)) % 12;
CREATE TABLE items (nr int PRIMARY KEY, order_id int NOT NULL REFERENCES orders, grp int NOT NULL, quantity int);
INSERT INTO items SELECT 4 * o.id + k, o.id, o.grp, 1 + o.id % 5 FROM orders AS o, generate_series(1, 3) AS k
  WHERE k <= 1 + o.id % 3;
CREATE TABLE towns (id int PRIMARY KEY, name text, weight int);
INSERT INTO towns SELECT i, 'town ' || i, 1 + i % 4 FROM generate_series(0, 39) AS i;
CREATE ROLE shop_keeper LOGIN; CREATE ROLE shop_guest LOGIN; CREATE ROLE shop_reader LOGIN;
GRANT SELECT ON customers, orders, items TO shop_keeper; GRANT CREATE ON DATABASE shop TO shop_keeper;
GRANT SELECT ON towns TO shop_guest; CREATE SCHEMA own AUTHORIZATION shop_guest`

const shopPolicy = `version: 1
dataset: shop
tables:
  public.customers: {rows: 6000, answers: twin, twin: {rows: shown}}
  public.orders: {link: {to: public.customers, on: {customer: id}}, twin: {rows: shown}}
  public.items: {link: {to: public.orders, on: {order_id: id}}, twin: {rows: shown}}
secrets:
  rich: {table: public.customers, proportion: rich, values: {from: 0.20, to: 0.50, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
analysts: [alice]
`

// serveShop builds the shop's twins and starts a Fugu over them. direct leads to PostgreSQL as a superuser.
func serveShop(t *testing.T) (through, direct string) {
	t.Helper()
	adultDatabase(t)
	c := pgcluster.Shared(t)
	if err := c.CreateDatabase(t.Context(), "shop", ""); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "shop", shopSQL); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	buildTwins(t, c.DSN("shop_keeper", "shop"), shopPolicy, build.Keeper{Ledger: l, Guests: []string{"shop_guest"},
		Reader: "shop_reader"}, build.Options{})
	f := serve(t, options{guest: c.DSN("shop_guest", "shop"), reader: c.DSN("shop_reader", "shop"),
		policyText: shopPolicy})
	return strings.Replace(f.dsn("alice"), "/adult", "/shop", 1), c.DSN("postgres", "shop")
}

// joinedStatements are aggregates of rows that go with rows of the root's twin, and what each row of the root adds to
// them: its place, its class, and the part, from FROM.
var joinedStatements = []struct{ call, from, part string }{
	{"count(*)", "orders", "count(*)"},
	{"count(*) FILTER (WHERE grp < 30)", "orders", "count(*) FILTER (WHERE grp < 30)"},
	{"count(paid)", "orders WHERE grp = 7", "count(paid)"},
	{"sum(amount)", "orders AS o WHERE o.grp < 9", "sum(amount)"},
	{"avg(amount)", "orders", ""},
	{"avg(amount) FILTER (WHERE paid)", "orders WHERE grp < 20", ""},
	{"count(*)", "items WHERE grp = 3", "count(*)"},
	{"sum(quantity)", "items", "sum(quantity)"},
	{"count(*)", "items JOIN orders o ON order_id = o.id JOIN customers c ON c.id = o.customer WHERE " +
		"c.rich", "count(*)"},
	{"sum(weight)", "customers c JOIN towns t ON t.id = c.town", "sum(weight)"},
	{"avg(weight)", "customers c, towns t WHERE t.id = c.town AND c.grp < 30", ""},
	{"count(*)", "customers c LEFT JOIN towns t ON t.id = c.town WHERE rich", "count(*)"},
	{"count(c.id)", "towns t LEFT JOIN customers c ON t.id = c.town", "count(c.id)"},
	{"count(*)", "customers c LEFT JOIN orders o ON c.id = o.customer AND paid", "count(*)"},
	{"count(o.id)", "customers c FULL JOIN orders o ON c.id = o.customer AND c.rich", "count(o.id)"},
	{"sum(o.amount)", "towns t LEFT JOIN (customers c RIGHT JOIN orders o ON c.id = o.customer AND c.grp < 20) " +
		"ON t.id = o.grp", "sum(o.amount)"},
	{"sum(o.amount)", "orders o JOIN orders p USING (customer) WHERE p.paid", "sum(o.amount)"},
	{"count(*)", "(SELECT customer, amount + 1 AS more FROM orders WHERE paid) x WHERE more > 120", "count(*)"},
	{"count(*)", "(SELECT * FROM customers WHERE rich) x", "count(*)"},
}

// The error of linked rows, and of joins, is that of the root's rows, each with what its rows add: as package twin
// derives it from sums that PostgreSQL makes here in another way.
func TestSpreadsOfLinkedTwins(t *testing.T) {
	patient.Test(t)
	through, direct := serveShop(t)
	c, d := connect(t, through), overTwins(t, direct)
	told, taken, noise := registered(t, d, "customers")
	for _, s := range joinedStatements {
		var value, got, sd, low, high float64
		sql := fmt.Sprintf("SELECT %[1]s::float8, fugu.sampling_error(%[1]s), fugu_noise_sd(%[1]s), "+
			"fugu_lower(%[1]s), fugu_upper(%[1]s) FROM %[2]s", s.call, s.from)
		if err := c.QueryRow(t.Context(), sql).Scan(&value, &got, &sd, &low, &high); err != nil {
			t.Errorf("%s FROM %s: %v", s.call, s.from, err)
			continue
		}
		want := deviationByRoot(t, d, s.call, s.from, s.part, told, taken, noise)
		if !(math.Abs(got-want) <= 1e-6*want) || want == 0 || math.Abs(sd/got-1) > .0005 ||
			math.Abs((high-low)/sd/3.92-1) > .02 || !(low < value && value < high) {
			t.Errorf("%s FROM %s: %v ± %v, want %v; %v, from %v to %v", s.call, s.from, value, got, want, sd, low,
				high)
		}
		t.Logf("%s FROM %s: %v ± %v", s.call, s.from, value, got)
	}
	linkedGroups(t, c, connect(t, direct))
	linkedSpreadsRefused(t, c)

	// Of no rows nothing is shown.
	const none = "SELECT fugu_noise_sd(count(*)), fugu_upper(count(*)), fugu_lower(sum(id)) FROM "
	for _, from := range []string{"customers WHERE grp < 0", "orders WHERE grp < 0"} {
		if got := fmt.Sprint(rowsOf(t, c, none+from)); got != "[[<nil> <nil> <nil>]]" {
			t.Errorf("of no rows of %s: %s", from, got)
		}
	}
}

// deviationByRoot is what package twin says of an aggregate, of sums by rows of the root that d makes of the twins.
// part is what each adds; empty: the aggregate is an average.
func deviationByRoot(t *testing.T, d *pgx.Conn, call, from, part string, told, taken []int64,
	noise []float64) float64 {
	t.Helper()
	// Rows lead to the root's by their customer, items by their order's.
	key := "customer"
	switch {
	case strings.Contains(from, "FULL JOIN orders"), strings.Contains(from, "RIGHT JOIN orders"):
		key = "o.customer"
	case strings.Contains(from, "customers c"), strings.Contains(from, "orders o ON"):
		key = "c.id"
	case strings.HasPrefix(from, "items"):
		key = "(SELECT customer FROM orders WHERE orders.id = order_id)"
	case strings.Contains(from, "FROM customers"):
		key = "x.id"
	}
	n, sum := part, part
	average := part == ""
	if average {
		n, sum = strings.Replace(call, "avg", "count", 1), strings.Replace(call, "avg", "sum", 1)
	}
	where := ""
	switch {
	case strings.Contains(from, "RIGHT JOIN orders"):
		where = " WHERE o.id IS NOT NULL"
	case strings.Contains(from, "towns t LEFT"):
		where = " WHERE c.id IS NOT NULL"
	}
	y := fmt.Sprintf("SELECT %s AS k, (%s)::float8 AS n, coalesce(%s, 0)::float8 AS s FROM %s%s GROUP BY 1",
		key, n, sum, from, where)
	a := "s"
	if average {
		a = "(s - (SELECT sum(s) / sum(n) FROM y) * n) / (SELECT sum(n) FROM y)"
	}
	rows, err := d.Query(t.Context(), fmt.Sprintf("WITH y AS (%s) SELECT r.rich, sum(%[2]s), sum((%[2]s) ^ 2), "+
		"(SELECT count(*) FROM y WHERE n > 0) FROM y JOIN customers r ON r.id = k WHERE n > 0 GROUP BY 1", y, a))
	if err != nil {
		t.Fatal(err)
	}
	parts := make([]twin.Part, 2)
	for rows.Next() {
		var rich bool
		var p twin.Part
		var m float64
		if err := rows.Scan(&rich, &p.Sum, &p.Squares, &m); err != nil {
			t.Fatal(err)
		}
		if average {
			p.Squares *= m / (m - 1)
		}
		if rich {
			parts[0] = p
		} else {
			parts[1] = p
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return twin.DeviationOf(told, taken, noise, 2, parts).Both()
}

// linkedGroups compares errors that were made with those that are said, in 60 groups of 100 customers. A third of each
// group's customers are rich, so that the noise on the secret hardly moves it, and groups are nearly independent: the
// mean of 60 squares of errors in their standard deviations is 1 as expected, and above 2.29 or below .3 with a
// probability of less than 1.7e-7 each (chi-square, 60 degrees); 6 such means are looked at.
func linkedGroups(t *testing.T, c, direct *pgx.Conn) {
	t.Helper()
	for _, of := range []struct{ call, from string }{
		{"count(*)", "orders"}, {"avg(amount)", "orders"}, {"sum(quantity)", "items"}} {
		truth := map[int]float64{}
		for _, r := range rowsOf(t, direct, fmt.Sprintf("SELECT grp, (%s)::float8 FROM %s GROUP BY "+
			"1", of.call, of.from)) {
			truth[int(r[0].(int32))] = r[1].(float64)
		}
		var squares, byRows float64
		rows := rowsOf(t, c, fmt.Sprintf("SELECT grp, (%[1]s)::float8, fugu.sampling_error(%[1]s), count(*), "+
			"(SELECT min(count_error) FROM fugu.twin WHERE table_name = 'public.customers') FROM %[2]s GROUP BY 1",
			of.call, of.from))
		for _, r := range rows {
			off := r[1].(float64) - truth[int(r[0].(int32))]
			squares += math.Pow(off/r[2].(float64), 2) / float64(len(rows))
			byRows += off * off / (math.Pow(r[4].(float64), 2) * float64(r[3].(int64))) / float64(len(rows))
		}
		if len(rows) != 60 || !(squares > .3 && squares < 2.29) {
			t.Errorf("%s of %s: %d groups, mean square %v", of.call, of.from, len(rows), squares)
		}

		// Who counts rows as if each were drawn for itself is far off.
		if of.call == "count(*)" && byRows < 2.29 {
			t.Errorf("the check would pass the error of single rows: %v", byRows)
		}
		t.Logf("%s of %s: mean square of the errors in their standard deviations %.3f; of a count by rows "+
			"%.3g", of.call,
			of.from, squares, byRows)
	}
}

// linkedSpreadsRefused asks for errors that are not known, which is refused by name, with what to write.
func linkedSpreadsRefused(t *testing.T, c *pgx.Conn) {
	t.Helper()
	does(t, c, "CREATE VIEW own.rich_orders AS SELECT * FROM orders WHERE paid")
	does(t, c, "SET search_path = own, public")
	for sql, want := range map[string]string{
		"SELECT fugu_noise_sd(count(*)) FROM rich_orders": "the " +
			"view rich_orders",
		"SELECT fugu_lower(count(*)) FROM own.rich_orders JOIN towns ON true": "the " +
			"view rich_orders",
		"WITH w AS (SELECT * FROM orders) SELECT fugu_upper(count(*)) FROM w": "the " +
			"WITH query w",
		"WITH orders AS (SELECT 1) SELECT fugu_upper(count(*)) FROM orders": "the " +
			"WITH query orders",
		"SELECT fugu_noise_sd(count(*)) FROM (SELECT grp FROM orders GROUP BY 1) x": "does " +
			"more than choose",
		"SELECT fugu_noise_sd(count(*)) FROM (SELECT grp FROM orders LIMIT 5) x": "does " +
			"more than choose",
		"SELECT fugu_noise_sd(count(*)) FROM orders o JOIN customers c ON o.grp = c.grp": "not " +
			"joined along a link",
		"SELECT fugu_noise_sd(count(*)) FROM orders o, customers c": "not " +
			"joined along a link",
		"SELECT fugu_noise_sd(count(*)) FROM customers c LEFT JOIN towns ON true JOIN orders o ON o.grp = 1": "along " +
			"a link",
		"SELECT fugu_noise_sd(count(*)) FROM (orders o CROSS JOIN customers c) LEFT JOIN towns t ON " +
			"o.customer = c.id": "not joined along a link",
		"SELECT fugu_noise_sd(count(*)) FROM towns t LEFT JOIN orders o ON o.grp = t.id":    "an outer join adds rows",
		"SELECT fugu_noise_sd(count(t.id)) FROM towns t FULL JOIN orders o ON o.grp = t.id": "an outer join adds rows",
		"SELECT fugu_noise_sd(count(*)) FROM orders AS o (a, b)":                            "other names",
		"SELECT fugu_noise_sd(count(*)) FROM orders, generate_series(1, 2)":                 "no table and no subquery",
		"SELECT fugu_noise_sd(max(amount)) FROM orders":                                     "of max is not known",
		"SELECT fugu_noise_sd(count(*)) FROM towns":                                         "no protected table",
		"SELECT fugu_noise_sd(1)":                                                           "no protected table",
		"SELECT fugu_noise_sd(n) FROM (SELECT count(*) AS n FROM orders) x":                 "does more than choose",
	} {
		_, err := c.Exec(t.Context(), sql)
		if code(err) != "PV001" || !strings.Contains(err.Error(), want) || pgError(err).Hint == "" ||
			pgError(err).Position == 0 {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	does(t, c, "RESET search_path")
}
