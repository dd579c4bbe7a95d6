//go:build fuguhooks

package attack

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/internal/hook"
	"fugu/test/normals"
)

//go:embed spread.sql
var spreadSQL string

// spreadWorld is the database of spread.sql.
var spreadWorld = world{database: "spread"}

var spreadOnce struct {
	sync.Once
	err error
}

// spreadPolicy promises ε = 1.6 for everything.
var spreadPolicy = []string{"rows: 2000", "rows: 35222", "assume: [translation]", "assume: [translation, gaussian]",
	"delta: 0.0001", "delta: 0.001",
	"budget: {epsilon: 1, delta: 0.001", fmt.Sprintf("budget: {epsilon: %g, delta: %g", spreadEpsilon, spreadDelta)}

const spreadEpsilon, spreadDelta, spreadRows = 1.6, .01, 35222

// spreadDatabase makes the database, once.
func spreadDatabase(t testing.TB) {
	t.Helper()
	c := databases(t)
	spreadOnce.Do(func() {
		spreadOnce.err = c.CreateDatabase(context.Background(), "spread", "")
		if spreadOnce.err == nil {
			spreadOnce.err = c.Exec(context.Background(), "spread", spreadSQL)
		}
	})
	if spreadOnce.err != nil {
		t.Fatal(spreadOnce.err)
	}
}

// signed are values, of every row ±1, that know nothing of the secret: i picks one.
type signed func(i int, of string) string

// mixed is one of 729 sums and differences of six columns.
func mixed(i int, of string) string {
	out := ""
	for c := range 6 {
		switch i % 3 {
		case 0:
			out += fmt.Sprintf("+%s%d", of, c+1)
		case 1:
			out += fmt.Sprintf("-%s%d", of, c+1)
		}
		i /= 3
	}
	if out == "" {
		return of + "1"
	}
	return strings.TrimPrefix(out, "+")
}

// spread is an attack by covariances: values c that add up signs that know nothing of the secret, and values d that add
// up the same signs, turned round for one class. Neither's mean moves, nor its variance, but how they vary together is
// the secret.
type spread struct {
	sign signed
	// of pair i, by statement, x the i-th sign as a condition; nil: c in one, d in another
	terms func(i int, x func(int) string) [][]string
	value string // of a term; empty: sum(%s)
	// what value is divided by in a sum: the number of rows, of averages; 0: 1
	rows   float64
	set    []string // settings
	pairs  int      // 0: 30
	users  []string // who ask in turn; nil: alice
	ask    func(ctx context.Context, c *pgx.Conn, sql string) error
	policy []string // edits of the policy besides
}

// plus and turned are a sign as a value, as it is and turned round for one class.
func plus(x string) string   { return "CASE WHEN " + x + " THEN o ELSE -o END" }
func turned(x string) string { return "CASE WHEN (" + x + ") = t THEN o ELSE -o END" }

// asked is a value that was released.
type asked struct {
	term string
	sd   float64
}

