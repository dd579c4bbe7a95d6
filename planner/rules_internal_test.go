package planner

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"fugu/parser"
)

func value(text string) Value { return Value{Text: text} }

// The combinations of parts are all there, each once, the last part's rows being the fastest; and keys that a set does
// not group by are NULL.
func TestCombinations(t *testing.T) {
	p := part{keys: []int{0, 2}, rows: [][]Value{
		{value("a"), value("x")}, {value("a"), value("y")}, {value("b"), value("x")},
	}}
	q := part{keys: []int{1}, rows: [][]Value{{value("1")}, {value("2")}}}
	for _, c := range []struct {
		set  []int
		want string
	}{
		{[]int{0, 1, 2}, "a1x a2x a1y a2y b1x b2x"},
		{[]int{0, 1}, "a1- a2- b1- b2-"},
		{[]int{2}, "--x --y"},
		{[]int{1}, "-1- -2-"},
		{nil, "---"},
	} {
		var of []part
		for _, p := range []part{p, q} {
			if keys, rows := p.of(c.set); len(keys) > 0 {
				of = append(of, part{keys, rows})
			}
		}
		b := &Bound{Cut: &Cut{Keys: make([]Key, 3)}}
		got := ""
		for i := range product(of) {
			for _, v := range b.combination(of, i) {
				if v.Null {
					v.Text = "-"
				}
				got += v.Text
			}
			got += " "
		}
		if got != c.want+" " {
			t.Errorf("%v: %s, want %s", c.set, got, c.want)
		}
	}
}

