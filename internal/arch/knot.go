package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Knot is the largest set of files of a package of which each needs all the others: it uses, itself or by way of
// others of them, something that they declare. Who wants to understand one of them has to read them all.
type Knot struct {
	Package string   // its directory, from the root
	Files   []string // names within it, in order; never only one
}

// maxKnot is how many files a knot may have.
const maxKnot = 8

// Knots returns the largest knot of each package of the module in dir that has one, larger ones first. Tests do not
// count. It type-checks the packages as the go command sees them, so that they have to compile.
func Knots(dir string) ([]Knot, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo
	// With the tags the packages are those that make test is built of, so that they are not compiled once more.
	c := &packages.Config{Dir: dir, Mode: mode, BuildFlags: []string{"-tags=fuguhooks,byday"}}
	loaded, err := packages.Load(c, "./...")
	if err != nil {
		return nil, err
	}

	var knots []Knot
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, errors.Join(asErrors(p.Errors)...))
		}
		if files := largestKnot(needs(p.Fset, p.Syntax, p.Types, p.TypesInfo)); len(files) > 1 {
			knots = append(knots, Knot{trim(p.PkgPath), files})
		}
	}

	// The order of packages is that of the go command; the largest knot is to come first.
	slices.SortFunc(knots, func(a, b Knot) int {
		if n := len(b.Files) - len(a.Files); n != 0 {
			return n
		}
		return strings.Compare(a.Package, b.Package)
	})
	return knots, nil
}

func asErrors(of []packages.Error) []error {
	all := make([]error, len(of))
	for i, e := range of {
		all[i] = e
	}
	return all
}

// needs says of each file of a package whose declarations it uses: functions, types, variables, methods and fields. A
// method of an interface belongs to the interface, whoever implements it.
func needs(set *token.FileSet, syntax []*ast.File, p *types.Package, info *types.Info) map[string][]string {
	name := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	all := make(map[string][]string)
	for _, f := range syntax {
		all[name(f.Package)] = nil
	}
	for used, object := range info.Uses {
		if object.Pkg() != p || !object.Pos().IsValid() {
			continue
		}
		user, declared := name(used.Pos()), name(object.Pos())
		if user != declared && !slices.Contains(all[user], declared) {
			all[user] = append(all[user], declared)
		}
	}
	return all
}

// largestKnot returns the largest strongly connected set of the graph, in order; of equally large ones, the first.
func largestKnot(needs map[string][]string) []string {
	var files []string
	reached := make(map[string]map[string]bool)
	for f := range needs {
		files = append(files, f)
		reached[f] = reach(needs, f)
	}
	slices.Sort(files)

	var largest []string
	for _, f := range files {
		together := slices.DeleteFunc(slices.Clone(files), func(g string) bool {
			return !reached[f][g] || !reached[g][f]
		})
		if len(together) > len(largest) {
			largest = together
		}
	}
	return largest
}

// reach returns f and all that it needs.
func reach(needs map[string][]string, f string) map[string]bool {
	seen := map[string]bool{f: true}
	for open := []string{f}; len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		for _, g := range needs[next] {
			if !seen[g] {
				seen[g] = true
				open = append(open, g)
			}
		}
	}
	return seen
}

// checkKnots returns what breaks the rule about them, in the order of knots.
func checkKnots(knots []Knot) (found []string) {
	for _, k := range knots {
		if len(k.Files) > maxKnot {
			found = append(found, fmt.Sprintf("%s: %d files need each other, more than %d: %s",
				k.Package, len(k.Files), maxKnot, strings.Join(k.Files, " ")))
		}
	}
	return found
}
