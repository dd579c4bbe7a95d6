package build_test

import (
	"fmt"
	"strings"
	"testing"

	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/twin/build"
)

const sourcePolicy = `version: 1
dataset: person
tables:
  public.person: {rows: 1200, answers: twin, twin: {rows: shown}}
%s
secrets:
  sick: {table: public.person, proportion: sick, values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

const people = `INSERT INTO person (region, nr, name, sick, cost, seen)
  SELECT i % 4, i / 4, 'p' || i, i % 3 = 0, (i % 50)::text::money, date '2026-01-01' + i % 365
  FROM generate_series(0, 1199) i;
`

const columns = `region int NOT NULL, nr int NOT NULL, name text NOT NULL, sick bool NOT NULL, cost money, seen date`

// partitioned is a table that is made of parts, with sql that makes one of region %d.
func partitioned(part string) string {
	var sql strings.Builder
	sql.WriteString("CREATE TABLE person (" + columns + ") PARTITION BY LIST (region);\n")
	for i := range 4 {
		fmt.Fprintf(&sql, strings.ReplaceAll(part, "REGION", "%[1]d")+";\n", i)
	}
	return sql.String()
}

// What a twin is made from: its rows are as many as the table's, different ones as many as the registry says, and a
// second build from scratch gives the same ones, so that the order of drawing does not hang on how the table is stored.
func TestSources(t *testing.T) {
	patient.Test(t)
	for name, sql := range map[string]string{
		"plain":     "CREATE TABLE person (" + columns + ", id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);",
		"no key":    "CREATE TABLE person (" + columns + ");",
		"composite": "CREATE TABLE person (" + columns + ", PRIMARY KEY (region, nr));",
		"natural":   "CREATE TABLE person (" + columns + ", CHECK (name LIKE 'p%'), PRIMARY KEY (name));",
		"partitioned": partitioned("CREATE TABLE person_REGION PARTITION OF person FOR VALUES IN (REGION)") +
			"ALTER TABLE person ADD PRIMARY KEY (region, nr);",
		"foreign": "",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "foreign" {
				sql = servers(t)
			}
			w := newWorld(t, "source_"+strings.ReplaceAll(name, " ", "_"),
				sql+people+"GRANT SELECT ON person TO shop_keeper", fmt.Sprintf(sourcePolicy, ""))
			r := w.build(build.Options{})
			const shows = `SELECT count(*), count(DISTINCT (region, nr)), count(DISTINCT name),
				bool_and(name = 'p' || (nr * 4 + region)) FROM fugu_twin.person`
			if got, want := w.one(shows), fmt.Sprintf("1200|%[1]d|%[1]d|t", r.Twins[0].Sampled); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			const rows = `SELECT string_agg(t::text, ' ' ORDER BY t::text) FROM fugu_twin.person t`
			before := w.one(rows)
			if w.build(build.Options{Again: true}); w.one(rows) != before {
				t.Error("built again it is another")
			}
			if r := w.build(build.Options{}); r.Made {
				t.Error("a third build made something")
			}
			t.Logf("told %v, %d different ones, without %q", r.Twins[0].Told, r.Twins[0].Sampled, r.Twins[0].Left)
		})
	}
}

// servers makes two databases that each have two parts of the table, and returns what makes the table of foreign ones.
func servers(t *testing.T) string {
	c := pgcluster.Shared(t)
	sql := "CREATE EXTENSION postgres_fdw;\n"
	for i := range 2 {
		db := fmt.Sprint("shard_", i)
		if err := c.CreateDatabase(t.Context(), db, ""); err != nil {
			t.Fatal(err)
		}
		for part := i; part < 4; part += 2 {
			if err := c.Exec(t.Context(), db, fmt.Sprintf("CREATE TABLE person_%d (%s); GRANT ALL "+
				"ON person_%[1]d TO PUBLIC", part, columns)); err != nil {
				t.Fatal(err)
			}
		}
		sql += fmt.Sprintf("CREATE SERVER shard_%d FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %s, port '%d', "+
			"dbname '%s');\n"+
			"CREATE USER MAPPING FOR PUBLIC SERVER shard_%[1]d OPTIONS (user 'postgres', password_required 'false');\n",
			i, "'127.0.0.1'", c.Port(), db)
	}
	return sql + "CREATE TABLE person (" + columns + ") PARTITION BY LIST (region);\n" +
		"CREATE FOREIGN TABLE person_0 PARTITION OF person FOR VALUES IN (0) SERVER shard_0;\n" +
		"CREATE FOREIGN TABLE person_1 PARTITION OF person FOR VALUES IN (1) SERVER shard_1;\n" +
		"CREATE FOREIGN TABLE person_2 PARTITION OF person FOR VALUES IN (2) SERVER shard_0;\n" +
		"CREATE FOREIGN TABLE person_3 PARTITION OF person FOR VALUES IN (3) SERVER shard_1;\n"
}

// A key of two columns that others are linked to: the links follow, and NULLs among links have no row to go with.
func TestLinksOfTwoColumns(t *testing.T) {
	patient.Test(t)
	const sql = "CREATE TABLE person (" + columns + ", PRIMARY KEY (region, nr));"
	const visits = `
