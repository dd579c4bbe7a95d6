package policy

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fugu/privacy"
	"fugu/test/golden"
)

func testdata(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s in testdata (%v)", pattern, err)
	}
	return paths
}

func at(line, column int) Position { return Position{Line: line, Column: column} }

func load(t *testing.T, path string) *Policy {
	t.Helper()
	ps, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 1 {
		t.Fatalf("%d policies", len(ps))
	}
	return ps[0]
}

// TestBad loads each *.bad.yaml file and *.bad directory; the findings, all of them, stand in the .txt beside it.
func TestBad(t *testing.T) {
	for _, path := range append(testdata(t, "*.bad.yaml"), testdata(t, "*.bad")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			ps, err := Load(path)
			if err == nil || ps != nil {
				t.Fatal("accepted")
			}
			var findings Findings
			if !errors.As(err, &findings) {
				t.Fatalf("error is a %T", err)
			}
			golden.CheckFindings(t, path, err)
		})
	}
}

// TestAdult is the example of the documentation, field by field.
func TestAdult(t *testing.T) {
	adult := QualifiedName{"public", "adult"}
	low, high := 0.68, 0.72
	want := &Policy{
		Version: 1,
		Dataset: "adult",
		Tables: []Table{{
			Schema: "public", Name: "adult", Rows: 35222, Reference: QualifiedName{"public",
				"adult_reference"}, PlainRows: "reference", Drawn: Independently,
			GroupBy: []Domain{
				{Column: "sex", Values: []Value{{Text: "Female"}, {Text: "Male"}}, At: at(11, 7)},
				{Column: "education", FromReference: true, At: at(12, 7)},
				{Column: "age", Range: &IntRange{17, 90}, At: at(13, 7)},
			},
			Answers: ByAnswerNoise, At: at(6, 3), ReferenceAt: at(8, 16),
		}},
		Secrets: []Secret{
			{Name: "high_income", Table: adult, About: AboutDataset, Proportion: "income = '>50K'",
				Spans: []Span{{0.10, 0.60, 0.05}}, At: at(16, 3), PropertyAt: at(18, 17)},
			{Name: "private_sector", Table: adult, About: AboutDataset, Proportion: "workclass = 'Private'",
				Spans: []Span{{low, high, high - low}}, Listed: true, At: at(20, 3), PropertyAt: at(22, 17)},
		},
		Assume: []Assumption{"translation", "gaussian"},
		Privacy: Privacy{Epsilon: 1, Delta: 0.001, Mechanism: "auto",
			Budget: Budget{Epsilon: 20, Delta: 0.01, Per: "dataset"}, Weights: SamplingWeights, Composition: ByNoise},
		Epoch:     Epoch{Draw: DependentDraw},
		Analysts:  []string{"alice", "bob"},
		Source:    filepath.Join("testdata", "adult.good.yaml"),
		datasetAt: at(3, 10),
	}
	got := load(t, want.Source)
	if len(got.Fingerprint) != 64 {
		t.Errorf("fingerprint %q", got.Fingerprint)
	}
	want.Fingerprint = got.Fingerprint
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestDefaults(t *testing.T) {
	p := load(t, "testdata/minimal.good.yaml")
	table, ok := p.Table(QualifiedName{"public", "visits"})
	if !ok || table.PlainRows != DenyRows || table.GroupBy != nil ||
		table.Reference != (QualifiedName{"archive", "visits_2019"}) {
		t.Errorf("table %+v", table)
	}
	if want := (Privacy{Epsilon: 1e-3, Mechanism: "auto", Budget: Budget{Epsilon: 1e-3, Per: PerDataset},
		Weights: SamplingWeights, Composition: ByNoise}); p.Privacy != want {
		t.Errorf("privacy %+v", p.Privacy)
	}
	if s := p.Secrets[0]; s.Proportion != "hour >= 22\nOR hour < 6\n" || s.PropertyAt != (at(9, 7)) {
		t.Errorf("proportion %q at %v", s.Proportion, s.PropertyAt)
	}
	if p.Accepts(Translation) || p.Accepts(Gaussian) {
		t.Error("accepts assumptions that it does not list")
	}
	if !p.MayAsk("anyone") {
		t.Error("without analysts everyone may ask")
	}
}

func TestNamesAndDomains(t *testing.T) {
	p := load(t, "testdata/names.good.yaml")
	lines := QualifiedName{"Shop", `Order "lines"`}
	table, ok := p.Table(lines)
	if !ok || p.Secrets[0].Table != lines {
		t.Fatalf("tables %+v", p.Tables)
	}
	want := []Value{{Text: "0017"}, {IsNull: true}, {Text: ""}, {Text: "1.5"}, {Text: "-3"}, {Text: "true"},
		{Text: "NULL"}}
	if d := table.GroupBy[0]; d.Column != "Article No" || !reflect.DeepEqual(d.Values, want) {
		t.Errorf("domain %+v", d)
	}
	if d := table.GroupBy[1]; *d.Range != (IntRange{-5, -5}) {
		t.Errorf("domain %+v", d)
	}
	if got, want := p.Secrets[0].Spans, []Span{{0.2, 0.25, float64(0.25) - float64(0.2)},
		{0, 1, 1}}; !reflect.DeepEqual(got[1], want[1]) || got[0].From != 0.2 || got[0].To != 0.25 {
		t.Errorf("spans %+v", got)
	}
	if got := p.Secrets[1].Spans; !reflect.DeepEqual(got, []Span{{0.1, 0.3, 0.2}}) {
		t.Errorf("a width that float64 rounds down: spans %+v", got)
	}
	if p.Privacy.Budget.Per != PerUser || p.Privacy.Mechanism != "expm-laplace" ||
		p.Privacy.Delta != privacy.Delta(1e-6) {
		t.Errorf("privacy %+v", p.Privacy)
	}
}

func TestProperties(t *testing.T) {
	p := load(t, "testdata/properties.good.yaml")
	if p.Tables[0].Drawn != FromReference || p.Tables[1].Drawn != Independently ||
		p.Privacy.Estimation != (Estimation{Errors: 2}) ||
		p.Privacy.Weights != RelativeWeights {
		t.Errorf("drawn %s, %s; estimation %v, weights %s", p.Tables[0].Drawn, p.Tables[1].Drawn, p.Privacy.Estimation,
			p.Privacy.Weights)
	}
	staff, people := QualifiedName{"public", "staff"}, QualifiedName{"public", "people"}
	a, b, none := Value{Text: "a"}, Value{Text: "b"}, Value{IsNull: true}
	want := []Secret{
		{Name: "age", Table: people, About: AboutDistribution, Mean: "2 * age", Spans: []Span{{-10, 150, 12.5}},
			At: at(11, 3), PropertyAt: at(11, 51)},
		{Name: "pay", Table: staff, About: AboutDataset, Mean: "pay", Spans: []Span{{2500, 3e3, 500}}, Listed: true,
			At: at(12, 3), PropertyAt: at(12, 29)},
		{Name: "grade", Table: staff, About: AboutDataset, Categories: "grade", At: at(13, 3), PropertyAt: at(15, 17),
			Vectors: [][2][]Share{{{{none, 0.1}, {a, 0.1}, {b, 0.8}}, {{b, 1}}}}},
		{Name: "site", Table: people, About: AboutDataset, Categories: "Site", Range: &SimplexRange{0, 1, 0.05},
			At: at(17, 3), PropertyAt: at(17, 38)},
		{Name: "zone", Table: people, About: AboutDistribution, Categories: "zone", Range: &SimplexRange{0.1, 0.5, 0.2},
			At: at(18, 3), PropertyAt: at(18, 58)},
	}
	if !reflect.DeepEqual(p.Secrets, want) {
		t.Errorf("got\n%+v\nwant\n%+v", p.Secrets, want)
	}
}

func TestMayAsk(t *testing.T) {
	p := load(t, "testdata/adult.good.yaml")
	for user, want := range map[string]bool{"alice": true, "bob": true, "Alice": false, "eve": false, "": false} {
		if p.MayAsk(user) != want {
			t.Errorf("MayAsk(%q) = %v", user, !want)
		}
	}
	if !p.Accepts(Translation) || !p.Accepts(Gaussian) || p.Accepts("other") {
		t.Error("assumptions")
	}
}

func TestLoadDirectory(t *testing.T) {
	ps, err := Load("testdata/several.good")
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 2 || ps[0].Dataset != "a" || ps[1].Dataset != "b" ||
		ps[0].Source != filepath.Join("testdata", "several.good", "a.policy.yaml") {
		t.Errorf("%d policies", len(ps))
	}
	if _, err := Load("testdata/nowhere"); err == nil ||
		!strings.HasPrefix(err.Error(), "testdata/nowhere: cannot be read: no such file or directory; write behind") {
		t.Errorf("missing path: %v", err)
	}

	// In an empty directory nothing is to be protected; in one with other files somebody may have meant to.
	dir := t.TempDir()
	for _, c := range []struct {
		file string
		ok   bool
	}{{".gitkeep", true}, {"README", false}} {
		if err := os.WriteFile(filepath.Join(dir, c.file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if ps, err := Load(dir); (err == nil) != c.ok || len(ps) > 0 {
			t.Errorf("with %s: %d policies, %v", c.file, len(ps), err)
		}
	}
}

func TestParseName(t *testing.T) {
	for in, want := range map[string]QualifiedName{
		"adult": {"public", "adult"}, "Public.ADULT": {"public", "adult"}, `"Public".adult`: {"Public",
			"adult"}, `s."a.b"`: {"s", "a.b"},
		`"a""b"`: {"public", `a"b`}, "_a$1": {"public", "_a$1"}, "STRASSEÄ": {"public", "strasseÄ"},
	} {
		got, err := ParseName(in)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
		if again, err := ParseName(got.String()); err != nil || again != got {
			t.Errorf("%s: written as %s, which reads as %v, %v", in, got, again, err)
		}
	}
	for _, in := range []string{"", " a", "a ", "a b", "1a", "$a", ".a", "a.", "a..b", "a.b.c", `"a`, `""`, `"a"b`,
		`a"b"`, "a-b", "a;b", "a\x00", "\"a\x00\"",
		strings.Repeat("a", 64), strings.Repeat("ä", 32)} {
		if got, err := ParseName(in); err == nil {
			t.Errorf("%q: accepted as %v", in, got)
		}
	}
}

// Tables of one name in two databases are two tables; a policy that names no database is of the guest's.
func TestDatabases(t *testing.T) {
	ps, err := Load("testdata/databases.good")
	if err != nil {
		t.Fatal(err)
	}
	before := ps[2].Fingerprint
	if err := Resolve(ps, "own"); err != nil || ps[0].Database != "clinic" || ps[1].Database != "Other Clinic" ||
		ps[2].Database != "own" {
		t.Errorf("%v: %s, %s, %s", err, ps[0].Database, ps[1].Database, ps[2].Database)
	}
	if ps[2].Fingerprint != before {
		t.Error("the fingerprint of a policy that names no database depends on the guest's")
	}
	if ps, err = Load("testdata/databases.good"); err != nil {
		t.Fatal(err)
	}
	var findings Findings
	if err := Resolve(ps, "clinic"); !errors.As(err, &findings) ||
		!strings.Contains(err.Error(), "already protected by") {
		t.Errorf("the guest's database by its name and without: %v", err)
	}
}
