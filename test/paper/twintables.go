package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/stat"

	"fugu/mechanism"
	"fugu/policy"
	"fugu/privacy"
	"fugu/test/pgcluster"
	"fugu/test/serving"
	"fugu/twin"
	"fugu/twin/build"
	"fugu/twin/margin"
)

const (
	// statements is how many statements share a budget in the comparison.
	statements = 200
	// twinDraws is how many twins are drawn for a mean error.
	twinDraws = 40

	twinPolicy = `version: 1
dataset: twins
tables:
  public.adult: {rows: %d, answers: twin, twin: {rows: shown}}
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: %g, delta: 0.001, budget: {epsilon: %[2]g, delta: 0.001, per: dataset}}
`
)

// random are the bytes that twins here are drawn with.
var random = bytesOf{rand.New(rand.NewPCG(8, 0))}

// twins prints the dashboard on twins beside noise, at a total of ε = 1 and 5: twins drawn by package twin in SQL,
// many of each, and one that is really built and asked through the proxy.
func twins(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn) error {
	const roles = `DO $$ BEGIN CREATE ROLE paper_keeper LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
		GRANT SELECT ON adult TO paper_keeper; GRANT CREATE ON DATABASE adult TO paper_keeper`
	if _, err := truth.PgConn().Exec(ctx, roles).ReadAll(); err != nil {
		return err
	}
	for _, epsilon := range []float64{1, 5} {
		if err := twinDashboard(ctx, cluster, truth, epsilon); err != nil {
			return fmt.Errorf("twins at ε = %g: %w", epsilon, err)
		}
	}
	return nil
}