// A limit that is sent to PostgreSQL never lets less through than the one that the model reckons with.
func TestLimitsAsTheyAreSent(t *testing.T) {
	for _, c := range []struct {
		low, high *big.Rat
		whole     bool
		want      string
	}{
		{big.NewRat(-7, 2), big.NewRat(15, 4), true, "-4 4"},
		{big.NewRat(-7, 2), big.NewRat(15, 4), false, "-3.5 3.75"},
		{big.NewRat(7, 2), big.NewRat(8, 1), true, "3 8"},
		{big.NewRat(-1, 1<<20), big.NewRat(0, 1), true, "-1 0"},
		{big.NewRat(-1, 8), big.NewRat(1, 8), false, "-0.125 0.125"},
		{big.NewRat(-1<<40, 1), big.NewRat(1<<40, 1), true, "-3037000499 3037000499"},
		{big.NewRat(-1<<40, 1), big.NewRat(1<<40, 1), false, "-1099511627776 1099511627776"},
	} {
		b := &Bound{Cut: &Cut{}, Bases: []Base{{Indicator: true}, {whole: c.whole, args: []string{"x"}}}}
		values, types := b.Arguments([]Limit{{}, {Low: c.low, High: c.high}})
		if got := fmt.Sprintf("%s %s", values[0], values[1]); got != c.want || len(values) != 2 || len(types) != 2 {
			t.Errorf("%s to %s: sent %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// Where grouping sets have limits of their own, they are sent set after set.
func TestLimitsOfSets(t *testing.T) {
	at := func(n int64) Limit { return Limit{Low: big.NewRat(-n, 1), High: big.NewRat(n, 1)} }
	limit := at(9)
	limit.Sets = []Limit{at(3), at(5)}
	b := &Bound{Cut: &Cut{Sets: [][]int{{0}, {}}}, Bases: []Base{{args: []string{"x"}}}}
	values, _ := b.Arguments([]Limit{limit})
	if got := fmt.Sprintf("%s", values); got != "[-3 3 -5 5]" {
		t.Error(got)
	}
}

// Bases are summed as integers only if every product that they are in fits an int4.
func TestIntegers(t *testing.T) {
	small := Base{args: []string{"a"}, whole: true, Low: "-90", High: "17"}
	large := Base{args: []string{"b"}, whole: true, Low: "0", High: "50000"}
	open := Base{args: []string{"c"}, whole: true}
	number := Base{args: []string{"d"}, Low: "0", High: "1"}
	there := Base{given: []string{"a"}, Indicator: true}
	for _, c := range []struct {
		bases    []Base
		products [][]int
		want     []bool
	}{
		{[]Base{small, large}, [][]int{{}, {0}, {1}}, []bool{true, true}},
		{[]Base{small, large}, [][]int{{0, 0, 0, 0}, {0, 1}}, []bool{true, true}}, // 90^4 and 90 x 50000
		{[]Base{small, large}, [][]int{{0}, {1, 1}}, []bool{true, false}},
		{[]Base{small, large}, [][]int{{1, 1}, {0, 1}}, []bool{false, false}}, // the other factor is none any more
		{[]Base{small, open}, [][]int{{0}, {1}}, []bool{true, false}},
		{[]Base{small, number}, [][]int{{0, 1}}, []bool{false, false}},
		{[]Base{small, there}, [][]int{{0, 1}}, []bool{true, false}},
	} {
		b := &Bound{Bases: c.bases, products: c.products}
		if got := b.integers(); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v: %v, want %v", c.products, c.bases, got, c.want)
		}
	}
}

// Factors are in one order, and an indicator of what is a factor itself changes nothing.
func TestNormalProducts(t *testing.T) {
	b := &Bound{Bases: []Base{
		{args: []string{"x"}},
		{given: []string{"x"}, Indicator: true},
		{given: []string{"y"}, Indicator: true},
	}}
	for _, c := range []struct{ given, want []int }{
		{[]int{0, 0}, []int{0, 0}},
		{[]int{1, 0}, []int{0}},
		{[]int{2, 0, 1}, []int{0, 2}},
		{[]int{1, 1}, []int{1}},
		{[]int{2, 1, 2}, []int{1, 2}},
		{nil, nil},
	} {
		if got := b.normal(c.given); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.given, got, c.want)
		}
	}
}

// Pairs of factors are evaluated once where that saves more multiplications than a subselect takes, and the products
// stay what they are.
func TestPairs(t *testing.T) {
	of := func(lists ...string) (e evaluation) {
		for _, l := range lists {
			var m monomial
			for _, r := range l {
				m.factors = append(m.factors, string(r))
			}
			e.products = append(e.products, m)
		}
		return e
	}
	few := of("xx", "xy", "y")
	if few.pair(); few.pairs != nil {
		t.Errorf("a subselect for %v", few.pairs)
	}

	lists := []string{"xxxx", "xxxy", "xxyy", "xyyy", "yyyy", "xxx", "xxy"}
	many := of(lists...)
	if many.pair(); !slices.Equal(many.pairs, []string{"x * x AS p1", "x * y AS p2", "y * y AS p3"}) {
		t.Fatalf("pairs %v", many.pairs)
	}
	means := map[string]string{"p1": "xx", "p2": "xy", "p3": "yy", "x": "x", "y": "y"}
	for i, m := range many.products {
		got := ""
		for _, f := range m.factors {
			got += means[f]
		}
		if got != lists[i] || len(m.factors) != (len(lists[i])+1)/2 {
			t.Errorf("%s is %v", lists[i], m.factors)
		}
	}
}

// Columns are equal by way of others, and only of those that equalities name.
func TestEquals(t *testing.T) {
	col := func(rel int, name string) parser.Column { return parser.Column{Rel: rel, Name: name} }
	is := func(l, r parser.Expr) parser.Expr { return parser.Binary{Op: "=", L: l, R: r} }
	s := &sources{}
	s.equalities([]parser.Expr{
		parser.Logic{Op: "AND", Args: []parser.Expr{is(col(0, "a"), col(1, "b")), is(col(2, "c"), col(1, "b"))}},
		parser.Logic{Op: "OR", Args: []parser.Expr{is(col(0, "a"), col(3, "d")), is(col(0, "a"), col(4, "e"))}},
		parser.Binary{Op: "<", L: col(0, "a"), R: col(5, "f")},
		is(col(0, "g"), parser.Const{Kind: parser.Number, Text: "1"}),
	})
	for to, want := range map[parser.Column]bool{
		col(0, "a"): true, col(1, "b"): true, col(2, "c"): true, col(1, "c"): false,
		col(3, "d"): false, col(4, "e"): false, col(5, "f"): false, col(0, "g"): false,
	} {
		if got := s.equals(col(0, "a"), to); got != want {
			t.Errorf("%v: %t", to, got)
		}
	}
}

// What a condition asks for of an ordinary row is the other side of an equality, or every column that it speaks of.
func TestOthers(t *testing.T) {
	own, x, y := parser.Column{Rel: 1, Name: "k"}, parser.Column{Name: "x"}, parser.Column{Name: "y"}
	lower := parser.Func{Name: "lower", Args: []parser.Expr{x}}
	both := parser.Binary{Op: "||", L: x, R: own}
	for _, c := range []struct {
		condition parser.Expr
		want      []parser.Expr
	}{
		{parser.Binary{Op: "=", L: own, R: lower}, []parser.Expr{lower}},
		{parser.Binary{Op: "=", L: lower, R: own}, []parser.Expr{lower}},
		{parser.Binary{Op: "<", L: own, R: lower}, []parser.Expr{x}},
		{parser.Binary{Op: "=", L: own, R: both}, []parser.Expr{x}},
		{parser.Logic{Op: "OR", Args: []parser.Expr{parser.Binary{Op: "=", L: own, R: x}, y}}, []parser.Expr{x, y}},
		{parser.Binary{Op: "=", L: own, R: parser.Const{Kind: parser.Number, Text: "1"}},
			[]parser.Expr{parser.Const{Kind: parser.Number, Text: "1"}}},
	} {
		if got := others(c.condition, 1); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", parser.SQL(c.condition, "t", nil), got, c.want)
		}
	}
}

// The keys of cells are told apart whatever is in their texts.
func TestIndexKeys(t *testing.T) {
	seen := map[string][]Value{}
	for _, keys := range [][]Value{
		nil, {value("")}, {{Null: true}}, {value("n")}, {value("0:")}, {value(""), value("")}, {value("1:a")},
		{value("a"), value("b")}, {value("a1:b")}, {{Null: true}, value("a")}, {value("n1:a")},
		{value("a"), {Null: true}},
	} {
		if other, ok := seen[indexKey(keys)]; ok {
			t.Errorf("%v has the key of %v", keys, other)
		}
		seen[indexKey(keys)] = keys
	}
}
