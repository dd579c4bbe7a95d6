package twin

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"fugu/policy"
)

// maxRows keeps numbers of rows exact in float64, and what is multiplied by a scale in 64 bits.
const maxRows = 1 << 40

// maxClasses is how many classes a table can have: each takes a share of the rows.
const maxClasses = 64

// The outcomes of a proportion. A row has the one that its predicate has.
const (
	True = iota
	False
	Null // only of a secret that is Nullable
)

// Class is a set of rows that are the same for all secrets.
type Class struct {
	Cell     int    // of Spec.Public, in order; 0 where nothing is public
	Outcomes []int  // by secret: True, False or Null, or the index of the category
	Name     string // for people: high_income=true
	// Least and Most are how many rows a table can have of the class if the promise speaks of it.
	Least, Most int64
}

// Outcomes is how many outcomes a secret has.
func (s Secret) Outcomes() int {
	switch {
	case s.Categories != "":
		return len(s.Values)
	case s.Nullable:
		return 3
	}
	return 2
}

// outcome names an outcome.
func (s Secret) outcome(i int) string {
	if s.Categories != "" {
		return s.Values[i].String()
	}
	return [...]string{"true", "false", "null"}[i]
}

// Classes lists the combinations of cells and outcomes, without bounds, the last secret's changing fastest.
func (s Spec) Classes() ([]Class, error) {
	cells := s.cells()
	total := len(cells)
	for _, secret := range s.Secrets {
		if total *= secret.Outcomes(); total > maxClasses {
			return nil, fmt.Errorf("the secrets and public cells divide the rows into more than %d classes; have "+
				"fewer secrets, coarser categories, or fewer cells", maxClasses)
		}
	}

	// The number of a class is that of its cell, and then of its outcomes, as digits.
	out := make([]Class, total)
	for i := range out {
		rest := i
		names := make([]string, len(s.Secrets))
		out[i].Cell = i / (total / len(cells))
		out[i].Outcomes = make([]int, len(s.Secrets))
		for j := len(s.Secrets) - 1; j >= 0; j-- {
			secret := s.Secrets[j]
			o := rest % secret.Outcomes()
			rest /= secret.Outcomes()
			out[i].Outcomes[j], names[j] = o, secret.Name+"="+secret.outcome(o)
		}

		if cell := s.Public.name(cells[out[i].Cell]); cell != "" {
			names = append([]string{cell}, names...)
		}
		out[i].Name = strings.Join(names, ", ")
	}
	return out, nil
}

// valid checks what New relies on.
func (s Spec) valid() error {
	switch {
	case s.Rows < 1 || s.Rows > maxRows:
		return fmt.Errorf("a twin of a table with %d rows: it takes 1 to %d", s.Rows, int64(maxRows))
	case len(s.Secrets) == 0:
		return errors.New("a twin without a secret hides nothing")
	case !(s.Epsilon > 0) || math.IsInf(s.Epsilon, 1):
		return fmt.Errorf("epsilon is above 0 and finite, not %v", s.Epsilon)
	case !(s.Delta >= 0 && s.Delta < .5):
		return fmt.Errorf("delta of a twin is at least 0 and below 0.5, not %v", s.Delta)
	case !(s.Smallest >= 0 && s.Smallest < 1):
		return fmt.Errorf("smallest is a share below 1, not %v", s.Smallest)
	case s.KnownRows < 0 || s.KnownRows >= s.Rows:
		return fmt.Errorf("known_rows %d: it is at least 0 and below the %d rows", s.KnownRows, s.Rows)
	}

	for _, secret := range s.Secrets {
		if err := secret.valid(); err != nil {
			return fmt.Errorf("secret %s: %w", secret.Name, err)
		}
	}
	return s.Public.valid(s.Rows, s.Secrets)
}

// valid says what of a secret a law of twins cannot take.
func (s Secret) valid() error {
	switch {
	case s.Mean != "" || s.Parameter != "":
		return errors.New("it is neither a proportion nor categories, and a twin hides how many rows are of which " +
			"class")
	case s.About != policy.AboutDataset && s.About != policy.AboutDistribution:
		return fmt.Errorf("it is about %q, which is not known", s.About)
	case s.Categories != "" && len(s.Values) < 2:
		return errors.New("its column has fewer than two values")
	case s.Categories != "" && (s.Nullable || len(s.Spans) > 0 || (s.Range == nil) == (len(s.Vectors) == 0)):
		return errors.New("categories have a range or pairs of vectors, one of the two")
	case s.Categories == "" && (len(s.Values) > 0 || len(s.Vectors) > 0 || s.Range != nil || len(s.Spans) == 0):
		return errors.New("a proportion has pairs of values")
	}

	for _, span := range s.Spans {
		if !(span.From >= 0 && span.From < span.To && span.To <= 1 && span.Within > 0 &&
			span.Within <= span.To-span.From+1e-9) {
			return fmt.Errorf("values from %v to %v within %v are none of a proportion", span.From, span.To,
				span.Within)
		}
	}

	// A category that is no value of the column would be a class that nobody counts.
	for _, pair := range s.Vectors {
		for _, vector := range pair {
			for _, share := range vector {
				if !slices.Contains(s.Values, share.Category) {
					return fmt.Errorf("%s is no value of column %s", share.Category, s.Categories)
				}
			}
		}
	}
	return nil
}
