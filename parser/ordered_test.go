package parser

import (
	"reflect"
	"testing"
)

// Cuts that differ by the order of their keys and sets alone are equal afterwards, and what names a key by its place
// names the same one.
func TestOrdered(t *testing.T) {
	a, b, c := Key{Expr: Column{Name: "a"}}, Key{Expr: Column{Name: "b"}}, Key{Expr: Column{Name: "c"}}
	grouping := func(keys ...int) []Grouping { return []Grouping{{Name: "g", Keys: keys}} }
	given := &Cut{Keys: []Key{c, a, b}, Sets: [][]int{{1, 0}, {}, {2}}, Groupings: grouping(2, 0)}
	want := &Cut{Keys: []Key{a, b, c}, Sets: [][]int{{}, {0, 2}, {1}}, Groupings: grouping(1, 2)}
	if got := Ordered(given); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	other := &Cut{Keys: []Key{b, c, a}, Sets: [][]int{{0}, {2, 1}, {}}, Groupings: grouping(0, 1)}
	if got := Ordered(other); !reflect.DeepEqual(got, want) {
		t.Errorf("in another order: %+v, want %+v", got, want)
	}
	if given.Keys[0].Expr != c.Expr || given.Sets[0][0] != 1 || given.Groupings[0].Keys[0] != 2 {
		t.Errorf("what was given is another one now: %+v", given)
	}
}
