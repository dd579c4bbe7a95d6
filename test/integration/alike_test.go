package integration

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/explain"
	"fugu/test/patient"
)

// market gives the Adult database a schema with the tables of a shop: protected orders with their items, and ordinary
// tables beside them. The reference is other rows of the same kind.
const market = `DROP SCHEMA IF EXISTS market CASCADE;
CREATE SCHEMA market;
CREATE TABLE market.families (name text PRIMARY KEY, floor int NOT NULL);
INSERT INTO market.families VALUES ('Lamp', 0), ('Chair', 0), ('Desk', 1);
CREATE TABLE market.products (id int PRIMARY KEY, sku varchar(12) NOT NULL UNIQUE, category text NOT NULL,
  price numeric(10,2) NOT NULL, active bool NOT NULL);
INSERT INTO market.products SELECT i, 'SKU-' || i, 'category ' || i, 5 + 3 * i, i > 2 FROM generate_series(1, 8) i;
CREATE TABLE market.regions (code text PRIMARY KEY, name text NOT NULL);
INSERT INTO market.regions VALUES ('AT', 'Austria'), ('CH', 'Switzerland'), ('DE', 'Germany'), ('JP', 'Japan');
CREATE TABLE market.labels (product int NOT NULL, lang text NOT NULL, label text NOT NULL, PRIMARY KEY (product, lang));
INSERT INTO market.labels SELECT i, l, l || i FROM generate_series(1, 8) i, unnest('{de,en}'::text[]) l;
CREATE TABLE market.doubled (id int NOT NULL);
INSERT INTO market.doubled SELECT i FROM generate_series(1, 8) i, generate_series(1, 2);
CREATE TABLE market.calendar (day date PRIMARY KEY, month int NOT NULL);
INSERT INTO market.calendar SELECT d, extract(month FROM d) FROM generate_series(date '2024-01-01', '2024-12-31',
  '1 day') d;
SELECT setseed(.25);
CREATE TABLE market.everything AS SELECT n, 1 + floor(random() * 8)::int AS product,
  ('{AT,CH,DE,JP}'::text[])[1 + floor(random() * 4)::int] AS region,
  timestamp '2024-01-01' + make_interval(secs => floor(random() * 366 * 86400)) AS at,
    (random() * 200)::numeric(10,2) AS amount, 1 + floor(random() * 5)::int AS quantity, random() < .3 AS returned
FROM generate_series(1, 60000) n;
CREATE TABLE market.orders AS SELECT n AS id, product, region, at, at::date AS day, at AT TIME ZONE 'UTC' AS instant,
  amount, quantity, returned FROM market.everything WHERE n <= 40000;
CREATE TABLE market.orders_reference AS SELECT n AS id, product, region, at, at::date AS day,
  at AT TIME ZONE 'UTC' AS instant, amount, quantity, returned FROM market.everything WHERE n > 40000;
CREATE TABLE market.items AS SELECT o.id AS order_id, 1 + (o.id + i) % 8 AS product, i AS pieces FROM market.orders o,
  generate_series(1, 3) i WHERE i <= 1 + o.id % 3;
CREATE TABLE market.items_reference AS SELECT o.id AS order_id, 1 + (o.id + i) % 8 AS product, i AS pieces
  FROM market.orders_reference o, generate_series(1, 3) i WHERE i <= 1 + o.id % 3;
GRANT USAGE ON SCHEMA market TO fugu_guest, fugu_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA market TO fugu_reader;
GRANT SELECT ON market.families, market.products, market.regions, market.labels, market.doubled,
  market.calendar TO fugu_guest;
ANALYZE market.orders;`

const marketPolicy = `version: 1
dataset: market
tables:
  market.orders:
    rows: 40000
    reference: market.orders_reference
    group_by:
      product: {from: 1, to: 8}
      region: [AT, CH, DE, JP]
      at: %s
      day: %s
      instant: %s
      quantity: {from: 1, to: 5}
  market.items:
    reference: market.items_reference
    link: {to: market.orders, on: {order_id: id}}
    group_by:
      product: {from: 1, to: 8}
secrets:
  returned:
    table: market.orders
    proportion: returned
    values: {from: 0.1, to: 0.5, within: 0.05}
assume: [translation, gaussian]
privacy:
  epsilon: 1
  delta: 0.001
  budget: {epsilon: 100, delta: 0.1}
`

