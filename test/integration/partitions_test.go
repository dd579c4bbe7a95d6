package integration

import (
	"context"
	"os/exec"
	"strings"

	"fugu/internal/doubt"
	"fugu/planner"
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
		const columns = "SELECT count(*), count(DISTINCT day), sum(fee::numeric), avg((day > '2024-03-01')::int) FROM "
		got, want := d.said(columns+part), d.asked(owner, columns+"fugu_twin.calls WHERE "+where)
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
		"DELETE FROM noisy_m":                                         "noisy_m of a protected table cannot be changed",
		"WITH stays_2024 AS (SELECT 7 AS x) SELECT x FROM stays_2024": "7",
	} {
		if got := d.said(sql); !strings.Contains(got, want) {
			d.Errorf("%s: %s, want %s", sql, got, want)
		}
	}

	// The secrets of twins are told as those of tables with noise are.
	secrets := d.asked(d.through,
		`SELECT table_name, secret, proportion, "from", "to", "within" FROM fugu.policy ORDER BY 1`)
	if secrets != `public.noisy|rich|rich|0.1|0.6|0.05
public.orders|fast|fast|0.1|0.6|0.05
public.patients|ill|ill|0.1|0.6|0.05
` {
		d.Errorf("fugu.policy shows\n%s", secrets)
	}
	d.checkDoubts()

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

// checkDoubts has the owner told of the key that is unique beside what the partitions go by, and of no partition as if
// it were a table of its own.
func (d dumpedWorld) checkDoubts() {
	d.Helper()
	c := connect(d.T, d.c.DSN("postgres", "dumped"))
	ask := func(ctx context.Context, sql string, params [][]byte) (out [][]planner.Value, err error) {
		r := c.PgConn().ExecParams(ctx, sql, params, nil, nil, nil).Read()
		for _, row := range r.Rows {
			var values []planner.Value
			for _, v := range row {
				values = append(values, planner.Value{Text: string(v), Null: v == nil})
			}
			out = append(out, values)
		}
		return out, r.Err
	}

	family := []string{"public.patients", "public.admissions", "public.stays", "public.calls"}
	for table, want := range map[string]string{"public.patients": "", "public.stays": "unique id"} {
		found, err := doubt.Twin(d.Context(), ask, table, []string{"mrn", "mail", "badge"}, family, false)
		if err != nil {
			d.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, string(f.Kind)+" "+f.Column)
		}
		if strings.Join(got, ", ") != want {
			d.Errorf("of %s: %v, want %s", table, found, want)
		}
	}
}
