package policy

import (
	"fmt"
	"math"
	"slices"

	"fugu/internal/strictyaml"
)

const (
	lawsHint = "write secrets: {NAME: {values: [0.2, 0.25], means: [[10], [12]], covariances: [[[4]], [[5]]]}}"

	samplesHint = "write samples: [[1, 2, 100], [1, 3, 100]]: one list for each value, of numbers, or of vectors " +
		"where there are several components"
)

// How much can be declared by samples: finding their couplings takes more than the square of what is written, for each
// pair. All of it is a matter of seconds.
const (
	maxAtoms        = 1000    // at each value
	maxVectors      = 250     // where there are several components
	maxSampleValues = 40      // of a secret
	maxSamplePairs  = 20      // likewise
	maxWeight       = 1 << 20 // of one atom
)

// law reads what a declared model says of one secret: the distribution of F, of that many components, under its values.
func (p *Policy) law(r *strictyaml.Report, e strictyaml.Entry, size int) Law {
	l := Law{Secret: e.Key, At: e.At}
	f := e.Value.Fields(keys["declared.*.secrets.*"]...)
	values := f.Need("values", lawsHint)
	ok := l.under(values)
	switch {
	case f.Get("samples") != nil || f.Get("weights") != nil:
		p.samples(f, &l, size)
	case f.Get("concentrated") != nil:
		p.concentrated(f, &l, size)
	default:
		l.moments(f, size)
	}

	// The values have to be those that the secret's pairs are made of.
	i := slices.IndexFunc(p.Secrets, func(s Secret) bool { return s.Name == e.Key })
	switch {
	case i < 0:
		r.Add(e.At, "name one of the secrets of this policy", "%q is no secret", e.Key)
	case p.Secrets[i].Parameter != "":
		r.Add(e.At, "leave the statement to the network",
			"secret %s is a parameter, for which no model can be declared", e.Key)
	case p.Secrets[i].Categories != "":
		r.Add(e.At, "leave the statement to the reference",
			"secret %s is a vector of proportions, for which no model can be declared", e.Key)
	case ok && len(l.Values) >= 2 && f.Get("samples") != nil:
		p.Secrets[i].amongValues(l, values, "samples")
	case ok && len(l.Values) >= 2 && f.Get("concentrated") != nil:
		p.Secrets[i].amongValues(l, values, "means of what is concentrated")
	case ok && len(l.Values) >= 2:
		p.Secrets[i].within(l, values)
	}
	return l
}

// under reads the values of the secret.
func (l *Law) under(values *strictyaml.Value) bool {
	numbers, ok := vectorOf(values)
	l.Values = numbers
	for i, x := range numbers {
		if i > 0 && !(x > numbers[i-1]) {
			values.Bad("write them in ascending order, each once", "%s: %v stands behind %v", values.Path, x,
				numbers[i-1])
			ok = false
			break
		}
	}
	if ok && len(numbers) < 2 {
		values.Bad("write at least two values of the secret", "%s has %d", values.Path, len(numbers))
	}
	return ok
}

// moments reads means and covariances, one for each value.
func (l *Law) moments(f strictyaml.Fields, size int) {
	means, covariances := f.Need("means", lawsHint), f.Need("covariances", lawsHint)
	l.expectations(means, size)

	items, _ := covariances.List()
	counted(covariances, len(items), len(l.Values), "one covariance matrix for each value")
	for _, item := range items {
		if m, ok := matrixOf(item, size); ok {
			l.Covariances = append(l.Covariances, m)
		}
	}
}

// expectations reads one mean vector for each value.
func (l *Law) expectations(means *strictyaml.Value, size int) {
	items, _ := means.List()
	counted(means, len(items), len(l.Values), "one mean vector for each value")
	for _, item := range items {
		if v, ok := vectorOf(item); ok && counted(item, len(v), size, "one number for each component") {
			l.Means = append(l.Means, v)
		}
	}
}

// samples reads the atoms of F under each value, and how often each of them counts. They are all that is believed of F:
// what shifts it, and how far the truth may be from that, has no place beside them.
func (p *Policy) samples(f strictyaml.Fields, l *Law, size int) {
	for _, key := range []string{"means", "covariances", "concentrated"} {
		if v := f.Get(key); v != nil {
			v.Bad("keep the samples, or means and covariances",
				"%s: samples are the whole distribution, and say this too", v.Path)
		}
	}

	// The pairs of values are compared one by one, so there is a limit to how many there are.
	samples := f.Need("samples", samplesHint)
	p.inPlaceOfTranslation(samples, "samples take", "samples are")

	lists, _ := samples.List()
	counted(samples, len(lists), len(l.Values), "one list of samples for each value")
	if len(l.Values) > maxSampleValues {
		samples.Bad(fmt.Sprintf("declare at most %d values", maxSampleValues), "%s is of %d values", samples.Path,
			len(l.Values))
	}
	for _, list := range lists {
		l.Samples = append(l.Samples, atomsOf(list, size))
	}
	if weights := f.Get("weights"); weights != nil {
		l.weigh(weights)
	}
}