func twinDashboard(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, epsilon float64) (err error) {
	exact := make([]map[string]float64, len(panels))
	for i, p := range panels {
		if exact[i], err = cells(ctx, truth, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	p, counts, err := readTwinPolicy(ctx, truth, epsilon)
	if err != nil {
		return err
	}
	d, err := lawOf(p)
	if err != nil {
		return err
	}
	drawn, err := drawnErrors(ctx, truth, d, counts, exact)
	if err != nil {
		return err
	}
	built, err := builtErrors(ctx, cluster, truth, p, exact)
	if err != nil {
		return err
	}
	alone, shared, err := noiseErrors(ctx, cluster, epsilon, exact)
	if err != nil {
		return err
	}

	s := newSheet(fmt.Sprintf("%d statements at a total of ε = %g, δ = .001, income alone: Σ|error|/Σ|F|; twins: "+
		"mean of %d that were drawn, one that was built, asked through the proxy",
		statements, epsilon, twinDraws), "statement", "cells", "noise, one statement",
		fmt.Sprintf("noise, budget shared by %d", statements), "twin, any number", "± sd of one", "built", "")
	for i, panel := range panels {
		mean, sd := stat.MeanStdDev(drawn[i], nil)
		s.row(panel.name, len(exact[i]), number(alone[i]), number(shared[i]), number(mean), number(sd),
			number(built[i]), "")
		// Errors of one twin have the tails of Laplace noise: 20 sd beyond the mean are as good as never.
		if !(built[i] <= mean+20*sd) {
			return fmt.Errorf("%s: the built twin is off by %g, where drawn ones are by %g ± %g", panel.name,
				built[i], mean, sd)
		}
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	return printMargin(ctx, truth, d, counts, epsilon)
}

// readTwinPolicy is the policy for the table as it is, and its true counts.
func readTwinPolicy(ctx context.Context, truth *pgx.Conn, epsilon float64) (*policy.Policy, []int64, error) {
	counts := make([]int64, 2)
	const count = "SELECT count(*) FILTER (WHERE income = '>50K'), count(*) FILTER (WHERE income <> '>50K') FROM adult"
	if err := truth.QueryRow(ctx, count).Scan(&counts[0], &counts[1]); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "fugu-paper-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "twin.policy.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, twinPolicy, counts[0]+counts[1], epsilon), 0o600); err != nil {
		return nil, nil, err
	}
	policies, err := policy.Load(path)
	if err != nil {
		return nil, nil, err
	}
	return policies[0], counts, nil
}

func lawOf(p *policy.Policy) (*twin.Design, error) {
	spec, err := margin.Spec(p, p.Tables[0].Qualified(), func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	return twin.New(spec)
}

// drawnErrors are the errors of each panel on twins that are drawn in SQL, under the table's own name.
func drawnErrors(ctx context.Context, truth *pgx.Conn, d *twin.Design, counts []int64,
	exact []map[string]float64) ([][]float64, error) {
	const draw = `CREATE TEMP TABLE adult AS SELECT t.* FROM
		(SELECT a, CASE WHEN income = '>50K' THEN 1 ELSE 2 END AS class, row_number() OVER (PARTITION BY income = '>50K'
		  ORDER BY random()) AS place FROM public.adult a) x,
		LATERAL generate_series(1, ($2::bigint[])[class] + CASE WHEN place <= ($3::bigint[])[class] THEN 1 ELSE 0 END),
		  LATERAL (SELECT (a).*) t
		WHERE place <= ($1::bigint[])[class]`
	errs := [][]float64{}
	for range panels {
		errs = append(errs, nil)
	}
	for range twinDraws {
		noisy, err := d.Draw(random, counts)
		if err != nil {
			return nil, err
		}
		take, err := d.Take(noisy)
		if err != nil {
			return nil, err
		}
		var each, more []int64
		for c := range take {
			e, m, err := twin.Copies(noisy[c], take[c])
			if err != nil {
				return nil, err
			}
			each, more = append(each, e), append(more, m)
		}
		if err := filled(ctx, truth, draw, take, each, more); err != nil {
			return nil, err
		}
		for i, p := range panels {
			told, err := cells(ctx, truth, p)
			if err != nil {
				return nil, err
			}
			errs[i] = append(errs[i], off(told, exact[i]))
		}
		if _, err := truth.Exec(ctx, "DROP TABLE pg_temp.adult"); err != nil {
			return nil, err
		}
	}
	return errs, nil
}

// filled makes the temporary twin. A statement that makes a table takes no parameters, so that numbers are written out.
func filled(ctx context.Context, truth *pgx.Conn, sql string, lists ...[]int64) error {
	args := make([]any, len(lists))
	for i := range lists {
		args[i] = lists[i]
	}
	_, err := truth.Exec(ctx, sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	return err
}

// off is Σ|told - exact|/Σ|exact|; a cell that is missing on either side is 0 there.
func off(told, exact map[string]float64) float64 {
	sum, size := 0., 0.
	for key, v := range exact {
		sum, size = sum+math.Abs(told[key]-v), size+math.Abs(v)
	}
	for key, v := range told {
		if _, ok := exact[key]; !ok {
			sum += math.Abs(v)
		}
	}
	return sum / size
}

// builtErrors builds the twin as fugu twin build does, and asks for the panels through the proxy.
func builtErrors(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, p *policy.Policy,
	exact []map[string]float64) (out []float64, err error) {
	// Each ε has a ledger of its own, and so an order of drawing of its own.
	_, err = serving.BuildTwins(ctx, cluster.DSN("paper_keeper", "adult"), p,
		build.Keeper{Random: random, Guests: []string{"fugu_guest"}},
		build.Options{New: true, Independent: true, Reason: "paper"})
	if err != nil {
		return nil, err
	}
	fugu, err := serve(ctx, cluster, fmt.Sprintf(twinPolicy, p.Tables[0].Rows, float64(p.Privacy.Epsilon)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fugu.stop()) }()
	client, err := pgx.Connect(ctx, fugu.dsn)
	if err != nil {
		return nil, err
	}
	defer client.Close(context.WithoutCancel(ctx))
	for i, panel := range panels {
		told, err := cells(ctx, client, panel)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", panel.name, err)
		}
		out = append(out, off(told, exact[i]))
	}
	return out, nil
}

// noiseErrors are the expected errors of mechanism auto for each panel: asked for once with the whole budget, and as
// one of so many that the ledger lets share it, all alike.
func noiseErrors(ctx context.Context, cluster *pgcluster.Cluster, epsilon float64,
	exact []map[string]float64) (alone, shared []float64, err error) {
	text, err := policyText(string(mechanism.Auto), onlyIncome...)
	if err != nil {
		return nil, nil, err
	}
	fugu, err := serve(ctx, cluster, text)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, fugu.stop()) }()
	var asked []privacy.Epsilon
	for e := epsilon; e > epsilon/statements; e /= 1.25 {
		asked = append(asked, privacy.Epsilon(e))
	}
	asked = append(asked, privacy.Epsilon(epsilon/statements))
	for i, p := range panels {
		x, err := fugu.engine.Preview(ctx, p.sql, asked...)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.name, err)
		}
		at := func(c mechanism.Calibration) float64 {
			sum, size := 0., 0.
			for _, v := range exact[i] {
				size += math.Abs(v)
			}
			for k := range x[0].Components {
				sum += c.Noise.Mean(k)
			}
			return sum / size
		}
		alone = append(alone, at(x[0].Calibration))
		for j := range x {
			l := x[j].Calibration.Losses["high_income"]
			all := privacy.Loss{Pure: statements * l.Pure, Kappa2: statements * l.Kappa2, Delta: statements * l.Delta}
			if all.SpentAt(.001, statements) <= epsilon || j == len(x)-1 {
				shared = append(shared, at(x[j].Calibration))
				break
			}
		}
	}
	return alone, shared, nil
}

