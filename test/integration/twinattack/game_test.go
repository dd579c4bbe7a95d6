//go:build fuguhooks

package twinattack

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/test/falsify"
	"fugu/test/pgcluster"
	"fugu/test/policies"
	"fugu/twin"
)

// The setting of the paper: 100 rows, of which 45 or 55 have the secret.
const gamePolicy = `version: 1
dataset: small
tables:
  public.adult: {rows: 100, answers: twin, twin: {rows: shown, drop: [ssn]}}
  public.visit: {twin: {rows: shown}, link: {to: public.adult, on: {person: id}}}
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', pairs: [[0.45, 0.55]]}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0, budget: {epsilon: 1, delta: 0, per: dataset}}
`

const gameRows = 100

// asked are the statements whose answers the classifiers are given: the paper's F, counts of the secret, and an average
// and a condition like those that tell it beside noise.
const asked = `SELECT avg(age), avg(education_num), count(*) FILTER (WHERE race = 'Black'),
  count(*) FILTER (WHERE sex = 'Female'), avg(hours_per_week),
	count(*) FILTER (WHERE income = '>50K'), count(DISTINCT name) FILTER (WHERE income = '>50K'),
	  count(DISTINCT name) FILTER (WHERE income <> '>50K'),
	count(*) FILTER (WHERE income = '>50K' AND md5((fnlwgt * age)::text) < md5((fnlwgt + age)::text)), (SELECT sum(cost)
	  FROM visit) FROM adult`

// attacker guesses from the answers whether 55 rows have the secret.
type attacker struct {
	name  string
	guess falsify.Score // above 0: it is 45
}

// answersOf computes the same answers of a twin that the attacker makes: it knows the laws of rows, and the mechanism.
func answersOf(d *twin.Design, high int64, rng *rand.Rand, random *rand.ChaCha8) ([]float64, error) {
	noisy, err := d.Draw(random, []int64{high, gameRows - high})
	if err != nil {
		return nil, err
	}
	take, err := d.Take(noisy)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 10)
	for class, m := range take {
		each, more, err := twin.Copies(noisy[class], m)
		if err != nil {
			return nil, err
		}
		for i := range m {
			p := newPerson(rng.IntN(1<<30), class == 0, false)
			copies := float64(each)
			if i < more {
				copies++
			}
			out[0] += p.number("age") * copies / gameRows
			out[1] += p.number("education_num") * copies / gameRows
			out[4] += p.number("hours_per_week") * copies / gameRows
			for at, yes := range map[int]bool{2: p.text("race") == "Black", 3: p.text("sex") == "Female",
				5: class == 0} {
				if yes {
					out[at] += copies
				}
			}
			out[6+class]++
			w, a := int(p.number("fnlwgt")), int(p.number("age"))
			if class == 0 && md5Text(w*a) < md5Text(w+a) {
				out[8] += copies
			}
			for _, v := range p.visits {
				out[9] += float64(v[3].(int)) * copies
			}
		}
	}
	return out, nil
}

// classifiers are the told number, and a regression that is trained on twins of the attacker's own.
func classifiers(t testing.TB, d *twin.Design) []attacker {
	t.Helper()
	rng, random := rand.New(rand.NewPCG(9, 0)), rand.NewChaCha8([32]byte{9})
	var train [2][][]float64
	for i, high := range []int64{45, 55} {
		for range 150 {
			f, err := answersOf(d, high, rng, random)
			if err != nil {
				t.Fatal(err)
			}
			train[i] = append(train[i], f)
		}
	}
	score, err := falsify.TrainLogistic(train[0], train[1], false)
	if err != nil {
		t.Fatal(err)
	}
	paper := func(f []float64) []float64 { return f[:5] }
	for i := range train {
		for j := range train[i] {
			train[i][j] = paper(train[i][j])
		}
	}
	fewer, err := falsify.TrainLogistic(train[0], train[1], false)
	if err != nil {
		t.Fatal(err)
	}
	return []attacker{
		{"the told number", func(f []float64) float64 { return 50 - f[5] }},
		{"regression on all answers", score},
		{"the paper's, on F", func(f []float64) float64 { return fewer(paper(f)) }},
	}
}