// atMarket serves the market; domains are those of the columns at, day and instant of its orders.
func atMarket(t *testing.T, at, day, instant string) *pgx.Conn {
	t.Helper()
	db := adultDatabase(t)
	if err := db.cluster.Exec(t.Context(), "adult", market); err != nil {
		t.Fatal(err)
	}
	truth := db.truth(t)
	t.Cleanup(func() { _, _ = truth.Exec(t.Context(), "DROP SCHEMA IF EXISTS market CASCADE") })
	return serve(t, options{policyText: fmt.Sprintf(marketPolicy, at, day, instant)}).connect(t)
}

// explained is what EXPLAIN (PRIVACY) says of a statement.
func explained(t *testing.T, c *pgx.Conn, sql string) explain.Explanation {
	t.Helper()
	var text string
	if err := c.QueryRow(t.Context(), "EXPLAIN (PRIVACY, FORMAT JSON) "+sql).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var x []explain.Explanation // as PostgreSQL's own EXPLAIN has it
	if err := json.Unmarshal([]byte(text), &x); err != nil || len(x) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return x[0]
}

// alike are spellings of one question: what each selects has the same cells over the same rows.
type alike struct {
	name       string
	spellings  []string
	components int // of each
}

// check compares the noise of each spelling with that of the first: at most 2.5 times, either way.
func (a alike) check(t *testing.T, c *pgx.Conn) {
	t.Helper()
	var first explain.Explanation
	for i, sql := range a.spellings {
		x := explained(t, c, sql)
		if x.Components != a.components {
			t.Errorf("%s: %d values, not %d: %s", a.name, x.Components, a.components, sql)
			continue
		}
		if i == 0 {
			first = x
		}
		for k, n := range x.Noise {
			low, high := n.SDMin/first.Noise[k].SDMin, n.SDMax/first.Noise[k].SDMax
			t.Logf("%s, %s: sd %.4g to %.4g, ratio %.3g and %.3g: %s", a.name, n.Column, n.SDMin, n.SDMax, low, high,
				sql)
			if r := max(low, high, 1/low, 1/high); !(r <= 2.5) {
				t.Errorf("%s: the noise of %s is %.3g times that of the same question in other words: %s", a.name,
					n.Column, r, sql)
			}
		}
	}
}

