package twin

import (
	"math"
	"slices"

	"fugu/policy"
)

// rounding is by how many rows, relative to n, a share times n may be off: shares come as float64 of decimals.
// Every bound is rounded outwards by it, so that more is hidden and never less.
const rounding = 1e-12

// floor and ceil are n·share in rows, rounded so that floor is never too small, and ceil never too large.
func (s Spec) floor(share float64) int64 {
	return int64(math.Floor(float64(s.Rows)*share + float64(s.Rows)*rounding))
}

func (s Spec) ceil(share float64) int64 {
	return int64(math.Ceil(float64(s.Rows)*share - float64(s.Rows)*rounding))
}

// domain is what K has to hide: which counts a table can have, and how far those of a pair are apart.
type domain struct {
	classes []Class // with their bounds
	cells   []Cell
	totals  []total // of every outcome of every secret
	move    int64   // k: a pair differs by the classes of at most so many rows
	// slack is the probability, at most, that counts under the two values of a pair are outside of all this. It is
	// above 0 where a secret is about a distribution, whose rows follow it by chance.
	slack float64
}

// domain works out what there is to hide.
func (s Spec) domain() (domain, error) {
	d := domain{move: 1, cells: s.cells()}
	classes, err := s.Classes()
	if err != nil {
		return d, err
	}
	for i := range classes {
		classes[i].Least, classes[i].Most = 0, s.Rows
	}
	chances := s.chances()
	for j, secret := range s.Secrets {
		totals, move := s.totals(j, secret, chances.each)
		d.totals, d.move = append(d.totals, totals...), max(d.move, move)
		if secret.About == policy.AboutDistribution {
			d.slack = chances.all
		}
	}

	if s.Public != nil {
		// What contradicts itself without the cells does so with them.
		bare := s
		bare.Public = nil
		if _, err := bare.domain(); err != nil {
			return d, err
		}
		d.classes = s.celled(classes, d.totals)
		return d, d.possible(s)
	}

	s.meet(classes, d.totals)
	if pairs, err := s.pairs(); err == nil { // counts that are listed are known exactly
		classes, d.move = exactly(classes, pairs)
	}
	d.classes = tight(classes, s.Rows)
	return d, d.possible(s)
}

// totals bounds how many rows each outcome of the j-th secret has, and by how many rows a pair differs. Where rows have
// their outcomes by chance, each bound holds but for the probability each.
func (s Spec) totals(j int, secret Secret, each float64) (out []total, move int64) {
	least, most, within := s.marginal(secret)
	move = s.floor(within)
	listed := secret.Listed || len(secret.Vectors) > 0
	if listed {
		// A listed value stands for whole rows next to it, so that those of a pair can be a little further apart.
		move += int64(secret.Outcomes())
	}

	if secret.About == policy.AboutDistribution {
		// A row changes its outcome with at most this probability where the two values are coupled, independently of
		// others.
		move = s.Rows - s.least(1-within, each)
	}

	for o := range secret.Outcomes() {
		lo, hi := s.ceil(least[o]), s.floor(most[o])
		if listed {
			lo, hi = s.floor(least[o])-1, s.ceil(most[o])+1
		}
		if secret.About == policy.AboutDistribution {
			lo, hi = s.least(least[o], each), s.Rows-s.least(1-most[o], each)
		}
		out = append(out, total{j, o, lo, hi})
	}
	return out, move
}

// meet bounds the classes by what each secret says of its outcomes.
func (s Spec) meet(classes []Class, totals []total) {
	for _, t := range totals {
		for i := range classes {
			if classes[i].Outcomes[t.secret] != t.outcome {
				continue
			}
			// So many rows have this outcome, and all but Least of them may be of another class that has it.
			classes[i].Least = max(0, classes[i].Least+t.least)
			classes[i].Most = min(classes[i].Most, t.most)
		}
	}
	for i := range classes {
		// Rows with all of these outcomes: by inclusion and exclusion at least Σ lo - (secrets - 1)·n.
		classes[i].Least = max(0, classes[i].Least-int64(len(s.Secrets)-1)*s.Rows, s.ceil(s.Smallest))
	}
}

// exactly sets the bounds to those of listed counts, and says how many rows move at most in a pair.
func exactly(classes []Class, pairs [][2][]int64) ([]Class, int64) {
	move := int64(1)
	for c := range classes {
		classes[c].Least, classes[c].Most = math.MaxInt64, 0
	}
	for _, pair := range pairs {
		move = max(move, moved(pair[0], pair[1]))
		for c := range classes {
			classes[c].Least = min(classes[c].Least, pair[0][c], pair[1][c])
			classes[c].Most = max(classes[c].Most, pair[0][c], pair[1][c])
		}
	}
	return classes, move
}

// tight lets the bounds of each class say what those of all others leave.
func tight(classes []Class, n int64) []Class {
	least, most := int64(0), int64(0)
	for _, c := range classes {
		least, most = least+c.Least, most+c.Most
	}
	out := make([]Class, len(classes))
	for i, c := range classes {
		out[i] = c
		out[i].Least = max(c.Least, n-(most-c.Most))
		out[i].Most = min(c.Most, n-(least-c.Least))
	}
	return out
}

// marginal is what a secret's pairs say of the share of each outcome, and how far the values of a pair are apart, in
// total variation.
func (s Spec) marginal(secret Secret) (least, most []float64, within float64) {
	n := secret.Outcomes()
	least, most = make([]float64, n), make([]float64, n)
	if secret.Range != nil {
		for o := range n {
			least[o], most[o] = secret.Range.From, secret.Range.To
		}
		return least, most, secret.Range.Within
	}

	if secret.Categories != "" {
		for o := range n {
			least[o] = 1
		}
		for _, pair := range secret.Vectors {
			a, b := secret.vector(pair[0]), secret.vector(pair[1])
			moved := 0.
			for o := range n {
				least[o], most[o] = min(least[o], a[o], b[o]), max(most[o], a[o], b[o])
				moved += math.Abs(a[o]-b[o]) / 2
			}

			within = max(within, moved)
		}
		return least, most, within
	}

	from, to := 1., 0.
	for _, span := range secret.Spans {
		from, to, within = min(from, span.From), max(to, span.To), max(within, span.Within)
	}
	least[True], most[True] = from, to
	least[False], most[False] = 1-to, 1-from
	if secret.Nullable {
		// How the rest divides between false and NULL, the secret does not say.
		least[False], most[Null] = 0, 1-from
	}
	return least, most, within
}

// Independent is the least share of rows that a class has where the secrets have nothing to do with each other.
func (s Spec) Independent() float64 {
	share := 1.
	for _, secret := range s.Secrets {
		least, _, _ := s.marginal(secret)
		share *= max(0, slices.Min(least))
	}
	return share
}

// vector writes shares out in the order of the values.
func (s Secret) vector(shares []policy.Share) []float64 {
	out := make([]float64, len(s.Values))
	for _, share := range shares {
		for o, v := range s.Values {
			if v == share.Category {
				out[o] += share.Proportion
			}
		}
	}
	return out
}
