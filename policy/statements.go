package policy

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"fugu/internal/strictyaml"
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

// Law is the distribution of F under some values of one secret: means and covariances of the same size.
type Law struct {
	Secret      string
	Values      []float64 // ascending, at least two
	Means       [][]float64
	Covariances [][][]float64 // symmetric and positive semidefinite

	At Position
}

// Affine reports whether the law holds for all values between its two: means and covariances are interpolated.
func (l Law) Affine() bool { return len(l.Values) == 2 }

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
		parts = append(parts, fmt.Sprintf("%s at %v", l.Secret, l.Values))
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
			values.Bad("write them in ascending order, each once", "%s: %v stands behind %v", values.Path, x, numbers[i-1])
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
		r.Add(e.At, "leave the statement to the network", "secret %s is a parameter, for which no model can be declared", e.Key)
	case p.Secrets[i].Categories != "":
		r.Add(e.At, "leave the statement to the reference", "secret %s is a vector of proportions, for which no model can be declared", e.Key)
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
				values.Bad("let the two values be the ends of what the secret's pairs cover", "%s: secret %s has pairs from %v to %v, beyond %v to %v", values.Path, s.Name, span.From, span.To, low, high)
			}
			continue
		}
		if span.Within < span.To-span.From-slack {
			values.Bad("write two values, between which everything is interpolated", "%s: secret %s has a range of pairs, and more than two values give no more than their own", values.Path, s.Name)
			continue
		}
		for _, end := range []float64{span.From, span.To} {
			if !slices.ContainsFunc(l.Values, func(x float64) bool { return math.Abs(x-end) <= slack }) {
				values.Bad("list every value of the secret's pairs", "%s: secret %s has a pair with %v", values.Path, s.Name, end)
			}
		}
	}
}

func counted(v *strictyaml.Value, got, want int, what string) bool {
	if v != nil && v.Kind == strictyaml.List && got != want {
		v.Bad("write "+what, "%s has %d entries, not %d", v.Path, got, want)
	}
	return got == want
}

// vectorOf reads a list of numbers of reasonable size.
func vectorOf(v *strictyaml.Value) ([]float64, bool) {
	items, ok := v.List()
	out := make([]float64, len(items))
	for i, item := range items {
		x, number := item.Float()
		if number && !(math.Abs(x) <= maxMean) {
			item.Bad("", "%s: %v is not a number of reasonable size", v.Path, x)
			number = false
		}
		out[i], ok = x, ok && number
	}
	return out, ok
}

// matrixOf reads a symmetric positive semidefinite matrix, row by row.
func matrixOf(v *strictyaml.Value, size int) ([][]float64, bool) {
	rows, ok := v.List()
	if !ok || !counted(v, len(rows), size, "one row for each component") {
		return nil, false
	}
	var m [][]float64
	for _, row := range rows {
		x, good := vectorOf(row)
		if !good || !counted(row, len(x), size, "one number for each component") {
			return nil, false
		}
		m = append(m, x)
	}
	for i := range m {
		for j := range i {
			if m[i][j] != m[j][i] {
				v.Bad("write the same number in both places", "%s: entry (%d, %d) is %v, and (%d, %d) is %v", v.Path, i+1, j+1, m[i][j], j+1, i+1, m[j][i])
				return nil, false
			}
		}
	}
	if !semidefinite(m) {
		v.Bad("give the covariances of a distribution", "%s is not positive semidefinite", v.Path)
		return nil, false
	}
	return m, true
}

// semidefinite reports whether a symmetric matrix is positive semidefinite up to rounding: Gaussian elimination on the
// matrix of correlations, the largest pivot first, meets no negative pivot.
func semidefinite(m [][]float64) bool {
	n := len(m)
	a := make([][]float64, n)
	for i := range m {
		a[i] = make([]float64, n)
		for j := range m {
			a[i][j] = m[i][j]
			if scale := math.Sqrt(m[i][i]) * math.Sqrt(m[j][j]); scale > 0 {
				a[i][j] /= scale
			} else if m[i][j] != 0 || m[i][i] < 0 {
				return false
			}
		}
	}
	const tolerance = 1e-9
	done := make([]bool, n)
	for range n {
		p := -1
		for i := range n {
			if !done[i] && (p < 0 || a[i][i] > a[p][p]) {
				p = i
			}
		}
		if !(a[p][p] > tolerance) {
			break
		}
		done[p] = true
		for i := range n {
			for j := range n {
				if !done[i] && !done[j] {
					a[i][j] -= a[i][p] * a[p][j] / a[p][p]
				}
			}
		}
	}
	for i := range n {
		for j := range n {
			if !done[i] && !done[j] && (math.Abs(a[i][j]) > 1e3*tolerance || math.IsNaN(a[i][j])) {
				return false
			}
		}
	}
	return true
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
