package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Statement is a statement that the policy speaks of. It is not parsed here.
type Statement struct {
	SQL string
	At  Position // the first character of its text in the file
}

// Declared is the model of a statement as the policy declares it, in place of one from the reference.
type Declared struct {
	Name      string
	Statement Statement
	// Components are the labels of the entries of F in the order of the vectors; nil: there is one.
	Components []string
	Laws       []Law

	At Position
}

// Law is the distribution of F under some values of one secret: means and covariances of the same size, or samples, or
// means and how far from them F is.
type Law struct {
	Secret      string
	Values      []float64 // ascending, at least two
	Means       [][]float64
	Covariances [][][]float64 // symmetric and positive semidefinite
	// Samples are F's atoms under each value, all that it can be, in place of Means and Covariances; nil: those are
	// there. Weights say how often each counts, at least one of a value above 0; nil: each once.
	Samples [][][]float64
	Weights [][]int64
	// Concentrated stands in place of Covariances; nil: it does not.
	Concentrated *Concentrated

	At Position
}

// Affine reports whether the law holds for all values between its two: means and covariances are interpolated.
func (l Law) Affine() bool { return len(l.Values) == 2 && !l.Coupled() }

// Coupled reports whether the law says how near two distributions can be brought to each other, in place of how they
// shift: by samples, or by concentration.
func (l Law) Coupled() bool { return l.Samples != nil || l.Concentrated != nil }

// Index is the place of a value of the secret among those of the law, up to rounding; -1: it is none of them.
func (l Law) Index(x float64) int {
	return slices.IndexFunc(l.Values, func(v float64) bool {
		return math.Abs(v-x) <= rounding*math.Max(1, math.Abs(v)+math.Abs(x))
	})
}

// Coupled reports whether the laws of the model are Coupled; all of them are, or none is.
func (d Declared) Coupled() bool { return slices.ContainsFunc(d.Laws, Law.Coupled) }

// Public is a statement whose exact values are known to everybody.
type Public struct {
	Name      string
	Statement Statement
	Values    []PublicValue

	At Position
}

// PublicValue is the value of one entry of F.
type PublicValue struct {
	Component string // its label
	Value     string // a decimal number
}

// String says how much is declared.
func (d Declared) String() string {
	var parts []string
	for _, l := range d.Laws {
		part := fmt.Sprintf("%s at %v", l.Secret, l.Values)
		switch {
		case l.Samples != nil:
			part += " by samples"
		case l.Concentrated != nil:
			part += fmt.Sprintf(" within %v of its means but for %v", l.Concentrated.Within, l.Concentrated.ButFor)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// String lists the values.
func (s Public) String() string {
	var parts []string
	for _, v := range s.Values {
		parts = append(parts, v.Component+" = "+v.Value)
	}
	return strings.Join(parts, ", ")
}
