package adult

import (
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// connect connects to a database that Load made.
func connect(t *testing.T, c *pgcluster.Cluster, user, db string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN(user, db))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func one[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func mustLoad(t *testing.T, c *pgcluster.Cluster, db, csv string) {
	t.Helper()
	got, err := Load(t.Context(), c, db, Options{CSV: csv})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Loaded{Rows: 35222, ReferenceRows: 10000}); got != want {
		t.Errorf("loaded %v, want %v", got, want)
	}
}

// The generated data have the shape of the census: shares, and what depends on what. What is kept of them makes the
// same.
func TestAdultGenerated(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	c := pgcluster.Shared(t)
	mustLoad(t, c, "generated", "")
	mustLoad(t, c, "kept", "")
	if file, err := keptFile(); err != nil || !exists(file) {
		t.Errorf("%s is not there: %v", file, err)
	}
	if got := digest(t, connect(t, c, "postgres", "kept")); got != generated {
		t.Errorf("the digest of what is kept is %s, want %s", got, generated)
	}
	conn := connect(t, c, "postgres", "generated")
	checkCounts(t, conn)
	if got := digest(t, conn); got != generated {
		t.Errorf("the digest is %s, want %s", got, generated)
	}
	// The bounds are the census's values, give or take about a tenth.
	for sql, want := range map[string][2]float64{
		"SELECT avg((income = '>50K')::int) FROM adult":                                             {0.23, 0.27},
		"SELECT avg((income = '>50K')::int) FROM adult WHERE sex = 'Male'":                          {0.28, 0.34},
		"SELECT avg((income = '>50K')::int) FROM adult WHERE sex = 'Female'":                        {0.09, 0.14},
		"SELECT avg((income = '>50K')::int) FROM adult WHERE education = 'Doctorate'":               {0.60, 0.80},
		"SELECT avg((income = '>50K')::int) FROM adult WHERE education = 'HS-grad'":                 {0.13, 0.19},
		"SELECT avg((income = '>50K')::int) FROM adult WHERE age < 25":                              {0.00, 0.04},
		"SELECT avg((income = '>50K')::int) FROM adult WHERE marital_status = 'Married-civ-spouse'": {0.40, 0.50},
		"SELECT avg((workclass = 'Private')::int) FROM adult":                                       {0.68, 0.77},
		"SELECT avg((sex = 'Male')::int) FROM adult":                                                {0.65, 0.70},
		"SELECT avg((education = 'HS-grad')::int) FROM adult":                                       {0.30, 0.35},
		"SELECT avg((native_country = 'United-States')::int) FROM adult":                            {0.88, 0.94},
		"SELECT avg(age) FROM adult":                                                                {37.5, 39.5},
		"SELECT stddev(age) FROM adult":                                                             {12.5, 14.0},
		"SELECT avg(hours_per_week) FROM adult":                                                     {39.5, 42.5},
		"SELECT avg(fnlwgt) FROM adult":                                                             {180000, 200000},
		"SELECT stddev(fnlwgt) FROM adult":                                                          {95000, 115000},
		"SELECT avg(capital_gain) FROM adult WHERE income = '>50K'":                                 {3400, 4600},
		"SELECT avg(capital_loss) FROM adult":                                                       {70, 110},
		"SELECT count(DISTINCT education) FROM adult":                                               {16, 16},
		"SELECT count(DISTINCT education) FROM adult_reference":                                     {16, 16},
		"SELECT count(DISTINCT workclass) FROM adult": {7,
			7},
		"SELECT count(DISTINCT occupation) FROM adult": {14, 14},
		"SELECT count(DISTINCT marital_status) FROM adult": {7,
			7},
		"SELECT min(age) FROM adult": {17, 17},
		"SELECT max(age) FROM adult": {85, 90},
		"SELECT min(hours_per_week) FROM adult": {1,
			3},
		"SELECT count(*) FROM adult WHERE (relationship = 'Husband') AND sex = 'Female'": {0,
			0},
		"SELECT count(DISTINCT adult) FROM adult": {35000, 35222},
		"SELECT avg((income = '>50K')::int) - " +
			"(SELECT avg((income = '>50K')::int) FROM adult_reference) FROM adult": {-0.02, 0.02},
	} {
		if got := one[float64](t, conn, "SELECT ("+sql+")::float8"); !(got >= want[0] && got <= want[1]) {
			t.Errorf("%s = %v, not in %v", sql, got, want)
		}
	}
}

func TestAdultCensus(t *testing.T) {
	csv := CensusFile()
	if csv == "" {
		t.Skip("there is no census file")
	}
	c := pgcluster.Shared(t)
	mustLoad(t, c, "census", csv)
	conn := connect(t, c, "postgres", "census")
	checkCounts(t, conn)
	// 11,208 of the 45,222 complete rows have a high income.
	if got := one[int](t, conn, "SELECT count(*) FROM (TABLE adult UNION ALL TABLE adult_reference) a "+
		"WHERE income = '>50K'"); got != 11208 {
		t.Errorf("%d rows with a high income", got)
	}
}

func checkCounts(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for sql, want := range map[string]int{
		"SELECT count(*) FROM adult":           35222,
		"SELECT count(*) FROM adult_reference": 10000,
		"SELECT count(*) FROM country":         41,
		"SELECT count(*) FROM (TABLE adult UNION ALL TABLE adult_reference) a " +
			"WHERE native_country NOT IN (SELECT name FROM country)": 0,
		"SELECT count(*) FROM adult WHERE NOT adult IS NOT NULL":                0,
		"SELECT has_table_privilege('fugu_guest', 'adult', 'SELECT')::int":      0,
		"SELECT has_any_column_privilege('fugu_guest', 'adult', 'SELECT')::int": 0,
		"SELECT has_table_privilege('fugu_reader', 'adult', 'SELECT')::int":     1,
	} {
		if got := one[int](t, conn, sql); got != want {
			t.Errorf("%s = %d, want %d", sql, got, want)
		}
	}
}

// Rows with a missing value are left out, and a file that fills only the reference is an error.
func TestTooFewRows(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "few.csv")
	complete := "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40," +
		"United-States,<=50K\n"
	text := "age,workclass\n" + complete + strings.Replace(complete, "State-gov", "?", 1) + complete
	if err := os.WriteFile(csv, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), pgcluster.Shared(t), "few", Options{CSV: csv})
	if err == nil || !strings.Contains(err.Error(), "all 2 complete rows went to the reference") {
		t.Errorf("got %v", err)
	}
}

