package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"fugu/policy"
	"fugu/privacy"
	"fugu/test/setting"
	"fugu/twin"
)

// byTwin is the twin of a dataset, by package twin: pure ε, no model of F.
var byTwin = defence{"twin", func(_ setting.Classes, delta float64, b privacy.Budget) (defended, error) {
	from, to := between(delta)
	secret := policy.Secret{Name: "s", About: policy.AboutDataset, Proportion: "s", Listed: true,
		Spans: []policy.Span{{From: from, To: to, Within: to - from}}}
	d, err := twin.New(twin.Spec{Rows: setting.Records, Epsilon: float64(b.Epsilon),
		Secrets: []twin.Secret{{Secret: secret}}})
	if err != nil {
		return defended{}, err
	}
	return defended{
		table: func(r rows, rng *rand.Rand) (rows, error) { return makeTwin(d, r, rng) },
		delta: func(epsilon float64) (string, error) {
			a, b := int64(from*setting.Records+.5), int64(to*setting.Records+.5)
			if loss := d.Loss(0, []int64{a, setting.Records - a}, []int64{b, setting.Records - b},
				0); loss > epsilon+2./1024 {
				return "", fmt.Errorf("a loss of %g", loss)
			}
			return "0", nil
		},
		claim: "0", charge: fmt.Sprintf("%.3g", d.Epsilon),
	}, nil
}}

// makeTwin draws the twin of a dataset: noisy counts, rows, and copies of them.
func makeTwin(d *twin.Design, r rows, rng *rand.Rand) (out rows, err error) {
	// The twin's first class is the one with the predicate, which is the second of rows.
	noisy, err := d.Draw(bytesOf{rng}, []int64{int64(len(r[1])), int64(len(r[0]))})
	if err != nil {
		return out, err
	}
	take, err := d.Take(noisy)
	if err != nil {
		return out, err
	}
	for c := range take {
		class := 1 - c
		each, more, err := twin.Copies(noisy[c], take[c])
		if err != nil {
			return out, err
		}
		for i, at := range rng.Perm(len(r[class]))[:take[c]] {
			copies := each
			if int64(i) < more {
				copies++
			}
			for range copies {
				out[class] = append(out[class], r[class][at])
			}
		}
	}
	return out, nil
}

// printParts says what parts the twin's error in table 2 has: that one row less is taken of each class than the smaller
// value has, and that rows stand whole times. Only the first line keeps the promise, of rows that a table can hold.
func printParts(all pool) error {
	s := newSheet("The parts of the twin's error in table 2: taken of each class, and how its rows stand", "taken",
		"stand", "ε = .2", "1", "5")
	for _, taken := range []int{44, 45} {
		for _, weighted := range []bool{false, true} {
			row := []any{taken, map[bool]string{false: "whole times", true: "by a weight"}[weighted]}
			for _, epsilon := range epsilons {
				row = append(row, fmt.Sprintf("%.2f", partOfError(all, epsilon, taken, weighted)))
			}
			s.row(row...)
		}
	}
	s.row()
	return s.w.Flush()
}

// partOfError is the mean L2 error of twins of 4,000 datasets, by randomised response between the two values.
func partOfError(all pool, epsilon float64, taken int, weighted bool) float64 {
	const n = 4000
	rng := rand.New(rand.NewPCG(5, uint64(taken)))
	from, to := between(.1)
	total := 0.
	for i := range n {
		share, told := []float64{from, to}[i%2], []float64{from, to}[i%2]
		if rng.Float64() < 1/(1+math.Exp(epsilon)) {
			told = from + to - share
		}
		data := all.draw(share, rng)
		sum := make([]float64, len(setting.Statistics))
		with := int(told*setting.Records + .5)
		for class, stand := range [2]int{setting.Records - with, with} {
			// The rows are in random order, and so are those that stand once more.
			for at, one := range data[class][:taken] {
				times := float64(stand) / float64(taken)
				if !weighted {
					times = float64(stand / taken)
					if at < stand%taken {
						times++
					}
				}
				floats.AddScaled(sum, times, one.values)
			}
		}
		total += floats.Distance(setting.F(sum, setting.Records), data.statistics(), 2)
	}
	return total / n
}

// bytesOf are random bytes that can be had again.
type bytesOf struct{ *rand.Rand }

func (r bytesOf) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		copy(p[i:], binary.LittleEndian.AppendUint64(nil, r.Uint64()))
	}
	return len(p), nil
}
