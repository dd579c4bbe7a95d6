// Package shop says by how much counts of the example's marketplace are off, of a twin and with noise, by the exact
// laws: what the pictures of docs/choosing.md show. It draws none.
package shop

import (
	"fmt"
	"math"

	"fugu/policy"
	"fugu/privacy"
	"fugu/twin"
)

// The table of the pictures is the example's marketplace: 270,000 orders, of which a fifth have the secret.
const (
	rows, with = 270000, 56700
	delta      = .001
)

// Usual is the example's range of the share, and within.
var Usual = policy.Span{From: .05, To: .40, Within: .02}

// part is a group of a hundredth of the rows, in which a row with the secret is lift times as frequent as one without.
func part(lift float64) (group []int64) {
	const size = rows / 100
	inside := math.Round(size * lift * with / (lift*with + rows - with))
	return []int64{int64(inside), size - int64(inside)}
}

// ByTwin is by how much a twin's count of a group is off, as a share of it: a root of mean squares, by the exact law.
func ByTwin(span policy.Span, epsilon, lift float64) (float64, error) {
	secret := policy.Secret{Name: "dependence", About: policy.AboutDataset, Proportion: "p",
		Spans: []policy.Span{span}}
	law, err := twin.New(twin.Spec{Rows: rows, Epsilon: epsilon, Delta: delta,
		Secrets: []twin.Secret{{Secret: secret}}})
	if err != nil {
		return 0, fmt.Errorf("a twin at epsilon %g of %+v: %w", epsilon, span, err)
	}
	return law.CountError([]int64{with, rows - with}, part(lift)), nil
}

// ByNoise is the least standard deviation, as a share of the count, of normal noise that hides how far the secret moves
// the count of a group, where so many statements about it share ε: n·within rows come to have the secret, and each
// class has its own part of them in the group. The squares of κ add up over the statements.
func ByNoise(within, epsilon float64, asked, lift float64) float64 {
	group := part(lift)
	moves := rows * within * math.Abs(float64(group[0])/with-float64(group[1])/(rows-with))
	kappa := privacy.Kappa(privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)})
	return moves * math.Sqrt(asked) / kappa / float64(group[0]+group[1])
}
