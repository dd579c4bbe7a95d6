package policy

import (
	"math"
	"strings"

	"fugu/internal/strictyaml"
)

func secrets(p *Policy, r *strictyaml.Report, v *strictyaml.Value) {
	entries, ok := v.Entries()
	if ok && len(entries) == 0 {
		v.Bad("name at least one secret: without one nothing is hidden", "secrets is empty")
	}
	covered := map[QualifiedName]bool{}
	known := len(entries) > 0 // whether every secret names a protected table
	for _, e := range entries {
		if !labelPattern.MatchString(e.Key) {
			r.Add(e.At, "write "+labelRule, "a secret cannot be named %q", e.Key)
		}
		s := secret(p, e)
		covered[s.Table] = true
		_, protected := p.Table(s.Table)
		known = known && protected
		p.Secrets = append(p.Secrets, s)
	}
	for _, t := range p.Tables {
		switch {
		case covered[t.Qualified()] && t.Link != nil:
			r.Add(t.At, "give the secret the table that this one is linked to", "a secret is about table %s, whose rows belong to those of %s: secrets live there", t.Qualified(), t.Link.To)
		case known && !covered[t.Qualified()] && t.Link == nil:
			r.Add(t.At, "add a secret whose table it is, or remove it here",
				"no secret is about table %s, so its aggregates would be exact", t.Qualified())
		}
	}
}

func secret(p *Policy, e strictyaml.Entry) Secret {
	s := Secret{Name: e.Key, At: e.At}
	f := e.Value.Fields(keys["secrets.*"]...)
	of := f.Need("table", "name one of the protected tables")
	if name, ok := valueName(of, ParseName); ok {
		s.Table = name
		if _, protected := p.Table(name); !protected {
			of.Bad("name one of the tables under tables:", "%s is not a protected table of this policy", name)
		}
	}
	other := false
	for _, key := range []string{"mean", "categories"} {
		if v := f.Get(key); v != nil {
			other = true
			v.Bad("write a proportion: PREDICATE instead", "%s is not supported in this version, which knows proportion only", v.Path)
		}
	}
	if v := f.Get("proportion"); v != nil {
		if text, ok := v.Text(); ok {
			s.Proportion, s.ProportionAt = text, v.TextAt
		}
	} else if !other {
		f.Need("proportion", "write proportion: PREDICATE, for instance income = '>50K'")
	}
	s.Spans = spans(f)
	return s
}

const spansHint = "write values: {from: 0.1, to: 0.6, within: 0.05} or pairs: [[0.2, 0.25]]"

func spans(f strictyaml.Fields) []Span {
	values, pairs := f.Get("values"), f.Get("pairs")
	switch {
	case values != nil && pairs != nil:
		pairs.Bad("keep one of the two; a second secret can have the other", "%s: values and pairs are alternatives", pairs.Path)
		return nil
	case values != nil:
		if s, ok := valuesSpan(values); ok {
			return []Span{s}
		}
		return nil
	case pairs != nil:
		return pairSpans(pairs)
	}
	f.Need("values", spansHint)
	return nil
}

// rounding is how far the difference of two proportions in decimal may be from the float64 difference.
const rounding = 1e-12

func valuesSpan(v *strictyaml.Value) (Span, bool) {
	f := v.Fields(keys["secrets.*.values"]...)
	from, okFrom := proportion(f.Need("from", spansHint))
	to, okTo := proportion(f.Need("to", spansHint))
	w := f.Need("within", spansHint)
	within, ok := w.Float()
	switch {
	case okFrom && okTo && from >= to:
		f.Get("from").Bad("write the smaller proportion first", "%s: from %v is not below to %v", v.Path, from, to)
	case ok && !(within > 0):
		w.Bad("", "%s must be above 0, not %v", w.Path, within)
	case okFrom && okTo && ok && within > to-from+rounding:
		w.Bad("write at most the width of the range", "%s %v is more than to - from", w.Path, within)
	default:
		return Span{From: from, To: to, Within: within}, okFrom && okTo && ok
	}
	return Span{}, false
}

func pairSpans(v *strictyaml.Value) []Span {
	items, ok := v.List()
	if ok && len(items) == 0 {
		v.Bad(spansHint, "%s is empty", v.Path)
	}
	var spans []Span
	for _, item := range items {
		pair, ok := item.List()
		if !ok {
			continue
		}
		if len(pair) != 2 {
			item.Bad("write a pair as [0.2, 0.25]", "%s: a pair has two proportions, not %d", v.Path, len(pair))
			continue
		}
		a, okA := proportion(pair[0])
		b, okB := proportion(pair[1])
		switch {
		case !okA || !okB:
		case a == b:
			item.Bad("write two different proportions", "%s: the proportions of a pair are equal", v.Path)
		default:
			low, high := math.Min(a, b), math.Max(a, b)
			spans = append(spans, Span{From: low, To: high, Within: high - low})
		}
	}
	return spans
}

func proportion(v *strictyaml.Value) (float64, bool) {
	x, ok := v.Float()
	if ok && !(x >= 0 && x <= 1) {
		v.Bad("write 0.25 for a quarter of the rows", "%s: a proportion is between 0 and 1, not %v", v.Path, x)
		return 0, false
	}
	return x, ok
}

func hasQuote(s string) bool { return strings.Contains(s, `"`) }
