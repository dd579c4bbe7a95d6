package policy

import (
	"math"
	"regexp"
	"slices"

	"fugu/internal/strictyaml"
)

func (p *Policy) fit(v *strictyaml.Value) {
	items, _ := v.List()
	for _, item := range items {
		if s, ok := statement(item); ok {
			p.Fit = append(p.Fit, s)
		}
	}
}

func statement(v *strictyaml.Value) (Statement, bool) {
	text, ok := v.Text()
	if !ok {
		return Statement{}, false
	}
	return Statement{text, v.TextAt}, true
}

// named reads the entries of a section whose keys are names of the writer's choice.
func named(r *strictyaml.Report, v *strictyaml.Value, what string, read func(e strictyaml.Entry)) {
	entries, _ := v.Entries()
	for _, e := range entries {
		if !labelPattern.MatchString(e.Key) {
			r.Add(e.At, "write "+labelRule, "%s cannot be named %q", what, e.Key)
		}
		read(e)
	}
}

const lawsHint = "write secrets: {NAME: {values: [0.2, 0.25], means: [[10], [12]], covariances: [[[4]], [[5]]]}}"

func (p *Policy) declared(r *strictyaml.Report, v *strictyaml.Value) {
	named(r, v, "a declared model", func(e strictyaml.Entry) {
		d := Declared{Name: e.Key, At: e.At}
		f := e.Value.Fields(keys["declared.*"]...)
		d.Statement, _ = statement(f.Need("statement", "write the statement whose model this is"))
		labels, _ := f.Get("components").List()
		for _, l := range labels {
			if text, ok := l.Text(); ok && slices.Contains(d.Components, text) {
				l.Bad("list each once", "%s lists %q twice", f.Get("components").Path, text)
			} else if ok {
				d.Components = append(d.Components, text)
			}
		}
		size := max(1, len(labels))
		laws, ok := f.Need("secrets", lawsHint).Entries()
		if ok && len(laws) == 0 {
			f.Get("secrets").Bad(lawsHint, "%s is empty", f.Get("secrets").Path)
		}
		for _, l := range laws {
			d.Laws = append(d.Laws, p.law(r, l, size))
		}
		p.Declared = append(p.Declared, d)
	})
}

// law reads the means and covariances, of that many components, under values of one secret.
func (p *Policy) law(r *strictyaml.Report, e strictyaml.Entry, size int) Law {
	l := Law{Secret: e.Key, At: e.At}
	f := e.Value.Fields(keys["declared.*.secrets.*"]...)
	values := f.Need("values", lawsHint)
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
	means, covariances := f.Need("means", lawsHint), f.Need("covariances", lawsHint)
	items, _ := means.List()
	counted(means, len(items), len(numbers), "one mean vector for each value")
	for _, item := range items {
		if v, ok := vectorOf(item); ok && counted(item, len(v), size, "one number for each component") {
			l.Means = append(l.Means, v)
		}
	}
	items, _ = covariances.List()
	counted(covariances, len(items), len(numbers), "one covariance matrix for each value")
	for _, item := range items {
		if m, ok := matrixOf(item, size); ok {
			l.Covariances = append(l.Covariances, m)
		}
	}
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
	case ok && len(numbers) >= 2:
		p.Secrets[i].within(l, values)
	}
	return l
}

// within checks that a law speaks of every pair of the secret.
func (s Secret) within(l Law, values *strictyaml.Value) {
	for _, span := range s.Spans {
		low, high := l.Values[0], l.Values[len(l.Values)-1]
		slack := rounding * math.Max(1, math.Abs(span.From)+math.Abs(span.To))
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
		for _, end := range []float64{span.From, span.To} {
			if !slices.ContainsFunc(l.Values, func(x float64) bool { return math.Abs(x-end) <= slack }) {
				values.Bad("list every value of the secret's pairs", "%s: secret %s has a pair with %v", values.Path,
					s.Name, end)
			}
		}
	}
}

var decimalNumber = regexp.MustCompile(`^-?[0-9]{1,30}(\.[0-9]{1,30})?$`)

const publicHint = "write values: {'count(*)': 35222}: the number of each component"

func (p *Policy) public(r *strictyaml.Report, v *strictyaml.Value) {
	named(r, v, "a public statistic", func(e strictyaml.Entry) {
		s := Public{Name: e.Key, At: e.At}
		f := e.Value.Fields(keys["public.*"]...)
		s.Statement, _ = statement(f.Need("statement", "write the statement whose values are known"))
		section := f.Need("values", publicHint)
		values, ok := section.Entries()
		if ok && len(values) == 0 {
			section.Bad(publicHint, "%s is empty", section.Path)
		}
		for _, c := range values {
			text, null, ok := c.Value.Scalar()
			if ok && (null || !decimalNumber.MatchString(text)) {
				c.Value.Bad("write a decimal number", "%s: a public value is a number", section.Path)
			} else if ok {
				s.Values = append(s.Values, PublicValue{c.Key, text})
			}
		}
		p.Public = append(p.Public, s)
	})
}
