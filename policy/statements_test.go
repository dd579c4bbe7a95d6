package policy

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestStatements reads statements.good.yaml field by field.
func TestStatements(t *testing.T) {
	p := load(t, "testdata/statements.good.yaml")
	if len(p.Fit) != 2 || p.Fit[0].SQL != "SELECT sex, avg(age) FROM people GROUP BY sex" || p.Fit[0].At.Line != 13 ||
		p.Fit[1].SQL != "SELECT count(*) FROM people WHERE sex = 'f'\n" {
		t.Errorf("fit: %+v", p.Fit)
	}
	if p.Tables[1].Reference != (QualifiedName{}) || p.Tables[0].Reference.Name != "r" {
		t.Errorf("references %v and %v", p.Tables[0].Reference, p.Tables[1].Reference)
	}
	if len(p.Declared) != 2 {
		t.Fatalf("declared: %+v", p.Declared)
	}
	d := p.Declared[0]
	if d.Name != "age" || len(d.Components) != 2 || d.Components[1] != "avg(age) at sex=m" || len(d.Laws) != 1 ||
		!d.Laws[0].Affine() || d.Laws[0].Means[1][1] != 52.5 || d.Laws[0].Covariances[0][1][0] != 0.5 {
		t.Errorf("declared: %+v", d)
	}
	if l := p.Declared[1].Laws[0]; l.Affine() || l.Values[3] != 3000 || l.Means[0][0] != 9 ||
		l.Covariances[3][0][0] != 0 {
		t.Errorf("declared: %+v", l)
	}
	if len(p.Public) != 2 || p.Public[0].Values[1] != (PublicValue{"count(*) at sex=m", "490"}) ||
		p.Public[1].Values[0] != (PublicValue{"sum(x)", "-12.5"}) {
		t.Errorf("public: %+v", p.Public)
	}
}

// TestFingerprintOfStatements: what is declared and what is public matters for answers, and what fit prepares does not.
func TestFingerprintOfStatements(t *testing.T) {
	data, err := os.ReadFile("testdata/statements.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range []struct {
		old, new string
		same     bool
	}{
		{"", "", true}, {"- SELECT sex, avg(age)", "- SELECT sex, sum(age)", true}, {"\n  age:\n", "\n  years:\n",
			true}, {"f: 510, count(*) at sex=m: 490", "m: 490, count(*) at sex=f: 510", true}, {"52.5", "5.25e1", true},
		{"52.5", "52.6", false}, {"[2, 0.5]", "", true}, {"[[1, 0.5], [0.5, 2]]", "[[1, 0.4], [0.4, 2]]",
			false}, {"values: [0.1, 0.3]", "values: [0.1, 0.4]", false},
		{"components: [avg(age) at sex=f, avg(age) at sex=m]", "components: [avg(age) at sex=m, avg(age) at sex=f]",
			false}, {"510", "511", false}, {"-12.50", "-12.51", false},
		{"FROM staff WHERE left", "FROM staff WHERE gone", false}, {"FROM people, values",
			"FROM people WHERE x > 0, values", false},
	} {
		p, err := Parse("f", []byte(strings.ReplaceAll(string(data), c.old, c.new)))
		if err != nil {
			t.Fatalf("%q: %v", c.new, err)
		}
		if other, twice := seen[p.Fingerprint]; twice != c.same && len(seen) > 0 {
			t.Errorf("%q in place of %q: same fingerprint as %q: %v", c.new, c.old, other, twice)
		}
		seen[p.Fingerprint] = c.new
	}
}

// TestSemidefinite: expected answers are by eigenvalues worked out by hand.
func TestSemidefinite(t *testing.T) {
	for _, c := range []struct {
		m    [][]float64
		want bool
	}{
		{[][]float64{{0}}, true}, {[][]float64{{-1e-300}}, false}, {[][]float64{{math.MaxFloat64}}, true},
		{[][]float64{{1, 1}, {1, 1}}, true}, {[][]float64{{1, 1.001}, {1.001, 1}},
			false}, {[][]float64{{1e12, 1e3}, {1e3, 1e-6}}, true}, {[][]float64{{1e12, 1.1e3}, {1.1e3, 1e-6}}, false},
		{[][]float64{{0, 0}, {0, 5}}, true}, {[][]float64{{0, 1e-9}, {1e-9, 5}}, false},
		// Equicorrelated at -1/2: eigenvalues 0, 3/2, 3/2; below that one is negative.
		{[][]float64{{1, -0.5, -0.5}, {-0.5, 1, -0.5}, {-0.5, -0.5, 1}},
			true}, {[][]float64{{1, -0.51, -0.51}, {-0.51, 1, -0.51}, {-0.51, -0.51, 1}}, false},
	} {
		if got := semidefinite(c.m); got != c.want {
			t.Errorf("%v: %v", c.m, got)
		}
	}
}

