package integration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/mat"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/test/adult"
	"fugu/test/forgetful"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// The condition leaves rows out, so that no public total binds the counts: their covariance would have no inverse.
const noiseSQL = "SELECT sex, avg(age), count(*) FROM adult WHERE age > 20 GROUP BY sex ORDER BY sex"

// The noise that a client sees has the planned covariance: n releases of the same statement, of a ledger that remembers
// none, whitened by the planned covariance, have mean 0 and covariance I.
//
// n = 2000. A mean of a whitened component has standard deviation 1/√n and may be 6 of them off; an entry of the sample
// covariance has a standard deviation of at most √(5/n) (the fourth moment of a mixture of Laplace and normal is at
// most Laplace's 6), and may be 6.5 of them off. The normal tails are 2e-9 and 1e-10; for the skew of squared Laplace
// values Cramér's correction multiplies the second by at most e^7. With 4 + 10 statistics a false alarm has probability
// below 1e-6.
func TestNoiseHasThePlannedCovariance(t *testing.T) {
	patient.Test(t)
	const n = 2000
	server, own := serveFew(t, "few", options{})
	plan, err := server.engine.Preview(t.Context(), noiseSQL, 1)
	if err != nil {
		t.Fatal(err)
	}
	calibration := plan[0].Calibration
	if calibration.Kind != mechanism.Directional {
		t.Fatalf("the statement is answered by %s; this test is about noise that is not independent", calibration.Kind)
	}
	truth := flat(t, connect(t, own))
	m := len(truth)
	planned := mat.NewSymDense(m, nil)
	for k := range m {
		for l := k; l < m; l++ {
			planned.SetSym(k, l, calibration.Noise.Covariance(k, l))
		}
	}
	c := connect(t, strings.Replace(server.dsn("alice"), "/adult", "/few", 1))
	sample := make([][]float64, n)
	for i := range sample {
		got := flat(t, c)
		for k := range got {
			got[k] -= truth[k]
		}
		sample[i] = got
	}
	if bad := deviations(sample, planned); len(bad) > 0 {
		t.Errorf("%d releases: %v", n, bad)
	}
	// The same statistics must see a plan that is wrong: 30% more or less noise than there is, or independent
	// components.
	for name, wrong := range map[string]func(k, l int) float64{
		"30% more noise": func(k, l int) float64 { return 1.69 },
		"30% less noise": func(k, l int) float64 { return 0.49 },
		"no correlation": func(k, l int) float64 {
			if k == l {
				return 1
			}
			return 0
		},
	} {
		other := mat.NewSymDense(m, nil)
		for k := range m {
			for l := k; l < m; l++ {
				other.SetSym(k, l, wrong(k, l)*planned.At(k, l))
			}
		}
		if len(deviations(sample, other)) == 0 {
			t.Errorf("the test does not see %s", name)
		}
	}
}

// fewRows are enough rows for tests that ask the same a thousand times and do not look at what is true.
const fewRows = 2000

// serveFew starts a Fugu over an Adult database of few rows, whose ledger remembers nothing; own is the superuser's way
// to the database.
func serveFew(t *testing.T, name string, o options) (f *fugu, own string) {
	t.Helper()
	cluster := pgcluster.Shared(t)
	own = cluster.DSN("postgres", name)
	var exists bool
	if err := adultDatabase(t).truth(t).QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database "+
		"WHERE datname = $1)", name).Scan(&exists); err != nil {
		t.Fatal(err)
	}
	if !exists {
		if _, err := adult.Load(t.Context(), cluster, name, adult.Options{}); err != nil {
			t.Fatal(err)
		}
		rows(t, connect(t, own), fmt.Sprintf("CREATE TABLE kept AS SELECT * FROM adult LIMIT %d", fewRows))
		rows(t, connect(t, own), "TRUNCATE adult")
		rows(t, connect(t, own), "INSERT INTO adult SELECT * FROM kept")
		rows(t, connect(t, own), "DROP TABLE kept")
	}
	o.guest, o.reader = cluster.DSN("fugu_guest", name), cluster.DSN("fugu_reader", name)
	o.wrapLedger = func(l ledger.Ledger) ledger.Ledger { return forgetful.New(l) }
	f, err := start(t.Context(), &database{cluster, fewRows}, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	})
	return f, own
}

// flat returns the numbers of the statement's result in order.
func flat(t *testing.T, c *pgx.Conn) []float64 {
	t.Helper()
	r, err := c.Query(t.Context(), noiseSQL, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []float64
	for r.Next() {
		for _, v := range r.RawValues()[1:] {
			x, err := strconv.ParseFloat(string(v), 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

// deviations lists the statistics of the whitened sample that are further off than chance allows.
func deviations(sample [][]float64, covariance *mat.SymDense) []string {
	n, m := float64(len(sample)), len(sample[0])
	var chol mat.Cholesky
	if !chol.Factorize(covariance) {
		return []string{"the planned covariance is not positive definite"}
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	mean, second := make([]float64, m), mat.NewDense(m, m, nil)
	z := mat.NewVecDense(m, nil)
	for _, x := range sample {
		if err := z.SolveVec(&lower, mat.NewVecDense(m, x)); err != nil {
			return []string{err.Error()}
		}
		for k := range m {
			mean[k] += z.AtVec(k) / n
			for l := range m {
				second.Set(k, l, second.At(k, l)+z.AtVec(k)*z.AtVec(l)/n)
			}
		}
	}
	var bad []string
	for k := range m {
		if math.Abs(mean[k])*math.Sqrt(n) > 6 {
			bad = append(bad, fmt.Sprintf("mean of component %d is %.3f", k, mean[k]))
		}
		for l := range k + 1 {
			want := 0.0
			if k == l {
				want = 1
			}
			if math.Abs(second.At(k, l)-want) > 6.5*math.Sqrt(5/n) {
				bad = append(bad, fmt.Sprintf("covariance of components %d and %d is %.3f", k, l, second.At(k, l)))
			}
		}
	}
	return bad
}
