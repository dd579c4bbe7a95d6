package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"fugu/privacy"
	"fugu/test/falsify"
	"fugu/test/pgcluster"
	"fugu/test/setting"
)

// The paper's release as a statement, over a table of 100 records whose model comes from the modelling records.
const (
	releaseSQL = `SELECT avg(age), avg(education_num), count(*) FILTER (WHERE marital_status = 'Never-married'),
	  count(*) FILTER (WHERE sex = 'Female'), avg(hours_per_week) FROM subset`
	subsetSQL = `
CREATE TABLE subset AS (SELECT * FROM adult WHERE income = '>50K' ORDER BY md5(adult::text) LIMIT 50)
  UNION ALL (SELECT * FROM adult WHERE income = '<=50K' ORDER BY md5(adult::text) LIMIT 50);
CREATE TABLE subset_reference AS SELECT * FROM adult;
GRANT SELECT ON subset, subset_reference TO fugu_reader;
ANALYZE subset, subset_reference;`
	subsetPolicy = `
version: 1
dataset: paper
tables:
  public.subset: {rows: 100, reference: public.subset_reference, group_by: {}}
secrets:
  high_income: {table: public.subset, proportion: income = '>50K', pairs: [[0.45, 0.55]]}
assume: [translation, gaussian]
privacy: {epsilon: 5, delta: 0.001, mechanism: auto, budget: {epsilon: 1000000, delta: 0.9, per: dataset}}
analysts: []
`
)

// throughProxy asks the statement many times over a socket, in process from the engine's own calibration, and compares
// the mean L2 errors. It fails where they differ by more than six standard errors: 4e-9 for three comparisons of means
// of hundreds of releases.
func throughProxy(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn, releases int) (err error) {
	if _, err := truth.PgConn().Exec(ctx, subsetSQL).ReadAll(); err != nil {
		return err
	}
	fugu, err := serve(ctx, cluster, subsetPolicy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fugu.stop()) }()
	client, err := pgx.Connect(ctx, fugu.dsn)
	if err != nil {
		return err
	}
	defer client.Close(context.WithoutCancel(ctx))
	f, err := numbers(ctx, truth, releaseSQL)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 0))
	s := newSheet(fmt.Sprintf("Through the proxy: mean L2 error of the same release, error in units of sampling, %d "+
		"answers for each ε", releases),
		"ε", "mechanism", "proxy", "±", "in process", "±", "difference/±")
	for _, epsilon := range epsilons {
		plan, err := fugu.engine.Preview(ctx, releaseSQL, privacy.Epsilon(epsilon))
		if err != nil {
			return err
		}
		inProcess := func() ([]float64, error) { return falsify.Release(nil, plan[0].Calibration.Noise, f, rng), nil }
		if _, err := client.Exec(ctx, fmt.Sprintf("SET fugu.epsilon = %g", epsilon)); err != nil {
			return err
		}
		proxy := func() ([]float64, error) { return numbers(ctx, client, releaseSQL) }
		there, thereSE, err := distances(releases, f, proxy)
		if err != nil {
			return err
		}
		here, hereSE, err := distances(20*releases, f, inProcess)
		if err != nil {
			return err
		}
		z := (there - here) / math.Hypot(thereSE, hereSE)
		s.row(epsilon, plan[0].Mechanism, number(there), number(thereSE), number(here), number(hereSE),
			fmt.Sprintf("%.2f", z))
		if math.Abs(z) > 6 {
			return fmt.Errorf("at ε = %g the proxy's error is %g ± %g, in process it is %g ± %g", epsilon, there,
				thereSE, here, hereSE)
		}
	}
	return s.w.Flush()
}

// numbers returns the one row of a statement.
func numbers(ctx context.Context, c *pgx.Conn, sql string) ([]float64, error) {
	rows, err := c.Query(ctx, sql, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []float64
	for rows.Next() {
		for _, v := range rows.RawValues() {
			x, err := strconv.ParseFloat(string(v), 64)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	if rows.Err() == nil && len(out) != len(setting.Statistics) {
		return nil, fmt.Errorf("%d values", len(out))
	}
	return out, rows.Err()
}

// distances are from f to n releases: their mean, and its standard error.
func distances(n int, f []float64, release func() ([]float64, error)) (mean, se float64, err error) {
	var d []float64
	for range n {
		x, err := release()
		if err != nil {
			return 0, 0, err
		}
		d = append(d, floats.Distance(x, f, 2))
	}
	mean, sd := stat.MeanStdDev(d, nil)
	return mean, sd / math.Sqrt(float64(n)), nil
}
