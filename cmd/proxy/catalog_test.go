package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// salesSchema has a table by months, and more rows of each than a twin leaves out.
const salesSchema = `
CREATE TABLE sale (id int, day date, express boolean NOT NULL, amount int NOT NULL, PRIMARY KEY (id, day))
  PARTITION BY RANGE (day);
CREATE TABLE sale_01 PARTITION OF sale FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE sale_02 PARTITION OF sale FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
INSERT INTO sale SELECT i, date '2026-01-01' + i % 59, i % 5 = 0, i % 100 FROM generate_series(1, 8000) AS i;
CREATE ROLE sales_guest LOGIN; CREATE ROLE sales_reader LOGIN; CREATE ROLE sales_keeper LOGIN;
GRANT SELECT ON sale TO sales_reader, sales_keeper; GRANT CREATE ON DATABASE sales TO sales_keeper;`

const salesPolicy = `version: 1
dataset: sales
tables:
  public.sale: {rows: 8000, answers: twin}
secrets:
  express: {table: public.sale, proportion: express, values: {from: 0.10, to: 0.40, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
analysts: [alice]
`

// sales is a proxy over a partitioned table with a twin; owner carries out the owner's SQL, and alice asks.
type sales struct {
	*testing.T
	path  string
	proxy *child
	owner func(sql string)
	alice *pgx.Conn
}

func serveSales(t *testing.T) *sales {
	t.Helper()
	c := pgcluster.Shared(t)
	if err := c.CreateDatabase(t.Context(), "sales", ""); err != nil {
		t.Fatal(err)
	}
	forget(t, c, "sales", "sales")
	owner := func(sql string) {
		t.Helper()
		if err := c.Exec(t.Context(), "sales", sql); err != nil {
			t.Fatal(err)
		}
	}
	owner(salesSchema)

	path, write := keeping(t, c, "sales", "sales_guest", "sales_reader", "sales_keeper")
	write(salesPolicy)
	expect(t, exitOK, "its twin has 8000 rows", "twin", "build", "-c", path)
	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	alice, err := proxy.to(t, "sales")
	if err != nil {
		t.Fatal(err)
	}
	return &sales{t, path, proxy, owner, alice}
}

// logs waits until the proxy has said something so many times.
func (s *sales) logs(times int, what string) {
	s.Helper()
	for end := time.Now().Add(time.Minute); strings.Count(s.proxy.log.String(), what) < times; {
		if time.Now().After(end) {
			s.Fatalf("the log does not say %q:\n%s", what, s.proxy.log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// answers has alice ask, and be told what begins like that.
func (s *sales) answers(sql, want string) {
	s.Helper()
	if got := ask(s.T, s.alice, sql); !strings.HasPrefix(got, want) {
		s.Errorf("%s: %q, want %q", sql, got, want)
	}
}

// What the owner does to a protected table while it is served is taken over, by the policy that is in force.
func TestTablesChangeWhileServed(t *testing.T) {
	patient.Test(t)
	s := serveSales(t)
	const again = "protected tables changed, and were looked at again"
	const columns = "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute " +
		"WHERE attrelid = 'sale'::regclass AND attnum > 0 AND NOT attisdropped"

	// A policy that was edited meanwhile is in force when it is reloaded, and not before.
	edited := strings.Replace(salesPolicy, "[alice]", "[bob]", 1)
	file := filepath.Join(filepath.Dir(s.path), "p.policy.yaml")
	writeFile(t, file, edited)
	s.answers("SELECT (count(*) IS NULL)::text FROM sale_03", "ERROR: relation \"sale_03\" does not exist")
	s.owner("CREATE TABLE sale_03 PARTITION OF sale FOR VALUES FROM ('2026-03-01') TO ('2026-04-01'); " +
		"ALTER TABLE sale ADD gift boolean")
	s.logs(1, again)
	s.answers("SELECT (count(*) IS NULL)::text FROM sale_03", "true")
	s.answers("SELECT (count(*) > 3000)::text FROM sale_02", "true")

	// The column shows when the twin has it, and until then it is none.
	s.answers(columns, "id day express amount")
	s.answers("SELECT count(gift)::text FROM sale", "ERROR: column \"gift\" does not exist (SQLSTATE 42703)")
	writeFile(t, file, salesPolicy)
	expect(t, exitOK, "twin of public.sale: it was built before the table had gift", "check", "-c", s.path)
	expect(t, exitOK, "fix: run fugu twin build -again, which is free", "check", "-c", s.path)
	expect(t, exitOK, "nothing was charged", "twin", "build", "-again", "-c", s.path)
	s.logs(2, again)
	s.answers(columns, "ERROR: the policy or its tables have changed since the statement was prepared (SQLSTATE 0A000)")
	s.answers(columns, "id day express amount gift")
	s.answers("SELECT count(*) FILTER (WHERE gift IS NULL)::text FROM sale", "8000")

	// Whoever may make relations makes none that has anything loaded.
	before := strings.Count(s.proxy.log.String(), again)
	s.owner("SET ROLE sales_keeper; CREATE TABLE fugu_twin.other (x int)")
	s.owner("CREATE SCHEMA own AUTHORIZATION sales_guest; SET ROLE sales_guest; CREATE VIEW own.v AS TABLE public.sale")
	s.owner("CREATE TABLE sale_04 PARTITION OF sale FOR VALUES FROM ('2026-04-01') TO ('2026-05-01')")
	s.logs(before+1, again)
	s.answers("SELECT (count(*) IS NULL)::text FROM sale_04", "true")
}

// Rows without a key are known by all of their columns: a column that comes makes others of them, which no build can
// mend. Who runs check is not sent to one, and who builds all the same is told why it fails.
func TestColumnsOfRowsWithoutKey(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	if err := c.CreateDatabase(t.Context(), "keyless", ""); err != nil {
		t.Fatal(err)
	}
	forget(t, c, "keyless", "sales")
	schema := strings.NewReplacer(", PRIMARY KEY (id, day)", "", "DATABASE sales", "DATABASE keyless").
		Replace(salesSchema)
	if err := c.Exec(t.Context(), "keyless", schema); err != nil {
		t.Fatal(err)
	}
	path, write := keeping(t, c, "keyless", "sales_guest", "sales_reader", "sales_keeper")
	write(salesPolicy)
	expect(t, exitOK, "its twin has 8000 rows", "twin", "build", "-operator", "carol", "-c", path)
	expect(t, exitOK, `"user":"carol"`, "audit", "export", "-c", path)
	expect(t, exitOK, "nothing was charged", "twin", "build", "-again", "-c", path)

	if err := c.Exec(t.Context(), "keyless", "ALTER TABLE sale ADD gift boolean"); err != nil {
		t.Fatal(err)
	}
	expect(t, exitOK, "keep the twin as it is: without a primary key", "check", "-c", path)
	for _, more := range [][]string{{"-again"}, {"-new", "-reason", "x"}, nil} {
		expect(t, exitFailure, "The table has no primary key, so that a row is known by all of its columns",
			append([]string{"twin", "build", "-c", path}, more...)...)
	}
	if err := c.Exec(t.Context(), "keyless", "ALTER TABLE sale DROP gift"); err != nil {
		t.Fatal(err)
	}
	expect(t, exitOK, "nothing was charged", "twin", "build", "-again", "-c", path)
	expect(t, exitOK, "public.sale", "twin", "show", "sales", "-c", path)
}
