package model_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// rowFunctions are what a row adds to components, by aggregate and group.
var rowFunctions = map[string]func(person) float64{
	"count(*) g=a":    func(r person) float64 { return indicator(r.x > 4 && r.g == "a") },
	"count(*) g=b":    func(r person) float64 { return indicator(r.x > 4 && r.g == "b") },
	"sum(x) g=a":      func(r person) float64 { return r.x * indicator(r.x > 4 && r.g == "a") },
	"sum(x) g=b":      func(r person) float64 { return r.x * indicator(r.x > 4 && r.g == "b") },
	"count(*) ":       func(r person) float64 { return indicator(r.y > 9) },
	"sum(y) ":         func(r person) float64 { return r.y * indicator(r.y > 9) },
	"sum(y) k=u":      func(r person) float64 { return r.y * indicator(r.k == "u") },
	"sum(y) k=v":      func(r person) float64 { return r.y * indicator(r.k == "v") },
	"sum(y) k=w":      func(r person) float64 { return r.y * indicator(r.k == "w") },
	"sum(y) all":      func(r person) float64 { return r.y },
	"sum(y) g=a, k=u": func(r person) float64 { return r.y * indicator(r.k == "u" && r.g == "a") },
	"sum(y) g=a, k=v": func(r person) float64 { return r.y * indicator(r.k == "v" && r.g == "a") },
	"sum(y) g=a, k=w": func(r person) float64 { return r.y * indicator(r.k == "w" && r.g == "a") },
	"sum(y) g=b, k=u": func(r person) float64 { return r.y * indicator(r.k == "u" && r.g == "b") },
	"sum(y) g=b, k=v": func(r person) float64 { return r.y * indicator(r.k == "v" && r.g == "b") },
	"sum(y) g=b, k=w": func(r person) float64 { return r.y * indicator(r.k == "w" && r.g == "b") },
}

// measureAll measures statements, of which each may have several cuts, with the row function of every component.
func measureAll(t *testing.T, reader *upstream.Reader, table *planner.Table, statements []string) (
	parts []*model.Moments, rows []func(person) float64) {
	t.Helper()
	totals, err := model.CountClasses(t.Context(), reader, table)
	if err != nil {
		t.Fatal(err)
	}
	var cuts []*planner.Bound
	for _, sql := range statements {
		cuts = append(cuts, bindAll(t, reader, table, sql)...)
	}

	for _, cut := range cuts {
		m, err := model.Measure(t.Context(), reader, cut, totals)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, m)
		for _, c := range m.Components {
			key := cut.GroupKey(cut.Cells[c.Cell])
			if key == "" && cut.Sets != nil {
				key = "all"
			}
			f := rowFunctions[cut.Aggregates[c.Aggregate].Label+" "+key]
			if f == nil {
				t.Fatalf("no row function for %q", cut.Aggregates[c.Aggregate].Label+" "+key)
			}
			rows = append(rows, f)
		}
	}
	return parts, rows
}

// The covariance of statements taken together, by its definition: over the rows of a class, the covariance of all
// components' row functions at once, weighted by the share of the class. Statements over the same rows with other
// conditions and keys, grouping sets, and a table joined from the same root.
func TestJointMomentsByDefinition(t *testing.T) {
	all, reader, table := people(t, 500)
	const p = 0.35
	const above, byKind = "SELECT count(*), sum(y) FROM people WHERE y > 9", "SELECT k, sum(y) FROM people GROUP BY "
	for name, statements := range map[string][]string{
		"two statements": {linear, above},
		"one statement": {"SELECT (SELECT sum(y) FROM people WHERE y > 9), c FROM (SELECT g, count(*) AS c " +
			"FROM people WHERE x > 4 GROUP BY g) AS q"},
		"the same twice": {linear, linear},
		"three":          {linear, above, byKind + "k"},
		"grouping sets":  {"SELECT k, g, sum(y) FROM people GROUP BY GROUPING SETS ((k), (k, g), ())"},
		"sets and rows":  {byKind + "ROLLUP (k)", linear},
	} {
		t.Run(name, func(t *testing.T) {
			parts, rows := measureAll(t, reader, table, statements)
			joint, err := model.Join(t.Context(), reader, parts...)
			if err != nil {
				t.Fatal(err)
			}
			families := joint.Families(secretShare, psi)
			if len(families) != 1 || !families[0].Affine() || families[0].Secret() != "s" ||
				len(families[0].Mean(p)) != len(rows) {
				t.Fatalf("%d families", len(families))
			}

			got := dense(families[0].Covariance(p))
			for i, f := range rows {
				for j, g := range rows {
					want := covarianceAt(all, p, func(r person) (int, float64, float64) {
						return inside(r), f(r),
							g(r)
					})
					if math.Abs(got.At(i, j)-want) > 1e-8*(1+math.Abs(want)) {
						t.Errorf("components %d and %d: covariance %g, by definition %g", i, j, got.At(i, j), want)
					}
				}
			}
		})
	}
}

// covarianceAt is the covariance of two sums over 500 rows, of which the share p is in class 1: row gives the class,
// and what a row adds to either.
func covarianceAt[R any](all []R, p float64, row func(R) (class int, a, b float64)) (want float64) {
	for class, share := range []float64{1 - p, p} {
		var n, a, b, ab float64
		for _, r := range all {
			if c, x, y := row(r); c == class {
				n, a, b, ab = n+1, a+x, b+y, ab+x*y
			}
		}
		want += 500 * share * (ab/n - a/n*b/n)
	}
	return want
}

