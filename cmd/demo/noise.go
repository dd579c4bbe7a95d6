package main

import (
	"context"
	"fmt"
	"strings"

	"fugu/test/beside"
)

var statements = []statement{
	{say: "What it would cost, and how far off the answer would be. Explaining spends nothing.",
		sql: "EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE income = '>50K'", keys: asText},
	{say: "The same, asked.", twin: "The secret itself: what is told of it has noise either way.",
		sql: "SELECT count(*) FROM adult WHERE income = '>50K'"},
	{say: "And again: the stored answer, at no cost.", sql: "SELECT count(*) FROM adult WHERE income = '>50K'"},
	{say: "Grouped: every public key comes back.", twin: "Grouped.",
		sql: "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex", keys: 1},
	{say: "Sixteen groups.", twin: "Sixteen groups.",
		sql: "SELECT education, count(*) FROM adult GROUP BY education ORDER BY count(*) DESC", keys: 1},
	{say: "Any SQL may stand above the aggregates. These counts were told by the last statement, so they cost nothing.",
		sql: "SELECT education, count(*) FROM adult GROUP BY education " +
			"HAVING count(*) > 1000 ORDER BY education LIMIT 3",
		truth: "SELECT education, count(*) FROM adult GROUP BY education", keys: 1},
	{say: "With parameters, through the extended protocol.", twin: "With parameters, through the extended protocol.",
		sql:  "SELECT avg(hours_per_week), count(*) FROM adult WHERE sex = $1 AND age BETWEEN $2 AND $3",
		args: []any{"Female", 25, 40}},
	{say: "A sum.", twin: "A sum.", sql: "SELECT sum(capital_gain) FROM adult WHERE workclass = 'Private'"},
	{say: "Less epsilon: more noise, less cost.", twin: "An average.",
		before: "SET fugu.epsilon = 0.1", sql: "SELECT avg(age) FROM adult WHERE sex = 'Male'"},
	{say: "Refused: a maximum shows a single row.", sql: "SELECT max(age) FROM adult", keys: asText},
}

// showNoise runs the statements, and prints for each what Fugu and what PostgreSQL itself say. It returns what was
// told, by the text of the statement.
func (d *demo) showNoise(ctx context.Context, address string) (map[string]beside.Table, error) {
	told := map[string]beside.Table{}
	for i, s := range statements {
		d.statement(i+1, s)
		a, err := d.ask(ctx, alice(address, noiseDatabase), s)
		if err != nil {
			return nil, err
		}

		// Of a refusal the reason is shown, of an explanation its lines, and of values how far they are off.
		switch {
		case a.err != "":
			fmt.Fprintln(d.out, d.paint(red, indent(a.err)))
		case s.keys == asText:
			for _, r := range a.table.Rows {
				fmt.Fprintln(d.out, indent(joined(r, " ")))
			}
		default:
			told[s.sql] = a.table
			truth, err := d.truth(ctx, s)
			if err != nil {
				return nil, err
			}
			if err := d.compare(s, truth, a); err != nil {
				return nil, err
			}
		}

		if a.notice != "" {
			fmt.Fprintln(d.out, indent(a.notice))
		}
		if a.left != "" {
			fmt.Fprintf(d.out, "   epsilon left: %s\n", a.left)
		}
	}
	return told, nil
}

// compare prints true and noisy values side by side, matched by their group keys, in the order of the answer.
func (d *demo) compare(s statement, truth beside.Table, a answer) error {
	w := d.lines()
	w.add(bold, strings.Join(truth.Columns[:s.keys], ", "), bold, "", bold, "true", bold, "Fugu", bold, "noise sd")
	values := len(truth.Columns) - s.keys
	for i, c := range beside.Cells(a.table.Named(truth.Columns), truth, s.keys) {
		row := i / values
		if row >= len(a.table.Rows) { // the truth has groups that HAVING or LIMIT left out
			break
		}
		var group []string
		for k := range s.keys {
			group = append(group, truth.Columns[k]+"="+a.table.Rows[row][k].Text)
		}
		noise := a.noise[strings.Join(group, ", ")]
		if len(noise) != values {
			return fmt.Errorf("the answer does not fit: %s, noise %v", c.Key, noise)
		}

		// The answer stands in the truth's place, so that its order is kept.
		w.add(plain, c.Key, plain, c.Column, plain, short(c.Told.String()), green, short(c.Truth.String()),
			plain, noise[i%values])
	}
	return w.w.Flush()
}

func joined(row []beside.Value, separator string) string {
	texts := make([]string, len(row))
	for i, v := range row {
		texts[i] = v.String()
	}
	return strings.Join(texts, separator)
}
