package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/patient"
)

// sizes are sizes of the twin, by the table's name.
var sizes = []string{"pg_relation_size('public.adult')", "pg_total_relation_size('adult'::regclass)",
	"pg_table_size('adult')", "pg_indexes_size('public.adult')",
	"(SELECT pg_relation_size(c.oid, 'main') FROM pg_class c WHERE oid = 'public.adult'::regclass)"}

// psql shows the table under its own name with the twin's columns, and a dump of it can be restored.
func TestTwinTools(t *testing.T) {
	patient.Test(t)
	_, through, _ := serveCensus(t)
	direct := census.cluster.DSN("postgres", "census")
	tool := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), census.cluster.Tool(name), args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	d := tool("psql", "-X", "-A", "-c", `\d adult`, through)
	if !contains(d, `Table "public.adult"`) || !contains(d, "native_country|") || contains(d, "fnlwgt") {
		t.Errorf("\\d shows\n%s", d)
	}
	if d := tool("psql", "-X", "-A", "-c", "SELECT column_name FROM information_schema.columns WHERE table_schema = "+
		"'public' AND table_name = 'adult'", through); !contains(d, "age") || contains(d, "fnlwgt") {
		t.Errorf("information_schema.columns shows\n%s", d)
	}

	// Where twins are is nobody's concern who lists what there is; they can be had by their own names all the same.
	for _, list := range []string{`\dn`, `\dt *.*`, `\dT *.*`, "SELECT schema_name FROM information_schema.schemata",
		"SELECT table_schema, table_name FROM information_schema.tables",
		"SELECT nspname, relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace",
		"SELECT coalesce(nspname, 'fugu_twin') FROM pg_class LEFT JOIN pg_namespace n ON n.oid = relnamespace",
		"TABLE pg_catalog.pg_namespace"} {
		if d := tool("psql", "-X", "-A", "-c", list, through); contains(d, "fugu_twin") || !contains(d, "public") &&
			list != `\dT *.*` {
			t.Errorf("%s shows\n%s", list, d)
		}
	}
	const owner = "SELECT relname FROM adult JOIN pg_class c ON c.oid = adult.tableoid LIMIT 1"
	if d := tool("psql", "-X", "-At", "-c", owner, through); !strings.HasSuffix(d, "\nadult\n") {
		t.Errorf("a row of a twin is of %q", d)
	}
	d = tool("pg_dump", "-s", "-x", "-O", through)
	if !contains(d, "CREATE TABLE public.adult") || contains(d, "fugu_twin") {
		t.Errorf("a dump of all shows\n%s", d)
	}
	for _, size := range sizes {
		got := tool("psql", "-X", "-At", "-c", "SELECT "+size, through)
		own := strings.NewReplacer("public.adult", "fugu_twin.adult", "'adult'", "'fugu_twin.adult'").Replace(size)
		if want := tool("psql", "-X", "-At", "-c", "SELECT "+own, direct); got != want || got == "" {
			t.Errorf("%s is %q, and of the twin %q", size, got, want)
		}
	}

	// What is restored is the twin, to the last row.
	file := filepath.Join(t.TempDir(), "dump")
	tool("pg_dump", "-Fc", "-x", "-O", "-t", "public.adult", "-f", file, through)
	if err := census.cluster.CreateDatabase(t.Context(), "restored", ""); err != nil {
		t.Fatal(err)
	}
	restored := census.cluster.DSN("postgres", "restored")
	tool("pg_restore", "-x", "-O", "-d", restored, file)
	if got, want := contentOf(t, restored, "public.adult"), contentOf(t, direct, "fugu_twin.adult"); got != want {
		t.Errorf("the dump holds %s, the twin %s", got, want)
	}
}

// contentOf returns the number of a table's rows with a digest of them.
func contentOf(t *testing.T, dsn, table string) (content string) {
	t.Helper()
	sql := fmt.Sprintf("SELECT count(*) || md5(string_agg(a::text, ',' ORDER BY a::text)) FROM %s a", table)
	if err := connect(t, dsn).QueryRow(t.Context(), sql).Scan(&content); err != nil {
		t.Fatal(err)
	}
	return content
}
