package market

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/beside"
	"fugu/test/pgcluster"
)

// flat is the marketplace as one table, as pg_diffix takes it: a person is a customer, whose name is a text. In the
// other world the largest supplier has a fiftieth of all orders less, as many as within: another has them.
const flat = `CREATE TABLE purchase AS
SELECT customer_id::text AS customer, supplier, to_char(placed_at, 'YYYY-MM') AS month, channel::text AS channel,
       ship_country::text AS country, coalesce(coupon, 'none') AS coupon, rating::int AS rating,
       coalesce(amount, 0)::float8 AS amount
FROM orders LEFT JOIN payment ON order_id = orders.id`

const less = `UPDATE purchase SET supplier = 'ABER02' WHERE ctid IN
(SELECT ctid FROM purchase WHERE supplier = 'NORT01' ORDER BY md5(customer || amount) LIMIT $1)`

// dashboard are the tiles that both are asked: pg_diffix takes columns and equalities.
var dashboard = []struct {
	name, sql string
	keys      int
}{
	{"orders by channel", "SELECT channel, count(*) FROM purchase GROUP BY channel", 1},
	{"orders by country", "SELECT country, count(*) FROM purchase GROUP BY country", 1},
	{"orders by month", "SELECT month, count(*) FROM purchase GROUP BY month", 1},
	{"orders by coupon", "SELECT coupon, count(*) FROM purchase GROUP BY coupon", 1},
	{"orders by country and channel", "SELECT country, channel, count(*) FROM purchase GROUP BY country, channel", 2},
	{"stars by channel", "SELECT channel, avg(rating) FROM purchase GROUP BY channel", 1},
	{"revenue by country", "SELECT country, sum(amount) FROM purchase GROUP BY country", 1},
	{"app orders by month", "SELECT month, count(*) FROM purchase WHERE channel = 'app' GROUP BY month", 1},
	{"orders by supplier, the secret", "SELECT supplier, count(*) FROM purchase GROUP BY supplier", 1},
}

// trials is how often it is guessed which of two worlds there is. With epsilon 1 and delta .001 a guess is right with
// probability .732 at most, so that all are right in 48 trials is a false alarm of .732^48, 3e-7.
const trials = 48

// TestBesideDiffix asks pg_diffix and a twin the same questions about the same rows. It needs a PostgreSQL that has the
// extension, and is skipped elsewhere: make compare says how. What docs/comparison.md says of it is from here.
func TestBesideDiffix(t *testing.T) {
	cluster := pgcluster.Shared(t)
	var there bool
	const looking = "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_diffix')"
	look := connect(t, cluster.DSN("postgres", "postgres"))
	if err := look.QueryRow(t.Context(), looking).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if !there {
		t.Skip("this PostgreSQL has no pg_diffix: put the programs of one that does first on PATH")
	}

	m := load(t)
	worlds := []*world{m.world(t, "world_more", 0), m.world(t, "world_less", *orders/50)}
	for _, w := range worlds {
		w.label(t)
		w.initialize(t)
	}
	worlds[0].dashboard(t)

	extension, twin := 0, 0
	for i := range trials {
		w := worlds[i%2]
		if w.guess(worlds, w.askDiffix(t, i)) {
			extension++
		}
		if w.guess(worlds, w.build(t)) {
			twin++
		}
	}
	t.Logf("which of two worlds, %d orders apart, is right: %d of %d by pg_diffix, %d of %d by the twin",
		worlds[0].supplied-worlds[1].supplied, extension, trials, twin, trials)
	if extension != trials {
		t.Errorf("the page says that pg_diffix tells the worlds apart each time")
	}
	if twin == trials {
		t.Errorf("the twin tells the worlds apart each time: epsilon 1 does not hold")
	}
}

// world is a database with one table of purchases.
type world struct {
	*market
	name, dir string
	supplied  int // orders of the supplier, the truth
}

func (m *market) world(t *testing.T, name string, fewer int) *world {
	t.Helper()
	w := &world{market: m, name: name, dir: filepath.Join(t.TempDir(), name)}
	const leave = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database + "'"
	for _, s := range []struct{ database, sql string }{
		{"postgres", leave}, {"postgres", "CREATE DATABASE " + name + " TEMPLATE " + database},
		{name, "DROP SCHEMA IF EXISTS fugu_twin CASCADE"}, {name, flat},
		{name, "DROP TABLE order_item, payment, orders, customer, product, supplier"},
	} {
		if err := m.cluster.Exec(t.Context(), s.database, s.sql); err != nil {
			t.Fatal(err)
		}
	}
	conn := w.owner(t)
	if _, err := conn.Exec(t.Context(), less, fewer); err != nil {
		t.Fatal(err)
	}
	const count = "SELECT count(*) FROM purchase WHERE supplier = 'NORT01'"
	if err := conn.QueryRow(t.Context(), count).Scan(&w.supplied); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The roles are of this database alone, and go with it.
		_ = m.cluster.Exec(context.Background(), "postgres", "DROP DATABASE "+name+" WITH (FORCE)")
		_ = m.cluster.Exec(context.Background(), "postgres", fmt.Sprintf(
			"DROP ROLE IF EXISTS %[1]s_guest, %[1]s_reader, %[1]s_keeper, %[1]s_looker", name))
	})
	return w
}

