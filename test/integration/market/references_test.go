package market

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"fugu/test/nightly"
	"fugu/test/patient"
)

const choosing = "../../../docs/choosing.md"

// references are the references that docs/choosing.md compares: each a choice of the orders that thin.sql gives
// away, or of the protected ones themselves. What is chosen "at random" goes by the order in which they were
// given.
var references = []struct{ name, orders string }{
	{"300 orders", "SELECT * FROM orders_reference ORDER BY md5('given ' || id) LIMIT 300"},
	{"1,000 orders", "SELECT * FROM orders_reference ORDER BY md5('given ' || id) LIMIT 1000"},
	{"3,000 orders", "SELECT * FROM orders_reference ORDER BY md5('given ' || id) LIMIT 3000"},
	{"12,000 orders", "SELECT * FROM orders_reference"},
	{"the year before, 50,000", lastYear},
}

// lastYear is what a DBA has who takes the data of the year before: all of its orders. That they are in the
// table, too, makes no difference to the noise.
const lastYear = "SELECT * FROM orders WHERE placed_at < '2024-01-01'"

// compared are the statements whose noise the page compares.
var compared = []struct{ name, sql string }{
	{"by channel", "SELECT channel, count(*) FROM orders GROUP BY channel"},
	{"by month", "SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) FROM orders GROUP BY month"},
	{"stars", "SELECT avg(rating) FROM orders"},
	{"revenue", "SELECT sum(amount) FROM payment"},
	{"late", "SELECT count(*) FROM orders WHERE review ILIKE '%late%'"},
}

// TestReferences compares the table of docs/choosing.md with the noise that fugu preview states for each
// reference. It depends on no chance: noise goes by policy, reference and statement. By day one row is compared.
func TestReferences(t *testing.T) {
	patient.Test(t)
	m := load(t)
	m.thin(t)
	table := "| reference |"
	for _, s := range compared {
		table += " " + s.name + " |"
	}
	table += "\n" + strings.Repeat("|---", len(compared)+1) + "|\n"
	rows := nightly.Or(len(references), 1)
	if *update {
		rows = len(references)
	}
	for i, r := range references[:rows] {
		config := m.refer(t, fmt.Sprintf("reference_%d", i), r.orders)
		table += "| " + r.name + " |"
		for _, s := range compared {
			table += " " + percent(m.preview(t, config, s.sql).Error) + " |"
		}
		table += "\n"
	}
	compare(t, table, rows == len(references))
}

// TestMonthsWithoutReference shows what docs/choosing.md warns of: of months that a reference does not have it cannot
// say how the secret moves them, and the noise is less than that. The number of a supplier's orders in the last month
// is what the secret moves most: by n·within times the month's part of them.
func TestMonthsWithoutReference(t *testing.T) {
	patient.Test(t)
	m := load(t)
	m.thin(t)
	const sql = "SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) FROM orders " +
		"WHERE supplier = 'NORT01' GROUP BY month"
	all := m.preview(t, m.refer(t, "reference_all", "SELECT * FROM orders_reference"), sql)
	before := m.preview(t, m.refer(t, "reference_before", lastYear), sql)

	// Months by how many orders the supplier has in them: the secret moves these in proportion.
	var moves, least float64
	conn := connect(t, m.cluster.DSN("postgres", thinned))
	const moving = "SELECT $1::float8 * max(n) FILTER (WHERE month = '2024-12-01') / sum(n), $1 * min(n) / sum(n) " +
		"FROM (SELECT date_trunc('month', placed_at, 'UTC') AT TIME ZONE 'UTC' AS month, count(*) AS n FROM orders " +
		"WHERE supplier = 'NORT01' GROUP BY month) AS m"
	if err := conn.QueryRow(t.Context(), moving, within*float64(noise().rows)).Scan(&moves, &least); err != nil {
		t.Fatal(err)
	}
	t.Logf("the secret moves the last month by %.0f orders, and each by %.0f; noise %.0f to %.0f with all months in "+
		"the reference, at least %.0f without the last twelve", moves, least, all.Least, all.Most, before.Least)
	if all.Most < moves || all.Least < least {
		t.Errorf("with all months in the reference noise of %.0f to %.0f does not hide %.0f to %.0f orders",
			all.Least, all.Most, least, moves)
	}
	if before.Least > moves/2 {
		t.Errorf("noise of %.0f beside %.0f orders: the page warns of what does not happen", before.Least, moves)
	}
}

// refer makes a reference of these orders with what belongs to them, in a schema of its own, and a configuration that
// uses it.
func (m *market) refer(t *testing.T, schema, orders string) (config string) {
	t.Helper()
	sql := fmt.Sprintf(`CREATE SCHEMA %[1]s; CREATE TABLE %[1]s.orders AS %[2]s;
		CREATE TABLE %[1]s.order_item AS SELECT i.* FROM
		  (SELECT * FROM order_item UNION ALL SELECT * FROM order_item_reference) i
		  JOIN %[1]s.orders o ON o.id = i.order_id;
		CREATE TABLE %[1]s.payment AS SELECT p.* FROM
		  (SELECT * FROM payment UNION ALL SELECT * FROM payment_reference) p JOIN %[1]s.orders o ON o.id = p.order_id;
		GRANT USAGE ON SCHEMA %[1]s TO fugu_reader; GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s TO fugu_reader;`,
		schema, orders)
	if err := m.cluster.Exec(t.Context(), thinned, sql); err != nil {
		t.Fatal(err)
	}
	var edits []string
	for _, table := range []string{"orders", "order_item", "payment"} {
		edits = append(edits, "reference: public."+table+"_reference", "reference: "+schema+"."+table)
	}
	return m.configure(t, t.TempDir(), noise(), edits...)
}

// noiseOf is the noise of a statement's one column.
type noiseOf struct {
	Error float64 `json:"relative_error"`
	Least float64 `json:"noise_sd_min"`
	Most  float64 `json:"noise_sd_max"`
}

func (m *market) preview(t *testing.T, config, sql string) noiseOf {
	t.Helper()
	args := []string{"preview", "-c", config, "-epsilon", "1", "-json", sql}
	var said strings.Builder
	fugu := exec.CommandContext(t.Context(), m.binary, args...)
	fugu.Stderr = &said
	out, err := fugu.Output()
	if err != nil {
		t.Fatalf("fugu preview: %v: %s%s", err, said.String(), out)
	}
	var plans []struct{ Noise []noiseOf }
	if err := json.Unmarshal(out, &plans); err != nil || len(plans) != 1 || len(plans[0].Noise) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	return plans[0].Noise[0]
}

// compare holds the table between its marks in the page, or the beginning of it, to what was measured.
func compare(t *testing.T, table string, whole bool) {
	t.Helper()
	text, err := os.ReadFile(choosing)
	if err != nil {
		t.Fatal(err)
	}
	const begin = "<!-- references, by go test ./test/integration/market -run References -update -->\n\n"
	const end = "\n<!-- end -->"
	before, rest, found := strings.Cut(string(text), begin)
	shown, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("docs/choosing.md has no place for the references")
	}
	if *update {
		if err := os.WriteFile(choosing, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !strings.HasPrefix(shown, table) || whole && shown != table {
		t.Errorf("docs/choosing.md says\n%sand it is\n%srun it with -update", shown, table)
	}
}
