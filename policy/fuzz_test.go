package policy

import (
	"math"
	"os"
	"slices"
	"testing"

	"fugu/sensitivity"
)

// FuzzParse: nothing panics, and what is accepted satisfies what the types promise.
func FuzzParse(f *testing.F) {
	for _, path := range append(testdata(f, "*.good.yaml"), testdata(f, "*.bad.yaml")...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("f", data)
		if err != nil {
			return
		}
		again, err := Parse("f", data)
		if err != nil || again.Fingerprint != p.Fingerprint {
			t.Errorf("a second reading differs: %v", err)
		}
		checkPolicy(t, p)
	})
}

// checkPolicy checks what the types of a policy promise of one that was accepted.
func checkPolicy(t *testing.T, p *Policy) {
	if p.Version != 1 || p.Dataset == "" || len(p.Tables) == 0 || len(p.Secrets) == 0 || p.Fingerprint == "" {
		t.Errorf("incomplete: %+v", p)
	}
	for _, table := range p.Tables {
		checkTable(t, p, table)
	}
	for _, s := range p.Secrets {
		checkSecret(t, p, s)
	}
	for _, n := range p.Networks {
		checkNetwork(t, n)
	}
	for _, d := range p.Declared {
		checkDeclared(t, d)
	}
	checkPrivacy(t, p.Privacy)
}

func checkTable(t *testing.T, p *Policy, table Table) {
	modelled := table.Reference.Name != "" || len(p.Declared) > 0 || table.Answers == FromTwin
	switch {
	case table.Rows < 1 && table.Link == nil,
		(table.Reference.Name == "") != (table.Reference.Schema == ""),
		!modelled,
		(table.Twin != nil) != (table.Answers == FromTwin),
		table.PlainRows != DenyRows && table.PlainRows != ReferenceRows:
		t.Errorf("table %+v", table)
	}
	if _, protected := p.Table(table.Reference); protected {
		t.Errorf("reference %v is protected", table.Reference)
	}
	if name, err := ParseName(table.Qualified().String()); err != nil || name != table.Qualified() {
		t.Errorf("name %v is not stable: %v, %v", table.Qualified(), name, err)
	}

	for _, d := range table.GroupBy {
		forms := trues(len(d.Values) > 0, d.FromReference, d.Range != nil, d.Dates != nil)
		if forms != 1 || d.Column == "" || len(d.Values) > MaxRange {
			t.Errorf("domain %+v", d)
		}
		if r := d.Range; r != nil && (r.From > r.To || r.To-r.From >= MaxRange) {
			t.Errorf("domain %+v", d)
		}
	}
}