// sample is a table of people who were drawn independently.
func sample(rng *rand.Rand, high int64) (people []person) {
	for j := range int64(gameRows) {
		people = append(people, newPerson(rng.IntN(1<<30), j < high, false))
	}
	return people
}

// rounds builds the twins of n tables, each of other rows and with other random bytes, half of each value, asks through
// Fugu, and returns how often each attacker is right.
func rounds(t testing.TB, w *world, all []attacker, n int) (right map[string]int) {
	t.Helper()
	admin, c := connect(t, w.cluster.DSN("postgres", database)), connect(t, w.serve(t))
	rng, right := rand.New(rand.NewPCG(11, 0)), map[string]int{}
	for i := range n {
		high := 45 + 10*int64(i%2)
		if _, err := admin.Exec(t.Context(), "TRUNCATE visit, adult"); err != nil {
			t.Fatal(err)
		}
		w.forget(t)
		fill(t, w.cluster, sample(rng, high))
		w.build(t, seeded(sha256.Sum256(fmt.Appendf(nil, "order %d", i)), uint64(i)+1_000_000))
		f := numbers(t, c, asked)
		for _, a := range all {
			if (a.guess(f) > 0) == (high == 45) {
				right[a.name]++
			}
		}
	}
	return right
}

func numbers(t testing.TB, c *pgx.Conn, sql string) (out []float64) {
	t.Helper()
	rows, _ := c.Query(t.Context(), sql, pgx.QueryResultFormats{pgx.TextFormatCode})
	for rows.Next() {
		for _, v := range rows.RawValues() {
			x, err := strconv.ParseFloat(string(v), 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
	}
	if rows.Err() != nil || len(out) != 10 {
		t.Fatal(len(out), rows.Err())
	}
	return out
}

// most is the largest number of n guesses that can be right but with probability 1e-6/3 where each is right with
// probability p at most: there are three attackers.
func most(n int, p float64) int {
	tail, term := 0., math.Pow(p, float64(n)) // Pr(all right)
	for k := n; k > 0; k-- {
		if tail+term > 1e-6/3 {
			return k
		}
		tail += term
		term *= float64(k) / float64(n-k+1) * (1 - p) / p
	}
	return 0
}

// Who guesses which of two values a table has is right with probability e^ε/(1+e^ε) at most: n = 120 tables with
// twins that are really built, false alarm 1e-6. Without noise on the counts the same guesses are right more often
// than that.
func TestGuessesOfTheSecret(t *testing.T) {
	p := policies.Load(t, gamePolicy)
	bound := math.E / (1 + math.E)
	all := classifiers(t, design(t, p))
	w := newWorld(t, pgcluster.Shared(t), p, sample(rand.New(rand.NewPCG(10, 0)), 45), seeded(key, 0))
	for _, c := range []struct {
		name string
		n    int
	}{{"as it is", 120}, {"no noise on the counts", 50}} {
		t.Run(c.name, func(t *testing.T) {
			if c.n == 50 {
				planted(t, &hook.TwinNoNoise)
			}
			right, k := rounds(t, w, all, c.n), most(c.n, bound)
			beyond := false
			for _, a := range all {
				t.Logf("%s: right in %d of %d, %.3f; at most %d, by the bound of %.3f", a.name, right[a.name], c.n,
					float64(right[a.name])/float64(c.n), k, bound)
				beyond = beyond || right[a.name] > k
			}
			if k >= c.n {
				t.Fatal("too few tables to see anything")
			}
			if beyond != (c.n == 50) {
				t.Errorf("right more often than the bound allows: %v", beyond)
			}
		})
	}
}

func md5Text(x int) string { return fmt.Sprintf("%x", md5.Sum([]byte(strconv.Itoa(x)))) }

// number and text are a person's fields.
func (p person) text(column string) string {
	for i, name := range tableColumns[1:] {
		if name == column {
			return fmt.Sprint(p.fields[i])
		}
	}
	return ""
}

func (p person) number(column string) float64 {
	x, _ := strconv.ParseFloat(strings.TrimSpace(p.text(column)), 64)
	return x
}