// printMargin prints how well the share of incomes is told to who knows the number of women exactly: it is
// (W - n·f0)/(f1 - f0), of the shares of women in the classes of the twin.
func printMargin(ctx context.Context, truth *pgx.Conn, d *twin.Design, counts []int64, epsilon float64) error {
	const draws = 400
	var women [2]int64
	const count = "SELECT count(*) FILTER (WHERE income = '>50K'), count(*) FILTER (WHERE income <> '>50K') " +
		"FROM adult WHERE sex = 'Female'"
	if err := truth.QueryRow(ctx, count).Scan(&women[0], &women[1]); err != nil {
		return err
	}
	told, solved, err := margins(d, counts, women, draws)
	if err != nil {
		return err
	}
	n := float64(counts[0] + counts[1])
	s := newSheet(fmt.Sprintf("The share of incomes at ε = %g, truth %.4f: mean and sd of %d twins", epsilon,
		float64(counts[0])/n, draws), "who", "mean", "sd", "")
	for _, who := range []struct {
		name   string
		shares []float64
	}{{"is told it by the twin", told}, {"knows the number of women, which is not declared", solved}} {
		mean, sd := stat.MeanStdDev(who.shares, nil)
		s.row(who.name, number(mean), number(sd), "")
	}
	return s.w.Flush()
}

// permutation is m of n numbers, drawn at random without replacement.
func permutation(n, m int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i)
	}
	for i := range m {
		j := i + rand.Int64N(n-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:m]
}

// margins draws twins, and returns the shares that they tell, and those that follow from the number of rows with a
// mark, of which so many are in each class.
func margins(d *twin.Design, counts []int64, marked [2]int64, draws int) (told, solved []float64, err error) {
	n := float64(counts[0] + counts[1])
	for range draws {
		noisy, err := d.Draw(random, counts)
		if err != nil {
			return nil, nil, err
		}
		take, err := d.Take(noisy)
		if err != nil {
			return nil, nil, err
		}
		var f [2]float64
		for c, m := range take {
			each, more, err := twin.Copies(noisy[c], m)
			if err != nil {
				return nil, nil, err
			}
			seen := int64(0)
			for i, at := range permutation(counts[c], m) {
				if at < marked[c] {
					seen += each
					if int64(i) < more {
						seen++
					}
				}
			}
			f[c] = float64(seen) / float64(noisy[c])
		}
		w := float64(marked[0] + marked[1])
		told = append(told, float64(noisy[0])/n)
		solved = append(solved, (w/n-f[1])/(f[0]-f[1]))
	}
	return told, solved, nil
}
