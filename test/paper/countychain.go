package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// countyReplicates is how many tables each way makes, as in the paper.
const countyReplicates = 100

// concentration is the α of the paper's prior: of county j it has α times last month's cases. The paper does not say
// which; with .1 a county of 1,000 cases is believed to within a tenth.
const concentration = .1

// exponential draws tables by the Wasserstein exponential mechanism [theorem 9]: a chain with the density
//
//	ν(y) exp(-ε ‖y - x‖₂ / (2 Δz))
//
// over tables with the public total and cases ≥ deaths ≥ 0, where ν is 1, or with believed the Dirichlet-multinomial
// law of the cases given last month's. Moves take rows from one county to another, or change one county's deaths, by
// amounts of every order of size; 100 for each number lie between two draws, 1,000 before the first.
func (c counties) exponential(rng *rand.Rand, epsilon float64, believed bool) (out []synthetic) {
	chain := countyChain{counties: c, now: synthetic{slices.Clone(c.cases), slices.Clone(c.deaths)}, rng: rng,
		epsilon: epsilon, believed: believed}
	numbers := 2 * len(c.cases)
	for range 1000 * numbers {
		chain.step()
	}
	for range countyReplicates {
		for range 100 * numbers {
			chain.step()
		}
		out = append(out, synthetic{slices.Clone(chain.now.cases), slices.Clone(chain.now.deaths)})
	}
	return out
}

// countyChain is where a chain is, and how far that is from the truth.
type countyChain struct {
	counties
	now      synthetic
	squares  float64
	rng      *rand.Rand
	epsilon  float64
	believed bool
}

// step proposes a move, and takes it with the chance that keeps the density [Metropolis].
func (m *countyChain) step() {
	amount := 1 + int(math.Exp(m.rng.Float64()*9))*m.rng.IntN(2)
	if m.rng.IntN(2) == 0 {
		amount = -amount
	}
	i, j := m.rng.IntN(len(m.cases)), m.rng.IntN(len(m.cases))
	moved := func(at, truth, by int) float64 { return float64(by) * (2*float64(at-truth) + float64(by)) }

	var added, logRatio float64
	ofDeaths := m.rng.IntN(3) == 0
	switch {
	case ofDeaths:
		if d := m.now.deaths[i] + amount; d < 0 || d > m.now.cases[i] {
			return
		}
		added = moved(m.now.deaths[i], m.deaths[i], amount)
	case i == j || m.now.cases[i]-amount < m.now.deaths[i] || m.now.cases[j]+amount < m.now.deaths[j]:
		return
	default:
		from, to := m.now.cases[i], m.now.cases[j]
		added = moved(from, m.cases[i], -amount) + moved(to, m.cases[j], amount)
		logRatio = m.belief(i, from-amount) - m.belief(i, from) + m.belief(j, to+amount) - m.belief(j, to)
	}
	further := math.Sqrt(math.Max(0, m.squares+added)) - math.Sqrt(m.squares)
	if math.Log(m.rng.Float64()) >= logRatio-m.epsilon*further/(2*countyShift) {
		return
	}

	m.squares = math.Max(0, m.squares+added)
	if ofDeaths {
		m.now.deaths[i] += amount
	} else {
		m.now.cases[i], m.now.cases[j] = m.now.cases[i]-amount, m.now.cases[j]+amount
	}
}

// belief is what a county's number of cases has in the logarithm of the Dirichlet-multinomial law; half a case is added
// to last month's, so that a county without any may have some.
func (m *countyChain) belief(i, cases int) float64 {
	if !m.believed {
		return 0
	}
	a, _ := math.Lgamma(float64(cases) + concentration*(float64(m.before[i])+.5))
	b, _ := math.Lgamma(float64(cases) + 1)
	return a - b
}

// countySheets are the rows of figures 1 to 3, which are filled together and printed one after another.
type countySheets struct{ rates, errors, merged [][]any }

