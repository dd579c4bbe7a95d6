package attack

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var entry = regexp.MustCompile("(?m)^- .* \\*Test\\*: `(Test[A-Za-z0-9]+)`\\. \\*What remains\\*: (.*)$")

// docs/attacks.md has an entry for every attack of this package, and no other; and what it marks as open is what the
// tests wait for.
func TestAttacksAreDocumented(t *testing.T) {
	attacks, err := attacks()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/attacks.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, m := range entry.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n  ", " "), -1) {
		name, open := m[1], strings.Contains(m[2], "**Open**")
		listed[name]++
		waits, ok := attacks[name]
		switch {
		case !ok:
			t.Errorf("%s is listed and does not exist", name)
		case listed[name] > 1:
			t.Errorf("%s is listed twice", name)
		case open != waits:
			t.Errorf("%s: listed as open: %t; its test waits for a defence: %t", name, open, waits)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		if listed[name] == 0 {
			t.Errorf("%s is not listed", name)
		}
	}
	if len(attacks) < 30 {
		t.Errorf("%d attacks were found", len(attacks))
	}
}

// attacks are the tests of this package, and whether each waits for its defence.
func attacks() (map[string]bool, error) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Test") || name == "docs_test.go" || fn.Name.Name == "TestMain" {
				continue
			}
			waits := false
			ast.Inspect(fn, func(n ast.Node) bool {
				if kv, ok := n.(*ast.KeyValueExpr); ok {
					if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "waits" {
						waits = true
					}
				}
				return true
			})
			out[fn.Name.Name] = waits
		}
	}
	return out, nil
}
