package row

import (
	"context"
	"slices"
	"testing"
)

// Each rule of the normal form by its name: how it asks an expression, and one that it leaves as it is.
func TestNormalRules(t *testing.T) {
	s := connect(t)
	cited := map[string]bool{}
	for _, test := range []struct{ rule, spelled, asked, kept string }{
		{"NullOperand", "lower(NULL) || s", "NULL::text", "concat(s, NULL)"},
		{"Junction", "(i4 > 1 AND b) AND (b AND i4 > 1)", "i4 > 1 AND b", "i4 > 1 AND b"},
		{"Junction", "s = 'b' OR s = 'a' OR s = 'b'", "s IN ('a', 'b')", "s = 'a' OR b"},
		{"Negation", "NOT (i4 = 1 OR b)", "i4 <> 1 AND NOT b", "NOT b"},
		{"Comparison", "7 <= i4 + 2", "i4 > 4", "i4 > j4"},
		{"Comparison", "d < timestamp '2020-01-02 00:00:00'", "d <= date '2020-01-01'", "d < ts"},
		{"Membership", "i4 IN (3, 1, 2, 1)", "i4 IN (1, 2, 3)", "i4 IN (1, 2, 3)"},
		{"Membership", "i4 NOT IN (1, 1)", "i4 <> 1", "i4 NOT IN (1, 2)"},
		{"Range", "i4 BETWEEN SYMMETRIC 1 AND j4", "i4 > 0 AND i4 <= j4 OR i4 >= j4 AND i4 <= 1", ""},
		{"Range", "i4 NOT BETWEEN 1 AND 3", "i4 <= 0 OR i4 > 3", ""},
		{"NullTest", "b IS UNKNOWN", "b IS NULL", "i4 IS NOT NULL"},
		{"TruthTest", "(i4 IS NULL) IS NOT FALSE", "i4 IS NULL", "b IS TRUE"},
		{"PlainPattern", "s NOT LIKE 'abc'", "s <> 'abc'", "s NOT LIKE 'a_c'"},
		{"Choice", "CASE WHEN b THEN 1 WHEN true THEN i4 ELSE 3 END", "CASE WHEN b THEN 1 ELSE i4 END",
			"CASE WHEN b THEN 1 ELSE i4 END"},
		{"FirstKnown", "coalesce(NULL, coalesce(i4, j4), 3, 4)", "coalesce(i4, j4, 3)", "coalesce(j4, i4)"},
		{"Extreme", "greatest(j4, greatest(i4, i4))", "greatest(i4, j4)", "greatest(i4, j4)"},
		{"IdleCast", "i4::int8", "i4", "i4::float8"},
		{"Arithmetic", "2 + i4 - 5", "i4 + -3", "i4 - j4"},
		{"Arithmetic", "j4 * i4", "i4 * j4", "f8 * f8"},
		{"Spelling", "char_length(s)", "length(s)", "length(s)"},
		{"Spelling", "n ^ 2", "power(n, 2)", "power(n, 2)"},
		{"Field", "extract(YEAR FROM d)", "extract(year FROM d)", ""},
		{"Field", "date_part(' Year ', ts)", "date_part('year', ts)", "date_part('year', ts)"},
	} {
		cited[test.rule] = true
		spelled, asked := s.bound(t, test.spelled), normal(s.bound(t, test.asked))
		out, rule := normalOp(spelled.of(normalArgs(spelled)))
		if rule != test.rule || out.String() != asked.String() {
			t.Errorf("%s: %s is brought by %q to\n%s, and should be\n%s", test.rule, test.spelled, rule, out, asked)
		}

		if test.kept == "" {
			continue
		}
		if kept := s.bound(t, test.kept); normal(kept).String() != kept.String() {
			t.Errorf("%s: %s is not kept, but is asked as %s", test.rule, test.kept, normal(kept))
		}
	}

	for _, r := range NormalRules() {
		if !cited[r.Name] || r.Says == "" {
			t.Errorf("no test cites the rule %s, or it does not say what it does", r.Name)
		}
	}
}

// Every rule that keeps an operation from failing is tried where it begins and ceases to fail, or has nothing to keep.
func TestTotalRulesAreTried(t *testing.T) {
	s := connect(t)
	tried := map[string]bool{}
	for _, e := range edgeExpressions() {
		for _, op := range s.bound(t, e.source).operations() {
			tried[op] = true
		}
	}
	for name, rule := range rules {
		if rule.total != "" && !tried[name] && !slices.Contains(constantOnly, name) {
			t.Errorf("no edge is tried on %s, which is kept from failing: %s", name, rule.total)
		}
	}
}

// constantOnly are functions that rows are refused to.
var constantOnly = []string{"to_date", "make_date", "make_timestamp"}

// operations lists those of t that a total form is made of.
func (t *term) operations() []string {
	var out []string
	var walk func(*term)
	walk = func(t *term) {
		if t.kind == kOp {
			out = append(out, t.op)
		}
		for _, a := range t.args {
			walk(a)
		}
	}
	walk(normal(t))
	return out
}

// bound is what is brought to the normal form of an expression: typed, with its constants.
func (s *server) bound(t *testing.T, expression string) *term {
	t.Helper()
	e, err := parse(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	typing, err := Resolve(t.Context(), s, "public.x AS t", []Root{{Expr: e}}, func(int) uint32 { return 0 })
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	b := &binder{db: s, values: map[int]*term{}}
	x, err := b.substitute(typing.terms[0])
	if err == nil {
		x = b.fold(x)
		err = b.evaluate(context.WithoutCancel(t.Context()))
	}
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return b.replace(x)
}
