package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

func TestKnots(t *testing.T) {
	knots, err := Knots("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checkKnots(knots) {
		t.Error(f)
	}
}

// Files are tied to each other by functions, types, variables, fields, methods and embedded types, and by no more.
func TestLargestKnot(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing in common", map[string]string{"a": "type A int", "b": "func f() { A := 1; _ = A }"}, "a"},
		{"one way", map[string]string{"a": "func f() {}", "b": "func g() { f() }", "c": "func h() { f(); g() }"}, "a"},
		{"functions", map[string]string{"a": "func f() { g() }", "b": "func g() { f() }"}, "a b"},
		{"in a circle", map[string]string{"a": "func f() { g() }", "b": "func g() { h() }", "c": "func h() { f() }",
			"d": "func i() { f() }"}, "a b c"},
		{"a method", map[string]string{"a": "type T int; func f(t T) { t.m() }", "b": "func (T) m() {}"}, "a b"},
		{"a method that nobody needs", map[string]string{"a": "type T int", "b": "func (T) m() {}"}, "a"},
		{"a field", map[string]string{"a": "type T struct { x int }; func f() { g() }",
			"b": "var t = h(); func g() { t.x = 1 }", "c": "func h() T { return T{} }"}, "a b c"},
		{"an embedded type's method", map[string]string{"a": "type T struct { U }; func f(t T) { t.m() }",
			"b": "type U int; func (U) m() { f(T{}) }"}, "a b"},
		{"behind an interface", map[string]string{"a": "type I interface { m() }; func f(i I) { i.m() }",
			"b": "type T int; func (T) m() { f(T(1)) }"}, "a"},
		{"the larger of two", map[string]string{"a": "func f() { g() }", "b": "func g() { f() }",
			"c": "type C struct { *D }", "d": "type D struct { *E }", "e": "type E struct { *C }"}, "c d e"},
	} {
		set := token.NewFileSet()
		var syntax []*ast.File
		for name, text := range c.files {
			f, err := parser.ParseFile(set, name, "package p;"+text, 0)
			if err != nil {
				t.Fatal(err)
			}
			syntax = append(syntax, f)
		}
		info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
		p, err := new(types.Config).Check("p", set, syntax, info)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := strings.Join(largestKnot(needs(set, syntax, p, info)), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCheckKnots(t *testing.T) {
	files := strings.Fields("a b c d e f g h i")
	knots := []Knot{{"wide", files}, {"fine", files[:maxKnot]}}
	got := checkKnots(knots)
	want := []string{
		"wide: 9 files need each other, more than 8: a b c d e f g h i",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
