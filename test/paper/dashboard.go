package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/mechanism"
	"fugu/test/pgcluster"
	"fugu/test/serving"
)

// panel is a statement of the dashboard: what follows its keys are the aggregates.
type panel struct {
	name, sql string
	keys      int
	grouped   bool // grouped counts, for which there is a goal
}

var panels = []panel{
	{"count by education", "SELECT education, count(*) FROM adult GROUP BY education", 1, true},
	{"count by race", "SELECT race, count(*) FROM adult GROUP BY race", 1, true},
	{"count by sex", "SELECT sex, count(*) FROM adult GROUP BY sex", 1, true},
	{"count by sex, education", "SELECT sex, education, count(*) FROM adult GROUP BY sex, education", 2, true},
	{"count by age", "SELECT age, count(*) FROM adult GROUP BY age", 1, true},
	{"women by education", "SELECT education, count(*) FROM adult WHERE sex = 'Female' GROUP BY education", 1, true},
	{"average age by education", "SELECT education, avg(age) FROM adult GROUP BY education", 1, false},
	{"average hours by sex", "SELECT sex, avg(hours_per_week) FROM adult GROUP BY sex", 1, false},
	{"count under 30", "SELECT count(*) FROM adult WHERE age < 30", 0, false},
	{"average age, long hours", "SELECT avg(age) FROM adult WHERE sex = 'Female' AND hours_per_week > 40", 0, false},
	{"share of women by education", "SELECT education, avg(CASE WHEN sex = 'Female' THEN 1 ELSE 0 END) FROM adult " +
		"GROUP BY education", 1, false},
	{"sum of gains by sex", "SELECT sex, sum(capital_gain) FROM adult GROUP BY sex", 1, false},
}

// goalShare is how much of the optimal Gaussian mechanism's error auto may have on grouped counts, both looking for
// the least error in rows.
const goalShare = .66

// policyText is the example's policy with a mechanism, race as a public key, and other edits: old and new in turn.
func policyText(mechanism string, edits ...string) (string, error) {
	text, err := os.ReadFile("examples/adult/adult.policy.yaml")
	if err != nil {
		return "", err
	}
	edits = append([]string{"mechanism: auto", "mechanism: " + mechanism, "education: reference",
		"education: reference\n      race: reference"}, edits...)
	return strings.NewReplacer(edits...).Replace(string(text)), nil
}

// onlyIncome leaves out the second secret: the setting in which the goals' reference numbers were computed.
var onlyIncome = []string{`  private_sector:
    table: public.adult
    proportion: workclass = 'Private'
    pairs: [[0.68, 0.72]]
`, ""}

// dashboards prints the error of each panel at ε = 1, under the example's policy and with its first secret alone.
func dashboards(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn) error {
	for _, setting := range []struct {
		title string
		edits []string
	}{{"the example's policy, two secrets", nil}, {"its first secret alone", onlyIncome}} {
		if err := dashboard(ctx, cluster, truth, setting.title, setting.edits); err != nil {
			return fmt.Errorf("dashboard, %s: %w", setting.title, err)
		}
	}
	return nil
}

// choices are what the dashboard asks engines for: a mechanism, and the policy's weights.
var choices = []struct {
	mechanism mechanism.Kind
	weights   string
}{{mechanism.ExpmGaussian, "sampling"}, {mechanism.Auto, "sampling"}, {mechanism.Auto, "total"}}