// Cells that overlap have no family without their joint moments, and those of one statement that do not are blocks.
func TestFamiliesOfOneStatement(t *testing.T) {
	_, reader, table := people(t, 500)
	_, sets := measure(t, reader, table, "SELECT k, sum(y) FROM people GROUP BY ROLLUP (k)")
	if sets.Families(secretShare, psi) != nil {
		t.Error("cells that overlap have a family without their joint moments")
	}
	_, m := measure(t, reader, table, linear)
	single, err := model.Join(t.Context(), reader, m)
	if err != nil {
		t.Fatal(err)
	}
	if f := single.Families(secretShare, psi)[0]; len(f.Covariance(.35).Blocks) != 2 {
		t.Error("the cells of one statement are not blocks of their own")
	}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// visitor is a row of the root with the rows linked to it, by kind.
type visitor struct {
	s     bool
	kinds [2]float64
}

// loadVisits fills the tables that linked describes.
func loadVisits(t *testing.T) []visitor {
	t.Helper()
	var roots, visits []string
	var all []visitor
	for i := range 200 {
		p := visitor{s: i%3 == 0}
		roots = append(roots, fmt.Sprintf("(%d,%v)", i, p.s))
		for v := range i % 5 {
			kind := (i + v) % 2
			p.kinds[kind]++
			visits = append(visits, fmt.Sprintf("(%d,'%s')", i, []string{"in", "out"}[kind]))
		}

		all = append(all, p)
	}
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", "DROP TABLE IF EXISTS root, visit; "+
		"CREATE TABLE root (id int, s bool); CREATE TABLE visit (person int, kind text); "+
		"INSERT INTO root VALUES "+strings.Join(roots, ",")+"; "+
		"INSERT INTO visit VALUES "+strings.Join(visits, ",")); err != nil {
		t.Fatal(err)
	}
	return all
}

// A linked table's rows are summed for each row of the root before they are multiplied.
func TestJointMomentsOfLinkedTables(t *testing.T) {
	_, reader, _ := people(t, 500)
	all := loadVisits(t)
	var parts []*model.Moments
	var index []int // of each component, what a row of the root adds
	root := linked(t)
	for _, sql := range []string{"SELECT kind, count(*) FROM visit GROUP BY kind", "SELECT count(*) FROM root"} {
		cut, m := measureIn(t, reader, root, sql)
		parts = append(parts, m)
		for _, comp := range m.Components {
			place, ok := map[string]int{"kind=in": 0, "kind=out": 1}[cut.GroupKey(cut.Cells[comp.Cell])]
			if !ok {
				place = 2
			}
			index = append(index, place)
		}
	}

	joint, err := model.Join(t.Context(), reader, parts...)
	if err != nil {
		t.Fatal(err)
	}

	got := dense(joint.Families(0, psi)[0].Covariance(0.4))
	for i := range index {
		for j := range index {
			want := covarianceAt(all, .4, func(p visitor) (class int, a, b float64) {
				v := [3]float64{p.kinds[0], p.kinds[1], 1}
				return int(indicator(p.s)), v[index[i]], v[index[j]]
			})
			if math.Abs(got.At(i, j)-want) > 1e-8*(1+math.Abs(want)) {
				t.Errorf("components %d and %d: covariance %g, by definition %g", i, j, got.At(i, j), want)
			}
		}
	}
}

// family is a root and the table linked to it.
type family map[string]*planner.Table

func linked(t *testing.T) family {
	t.Helper()
	e, err := parser.ParsePredicate("s", parser.Table{Schema: "public", Name: "root", Columns: []string{"id", "s"}})
	if err != nil {
		t.Fatal(err)
	}
	root := &planner.Table{Schema: "public", Name: "root", Reference: `"public"."root"`, Rows: 500,
		Columns: []planner.Column{{Name: "id", Type: "integer"}, {Name: "s", Type: "boolean"}},
		Secrets: []planner.Secret{{Name: "s", Predicate: e}}}
	visit := &planner.Table{Schema: "public", Name: "visit", Reference: `"public"."visit"`,
		Columns: []planner.Column{{Name: "person", Type: "integer"}, {Name: "kind", Type: "text"}},
		Domains: map[string][]planner.Value{"kind": {{Text: "in"}, {Text: "out"}}},
		Link:    &planner.Link{To: root, Keys: []planner.LinkKey{{Own: "person", To: "id"}}}}
	return family{"root": root, "visit": visit}
}

func (f family) Table(_, name string) (parser.Table, bool) {
	t, ok := f[name]
	if !ok {
		return parser.Table{}, false
	}
	return tables{t}.Table("", name)
}
func (f family) Ordinary(string, string) (parser.Table, error) {
	return parser.Table{}, errors.New("no ordinary tables")
}
func (f family) Protected(_, name string) (*planner.Table, bool) { t, ok := f[name]; return t, ok }
func (f family) VirtualTable(string) (planner.VirtualTable, bool) {
	return planner.VirtualTable{}, false
}

func measureIn(t *testing.T, reader *upstream.Reader, f family, sql string) (*planner.Bound, *model.Moments) {
	t.Helper()
	totals, err := model.CountClasses(t.Context(), reader, f["root"])
	if err != nil {
		t.Fatal(err)
	}
	statements, err := parser.Parse(sql, f)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(t.Context(), statements[0], f, reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Cuts[0].Bind(t.Context(), reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Measure(t.Context(), reader, b, totals)
	if err != nil {
		t.Fatal(err)
	}
	return b, m
}
