package main

import (
	"context"
	"fmt"
	"strings"

	"fugu/test/beside"
)

// unanswerable are statements that noise refuses, as they ask for single rows, or for keys that are not public.
var unanswerable = []statement{
	{say: "Extremes and a median.",
		sql: "SELECT min(age), max(age), percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS median FROM adult"},
	{say: "Medians and modes of groups.", keys: 1,
		sql: "SELECT sex, percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week) AS median, " +
			"mode() WITHIN GROUP (ORDER BY occupation) FROM adult GROUP BY sex ORDER BY sex"},
	{say: "Groups by a column that the policy says nothing of.", keys: 1,
		sql: "SELECT occupation, count(*), avg(age) FROM adult GROUP BY occupation ORDER BY occupation"},
	{say: "The table joined with itself: who works longer than is usual in their occupation?", keys: 1,
		sql: "SELECT sex, avg((hours_per_week > usual)::int) FROM adult JOIN (" +
			"SELECT occupation, avg(hours_per_week) AS usual FROM adult GROUP BY occupation) o USING (occupation) " +
			"GROUP BY sex ORDER BY sex"},
}

// showTwin asks the twin the statements that noise answered, and those that it refuses, and prints what is true beside
// what each of them tells.
func (d *demo) showTwin(ctx context.Context, noise, twin string, noisy map[string]beside.Table) error {
	dsn, n := alice(twin, twinDatabase), 0
	for _, s := range statements {
		if s.twin == "" {
			continue
		}
		n++
		s.say, s.before = s.twin, ""
		d.statement(n, s)
		if err := d.besideTwin(ctx, dsn, s, noisy[s.sql]); err != nil {
			return err
		}
	}

	// Then what has no answer with noise, which is asked there as well, so that the reader sees why.
	for _, s := range unanswerable {
		refused, err := d.ask(ctx, alice(noise, noiseDatabase), s)
		if err != nil {
			return err
		}
		if refused.err == "" {
			return fmt.Errorf("noise does not refuse %s", s.sql)
		}
		n++
		d.statement(n, s)
		why, _, _ := strings.Cut(refused.err, "\n")
		fmt.Fprintln(d.out, d.paint(red, "   with noise: "+why))
		if err := d.besideTwin(ctx, dsn, s, beside.Table{}); err != nil {
			return err
		}
	}
	return d.spent(ctx, noise, twin, n)
}

// besideTwin asks one statement, and prints the true values beside those that were told with noise and those of the
// twin.
func (d *demo) besideTwin(ctx context.Context, dsn string, s statement, noisy beside.Table) error {
	a, err := d.ask(ctx, dsn, s)
	if err != nil {
		return err
	}
	if a.err != "" {
		return fmt.Errorf("the twin does not answer %s: %s", s.sql, a.err)
	}
	truth, err := d.truth(ctx, s)
	if err != nil {
		return err
	}

	// The rows of the three are matched by their keys, since noise can change their order.
	answered := len(noisy.Rows) > 0
	before := map[[2]string]beside.Cell{}
	for _, c := range beside.Cells(truth, noisy.Named(truth.Columns), s.keys) {
		before[[2]string{c.Key, c.Column}] = c
	}

	w := d.lines()
	w.add(bold, strings.Join(truth.Columns[:s.keys], ", "), bold, "", bold, "true",
		bold, "with noise", bold, "off", bold, "twin", bold, "off")
	for _, c := range beside.Cells(truth, a.table.Named(truth.Columns), s.keys) {
		noise, off := "refused", ""
		if answered {
			b := before[[2]string{c.Key, c.Column}]
			noise, off = short(b.Told.String()), percent(b.Off)
		}
		w.add(plain, c.Key, plain, c.Column, plain, short(c.Truth.String()), plain, noise, plain, off,
			green, short(c.Told.String()), green, percent(c.Off))
	}
	return w.w.Flush()
}

// spent prints what all of it has cost on either side, as Fugu itself counts it.
func (d *demo) spent(ctx context.Context, noise, twin string, asked int) error {
	d.title("What it cost")

	// The two sides end in one line each, so that they can be compared.
	for _, side := range []struct{ address, database, what string }{
		{noise, noiseDatabase, fmt.Sprintf("noise: epsilon %%s of 20 for %d statements; %d were refused",
			len(statements), 1+len(unanswerable))},
		{twin, twinDatabase, fmt.Sprintf("twin:  epsilon %%s, when it was built; these %d statements and all that "+
			"follow are free",
			asked)},
	} {
		// The budget is of the whole dataset, and each of its secrets has an account: the fullest counts.
		const sql = "SELECT round(max(epsilon_spent)::numeric, 2) FROM fugu.budget"
		a, err := d.ask(ctx, alice(side.address, side.database), statement{sql: sql})
		if err != nil {
			return err
		}
		if len(a.table.Rows) != 1 {
			return fmt.Errorf("what was spent is not told: %s", a.err)
		}

		fmt.Fprintf(d.out, "   "+side.what+"\n", a.table.Rows[0][0])
	}
	return nil
}