// trues is how many of the conditions hold.
func trues(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func checkSecret(t *testing.T, p *Policy, s Secret) {
	properties := trues(s.Proportion != "", s.Mean != "", s.Categories != "", s.Parameter != "")
	if _, protected := p.Table(s.Table); !protected || properties != 1 || s.PropertyAt.Line < 1 {
		t.Errorf("secret %+v", s)
	}
	if p.parametric(s.Table) != (s.Parameter != "") {
		t.Errorf("secret %+v beside others", s)
	}

	// Of a parameter any two values are a pair; others have spans, vectors or a range, of their own kind.
	pairs := len(s.Spans) + len(s.Vectors) + trues(s.Range != nil)
	if s.Parameter != "" {
		n, ok := p.Network(s.Table)
		ok = ok && slices.ContainsFunc(n.Parameters, func(q Parameter) bool { return q.Name == s.Parameter })
		if !ok || pairs != 0 || s.About != AboutDistribution {
			t.Errorf("secret %+v of network %+v", s, n)
		}
	} else if pairs == 0 || (s.Categories == "") != (len(s.Spans) > 0) {
		t.Errorf("secret %+v", s)
	}

	for _, span := range s.Spans {
		checkSpan(t, s, span)
	}
	if r := s.Range; r != nil && !(0 <= r.From && r.From < r.To && r.To <= 1 && 0 < r.Within && r.Within <= 1) {
		t.Errorf("range %+v", r)
	}
	for _, pair := range s.Vectors {
		for _, v := range pair {
			checkVector(t, v)
		}
	}
}

func checkSpan(t *testing.T, s Secret, span Span) {
	if !(-maxMean <= span.From && span.From < span.To && span.To <= maxMean) {
		t.Errorf("span %+v", span)
	}
	slack := rounding * math.Max(1, math.Abs(span.From)+math.Abs(span.To))
	if !(0 < span.Within && span.Within <= span.To-span.From+slack) {
		t.Errorf("span %+v", span)
	}
	if s.Mean == "" && !(0 <= span.From && span.To <= 1) {
		t.Errorf("span of proportions %+v", span)
	}
}

func checkVector(t *testing.T, v []Share) {
	total := 0.0
	for _, share := range v {
		total += share.Proportion
		if !(share.Proportion > 0 && share.Proportion <= 1) {
			t.Errorf("share %+v", share)
		}
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("vector %+v", v)
	}
}

func checkNetwork(t *testing.T, n Network) {
	nodes := make([]sensitivity.Parameter, len(n.Parameters))
	for i, q := range n.Parameters {
		nodes[i] = sensitivity.Parameter{
			Name: q.Name, Values: len(q.Values), Parents: q.Parents, Table: q.Probabilities,
		}
		if len(q.Values) < 2 || q.Column != "" && slices.Contains(n.Independent, q.Column) {
			t.Errorf("parameter %+v", q)
		}
	}
	if _, err := sensitivity.NewNetwork(nodes); err != nil || len(nodes) > maxParameters {
		t.Errorf("network %+v: %v", n, err)
	}
}

func checkDeclared(t *testing.T, d Declared) {
	size := max(1, len(d.Components))
	for _, l := range d.Laws {
		if l.Samples != nil {
			checkSamples(t, l, size)
			continue
		} else if l.Concentrated != nil {
			checkConcentrated(t, l, size)
			continue
		}
		if len(l.Values) < 2 || len(l.Means) != len(l.Values) || len(l.Covariances) != len(l.Values) {
			t.Errorf("law %+v", l)
		}
		for i, mean := range l.Means {
			if len(mean) != size || len(l.Covariances[i]) != size || !semidefinite(l.Covariances[i]) {
				t.Errorf("law %+v", l)
			}
		}
	}
}

func checkConcentrated(t *testing.T, l Law, size int) {
	c := l.Concentrated
	if len(l.Values) < 2 || len(l.Means) != len(l.Values) || l.Covariances != nil || len(c.Within) != size ||
		!(c.ButFor >= 0 && c.ButFor < .5) ||
		slices.ContainsFunc(l.Means, func(v []float64) bool { return len(v) != size }) ||
		slices.ContainsFunc(c.Within, func(x float64) bool { return !(x > 0 && x <= maxMean) }) {
		t.Errorf("law %+v, %+v", l, c)
	}
}

func checkSamples(t *testing.T, l Law, size int) {
	if len(l.Values) < 2 || len(l.Samples) != len(l.Values) || l.Means != nil || l.Covariances != nil ||
		l.Weights != nil && len(l.Weights) != len(l.Values) {
		t.Errorf("law %+v", l)
		return
	}
	for i, points := range l.Samples {
		total := int64(0)
		for j, x := range points {
			if total++; l.Weights != nil {
				total += l.Weights[i][j] - 1
			}
			if len(x) != size || slices.ContainsFunc(x, func(v float64) bool { return !(math.Abs(v) <= maxMean) }) {
				t.Errorf("law %+v", l)
			}
		}
		if total < 1 || l.Weights != nil && len(l.Weights[i]) != len(points) {
			t.Errorf("law %+v", l)
		}
	}
}

func checkPrivacy(t *testing.T, p Privacy) {
	e, d := float64(p.Epsilon), float64(p.Delta)
	all, allDelta := float64(p.Budget.Epsilon), float64(p.Budget.Delta)
	if !(0 < e && e <= all) || math.IsInf(all, 0) || !(0 <= d && d <= allDelta && allDelta < 1) {
		t.Errorf("privacy %+v", p)
	}
	w := p.Within
	if w == nil {
		return
	}
	if !(w.Lambda >= 0 && e > 2*w.Lambda && w.Eta >= 0 && w.Eta < 1 && w.Rows >= 0) {
		t.Errorf("within %+v of %+v", *w, p)
	}
	if w.Rows > 0 && !(w.Lambda > 0 && w.Eta == 0) {
		t.Errorf("within %+v of %+v", *w, p)
	}
}
