package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/mat"

	"fugu/mechanism/published"
	"fugu/sensitivity"
	"fugu/test/pgcluster"
)

// estimatedAnswers is how many answers estimates are compared over.
const estimatedAnswers = 20

// partial prints the numbers of Seeman, Reimherr & Slavkovic, "Formal Privacy for Partially Private Data", and what
// estimates come to on the census.
func partial(ctx context.Context, cluster *pgcluster.Cluster, truth *pgx.Conn) error {
	for _, sheet := range []func() error{printCounts, printMeans, printCongenial, printMedians, printCounties} {
		if err := sheet(); err != nil {
			return fmt.Errorf("partially private data: %w", err)
		}
	}
	return estimates(ctx, cluster, truth, estimatedAnswers)
}

// countsApart is the paper's Δ_z of a count of n rows that is known to be in [from, to].
func countsApart(n int, z0, z1 float64, from, to int) (float64, error) {
	zero, err := published.CountGiven(n, 0, z0, from, to)
	if err != nil {
		return 0, err
	}
	one, err := published.CountGiven(n, 1, z1, from, to)
	if err != nil {
		return 0, err
	}
	c, err := sensitivity.WInfinity(zero, one)
	return c.W, err
}

func printCounts() error {
	const n = 100
	s := newSheet("Δz of a count of 100 rows (Seeman et al., figure 4): the others are 1 with probability z0 where a "+
		"row is 0, z1 where it is 1", "z0", "z1", "paper", "here", "")
	for _, c := range []struct{ z0, z1, paper float64 }{{.5, .5, 1}, {.4, .6, 21}, {.3, .7, 41}, {.1, .9, 81}} {
		w, err := countsApart(n, c.z0, c.z1, 0, n)
		if err != nil {
			return err
		}
		s.row(c.z0, c.z1, c.paper, w, "")
	}
	if err := s.w.Flush(); err != nil {
		return err
	}

	s = newSheet("The same where the count is known to be k-anonymous, between k and 100-k (examples 2 and 4: that "+
		"binds pairs, not Δz)", "p", "k = 0", "5", "20", "40", "")
	for _, p := range []float64{.1, .3, .5} {
		line := []any{p}
		for _, k := range []int{0, 5, 20, 40} {
			w, err := countsApart(n, p, p, k, n-k)
			if err != nil {
				return err
			}
			line = append(line, w)
		}
		s.row(append(line, "")...)
	}
	return s.w.Flush()
}

// printMeans is examples 1 and 3 for 100 rows of variance 1 and range 1, where the paper has formulas alone.
func printMeans() error {
	const n = 100.
	s := newSheet("Δz of a mean of 100 rows, one of which moves by 1, given a public Z (examples 1 and 3; Δ/n = .01)",
		"Z", "Δz", "")
	for _, z := range []struct {
		name  string
		cross []float64
		v     []float64
	}{
		{"none", []float64{1 / n}, []float64{1}},
		{"independent", []float64{1 / n, 0}, []float64{1, 0, 0, 1}},
		{"the sum of 50 rows, this among them", []float64{1 / n, .5}, []float64{1, 1, 1, n / 2}},
		{"likewise, with noise of variance 51", []float64{1 / n, .5}, []float64{1, 1, 1, n/2 + 51}},
		{"50 rows, this one with the opposite sign", []float64{1 / n, .48}, []float64{1, -1, -1, n / 2}},
	} {
		w, err := published.MeanShift(z.cross, mat.NewSymDense(len(z.cross), z.v), 1)
		if err != nil {
			return err
		}
		s.row(z.name, fmt.Sprintf("%.4f", w), "")
	}
	return s.w.Flush()
}

func printCongenial() error {
	s := newSheet("Congenial noise (corollary 13): E‖noise‖² in (Δ/ε)² of Laplace noise on R^d1, projected on d2 "+
		"dimensions, and drawn there", "d1", "d2", "on R^d1", "projected", "drawn", "drawn/projected", "paper: d2/d1",
		"")
	for _, d := range [][2]int{{2, 1}, {5, 4}, {16, 15}, {10, 2}, {100, 10}} {
		whole, part, drawn := published.Spherical(d[0]), published.Projected(d[0], d[1]), published.Spherical(d[1])
		s.row(d[0], d[1], whole, part, drawn, fmt.Sprintf("%.3f", drawn/part),
			fmt.Sprintf("%.3f", float64(d[1])/float64(d[0])), "")
	}
	return s.w.Flush()
}

func printMedians() error {
	s := newSheet("Mean error of a private median of n values in [0, 1], ε = 1 (theorem 11: the K-norm gradient "+
		"mechanism's falls with 1/n)", "n", "exponential", "K-norm gradient", "")
	for _, n := range []int{100, 400, 1600} {
		e, k, err := published.MedianErrors(n, 1)
		if err != nil {
			return err
		}
		s.row(n, fmt.Sprintf("%.5f", e), fmt.Sprintf("%.5f", k), "")
	}
	return s.w.Flush()
}