// printCounties is figures 1 to 3.
func printCounties() error {
	c := generateCounties(rand.New(rand.NewPCG(67, 24)))
	rng := rand.New(rand.NewPCG(68, 24))
	var sheets countySheets
	for _, epsilon := range []float64{.01, .1, 1} {
		processed := sheets.contract(c, rng, epsilon)
		sheets.add(c, epsilon, "post-processing", processed)
		sheets.add(c, epsilon, "exponential, congenial", c.exponential(rng, epsilon, false))
		sheets.add(c, epsilon, "exponential, congenial, prior", c.exponential(rng, epsilon, true))
	}

	for _, sheet := range []struct {
		title string
		head  []any
		rows  [][]any
	}{
		{"Cases by head and county in % (Seeman et al., figure 1; their data are not ours: 67 generated counties of " +
			"the same " +
			"sizes):\nmedian and quartiles of 100 tables", []any{"ε", "way", "people", "truth", "median", "quartiles",
			""}, sheets.rates},
		{"Relative error of the number of cases in %, over counties and tables (figure 2)", []any{"ε", "way", "median",
			"9 of 10 below", "99 of 100 below", ""}, sheets.errors},
		{"How often post-processing makes different tables one, in % (figure 3): no cases, no deaths, as many deaths " +
			"as cases", []any{"ε", "county", "no cases", "no deaths", "all died", ""}, sheets.merged},
	} {
		s := newSheet(sheet.title, sheet.head...)
		for _, row := range sheet.rows {
			s.row(append(row, "")...)
		}
		if err := s.w.Flush(); err != nil {
			return fmt.Errorf("counties: %w", err)
		}
	}
	return nil
}

// contract makes tables by post-processing, and counts what that makes one in the largest county and in the smallest.
func (s *countySheets) contract(c counties, rng *rand.Rand, epsilon float64) (tables []synthetic) {
	var times [2][3]float64
	for range countyReplicates {
		table, contracted := c.processed(rng, epsilon)
		tables = append(tables, table)
		for k, i := range []int{0, len(c.people) - 1} {
			for what, happened := range []bool{contracted[i].cases, contracted[i].deaths, contracted[i].rate} {
				if happened {
					times[k][what] += 100. / countyReplicates
				}
			}
		}
	}
	for k, name := range []string{"largest", "smallest"} {
		s.merged = append(s.merged, []any{epsilon, name, math.Round(times[k][0]), math.Round(times[k][1]),
			math.Round(times[k][2])})
	}
	return tables
}

// add takes in the tables of one way: of the largest county, of one of a quarter of a million, and of the smallest.
func (s *countySheets) add(c counties, epsilon float64, way string, tables []synthetic) {
	for _, i := range []int{0, slices.IndexFunc(c.people, func(n int) bool { return n < 260_000 }), len(c.people) - 1} {
		percent := func(cases int) float64 { return 100 * float64(cases) / float64(c.people[i]) }
		var of []float64
		for _, t := range tables {
			of = append(of, percent(t.cases[i]))
		}
		slices.Sort(of)
		s.rates = append(s.rates, []any{epsilon, way, c.people[i], number(percent(c.cases[i])), number(of[len(of)/2]),
			number(of[len(of)/4]) + " to " + number(of[3*len(of)/4])})
	}

	off := c.relativeErrors(tables)
	at := func(share float64) string { return number(off[int(share*float64(len(off)-1))]) }
	s.errors = append(s.errors, []any{epsilon, way, at(.5), at(.9), at(.99)})
}

// relativeErrors are those of all counties in all tables, in %, sorted.
func (c counties) relativeErrors(tables []synthetic) (out []float64) {
	for _, t := range tables {
		for i, n := range c.cases {
			out = append(out, 100*math.Abs(float64(t.cases[i]-n))/math.Max(1, float64(n)))
		}
	}
	slices.Sort(out)
	return out
}
