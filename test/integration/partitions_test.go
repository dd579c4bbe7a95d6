package integration

import (
	"os/exec"
	"strings"
)

// checkPartitions names partitions: that means the rows of the table that belong there, as in PostgreSQL; where a twin
// takes the table's place and has no partitions, what to ask instead is said, and no list shows any.
func (d dumpedWorld) checkPartitions() {
	d.Helper()
	owner := d.c.DSN("postgres", "dumped")

	// Of a twin whose rows are not listed.
	for part, where := range map[string]string{
		"calls_2024":         "day >= '2024-01-01' AND day < '2025-01-01'",
		"public.calls_later": "NOT (day >= '2024-01-01' AND day < '2025-01-01')",
	} {
		got := d.said("SELECT count(*), count(DISTINCT day) FROM " + part)
		want := d.asked(owner, "SELECT count(*), count(DISTINCT day) FROM fugu_twin.calls WHERE "+where)
		if got != want || want == "" {
			d.Errorf("%s: %q, and of its twin %q", part, got, want)
		}
	}

	// With noise: the statement that reads the whole table, with the partition's condition.
	below := d.asked(d.through, "EXPLAIN (PRIVACY) SELECT count(*) FROM noisy_f WHERE id < 9")
	if !strings.Contains(below, `FROM "public"."noisy" AS t WHERE`) || !strings.Contains(below, `"sex" = 'f'`) {
		d.Errorf("a partition of a table with noise is read so:\n%s", below)
	}

	for sql, want := range map[string]string{
		"SELECT count(*) FROM stays_2024": "public.stays_2024 is a partition of public.stays, which is answered from " +
			"its twin, and that has no partitions",
		"SELECT * FROM public.stays_2025":                             `FROM "public"."stays" WHERE`,
		"SELECT * FROM calls_2024":                                    "ask for aggregates",
		"SELECT * FROM noisy_f":                                       "ask for aggregates",
		"DELETE FROM noisy_m":                                         "public.noisy_m cannot be used here",
		"WITH stays_2024 AS (SELECT 7 AS x) SELECT x FROM stays_2024": "7",
	} {
		if got := d.said(sql); !strings.Contains(got, want) {
			d.Errorf("%s: %s, want %s", sql, got, want)
		}
	}

	// What a client takes for a partitioned table it asks the partitions for.
	got := d.asked(d.through, "SELECT relkind, relhassubclass FROM pg_class WHERE oid = 'stays'::regclass")
	got += d.asked(d.through, "SELECT relname FROM pg_class WHERE relispartition AND relname LIKE 'stays%'")
	if got != "r|f\n" {
		d.Errorf("the catalog shows %q", got)
	}
}

// said is all that psql prints of a statement through Fugu, errors as well.
func (d dumpedWorld) said(sql string) string {
	psql := exec.CommandContext(d.Context(), d.c.Tool("psql"), "-X", "-A", "-t", "-q", "-c", "SET fugu.notices = off",
		"-c", sql, d.through)
	out, _ := psql.CombinedOutput()
	return string(out)
}
