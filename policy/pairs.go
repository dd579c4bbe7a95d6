package policy

import (
	"math"

	"fugu/internal/strictyaml"
)

// unit is what the values of a secret are: proportions, or numbers in an expression's own unit.
type unit struct{ proportion bool }

var proportions = unit{proportion: true}

// value reads one value of a secret.
func (u unit) value(v *strictyaml.Value) (float64, bool) {
	x, ok := v.Float()
	switch {
	case !ok:
	case u.proportion && !(x >= 0 && x <= 1):
		v.Bad("write 0.25 for a quarter of the rows", "%s: a proportion is between 0 and 1, not %v", v.Path, x)
	case !(math.Abs(x) <= maxMean):
		v.Bad("", "%s: a mean is a number of reasonable size, not %v", v.Path, x)
	default:
		return x, true
	}
	return 0, false
}

const spansHint = "write values: {from: 0.1, to: 0.6, within: 0.05} or pairs: [[0.2, 0.25]]"

// alternatives returns the section values or the list pairs, whichever there is; both are nil after a finding.
func alternatives(f strictyaml.Fields, hint string) (values, pairs *strictyaml.Value) {
	values, pairs = f.Get("values"), f.Get("pairs")
	switch {
	case values != nil && pairs != nil:
		pairs.Bad("keep one of the two; a second secret can have the other", "%s: values and pairs are alternatives",
			pairs.Path)
		return nil, nil
	case values == nil && pairs == nil:
		f.Need("values", hint)
	}
	return values, pairs
}

func spans(f strictyaml.Fields, u unit) []Span {
	values, pairs := alternatives(f, spansHint)
	switch {
	case values != nil:
		if s, ok := valuesSpan(values, u); ok {
			return []Span{s}
		}
	case pairs != nil:
		return pairSpans(pairs, u)
	}
	return nil
}

func valuesSpan(v *strictyaml.Value, u unit) (Span, bool) {
	f := v.Fields(keys["secrets.*.values"]...)
	from, okFrom := u.value(f.Need("from", spansHint))
	to, okTo := u.value(f.Need("to", spansHint))
	w := f.Need("within", spansHint)
	within, ok := w.Float()
	switch {
	case okFrom && okTo && from >= to:
		f.Get("from").Bad("write the smaller value first", "%s: from %v is not below to %v", v.Path, from, to)
	case ok && !(within > 0):
		w.Bad("", "%s must be above 0, not %v", w.Path, within)
	case okFrom && okTo && ok && within > to-from+rounding*math.Max(1, math.Abs(to)+math.Abs(from)):
		w.Bad("write at most the width of the range", "%s %v is more than to - from", w.Path, within)
	default:
		return Span{From: from, To: to, Within: within}, okFrom && okTo && ok
	}
	return Span{}, false
}

func pairSpans(v *strictyaml.Value, u unit) []Span {
	var spans []Span
	for _, pair := range pairItems(v, "two values", "write a pair as [0.2, 0.25]", spansHint) {
		a, okA := u.value(pair[0])
		b, okB := u.value(pair[1])
		switch {
		case !okA || !okB:
		case a == b:
			pair[0].Bad("write two different values", "%s: the values of a pair are equal", v.Path)
		default:
			low, high := math.Min(a, b), math.Max(a, b)
			spans = append(spans, Span{From: low, To: high, Within: high - low})
		}
	}
	return spans
}

// pairItems reads a list of lists of two.
func pairItems(v *strictyaml.Value, two, hint, hintEmpty string) (out [][2]*strictyaml.Value) {
	items, ok := v.List()
	if ok && len(items) == 0 {
		v.Bad(hintEmpty, "%s is empty", v.Path)
	}
	for _, item := range items {
		pair, ok := item.List()
		switch {
		case !ok:
		case len(pair) != 2:
			item.Bad(hint, "%s: a pair has %s, not %d", v.Path, two, len(pair))
		default:
			out = append(out, [2]*strictyaml.Value{pair[0], pair[1]})
		}
	}
	return out
}
