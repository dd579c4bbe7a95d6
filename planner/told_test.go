package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"fugu/parser"
	"fugu/planner"
	"fugu/test/pgcluster"
)

// person is a row of adult_reference with what belongs to it.
type person struct {
	rich   bool
	visits []visit
}

type visit struct {
	kind  string
	cost  int
	stars []int // of its notes
}

// of has a text for each of a person's visits.
func (p person) of(text func(visit) string) []string {
	var out []string
	for _, v := range p.visits {
		out = append(out, text(v))
	}
	return out
}

func kind(v visit) string { return v.kind }

func cost(v visit) string { return fmt.Sprint(v.cost) }

// people fills the references of adult, visit and note at random.
func people(t *testing.T) []person {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 1))
	var out []person
	sql := "TRUNCATE adult_reference, visit_reference, note_reference;"
	visits := 0
	for i := range 80 {
		p := person{rich: r.IntN(3) == 0}
		sql += fmt.Sprintf("INSERT INTO adult_reference (id, income) VALUES (%d, CASE WHEN %t THEN '>50K' END);",
			i, p.rich)
		for range r.IntN(7) {
			v := visit{kind: []string{"in", "out"}[r.IntN(2)], cost: r.IntN(60)}
			sql += fmt.Sprintf("INSERT INTO visit_reference VALUES (%d, %d, '%s', %d);", visits, i, v.kind, v.cost)
			for range r.IntN(3) {
				v.stars = append(v.stars, r.IntN(3))
				sql += fmt.Sprintf("INSERT INTO note_reference VALUES (%d, %d);", visits, v.stars[len(v.stars)-1])
			}
			visits++
			p.visits = append(p.visits, v)
		}
		out = append(out, p)
	}
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", sql); err != nil {
		t.Fatal(err)
	}
	return out
}

// list writes what belongs to somebody, in an order that does not matter.
func list(of []string) string {
	sort.Strings(of)
	return "(" + strings.Join(of, " ") + ")"
}

// belonging are statements over what belongs to a person, with what they tell apart.
var belonging = []struct {
	name, sql string
	apart     func(p person) string
	combined  func(p person) []string // of combinations of rows
	values    func(p person) []string // of what is sorted; nil: nothing is
}{
	{"kinds", "SELECT count(*) FROM visit WHERE upper(kind) = 'IN'",
		func(p person) string { return list(p.of(kind)) },
		func(p person) []string { return p.of(kind) }, nil},
	{"kinds and stars", `SELECT upper(v.kind), count(*) FROM note n JOIN visit v ON v.id = n.visit_id
		JOIN adult a ON a.id = v.adult_id WHERE n.stars * n.stars > 1 GROUP BY 1`,
		func(p person) string {
			return list(p.of(func(v visit) string {
				return v.kind + list(strings.Fields(strings.Trim(fmt.Sprint(v.stars), "[]")))
			}))
		},
		func(p person) []string {
			var out []string
			for _, v := range p.visits {
				for _, stars := range v.stars {
					out = append(out, fmt.Sprint(v.kind, stars))
				}
			}
			return out
		},
		func(p person) []string { return p.of(kind) }},
	{"a dimension of linked rows", `SELECT count(*) FROM visit v JOIN country c ON c.name = v.cost::text
		WHERE c.continent = 'Asia'`,
		func(p person) string { return list(p.of(cost)) },
		func(p person) []string { return p.of(cost) },
		func(p person) []string { return p.of(cost) }},
}

// Rows of the root are told apart by what belongs to them, whatever order it is in; and a value is alone if it is
// among what belongs to one row of the root only, however often.
func TestRowsAloneByWhatBelongsToThem(t *testing.T) {
	w := newWorld(t)
	all := people(t)
	for _, c := range belonging {
		b := w.bind(t, c.sql)
		chosen, err := b.Chosen(t.Context(), w.reader, 80)
		if err != nil {
			t.Fatal(err)
		}
		choice := chosen.Choices[0]

		check := func(what string, told planner.Told, of func(p person) []string) (some bool) {
			t.Helper()
			got, err := b.Alone(t.Context(), w.reader, 0, told)
			if want := loners(all, of); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v are alone by %s, %v; want %v", c.name, got, what, err, want)
			} else {
				some = want[0] > 0 && want[1] > 0
			}
			return some
		}
		if !check("all", choice.Apart, func(p person) []string { return []string{c.apart(p)} }) {
			t.Errorf("%s: nobody of a class is alone, and little is tested", c.name)
		}
		check("combinations", choice.Combined, c.combined)
		if c.values == nil {
			continue
		}
		if len(choice.Sorted.Of) != 1 {
			t.Errorf("%s: %d sets of values are sorted", c.name, len(choice.Sorted.Of))
			continue
		}
		check("values", choice.Sorted.Of[0].Values, c.values)
		n, err := b.Distinct(t.Context(), w.reader, choice.Sorted.Of[0].Values)
		if want := distinct(all, c.values); err != nil || n != want {
			t.Errorf("%s: %g values, %v; want %g", c.name, n, err, want)
		}
	}
}