// TestSamples reads samples.good.yaml field by field.
func TestSamples(t *testing.T) {
	p := load(t, "testdata/samples.good.yaml")
	if len(p.Declared) != 2 || !p.Declared[0].Coupled() || !p.Declared[1].Coupled() {
		t.Fatalf("declared: %+v", p.Declared)
	}
	l := p.Declared[0].Laws[0]
	if l.Affine() || l.Means != nil || l.Weights[0][3] != 2 || l.Weights[1][0] != 4 || l.Samples[1][3][0] != 100 {
		t.Errorf("%+v", l)
	}
	l = p.Declared[1].Laws[0]
	if l.Weights != nil || l.Samples[1][1][1] != 2.5 || len(l.Samples[2]) != 3 {
		t.Errorf("%+v", l)
	}
	if i, j, none := l.Index(2000), l.Index(3000), l.Index(2600); i != 0 || j != 2 || none >= 0 {
		t.Errorf("places %d, %d, %d", i, j, none)
	}
	if text := p.Declared[0].String(); text != "fraud at [0.1 0.2] by samples" {
		t.Error(text)
	}
}

// TestConcentrated reads concentrated.good.yaml field by field.
func TestConcentrated(t *testing.T) {
	p := load(t, "testdata/concentrated.good.yaml")
	l := p.Declared[0].Laws[0]
	if c := l.Concentrated; !p.Coupled() || !p.Declared[0].Coupled() || l.Affine() || l.Covariances != nil ||
		l.Means[1][0] != 32 || c.Within[0] != 40 || c.ButFor != 0.0005 {
		t.Errorf("%+v", l)
	}
	l = p.Declared[1].Laws[0]
	if c := l.Concentrated; len(l.Means) != 3 || l.Means[2][1] != 1 || c.Within[1] != 4.5 || c.ButFor != 0 {
		t.Errorf("%+v", l)
	}
	if text := p.Declared[0].String(); text != "fraud at [0.1 0.2] within [40] of its means but for 0.0005" {
		t.Error(text)
	}

	// All of it matters for answers.
	data, err := os.ReadFile("testdata/concentrated.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range [][2]string{{"", ""}, {"[32]", "[33]"}, {"within: 40", "within: 41"}, {"0.0005", "0.0004"},
		{"[6, 4.5]", "[6, 4]"}} {
		p, err := Parse("f", []byte(strings.Replace(string(data), c[0], c[1], 1)))
		if err != nil {
			t.Fatalf("%q: %v", c[1], err)
		}
		if other, twice := seen[p.Fingerprint]; twice {
			t.Errorf("%q in place of %q: same fingerprint as %q", c[1], c[0], other)
		}
		seen[p.Fingerprint] = c[1]
	}
}

// TestFingerprintOfSamples: samples and their weights matter for answers, and a policy without them has the fingerprint
// that it had.
func TestFingerprintOfSamples(t *testing.T) {
	data, err := os.ReadFile("testdata/samples.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range [][2]string{{"", ""}, {"[1, 2, 3, 100], [1", "[1, 2, 3, 99], [1"}, {"[6, 2", "[5, 2"},
		{"[7, 2.5]", "[7, 2]"}, {"        weights: [[6, 2, 0, 2], [4, 3, 2, 1]]\n", ""}} {
		p, err := Parse("f", []byte(strings.Replace(string(data), c[0], c[1], 1)))
		if err != nil {
			t.Fatalf("%q: %v", c[1], err)
		}
		if other, twice := seen[p.Fingerprint]; twice {
			t.Errorf("%q in place of %q: same fingerprint as %q", c[1], c[0], other)
		}
		seen[p.Fingerprint] = c[1]
	}
}

// Each value of a secret stands once in a declared model: of two models for one value nobody could say which holds.
func TestValuesStandOnce(t *testing.T) {
	data, err := os.ReadFile("testdata/statements.bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), "values: [0.2, 0.1]", "values: [0.2, 0.2]", 1)
	const want = "declared.range.secrets.b.values: 0.2 stands behind 0.2"
	if _, err := Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("no %q in %v", want, err)
	}
}
