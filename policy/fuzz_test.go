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

func checkPolicy(t *testing.T, p *Policy) {
	if p.Version != 1 || p.Dataset == "" || len(p.Tables) == 0 || len(p.Secrets) == 0 || p.Fingerprint == "" {
		t.Errorf("incomplete: %+v", p)
	}
	for _, table := range p.Tables {
		if (table.Rows < 1 && table.Link == nil) || (table.Reference.Name == "") != (table.Reference.Schema == "") || table.Reference.Name == "" && len(p.Declared) == 0 && table.Answers != FromTwin || (table.Twin != nil) != (table.Answers == FromTwin) || table.PlainRows != DenyRows && table.PlainRows != ReferenceRows {
			t.Errorf("table %+v", table)
		}
		if _, protected := p.Table(table.Reference); protected {
			t.Errorf("reference %v is protected", table.Reference)
		}
		if name, err := ParseName(table.Qualified().String()); err != nil || name != table.Qualified() {
			t.Errorf("name %v is not stable: %v, %v", table.Qualified(), name, err)
		}
		for _, d := range table.GroupBy {
			forms := 0
			for _, has := range []bool{len(d.Values) > 0, d.FromReference, d.Range != nil, d.Dates != nil} {
				if has {
					forms++
				}
			}
			if forms != 1 || d.Column == "" || len(d.Values) > MaxRange || d.Range != nil && (d.Range.From > d.Range.To || d.Range.To-d.Range.From >= MaxRange) {
				t.Errorf("domain %+v", d)
			}
		}
	}
	for _, s := range p.Secrets {
		properties, pairs := 0, len(s.Spans)+len(s.Vectors)
		for _, has := range []bool{s.Proportion != "", s.Mean != "", s.Categories != "", s.Parameter != ""} {
			if has {
				properties++
			}
		}
		if s.Range != nil {
			pairs++
		}
		_, protected := p.Table(s.Table)
		if s.Parameter != "" {
			n, ok := p.Network(s.Table)
			if !ok || pairs != 0 || s.About != AboutDistribution || !slices.ContainsFunc(n.Parameters, func(q Parameter) bool { return q.Name == s.Parameter }) {
				t.Errorf("secret %+v of network %+v", s, n)
			}
			pairs = 1
		}
		if p.parametric(s.Table) != (s.Parameter != "") {
			t.Errorf("secret %+v beside others", s)
		}
		if !protected || properties != 1 || pairs == 0 || (s.Categories == "" && s.Parameter == "") != (len(s.Spans) > 0) || s.PropertyAt.Line < 1 {
			t.Errorf("secret %+v", s)
		}
		for _, span := range s.Spans {
			size := math.Max(1, math.Abs(span.From)+math.Abs(span.To))
			if !(span.From < span.To && span.To <= maxMean && span.From >= -maxMean && 0 < span.Within && span.Within <= span.To-span.From+rounding*size) {
				t.Errorf("span %+v", span)
			}
			if s.Mean == "" && !(0 <= span.From && span.To <= 1) {
				t.Errorf("span of proportions %+v", span)
			}
		}
		if r := s.Range; r != nil && !(0 <= r.From && r.From < r.To && r.To <= 1 && 0 < r.Within && r.Within <= 1) {
			t.Errorf("range %+v", r)
		}
		for _, pair := range s.Vectors {
			for _, v := range pair {
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
		}
	}
	for _, n := range p.Networks {
		nodes := make([]sensitivity.Parameter, len(n.Parameters))
		for i, q := range n.Parameters {
			nodes[i] = sensitivity.Parameter{Name: q.Name, Values: len(q.Values), Parents: q.Parents, Table: q.Probabilities}
			if len(q.Values) < 2 || q.Column != "" && slices.Contains(n.Independent, q.Column) {
				t.Errorf("parameter %+v", q)
			}
		}
		if _, err := sensitivity.NewNetwork(nodes); err != nil || len(nodes) > maxParameters {
			t.Errorf("network %+v: %v", n, err)
		}
	}
	for _, d := range p.Declared {
		for _, l := range d.Laws {
			if len(l.Values) < 2 || len(l.Means) != len(l.Values) || len(l.Covariances) != len(l.Values) {
				t.Errorf("law %+v", l)
			}
			for i := range l.Means {
				if len(l.Means[i]) != max(1, len(d.Components)) || len(l.Covariances[i]) != len(l.Means[i]) || !semidefinite(l.Covariances[i]) {
					t.Errorf("law %+v", l)
				}
			}
		}
	}
	e, d := float64(p.Privacy.Epsilon), float64(p.Privacy.Delta)
	b := p.Privacy.Budget
	if !(e > 0) || math.IsInf(e, 0) || !(d >= 0 && d < 1) || !(float64(b.Epsilon) >= e) || math.IsInf(float64(b.Epsilon), 0) || !(float64(b.Delta) >= d && b.Delta < 1) {
		t.Errorf("privacy %+v", p.Privacy)
	}
	if w := p.Privacy.Within; w != nil && !(w.Lambda >= 0 && e > 2*w.Lambda && w.Eta >= 0 && w.Eta < 1 && w.Rows >= 0 && (w.Rows == 0 || w.Lambda > 0 && w.Eta == 0)) {
		t.Errorf("within %+v of %+v", *w, p.Privacy)
	}
}
