package twin

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"fugu/policy"
)

// documented checks that docs/twin.md has these lines.
func documented(t *testing.T, lines ...string) {
	t.Helper()
	text, err := os.ReadFile("../docs/twin.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("docs/twin.md does not have the line\n%s", line)
		}
	}
}

// The table of choices in docs/twin.md is what the laws are: of a table of Adult's size, in which 12,328 rows have the
// secret.
func TestDocumentedChoices(t *testing.T) {
	const with, rows = 12328, 35222
	for _, c := range []struct {
		epsilon, from, to, within float64
		known                     int64
	}{
		{.5, .1, .6, .05, 0}, {1, .1, .6, .05, 0}, {2, .1, .6, .05, 0}, {5, .1, .6, .05, 0},
		{1, .2, .45, .05, 0}, {1, .02, .6, .05, 0}, {1, .1, .6, .02, 0},
		{1, .1, .6, .05, 1}, {5, .1, .6, .05, 1}, {5, .1, .6, .05, 10},
	} {
		d, err := New(Spec{Rows: rows, Epsilon: c.epsilon, Delta: .001, KnownRows: c.known,
			Secrets: []Secret{proportion(policy.Span{From: c.from, To: c.to, Within: c.within})}})
		if err != nil {
			t.Fatal(err)
		}
		counts := []int64{with, rows - with}
		e := d.Expect(counts)[0]
		off := d.CountError(counts, []int64{123, 229}) // a hundredth of each class
		documented(t, fmt.Sprintf("| %g | .%02.0f...%02.0f | %.2g | %d | %.0f | ±%.0f | ±%.1f%% |",
			c.epsilon, 100*c.from, 100*c.to, c.within, c.known, e.Taken, e.Noise, 100*off))
	}
}

// The table of what ε means in rows is the exact law of two binomials: so many rows, drawn from the table, let nobody
// guess its share with a greater probability than e^ε/(1+e^ε).
func TestDocumentedRows(t *testing.T) {
	for _, pair := range [][2]float64{{.25, .26}, {.25, .3}, {.25, .35}, {.1, .15}} {
		line := fmt.Sprintf("| .%02.0f or .%02.0f |", 100*pair[0], 100*pair[1])
		for _, epsilon := range []float64{.2, .5, 1, 2, 5} {
			line += fmt.Sprintf(" %d |", rowsThatTell(epsilon, pair[0], pair[1]))
		}
		documented(t, line)
	}
}

// rowsThatTell is how many drawn rows tell two shares apart no better than ε allows. More rows tell more.
func rowsThatTell(epsilon, p, q float64) (rows int) {
	allowed := 1 / (1 + math.Exp(-epsilon))
	most := 1
	for guessed(most, p, q) <= allowed {
		most *= 2
	}
	for most-rows > 1 {
		if middle := (rows + most) / 2; guessed(middle, p, q) <= allowed {
			rows = middle
		} else {
			most = middle
		}
	}
	return rows
}

// guessed is the probability with which the likelier of two shares, before either as likely, is the true one, for who
// sees n rows: half of Σ max(P, Q) over how many of them have the secret.
func guessed(n int, p, q float64) float64 {
	sum := 0.
	all, _ := math.Lgamma(float64(n) + 1)
	for i := range n + 1 {
		in, _ := math.Lgamma(float64(i) + 1)
		out, _ := math.Lgamma(float64(n-i) + 1)
		law := func(p float64) float64 {
			return all - in - out + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p)
		}
		sum += math.Exp(math.Max(law(p), law(q))) / 2
	}
	return sum
}