// atomsOf reads the atoms under one value: numbers, or vectors where there are several components.
func atomsOf(list *strictyaml.Value, size int) (out [][]float64) {
	items, ok := list.List()
	most := maxAtoms
	if size > 1 {
		most = maxVectors
	}
	if ok && (len(items) == 0 || len(items) > most) {
		list.Bad(fmt.Sprintf("write 1 to %d samples for each value, each once, and under weights how often", most),
			"%s has %d samples of one value", list.Path, len(items))
		return nil
	}

	// A single component needs no list around each number.
	if size == 1 {
		numbers, _ := vectorOf(list)
		for _, x := range numbers {
			out = append(out, []float64{x})
		}
		return out
	}

	for _, item := range items {
		v, ok := vectorOf(item)
		if ok = ok && counted(item, len(v), size, "one number for each component"); !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// weigh reads how often each atom counts.
func (l *Law) weigh(weights *strictyaml.Value) {
	lists, _ := weights.List()
	counted(weights, len(lists), len(l.Samples), "one list of weights for each list of samples")

	// A list that does not fit its samples has its finding, and is passed over.
	for i, list := range lists {
		items, ok := list.List()
		if !ok || i >= len(l.Samples) ||
			l.Samples[i] != nil && !counted(list, len(items), len(l.Samples[i]), "one weight for each sample") {
			continue
		}

		var row []int64
		sum := int64(0)
		for _, item := range items {
			w, number := item.Int(0, maxWeight)
			row, sum, ok = append(row, w), sum+w, ok && number
		}
		if ok && len(items) > 0 && sum == 0 {
			list.Bad("write the number of times that each sample counts", "%s has weights of 0 alone", list.Path)
		}
		l.Weights = append(l.Weights, row)
	}
}

// Coupled reports whether the policy declares a statement by how near its distributions can be brought to each other.
func (p *Policy) Coupled() bool { return slices.ContainsFunc(p.Declared, Declared.Coupled) }

// within checks that a law speaks of every pair of the secret.
func (s Secret) within(l Law, values *strictyaml.Value) {
	for _, span := range s.Spans {
		low, high := l.Values[0], l.Values[len(l.Values)-1]
		slack := rounding * math.Max(1, math.Abs(span.From)+math.Abs(span.To))

		// Between two values a law is a straight line, and beyond them it is nothing.
		if l.Affine() {
			if span.From < low-slack || span.To > high+slack {
				values.Bad("let the two values be the ends of what the secret's pairs cover",
					"%s: secret %s has pairs from %v to %v, beyond %v to %v", values.Path, s.Name, span.From, span.To,
					low, high)
			}
			continue
		}

		if span.Within < span.To-span.From-slack {
			values.Bad("write two values, between which everything is interpolated",
				"%s: secret %s has a range of pairs, and more than two values give no more than their own", values.Path,
				s.Name)
			continue
		}
		s.ends(l, span, values)
	}
}

// amongValues checks that a law, of what is called so, speaks of every pair of the secret: there is nothing between its
// values.
func (s Secret) amongValues(l Law, values *strictyaml.Value, what string) {
	switch {
	case !s.Listed:
		values.Bad("list the secret's pairs: pairs: [[0.2, 0.25]]",
			"%s: secret %s has a range of values, and %s say nothing between theirs", values.Path, s.Name, what)
	case len(s.Spans) > maxSamplePairs:
		values.Bad(fmt.Sprintf("keep at most %d pairs", maxSamplePairs), "%s: secret %s has %d pairs", values.Path,
			s.Name, len(s.Spans))
	default:
		for _, span := range s.Spans {
			s.ends(l, span, values)
		}
	}
}

// ends checks that both values of a pair are listed.
func (s Secret) ends(l Law, span Span, values *strictyaml.Value) {
	for _, end := range []float64{span.From, span.To} {
		if l.Index(end) < 0 {
			values.Bad("list every value of the secret's pairs", "%s: secret %s has a pair with %v", values.Path,
				s.Name, end)
		}
	}
}