// joinedLikeGrouped are statements by a key, and by what a table that is joined on it calls its values.
var joinedLikeGrouped = []alike{
	{"count by product", []string{
		"SELECT product, count(*) FROM market.orders GROUP BY product",
		"SELECT p.category, count(*) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"GROUP BY p.category",
		"SELECT p.category, count(*) FROM market.products p, market.orders o WHERE o.product = p.id " +
			"GROUP BY p.category",
		"SELECT p.category, count(*) FROM market.products p RIGHT JOIN market.orders o ON p.id = o.product " +
			"WHERE p.category IS NOT NULL GROUP BY p.category",
		"SELECT p.category, count(*) FROM market.orders o JOIN (SELECT id AS product, category " +
			"FROM market.products) p USING (product) GROUP BY p.category",
		"SELECT q.category, count(*) FROM (SELECT o.*, p.category FROM market.orders o JOIN market.products p " +
			"ON p.id = o.product) q GROUP BY q.category",
		"SELECT l.label, count(*) FROM market.orders o JOIN market.labels l ON l.product = o.product " +
			"AND l.lang = 'en' GROUP BY l.label",
		"SELECT l.label, count(*) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"JOIN market.labels l ON l.product = p.id WHERE l.lang = 'en' GROUP BY l.label",
		"SELECT p.category, count(*) FROM market.orders o JOIN market.products p ON p.sku = 'SKU-' || o.product " +
			"GROUP BY p.category",
	}, 8},
	{"average by region", []string{
		"SELECT region, avg(amount), sum(quantity) FROM market.orders GROUP BY region",
		"SELECT r.name, avg(amount), sum(quantity) FROM market.orders o JOIN market.regions r " +
			"ON r.code = o.region GROUP BY r.name",
	}, 8},
	{"two dimensions", []string{
		"SELECT product, region, count(*) FROM market.orders GROUP BY 1, 2",
		"SELECT p.category, r.name, count(*) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"JOIN market.regions r ON r.code = o.region GROUP BY 1, 2",
	}, 32},
	{"some of a dimension", []string{
		"SELECT product, count(*) FROM market.orders WHERE product > 2 GROUP BY product",
		"SELECT p.category, count(*) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"WHERE p.active GROUP BY p.category",
	}, 6},
	{"a dimension beside a condition on single rows", []string{
		"SELECT product, count(*) FROM market.orders WHERE amount > 100 GROUP BY product",
		"SELECT p.category, count(*) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"WHERE o.amount > 100 GROUP BY p.category",
		"SELECT p.category, count(*) FROM market.orders o LEFT JOIN market.products p ON p.id = o.product " +
			"WHERE o.amount > 100 AND p.category IS NOT NULL GROUP BY p.category",
		"SELECT 'category ' || product, count(*) FROM market.orders WHERE amount > 100 GROUP BY 1",
		"SELECT CASE product WHEN 1 THEN 'one' WHEN 2 THEN 'two' WHEN 3 THEN 'three' WHEN 4 THEN 'four' WHEN 5 " +
			"THEN 'five' WHEN 6 THEN 'six' WHEN 7 THEN 'seven' ELSE 'eight' END, count(*) FROM market.orders " +
			"WHERE amount > 100 GROUP BY 1",
	}, 8},
	{"conditions on a dimension", []string{
		"SELECT region, count(*), avg(quantity) FROM market.orders WHERE amount > 100 AND product > 2 " +
			"GROUP BY region",
		"SELECT region, count(*), avg(quantity) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"WHERE amount > 100 AND p.active GROUP BY region",
		"SELECT region, count(*), avg(quantity) FROM market.orders WHERE amount > 100 AND product IN (SELECT id " +
			"FROM market.products WHERE active) GROUP BY region",
		"SELECT region, count(*), avg(quantity) FROM market.orders o WHERE amount > 100 AND EXISTS (SELECT " +
			"FROM market.products p WHERE p.id = o.product AND p.active) GROUP BY region",
	}, 8},
	{"linked rows", []string{
		"SELECT product, count(*) FROM market.items GROUP BY product",
		"SELECT p.category, count(*) FROM market.items i JOIN market.products p ON p.id = i.product " +
			"GROUP BY p.category",
		"SELECT 'category ' || product, count(*) FROM market.items GROUP BY 1",
	}, 8},
	{"linked rows that meet a condition", []string{
		"SELECT product, sum(pieces) FROM market.items WHERE pieces < 3 GROUP BY product",
		"SELECT p.category, sum(pieces) FROM market.items i JOIN market.products p ON p.id = i.product " +
			"WHERE pieces < 3 GROUP BY p.category",
		"SELECT -product, sum(pieces) FROM market.items WHERE pieces < 3 GROUP BY 1",
	}, 8},
	{"linked rows beside a condition on single ones", []string{
		"SELECT i.product, count(*) FROM market.items i JOIN market.orders o ON o.id = i.order_id " +
			"WHERE o.amount > 100 GROUP BY 1",
		"SELECT p.category, count(*) FROM market.items i JOIN market.orders o ON o.id = i.order_id " +
			"JOIN market.products p ON p.id = i.product WHERE o.amount > 100 GROUP BY 1",
	}, 8},
	{"sets", []string{
		"SELECT product, region, count(*) FROM market.orders " +
			"GROUP BY GROUPING SETS ((product, region), (product), (region))",
		"SELECT p.category, o.region, count(*) FROM market.orders o JOIN market.products p ON p.id = o.product " +
			"GROUP BY GROUPING SETS ((p.category, o.region), (p.category), (o.region))",
	}, 44},
	{"what is multiplied by the root's own keys", []string{
		"SELECT region, sum(n) FROM (SELECT o.region, 1 AS n FROM market.orders o JOIN market.items i " +
			"ON i.order_id = o.id) q GROUP BY region",
		"SELECT r.name, sum(1) FROM market.orders o JOIN market.items i ON i.order_id = o.id " +
			"JOIN market.regions r ON r.code = o.region GROUP BY r.name",
	}, 4},
}

// A join on a key partitions the rows as the key itself does, and so has its noise.
func TestJoinedLikeGrouped(t *testing.T) {
	patient.Test(t)
	c := atMarket(t, "reference", "reference", "reference")
	for _, a := range joinedLikeGrouped {
		a.check(t, c)
	}
}
