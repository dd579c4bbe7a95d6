package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// question is a statement of the dashboard, as all clients ask it, each in its own way.
type question struct {
	sql     string
	columns []string // of values, behind the keys, as fugu.last_release names them
	key     string   // the column of the keys; empty: there is none
}

var questions = map[string]question{
	"by_sex": {"SELECT sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex",
		[]string{"count(*)", "avg(age)"}, "sex"},
	"by_education": {"SELECT education, count(*) FROM adult WHERE sex = 'Female' AND age > 20 GROUP BY education " +
		"ORDER BY education", []string{"count(*)"}, "education"},
	"totals": {"SELECT sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = 'Bachelors'",
		[]string{"sum(hours_per_week)", "avg(capital_gain)"}, ""},
}

// falseAlarm bounds the probability that a right answer lies outside its interval, for one value. There are 22 values
// in the dashboard, and no more than two dozen ways to ask for them that Fugu answers apart: less than 1e-6 in all.
const falseAlarm = 1e-9

// expected is what a question's answer must look like.
type expected struct {
	keys   []string
	values [][]float64 // the truth: a row for each key
	within [][]float64 // half the width of the interval that Fugu states, at confidence 1 - falseAlarm
}

// ask asks the question, and leaves open how far its answers may be off.
func (q question) ask(ctx context.Context, conn *pgx.Conn) (e expected, err error) {
	rows, err := text(ctx, conn, q.sql)
	if err != nil {
		return e, err
	}
	for _, row := range rows {
		key, values, err := q.split(row)
		if err != nil {
			return e, err
		}
		e.keys, e.values = append(e.keys, key), append(e.values, values)
	}
	return e, nil
}

// exactly is by how much of itself a value of a twin may differ: clients write averages with fewer digits than
// PostgreSQL.
const exactly = 1e-9

// expectTwin asks every question of the twin itself: clients must get what it holds.
func expectTwin(ctx context.Context, truth *pgx.Conn) (map[string]expected, error) {
	out := map[string]expected{}
	if _, err := truth.Exec(ctx, "SET search_path = fugu_twin, public"); err != nil {
		return nil, err
	}
	for name, q := range questions {
		e, err := q.ask(ctx, truth)
		if err != nil {
			return nil, err
		}
		for _, values := range e.values {
			within := make([]float64, len(values))
			for i, v := range values {
				within[i] = exactly * math.Abs(v)
			}
			e.within = append(e.within, within)
		}
		out[name] = e
	}
	return out, nil
}

// expect asks every question of the database itself for the truth, and of Fugu for the intervals.
func expect(ctx context.Context, truth, fugu *pgx.Conn) (map[string]expected, error) {
	out := map[string]expected{}
	if _, err := fugu.Exec(ctx, fmt.Sprintf("SET fugu.confidence = %.9f", 1-falseAlarm)); err != nil {
		return nil, err
	}
	for name, q := range questions {
		e, err := q.ask(ctx, truth)
		if err != nil {
			return nil, err
		}
		if _, err := text(ctx, fugu, q.sql); err != nil {
			return nil, err
		}
		cells, err := text(ctx, fugu, "SELECT group_key, column_name, (upper - lower) / 2 FROM fugu.last_release")
		if err != nil {
			return nil, err
		}
		for _, key := range e.keys {
			group := ""
			if q.key != "" {
				group = q.key + "=" + key
			}
			widths := make([]float64, len(q.columns))
			for i, column := range q.columns {
				at := slices.IndexFunc(cells, func(c []string) bool { return c[0] == group && c[1] == column })
				if at < 0 {
					return nil, fmt.Errorf("%s: fugu.last_release has no row for %q, %s", name, group, column)
				}
				if widths[i], err = strconv.ParseFloat(cells[at][2], 64); err != nil {
					return nil, err
				}
			}
			e.within = append(e.within, widths)
		}
		out[name] = e
	}
	return out, nil
}

// text runs a statement and returns its values as text.
func text(ctx context.Context, conn *pgx.Conn, sql string) ([][]string, error) {
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	var out [][]string
	for _, row := range results[0].Rows {
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = string(v)
		}
		out = append(out, values)
	}
	return out, nil
}

// split takes a row apart: the key, if there is one, and the values.
func (q question) split(row []string) (key string, values []float64, err error) {
	if q.key != "" && len(row) > 0 {
		key, row = row[0], row[1:]
	}
	if len(row) != len(q.columns) {
		return "", nil, fmt.Errorf("%d values instead of %d: %q", len(row), len(q.columns), row)
	}
	for _, v := range row {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return "", nil, fmt.Errorf("not a number: %q", v)
		}
		values = append(values, f)
	}
	return key, values, nil
}

// answer is one answer to a question in one of a client's modes.
type answer struct{ mode, question string }

// checkDashboard checks what a client has printed: lines of "dashboard", mode, question, key and values, with tabs
// between. It returns the number of answers.
func checkDashboard(output string, want map[string]expected) (int, error) {
	rows := map[answer][][]string{}
	for line := range strings.Lines(output) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if fields[0] != "dashboard" {
			continue
		}
		if len(fields) < 4 || questions[fields[2]].sql == "" {
			return 0, fmt.Errorf("a line of the dashboard is %q", line)
		}
		a := answer{fields[1], fields[2]}
		rows[a] = append(rows[a], fields[3:])
	}
	n := 0
	for a, got := range rows {
		e, q := want[a.question], questions[a.question]
		// The same question may be asked several times in one mode.
		if len(got)%len(e.keys) != 0 {
			return 0, fmt.Errorf("%s, %s: %d rows, not a multiple of %d", a.mode, a.question, len(got), len(e.keys))
		}
		for i, row := range got {
			at := i % len(e.keys)
			key, values, err := q.split(row)
			if err != nil {
				return 0, fmt.Errorf("%s, %s: %w", a.mode, a.question, err)
			}
			if key != e.keys[at] {
				return 0, fmt.Errorf("%s, %s: row %d is of %q, not of %q", a.mode, a.question, i+1, key, e.keys[at])
			}
			for j, v := range values {
				if d := math.Abs(v - e.values[at][j]); !(d <= e.within[at][j]) {
					return 0, fmt.Errorf("%s, %s: %s of %q is %g, which is %g from the truth: more than %g, at a "+
						"false-alarm probability of %g",
						a.mode, a.question, q.columns[j], key, v, d, e.within[at][j], falseAlarm)
				}
			}
		}
		n += len(got) / len(e.keys)
	}
	if n == 0 {
		return 0, fmt.Errorf("no answer in\n%s", output)
	}
	return n, nil
}