func (w *world) owner(t *testing.T) *pgx.Conn { return connect(t, w.cluster.DSN("postgres", w.name)) }

// label has pg_diffix protect customers, from somebody whom nobody trusts.
func (w *world) label(t *testing.T) {
	t.Helper()
	looker := w.name + "_looker"
	for _, sql := range []string{"CREATE EXTENSION pg_diffix",
		"ALTER DATABASE " + w.name + " SET session_preload_libraries TO 'pg_diffix'",
		"CALL diffix.mark_personal('purchase', 'customer')",
		"CREATE ROLE " + looker + " LOGIN", "GRANT SELECT ON purchase TO " + looker,
		"CALL diffix.mark_role('" + looker + "', 'anonymized_untrusted')"} {
		if err := w.cluster.Exec(t.Context(), w.name, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// askDiffix is how many orders pg_diffix says that the supplier has, with the noise of another salt each time.
func (w *world) askDiffix(t *testing.T, salt int) (n int) {
	t.Helper()
	sql := fmt.Sprintf("ALTER DATABASE %s SET pg_diffix.salt TO 'salt %d'", w.name, salt)
	if err := w.cluster.Exec(t.Context(), "postgres", sql); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, w.cluster.DSN(w.name+"_looker", w.name))
	const count = "SELECT count(*) FROM purchase WHERE supplier = 'NORT01'"
	if err := conn.QueryRow(t.Context(), count).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// initialize has fugu init write a policy, and makes its roles.
func (w *world) initialize(t *testing.T) {
	t.Helper()
	dsn := w.cluster.DSN("postgres", w.name)
	out, err := exec.CommandContext(t.Context(), w.binary, "init", dsn, "-dir", w.dir, "-table", "purchase", "-secret",
		"supplier = 'NORT01'", "-from", "0.05", "-to", "0.40", "-within", "0.02", "-rows", strconv.Itoa(*orders),
		"-independent-rows", "-analyst", "alice", "-roles", w.name, "-listen", "127.0.0.1:0").CombinedOutput()
	if err != nil {
		t.Fatalf("fugu init: %v\n%s", err, out)
	}
	grants, err := os.ReadFile(filepath.Join(w.dir, "grants.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cluster.Exec(t.Context(), w.name, string(grants)); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.dir, "fugu.yaml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, []byte(strings.Replace(string(text), "scram-sha-256", "trust", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var told = regexp.MustCompile(`secret_share=true: told as (\d+) rows`)

// build makes a twin from nothing, and returns how many orders it says that the supplier has.
func (w *world) build(t *testing.T) (n int) {
	t.Helper()
	if err := w.cluster.Exec(t.Context(), w.name, "DROP SCHEMA IF EXISTS fugu_twin CASCADE"); err != nil {
		t.Fatal(err)
	}
	ledgers, err := filepath.Glob(filepath.Join(w.dir, "fugu.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range ledgers {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), w.binary, "twin", "build", "-c",
		filepath.Join(w.dir, "fugu.yaml")).CombinedOutput()
	if err != nil {
		t.Fatalf("fugu twin build: %v\n%s", err, out)
	}
	m := told.FindSubmatch(out)
	if m == nil {
		t.Fatalf("nothing is told:\n%s", out)
	}
	if n, err = strconv.Atoi(string(m[1])); err != nil {
		t.Fatal(err)
	}
	return n
}

// guess says whether the world whose true number is nearer to the one told is this one.
func (w *world) guess(worlds []*world, told int) bool {
	nearest := worlds[0]
	for _, other := range worlds {
		if off(told, other.supplied) < off(told, nearest.supplied) {
			nearest = other
		}
	}
	return nearest == w
}

func off(a, b int) int { return max(a-b, b-a) }

// dashboard prints how far off the tiles are, by pg_diffix and on a twin.
func (w *world) dashboard(t *testing.T) {
	t.Helper()
	w.build(t)
	proxy := w.serve(t, filepath.Join(w.dir, "fugu.yaml"), w.name)
	defer proxy.stop(t)
	truth, twin := w.owner(t), connect(t, proxy.dsn("alice"))
	extension := connect(t, w.cluster.DSN(w.name+"_looker", w.name))

	for _, tile := range dashboard {
		var medians []float64
		var missing []int
		true, err := beside.Query(t.Context(), truth, tile.sql)
		if err != nil {
			t.Fatal(err)
		}
		for _, conn := range []*pgx.Conn{extension, twin} {
			answer, err := beside.Query(t.Context(), conn, tile.sql)
			if err != nil {
				t.Fatalf("%s: %v", tile.name, err)
			}
			cells := beside.Cells(true, answer, tile.keys)
			medians = append(medians, 100*beside.Median(cells))
			missing = append(missing, len(true.Rows)-len(answer.Rows))
		}
		t.Logf("%-32s %3d cells: pg_diffix off by %6.2f%% (%d missing), twin by %6.2f%% (%d missing)", tile.name,
			len(true.Rows), medians[0], missing[0], medians[1], missing[1])
	}
}