// load.sh does what Load does.
func TestLoadScript(t *testing.T) {
	for name, csv := range map[string]string{"generated": "", "census": CensusFile()} {
		t.Run(name, func(t *testing.T) {
			c := pgcluster.StartTest(t, pgcluster.Options{}) // without the roles
			if err := c.CreateDatabase(t.Context(), "script", ""); err != nil {
				t.Fatal(err)
			}
			cmd := osexec.CommandContext(t.Context(), "../../examples/adult/load.sh")
			if name == "census" {
				if csv == "" {
					t.Skip("there is no census file")
				}
				cmd.Args = append(cmd.Args, csv)
			}
			cmd.Env = append(os.Environ(), "PGHOST=127.0.0.1", "PGPORT="+strconv.Itoa(c.Port()), "PGUSER=postgres",
				"PGDATABASE=script")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			script := connect(t, c, "postgres", "script")
			checkCounts(t, script)
			want := generated
			if csv != "" {
				mustLoad(t, c, "program", csv)
				want = digest(t, connect(t, c, "postgres", "program"))
			}
			if got := digest(t, script); got != want {
				t.Errorf("the digest is %s, want %s", got, want)
			}
		})
	}
}

// generated is the digest of the generated data: each run makes the same.
const generated = "64d27c2610f72b8d486e7165942f5b96"

// digest identifies the contents of the example's tables.
func digest(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return one[string](t, conn, `SELECT md5(string_agg(row, '' ORDER BY row COLLATE "C")) FROM (
		SELECT 'adult' || a AS row FROM adult a UNION ALL SELECT 'reference' || a FROM adult_reference a
		UNION ALL SELECT 'country' || c FROM country c) r`)
}