// Combinations of rows are told apart by themselves where a sum over them is 0 only if each of them is: not where the
// text, an ordinary table or the values themselves give them either sign, nor where an outer join finds none.
func TestCombinationsThatTellNothing(t *testing.T) {
	w := newWorld(t)
	people(t)
	const visits = " FROM adult a JOIN visit v ON v.adult_id = a.id WHERE kind = 'in'"
	const outer = "SELECT count(*) FROM adult a LEFT JOIN visit v ON adult_id = a.id AND kind = 'in' WHERE v.id IS NULL"
	for sql, want := range map[string]string{
		"SELECT count(*)" + visits:                                                    "by themselves",
		"SELECT count(cost - 30)" + visits:                                            "by themselves",
		"SELECT avg((cost > 30)::int)" + visits:                                       "by themselves",
		"SELECT sum(CASE WHEN cost > 30 THEN 2 ELSE 1 END)" + visits:                  "by themselves",
		"SELECT sum(cost * coalesce(cost, 0))" + visits:                               "where cost is not below 0",
		"SELECT avg(cost) FILTER (WHERE cost > 3)" + visits:                           "where cost is not below 0",
		"SELECT sum(CASE WHEN cost > 30 THEN 1 ELSE -1 END)" + visits:                 "not",
		"SELECT sum(cost - 30)" + visits:                                              "not",
		"SELECT sum(-cost)" + visits:                                                  "not",
		"SELECT sum(round(cost))" + visits:                                            "not",
		"SELECT sum(kind::int)" + visits:                                              "not",
		"SELECT count(*) FROM visit v JOIN adult a ON adult_id = a.id WHERE age > 30": "not",
		outer: "not",
	} {
		chosen, err := w.bind(t, sql).Chosen(t.Context(), w.reader, 80)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		got := "by themselves"
		if c := chosen.Choices[0]; c.Combined.None() {
			got = "not"
		} else if len(c.Weights) == 1 {
			got = "where " + c.Weights[0].Name + " is not below 0"
		}
		if got != want {
			t.Errorf("%s: combinations are told apart %s, want %s", sql, got, want)
		}
	}

	// Whether values are below 0 the reference shows, as it was when the policy was loaded.
	for _, below := range []bool{false, true} {
		w = newWorld(t)
		people(t)
		if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", fmt.Sprintf(
			"UPDATE visit_reference SET cost = -1 WHERE %t AND id = 5", below)); err != nil {
			t.Fatal(err)
		}
		b := w.bind(t, "SELECT sum(cost)"+visits)
		chosen, err := b.Chosen(t.Context(), w.reader, 80)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.Negative(t.Context(), w.reader, chosen.Choices[0]); err != nil || got != below {
			t.Errorf("a cost is below 0: %t, %v; want %t", got, err, below)
		}
	}
}

// The condition of a secret tells no more of a row than its class, and whether its column is NULL: not which of the
// other values it has.
func TestSecretsTellTheirClasses(t *testing.T) {
	w := newWorld(t)
	secret := &w.tables["adult"].Secrets[0]
	secret.Text = parser.SQL(secret.Predicate, "", nil) // as a policy is loaded
	const fill = `TRUNCATE adult_reference; INSERT INTO adult_reference (id, income)
		SELECT i, (ARRAY['>50K', '<=50K', 'none', NULL])[1 + i % 4] FROM generate_series(0, 39) AS i`
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", fill); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]float64{
		"SELECT count(*) FROM adult WHERE income = '>50K'":                               3,
		"SELECT avg((income = '>50K')::int) FROM adult":                                  3,
		"SELECT count(*) FROM visit v JOIN adult a ON a.id = adult_id AND income='>50K'": 3,
		"SELECT count(*) FROM adult WHERE income = '<=50K'":                              4,
		"SELECT count(*) FROM adult WHERE income > '>50K'":                               4,
		"SELECT count(*) FROM adult WHERE income = '>50K' OR income = 'none'":            4,
	} {
		b := w.bind(t, sql)
		chosen, err := b.Chosen(t.Context(), w.reader, 40)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := b.Distinct(t.Context(), w.reader, chosen.Choices[0].Apart); err != nil || n != want {
			t.Errorf("%s tells %g sets of values apart, %v; want %g", sql, n, err, want)
		}
	}
}

// distinct counts the values that there are.
func distinct(all []person, of func(person) []string) float64 {
	values := map[string]bool{}
	for _, p := range all {
		for _, v := range of(p) {
			values[v] = true
		}
	}
	return float64(len(values))
}

// loners counts, outside of the secret's predicate and inside, the values that one person of the class alone has.
func loners(all []person, of func(person) []string) []float64 {
	out := make([]float64, 2)
	for class := range out {
		count := map[string]int{}
		for _, p := range all {
			if p.rich == (class == 1) {
				for _, v := range slices.Compact(slices.Sorted(slices.Values(of(p)))) {
					count[v]++
				}
			}
		}
		for _, n := range count {
			if n == 1 {
				out[class]++
			}
		}
	}
	return out
}