func dashboard(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, title string,
	edits []string) (err error) {
	var engines []*serving.Engine
	for _, c := range choices {
		text, err := policyText(string(c.mechanism), append(slices.Clone(edits), "  epsilon: 1 ", "  weights: "+
			c.weights+"\n  epsilon: 1 ")...)
		if err != nil {
			return err
		}
		fugu, err := serve(ctx, cluster, text)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, fugu.stop()) }()
		engines = append(engines, fugu.engine)
	}
	models, err := newModels(ctx, truth, cluster, len(edits) == 0)
	if err != nil {
		return err
	}
	defer models.close()

	s := newSheet(fmt.Sprintf("Dashboard, ε = 1, %s: Σ|noise|/Σ|F| (and the median over cells of |noise|/|F|)", title),
		"statement", "cells", "ExpM (G)", "optimal (G), not certified", "the same, unseen rows hidden", "auto", "by",
		"share of optimal", "auto, weights: total", "share", "share, unseen rows hidden", "")
	for _, p := range panels {
		exact, err := cells(ctx, truth, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		n, err := noisesOf(ctx, engines, models, p, exact)
		if err != nil {
			return err
		}
		s.row(p.name, len(exact), n.both(0), n.both(3), n.both(4), n.both(1), n.by, n.share(1, 3), n.both(2),
			n.share(2, 3), n.share(2, 4), n.verdict(p))
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	return models.printParts(ctx, truth)
}

// noises are Σ|noise|/Σ|F| of a panel and the median of |noise|/|F|: by each of choices, by the optimal Gaussian
// mechanism, and by that with unseen rows hidden.
type noises struct {
	total, median [5]float64
	by            string // the mechanism that the last of choices took
}

func noisesOf(ctx context.Context, engines []*serving.Engine, m *models, p panel,
	exact map[string]float64) (n noises, err error) {
	f, err := m.measure(ctx, p.sql)
	if err != nil {
		return n, fmt.Errorf("%s: %w", p.name, err)
	}
	for i, engine := range engines {
		c, err := calibrated(ctx, engine, p.sql, f.labels)
		if err != nil {
			return n, fmt.Errorf("%s by %s: %w", p.name, choices[i].mechanism, err)
		}
		if n.total[i], n.median[i], err = relative(means(c, f.labels), exact); err != nil {
			return n, fmt.Errorf("%s by %s: %w", p.name, choices[i].mechanism, err)
		}
		n.by = string(c.Kind)
	}

	optimal, err := m.optimal(f, budget(1, .001))
	if err != nil {
		return n, fmt.Errorf("%s: %w", p.name, err)
	}
	for i, noise := range optimal {
		at := len(choices) + i
		if n.total[at], n.median[at], err = relative(noise, exact); err != nil {
			return n, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return n, nil
}

func (n noises) both(i int) string {
	return fmt.Sprintf("%s (%s)", number(n.total[i]), number(n.median[i]))
}

func (n noises) share(i, of int) string { return fmt.Sprintf("%.3f", n.total[i]/n.total[of]) }

// verdict compares auto under weights: total with the optimal mechanism, where there is a goal for that.
func (n noises) verdict(p panel) string {
	switch {
	case !p.grouped:
		return ""
	case n.total[2] <= goalShare*n.total[3]:
		return fmt.Sprintf("goal ≤ %g: reached", goalShare)
	}
	return fmt.Sprintf("goal ≤ %g: MISSED", goalShare)
}

// cells are the exact values of a panel by group key. Nothing is prepared: a prepared statement would go on meaning
// the table of its name when a temporary one of that name comes.
func cells(ctx context.Context, truth *pgx.Conn, p panel) (map[string]float64, error) {
	rows, err := truth.Query(ctx, p.sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]float64{}
	for rows.Next() {
		var keys []string
		var value float64
		for i, v := range rows.RawValues() {
			if i < p.keys {
				keys = append(keys, rows.FieldDescriptions()[i].Name+"="+string(v))
				continue
			}
			if value, err = strconv.ParseFloat(string(v), 64); err != nil {
				return nil, err
			}
		}
		out[inOrder(keys)] = value
	}
	return out, rows.Err()
}

// inOrder writes a cell's keys in one order, whatever the statement's.
func inOrder(keys []string) string {
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// calibrated is the noise of a statement, labels naming the components in F's order.
func calibrated(ctx context.Context, e *serving.Engine, sql string, labels []string) (mechanism.Calibration, error) {
	x, err := e.Preview(ctx, sql, 1)
	if err != nil {
		return mechanism.Calibration{}, err
	}
	if x[0].Components != len(labels) {
		return mechanism.Calibration{}, fmt.Errorf("%d components in the engine and %d here", x[0].Components,
			len(labels))
	}
	return x[0].Calibration, nil
}

// means is E|noise| of each cell.
func means(c mechanism.Calibration, labels []string) map[string]float64 {
	out := map[string]float64{}
	for k, label := range labels {
		out[label] = c.Noise.Mean(k)
	}
	return out
}

// relative is Σ|noise|/Σ|F| and the median of |noise|/|F|, over the cells that hold something.
func relative(noise, exact map[string]float64) (total, median float64, err error) {
	var all, size float64
	var each []float64
	for key, f := range exact {
		e, ok := noise[key]
		if !ok {
			return 0, 0, fmt.Errorf("no noise is known of cell %q", key)
		}
		all, size = all+e, size+math.Abs(f)
		if f != 0 {
			each = append(each, e/math.Abs(f))
		}
	}
	slices.Sort(each)
	return all / size, each[len(each)/2], nil
}