// run asks until the budget refuses, and returns what was released.
func (s spread) run(t testing.TB, f *fugu) (out []asked, refused bool) {
	users := s.users
	if users == nil {
		users = []string{"alice"}
	}
	var conns []*pgx.Conn
	for _, u := range users {
		c := f.connect(t, u)
		for _, set := range append([]string{"fugu.mechanism = 'expm-gaussian'", "fugu.epsilon = 0.2"}, s.set...) {
			run(t, c, "SET "+set)
		}
		conns = append(conns, c)
	}
	x := func(i int) string { return s.sign(7*i+1, "a") + " < " + s.sign(7*i+1, "b") }
	const each = 10
	n := 0
	for from := 0; from < s.pairs; from += each {
		var statements [][]string
		for i := from; i < from+each; i++ {
			for j, terms := range s.terms(i, x) {
				if len(statements) <= j {
					statements = append(statements, nil)
				}
				statements[j] = append(statements[j], terms...)
			}
		}
		for _, terms := range statements {
			var values []string
			for _, term := range terms {
				values = append(values, fmt.Sprintf(s.value, term))
			}
			c := conns[n%len(conns)]
			n++
			err := s.ask(t.Context(), c, "SELECT "+strings.Join(values, ", ")+" FROM (SELECT *, (id = id)::int o, "+
				"income < mid t FROM customer) q")
			if code(err) == "PV002" {
				return out, true
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, sd := range sds(t, c) {
				out = append(out, asked{terms[i], sd * max(1, s.rows)})
			}
		}
	}
	return out, false
}

// sds are those of the noise in the last release, in the order of its columns.
func sds(t testing.TB, c *pgx.Conn) (out []float64) {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT noise_sd FROM fugu.last_release")
	if err != nil {
		t.Fatal(err)
	}
	out, err = pgx.CollectRows(rows, pgx.RowTo[float64])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// truth is δ at ε of what was released, for the worst of some pairs, by the exact law of normal vectors with the
// covariances that the reference has and means that do not move: they can only add to it.
func truth(t testing.TB, w world, released []asked, epsilon float64) float64 {
	t.Helper()
	classes := map[string]*mat.SymDense{"high": nil, "low": nil}
	for class := range classes {
		classes[class] = covariance(t, w, class, released)
	}
	most := 0.0
	for _, p := range []float64{.10, .25} {
		at := func(p float64) *mat.SymDense {
			var s mat.SymDense
			s.ScaleSym(spreadRows*p, classes["high"])
			var low mat.SymDense
			low.ScaleSym(spreadRows*(1-p), classes["low"])
			s.AddSym(&s, &low)
			for i, a := range released {
				s.SetSym(i, i, s.At(i, i)+a.sd*a.sd)
			}
			return &s
		}
		most = math.Max(most, normals.Delta(t, at(p), at(p+.05), epsilon))
	}
	return most
}

// covariance is that of the terms within a class of the reference.
func covariance(t testing.TB, w world, class string, released []asked) *mat.SymDense {
	t.Helper()
	centred := readTerms(t, w, released)[class]
	x := mat.NewDense(len(released), len(centred[released[0].term]), nil)
	for k, a := range released {
		x.SetRow(k, centred[a.term])
	}
	var s mat.SymDense
	s.SymOuterK(1/float64(x.RawMatrix().Cols), x)
	return &s
}

// spreadTerms are by class and term what the rows of the reference have, less the mean of the class. Nothing changes
// the reference, and attacks share terms.
var spreadTerms = map[string]map[string][]float64{"high": {}, "low": {}}

// readTerms returns spreadTerms, in which what is released stands now.
func readTerms(t testing.TB, w world, released []asked) map[string]map[string][]float64 {
	t.Helper()
	var terms, values []string
	for _, a := range released {
		if spreadTerms["high"][a.term] == nil && !slices.Contains(terms, a.term) {
			terms, values = append(terms, a.term), append(values, "("+a.term+")::float8")
		}
	}
	if len(terms) == 0 {
		return spreadTerms
	}

	// The rows of a class stand in the same order whichever terms are read, so that those of two statements pair up.
	c := w.as(t, "postgres")
	for class, centred := range spreadTerms {
		rows, err := c.Query(t.Context(), "SELECT ARRAY["+strings.Join(values, ",")+"] FROM (SELECT *, 1 o, "+
			"income < mid t FROM customer_reference) q WHERE income = $1 ORDER BY id", class)
		if err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[[]float64])
		if err != nil {
			t.Fatal(err)
		}
		for k, term := range terms {
			column := make([]float64, len(all))
			for i, row := range all {
				column[i] = row[k]
			}
			floats.AddConst(-floats.Sum(column)/float64(len(all)), column)
			centred[term] = column
		}
	}
	return spreadTerms
}

// play shows that what is released is, at the ε that the budget says was spent, far from what was promised with the
// defence off, and within it otherwise.
func (s spread) play(t *testing.T) {
	t.Helper()
	spreadDatabase(t)
	if s.terms == nil {
		s.terms = func(i int, x func(int) string) [][]string { return [][]string{{plus(x(i))}, {turned(x(i))}} }
	}
	if s.value == "" {
		s.value = "sum(%s)"
	}
	if s.pairs == 0 {
		s.pairs = 30
	}
	s.pairs *= patience(t)
	if s.ask == nil {
		s.ask = func(ctx context.Context, c *pgx.Conn, sql string) error {
			_, err := c.Exec(ctx, sql)
			return err
		}
	}
	play := func(t *testing.T) (delta, epsilon float64) {
		f := serve(t, spreadWorld, options{policy: append(slices.Clone(spreadPolicy), s.policy...)})
		released, refused := s.run(t, f)
		epsilon, _ = spent(t, f.connect(t, ""))
		delta = truth(t, spreadWorld, released, epsilon)
		t.Logf("%d values, refused: %t; epsilon %s spent, where the true delta is %.3g", len(released), refused,
			strconv.FormatFloat(epsilon, 'g', 4, 64), delta)
		return delta, epsilon
	}
	// so are those against dear statements; the defence against statements that know the reference is another one
	off(t, &hook.Unlooked, &hook.DearRows)
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.NoCovariances)
		if delta, _ := play(t); !(delta > spreadDelta) {
			t.Errorf("the true δ is %g: it is no test of the defence", delta)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if delta, epsilon := play(t); delta > spreadDelta || epsilon > spreadEpsilon {
			t.Errorf("the true δ is %g at ε = %g, where %g was promised", delta, epsilon, spreadDelta)
		}
	})
}

// In 22 statements, a sum and its turned one each.
func TestSpreadPairs(t *testing.T) { spread{sign: mixed, pairs: 110}.play(t) }
