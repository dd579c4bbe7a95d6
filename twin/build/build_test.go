package build_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
	"fugu/policy"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/test/policies"
	"fugu/twin/build"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

const shop = `
CREATE TABLE customer (id int PRIMARY KEY, mail text UNIQUE, token uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  rich bool NOT NULL, city text COLLATE "C" DEFAULT 'Rome', age int CHECK (age > 0), note varchar(20), visits serial,
  CONSTRAINT low CHECK (id >= 0), high int GENERATED ALWAYS AS (age + 1) STORED);
COMMENT ON TABLE customer IS 'who buys'; COMMENT ON COLUMN customer.city IS 'where they live';
CREATE INDEX by_city ON customer (city, lower(note) DESC) WHERE rich;
CREATE TABLE purchase (id bigserial PRIMARY KEY, customer_id int NOT NULL REFERENCES customer, total numeric(10,2));
CREATE TABLE line (purchase_id bigint REFERENCES purchase ON DELETE CASCADE, nr int, product text,
  PRIMARY KEY (purchase_id, nr));
INSERT INTO customer (id, mail, rich, age, note)
  SELECT 100000 + i, i || '@example.org', i <= 600, 20 + i % 60, CASE WHEN i % 7 > 0 THEN 'n' || i % 13 END
  FROM generate_series(1, 2000) i;
INSERT INTO purchase (customer_id, total) SELECT 100000 + i, j * 10 + i % 10
  FROM generate_series(1, 2000) i, generate_series(1, 3) j WHERE i % 5 > 0;
INSERT INTO line SELECT id, n, 'p' || n FROM purchase, generate_series(1, 2) n;
GRANT SELECT ON customer, purchase, line TO shop_keeper;
`

const shopPolicy = `version: 1
dataset: shop
tables:
  public.customer:
    rows: 2000
    answers: twin
    twin: {rows: shown, drop: [mail]}
  public.purchase: {link: {to: public.customer, on: {customer_id: id}}}
  public.line: {link: {to: public.purchase, on: {purchase_id: id}}}
secrets:
  rich:
    table: public.customer
    proportion: rich
    values: {from: 0.10, to: 0.60, within: 0.05}
assume: [exchangeable]
privacy:
  epsilon: 1
  delta: 0.001
  budget: {epsilon: 1, delta: 0.001, per: dataset}
`

// world is a database with a keeper, a policy and a ledger.
type world struct {
	t      testing.TB
	admin  *pgx.Conn
	keeper *build.Keeper
	policy *policy.Policy
	ledger ledger.Ledger
	dsn    string
}

func newWorld(t testing.TB, name, sql, yaml string) *world {
	t.Helper()
	c := pgcluster.Shared(t)
	if err := c.CreateDatabase(t.Context(), name, ""); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"shop_keeper", "shop_guest"} {
		const sql = "DO $$ BEGIN CREATE ROLE %s LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
		if err := c.Exec(t.Context(), name, fmt.Sprintf(sql, role)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Exec(t.Context(), name, sql+"; GRANT CREATE ON DATABASE "+name+" TO shop_keeper"); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dsn: c.DSN("shop_keeper", name)}
	var err error
	if w.admin, err = pgx.Connect(t.Context(), c.DSN("postgres", name)+"&default_query_exec_mode=exec"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.admin.Close(t.Context()) })
	conn, err := build.Connect(t.Context(), w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if w.ledger, err = ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fugu.db"),
		ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.ledger.Close() })
	w.policy = policies.Load(t, yaml)
	w.keeper = &build.Keeper{Conn: conn, Ledger: w.ledger, Random: rand.Reader, Guests: []string{"shop_guest"},
		Operator: "dba"}
	return w
}

