package falsify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"

	"fugu/privacy"
)

// Sampler draws what an analyst sees when the secret has the value theta: all numbers of one or more releases, always
// as many. All chance, that of the data and that of the noise, comes from rng; or from elsewhere, but anew in each
// call.
type Sampler func(theta float64, rng *rand.Rand) []float64

// Score maps a transcript to a number that tends to be larger under the first value of a pair than under the second.
type Score func(transcript []float64) float64

// Test makes a score for a pair from transcripts under its two values.
type Test struct {
	Name  string
	Train func(pair [2]float64, first, second [][]float64) Score
}

// Known is a test whose score needs no training.
func Known(name string, score func(pair [2]float64, transcript []float64) float64) Test {
	return Test{name, func(pair [2]float64, _, _ [][]float64) Score {
		return func(x []float64) float64 { return score(pair, x) }
	}}
}

// Trial is a promise and the means to try it.
type Trial struct {
	Sampler Sampler
	Pairs   [][2]float64   // Ψ; both orders of each are tried
	Promise privacy.Budget // what is claimed of each pair
	Tests   []Test
	Train   int     // transcripts under each value on which score and event are chosen
	Held    int     // transcripts under each value on which they are counted
	Alarm   float64 // probability of a finding beyond a promise that holds, over the whole trial
	Seed    uint64
}

// Effort is n, a number of transcripts, times the number that the environment variable FALSIFY_EFFORT gives. make
// nightly sets it: without it n is what a trial needs to refute a planted fault.
func Effort(n int) int {
	if times, err := strconv.Atoi(os.Getenv("FALSIFY_EFFORT")); err == nil {
		return n * times
	}
	return n
}

// Finding is the strongest evidence of a trial.
type Finding struct {
	Epsilon float64    // the promise needs at least this ε at its δ
	Pair    [2]float64 // in the order in which it is tried
	Test    string
	Event   string // for people
	Hits    [2]int // how often the event happened under each value of the pair
}

// String is the finding on one line, for people.
func (f Finding) String() string {
	return fmt.Sprintf("ε ≥ %.3f (pair %v, %s %s: %d and %d times)", f.Epsilon, f.Pair, f.Test, f.Event, f.Hits[0],
		f.Hits[1])
}

// Refutes reports whether the finding contradicts the promise.
func (f Finding) Refutes(promise privacy.Budget) bool { return f.Epsilon > float64(promise.Epsilon) }

// event is {sign·score ≥ at}, tried for a pair in the order that sign gives.
type event struct {
	test  int
	score Score
	sign  float64
	at    float64
}

// Run tries every test on every pair in both orders, and returns the strongest finding.
func (t Trial) Run() Finding {
	best := Finding{Epsilon: math.Inf(-1)}
	rng := rand.New(rand.NewPCG(t.Seed, 0))
	alarm := t.Alarm / float64(4*len(t.Tests)*len(t.Pairs)) // each pair and test: two orders, two bounds
	for _, pair := range t.Pairs {
		// Tests learn, and choose what they will look for, on transcripts of their own: nothing that is chosen is tried
		// on what it was chosen by. Each looks for high scores and for low ones.
		first, second := t.draw(pair[0], rng), t.draw(pair[1], rng)
		var events []event
		for i, test := range t.Tests {
			score := test.Train(pair, first, second)
			a, b := scores(score, first), scores(score, second)
			events = append(events, event{i, score, 1, t.choose(a, b, alarm)})
			for k := range a {
				a[k], b[k] = -a[k], -b[k]
			}
			events = append(events, event{i, score, -1, t.choose(b, a, alarm)})
		}

		hits := make([][2]int, len(events))
		for side, theta := range pair {
			for range t.Held {
				x := t.Sampler(theta, rng)
				var last float64
				for i, e := range events {
					if i%2 == 0 { // both events of a test have its score
						last = e.score(x)
					}
					if e.sign*last >= e.at {
						hits[i][side]++
					}
				}
			}
		}

		for i, e := range events {
			f := Finding{Pair: pair, Test: t.Tests[e.test].Name, Event: fmt.Sprintf("≥ %.4g", e.at), Hits: hits[i]}
			if e.sign < 0 {
				f.Pair, f.Hits = [2]float64{pair[1], pair[0]}, [2]int{hits[i][1], hits[i][0]}
				f.Event = fmt.Sprintf("≤ %.4g", -e.at)
			}
			f.Epsilon = t.evidence(f.Hits, t.Held, alarm)
			if f.Epsilon > best.Epsilon {
				best = f
			}
		}
	}
	return best
}

// evidence is the ε that so many hits under either value show to be needed, false alarms aside.
func (t Trial) evidence(hits [2]int, n int, alarm float64) float64 {
	return needed(lower(hits[0], n, alarm), upper(hits[1], n, alarm), float64(t.Promise.Delta))
}

func (t Trial) draw(theta float64, rng *rand.Rand) [][]float64 {
	out := make([][]float64, t.Train)
	for i := range out {
		out[i] = t.Sampler(theta, rng)
	}
	return out
}

func scores(s Score, transcripts [][]float64) []float64 {
	out := make([]float64, len(transcripts))
	for i, x := range transcripts {
		out[i] = s(x)
	}
	return out
}

// choose returns the threshold that would be the strongest evidence if the training transcripts were those that count,
// as many of them as are held: with normal approximations of the bounds, which are cheap and good enough to choose by.
func (t Trial) choose(a, b []float64, alarm float64) float64 {
	sort.Float64s(a)
	sort.Float64s(b)
	z := math.Sqrt(-2 * math.Log(alarm))
	n := float64(t.Held)
	best, at := math.Inf(-1), math.Inf(1)
	const candidates = 400
	for i := range candidates {
		v := a[len(a)*i/candidates]
		p, q := above(a, v), above(b, v)
		p = (n*p - z*math.Sqrt(n*p*(1-p)+1)) / n
		q = (n*q + z*math.Sqrt(n*q*(1-q)+1) + z*z/2) / n
		if e := needed(p, q, float64(t.Promise.Delta)); e > best {
			best, at = e, v
		}
	}
	return at
}

// above is the share of the sorted values that are at least v.
func above(sorted []float64, v float64) float64 {
	return float64(len(sorted)-sort.SearchFloat64s(sorted, v)) / float64(len(sorted))
}