CREATE TABLE visit (region int, person_nr int, day date, note text,
  FOREIGN KEY (region, person_nr) REFERENCES person);
INSERT INTO visit SELECT region, nr, seen + d, name FROM person, generate_series(1, 2) d;
INSERT INTO visit VALUES (NULL, NULL, '2026-01-01', 'nobody');
GRANT SELECT ON person, visit TO shop_keeper`
	w := newWorld(t, "two_columns", sql+people+visits,
		fmt.Sprintf(sourcePolicy, "  public.visit: {link: {to: public.person, on: {region: region, person_nr: nr}}}"))
	w.build(build.Options{})
	got := w.one(`SELECT count(*), count(DISTINCT (p.region, p.nr)), bool_and(v.note = p.name)
		FROM fugu_twin.visit v JOIN fugu_twin.person p
		ON v.region = p.region AND v.person_nr = p.nr`)
	if got != "2400|1200|t" || w.one("SELECT count(*) FROM fugu_twin.visit") != "2400" {
		t.Error(got)
	}
}

// Foreign keys stay keys when a twin that views hang on keeps its table and gets other rows, whichever of the family it
// is.
func TestForeignKeysOfKeptTwins(t *testing.T) {
	patient.Test(t)
	for name, tables := range map[string][]string{"root": {"customer"}, "middle": {"purchase"}, "last": {"line"},
		"all": {"customer", "purchase", "line"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "kept_"+name, shop, shopPolicy)
			w.build(build.Options{})
			for _, table := range tables {
				w.column("CREATE VIEW public.on_" + table + " AS SELECT * FROM fugu_twin." + table)
			}
			rows := w.one("SELECT md5(string_agg(t::text, ' ' ORDER BY purchase_id, nr)) FROM fugu_twin.line t")
			if r := w.build(build.Options{Again: true}); len(r.Twins[1].Left)+len(r.Twins[2].Left) > 0 {
				t.Errorf("left out: %q, %q", r.Twins[1].Left, r.Twins[2].Left)
			}
			const keys = "SELECT count(*), bool_and(convalidated) FROM pg_constraint WHERE contype = 'f' " +
				"AND connamespace = 'fugu_twin'::regnamespace"
			if got := w.one(keys); got != "2|t" {
				t.Errorf("foreign keys: %s", got)
			}
			if got := w.one(
				"SELECT md5(string_agg(t::text, ' ' ORDER BY purchase_id, nr)) FROM fugu_twin.line t"); got != rows {
				t.Error("the lines are others")
			}
		})
	}
}

// Keys that have no room for the number of a row are refused, on either side of a link: cut off, they would be no keys.
func TestKeysWithoutRoom(t *testing.T) {
	patient.Test(t)
	const sql = "CREATE TABLE person (" + columns + ", key varchar(%d) PRIMARY KEY GENERATED ALWAYS AS (substr(name, " +
		"2)) STORED);"
	const visits = `CREATE TABLE visit (person varchar(%d), day date);
INSERT INTO visit SELECT key, seen FROM person WHERE length(key) < 4; GRANT SELECT ON person, visit TO shop_keeper`
	text := fmt.Sprintf(sourcePolicy, "  public.visit: {link: {to: public.person, on: {person: key}}}")
	for name, room := range map[string][2]int{"enough": {4, 4}, "too little": {8, 3}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "room_"+strings.ReplaceAll(name, " ", "_"),
				fmt.Sprintf(sql, room[0])+people+fmt.Sprintf(visits, room[1]), text)
			_, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{})
			if wanted := room[1] < 4; wanted != (err != nil) || wanted && !strings.Contains(err.Error(), "no room") {
				t.Errorf("room %v: %v", room, err)
			}
		})
	}
}