func (w *world) build(o build.Options) build.Report {
	w.t.Helper()
	r, err := w.keeper.Build(w.t.Context(), w.policy, w.policy.Tables[0], o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// column is what a query returns, one text for each row.
func (w *world) column(sql string) []string {
	w.t.Helper()
	rows, _ := w.admin.Query(w.t.Context(), sql, pgx.QueryResultFormats{pgx.TextFormatCode})
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var values []string
		for _, v := range row.RawValues() {
			values = append(values, string(v))
		}
		return strings.Join(values, "|"), nil
	})
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (w *world) one(sql string) string {
	w.t.Helper()
	if out := w.column(sql); len(out) == 1 {
		return out[0]
	} else {
		w.t.Fatalf("%s: %q", sql, out)
	}
	return ""
}

// A family of three tables: numbers of rows, keys that follow, no old key, and what the catalog says.
func TestFamily(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "family", shop, shopPolicy)
	r := w.build(build.Options{})
	if !r.Made || !r.Charged || len(r.Twins) != 3 {
		t.Fatalf("%+v", r)
	}
	rich := fmt.Sprint(r.Twins[0].Told[0])
	const foreign = "fugu_twin.line line_purchase_id_fkey FOREIGN KEY (purchase_id) REFERENCES " +
		"fugu_twin.purchase(id) ON DELETE CASCADE, fugu_twin.purchase purchase_customer_id_fkey FOREIGN KEY " +
		"(customer_id) REFERENCES fugu_twin.customer(id)"
	for sql, want := range map[string]string{
		"SELECT count(*) FROM fugu_twin.customer":                                               "2000",
		"SELECT count(*) FILTER (WHERE rich) FROM fugu_twin.customer":                           rich,
		"SELECT count(DISTINCT id) || ' ' || min(id) || ' ' || max(id) FROM fugu_twin.customer": "2000 1 2000",
		"SELECT count(DISTINCT token) FROM fugu_twin.customer":                                  "2000",
		"SELECT count(*) FROM fugu_twin.customer JOIN customer USING (token)":                   "0",
		"SELECT count(*) FROM fugu_twin.purchase p LEFT JOIN fugu_twin.customer c ON c.id = customer_id " +
			"WHERE c.id IS NULL": "0",
		// Every copy of a customer has that customer's purchases, and each of these its lines.
		"SELECT string_agg(DISTINCT n::text, ' ' ORDER BY n::text) FROM (SELECT count(p.id) n " +
			"FROM fugu_twin.customer c LEFT JOIN fugu_twin.purchase p ON p.customer_id = c.id GROUP BY c.id) x": "0 3",
		"SELECT string_agg(DISTINCT n::text, ' ') " +
			"FROM (SELECT count(*) n FROM fugu_twin.line GROUP BY purchase_id) x": "2",
		"SELECT count(*) = 2 * (SELECT count(*) FROM fugu_twin.purchase) FROM fugu_twin.line": "t",
		"SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute " +
			"WHERE attrelid = 'fugu_twin.customer'::regclass AND attnum > 0": "id,token,rich,city,age,note,visits,high",
		"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'fugu_twin.customer'::regclass " +
			"AND contype = 'p'": "PRIMARY KEY (id)",
		"SELECT obj_description('fugu_twin.customer'::regclass) || ', ' || " +
			"col_description('fugu_twin.customer'::regclass, 4)": "who buys, where they live",
		"SELECT string_agg(conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid), ', ' " +
			"ORDER BY conname) FROM pg_constraint WHERE contype = 'f' " +
			"AND connamespace = 'fugu_twin'::regnamespace": foreign,
		"SELECT reltuples FROM pg_class WHERE oid = 'fugu_twin.customer'::regclass":                          "2000",
		"SELECT count(*) FROM pg_class WHERE relnamespace = 'fugu_twin'::regnamespace AND relname LIKE '~%'": "0",
		// The policy lets the rows of customers be shown, and says nothing of lines.
		"SELECT has_table_privilege('shop_guest', 'fugu_twin.customer', 'SELECT') " +
			"AND NOT has_table_privilege('shop_guest', 'fugu_twin.line', 'SELECT')": "t",
		"SELECT count(*) FROM pg_class WHERE relnamespace = 'fugu_twin'::regnamespace AND relkind = 'S'": "0",
	} {
		if got := w.one(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	if got := w.column("SELECT indexdef FROM pg_indexes WHERE schemaname = 'fugu_twin' AND tablename = 'customer' " +
		"ORDER BY 1"); !slices.ContainsFunc(got, func(s string) bool {
		return strings.Contains(s, "(city, lower((note)::text) DESC)") && !strings.Contains(s, "WHERE")
	}) {
		t.Errorf("indexes: %q", got)
	}
}

// A twin that is there is not built again; from scratch it is the same, and free.
func TestFamilyStays(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "family_stays", shop, shopPolicy)
	w.build(build.Options{})
	// A second build changes nothing, and costs nothing.
	before := w.one("SELECT 'fugu_twin.customer'::regclass::oid")
	if again := w.build(build.Options{}); again.Made || again.Charged ||
		w.one("SELECT 'fugu_twin.customer'::regclass::oid") != before {
		t.Errorf("a second build made something: %+v", again)
	}
	// From scratch it is the same, to the last row and key, and free.
	rows := w.column("SELECT t::text FROM fugu_twin.customer t ORDER BY id")
	lines := w.column("SELECT t::text FROM fugu_twin.line t ORDER BY 1")
	if again := w.build(build.Options{Again: true}); !again.Made || again.Charged {
		t.Errorf("%+v", again)
	}
	if got := w.column("SELECT t::text FROM fugu_twin.customer t ORDER BY id"); !slices.Equal(got, rows) {
		t.Errorf("a rebuild gave other customers")
	}
	if got := w.column("SELECT t::text FROM fugu_twin.line t ORDER BY 1"); !slices.Equal(got, lines) {
		t.Errorf("a rebuild gave other lines")
	}

	// New counts are charged, and this budget pays for one twin.
	if _, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{New: true,
		Reason: "to see"}); err == nil || !strings.Contains(err.Error(), "budget") {
		t.Errorf("a second draw: %v", err)
	}
}
