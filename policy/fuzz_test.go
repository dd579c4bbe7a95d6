package policy

import (
	"math"
	"os"
	"testing"
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
		if (table.Rows < 1 && table.Link == nil) || table.Reference.Name == "" || table.Reference.Schema == "" || table.PlainRows != DenyRows && table.PlainRows != ReferenceRows {
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
			for _, has := range []bool{len(d.Values) > 0, d.FromReference, d.Range != nil} {
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
		if _, protected := p.Table(s.Table); !protected || s.Proportion == "" || len(s.Spans) == 0 || s.ProportionAt.Line < 1 {
			t.Errorf("secret %+v", s)
		}
		for _, span := range s.Spans {
			if !(0 <= span.From && span.From < span.To && span.To <= 1 && 0 < span.Within && span.Within <= span.To-span.From+rounding) {
				t.Errorf("span %+v", span)
			}
		}
	}
	e, d := float64(p.Privacy.Epsilon), float64(p.Privacy.Delta)
	b := p.Privacy.Budget
	if !(e > 0) || math.IsInf(e, 0) || !(d >= 0 && d < 1) || !(float64(b.Epsilon) >= e) || math.IsInf(float64(b.Epsilon), 0) || !(float64(b.Delta) >= d && b.Delta < 1) {
		t.Errorf("privacy %+v", p.Privacy)
	}
}
