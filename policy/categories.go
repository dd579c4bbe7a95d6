package policy

import (
	"cmp"
	"math"
	"slices"

	"fugu/internal/strictyaml"
)

const vectorsHint = "write values: {within: 0.05} or pairs: [[{a: 0.2, b: 0.8}, {a: 0.25, b: 0.75}]]"

// vectors reads the pairs of a secret vector of proportions over a domain; nil: a domain that has its finding already.
func vectors(f strictyaml.Fields, d *Domain) ([][2][]Share, *SimplexRange) {
	values, pairs := alternatives(f, vectorsHint)
	if values != nil {
		return nil, simplexRange(values, d)
	}
	if pairs == nil {
		return nil, nil
	}

	// A vector that was not understood has its finding already.
	var out [][2][]Share
	for _, pair := range pairItems(pairs, "two vectors of proportions",
		"write a pair as [{a: 0.2, b: 0.8}, {a: 0.25, b: 0.75}]", vectorsHint) {
		a, okA := vector(pair[0], d)
		b, okB := vector(pair[1], d)
		switch {
		case !okA || !okB:
		case slices.Equal(a, b):
			pair[0].Bad("write two different vectors", "%s: the vectors of a pair are equal", pairs.Path)
		default:
			out = append(out, [2][]Share{a, b})
		}
	}
	return out, nil
}

// vector reads proportions that add up to 1, by category.
func vector(v *strictyaml.Value, d *Domain) ([]Share, bool) {
	entries, ok := v.Entries()
	if !ok {
		return nil, false
	}

	var out []Share
	total := 0.0
	for _, e := range entries {
		p, okP := proportions.value(e.Value)
		c, okC := category(v, e, d)
		ok = ok && okP && okC
		total += p
		if p > 0 {
			out = append(out, Share{Category: c, Proportion: p})
		}
	}

	// Some categories may have no rows, and need not be written.
	if ok && math.Abs(total-1) > 1e-9 {
		v.Bad("write a proportion for every category that has rows",
			"%s: the proportions of a vector add up to 1, not %v", v.Path, total)
		return nil, false
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Compare(a.Category.Text, b.Category.Text) })
	return out, ok
}

// category reads a value of the domain. A key of YAML is text, so 'null' is the SQL null where the domain has that and
// no such text.
func category(v *strictyaml.Value, e strictyaml.Entry, d *Domain) (Value, bool) {
	c := Value{Text: e.Key}
	if null := (Value{IsNull: true}); d != nil && e.Key == "null" && !slices.Contains(d.Values, c) &&
		slices.Contains(d.Values, null) {
		c = null
	}
	if d == nil || d.has(c) {
		return c, true
	}
	e.Value.Bad("write the values as they stand under group_by", "%s: %s is no value of column %s", v.Path, c,
		quoteIdent(d.Column))
	return c, false
}

// simplexRange reads a range for the proportions of a vector; nil: it has its finding.
func simplexRange(v *strictyaml.Value, d *Domain) *SimplexRange {
	f := v.Fields(keys["secrets.*.values"]...)
	r := SimplexRange{From: 0, To: 1}
	okFrom, okTo := true, true

	if x := f.Get("from"); x != nil {
		r.From, okFrom = proportions.value(x)
	}
	if x := f.Get("to"); x != nil {
		r.To, okTo = proportions.value(x)
	}

	// Between vectors there is no order, so that a distance says which of them nobody may tell apart.
	w := f.Need("within", vectorsHint)
	within, ok := w.Float()
	r.Within = within
	switch {
	case !okFrom || !okTo || !ok:
	case r.From >= r.To:
		v.Bad("write the smaller proportion first", "%s: from %v is not below to %v", v.Path, r.From, r.To)
	case !(within > 0 && within <= 1):
		w.Bad("write the share of the rows that may change their category", "%s is above 0 and at most 1, not %v",
			w.Path, within)
	case d != nil && len(d.Values) > 0 && !(r.From*float64(len(d.Values)) < 1 && r.To*float64(len(d.Values)) > 1):
		v.Bad("widen from and to", "%s: with %d categories no two vectors of proportions between %v and %v add up to 1",
			v.Path, len(d.Values), r.From, r.To)
	default:
		return &r
	}
	return nil
}
