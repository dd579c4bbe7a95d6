package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// CheckDocs returns the packages without a comment and the exported names without one, in the repository whose files
// are in root: one line each, in order. A comment on a block of constants, variables or aliases is one on each of them,
// and a comment at the end of a line counts. Fields may go without. Tests are asked for nothing, and nor are names of a
// program, which nobody can import.
func CheckDocs(root fs.FS) ([]string, error) {
	var found []string
	commented := make(map[string]bool) // by directory
	err := walk(root, func(name, text string) error {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			return nil
		}
		files, parsed, err := parse(name, text)
		if err != nil {
			return err
		}

		dir := path.Dir(name)
		commented[dir] = commented[dir] || parsed.Doc != nil
		if parsed.Name.Name == "main" {
			return nil
		}
		for _, id := range undocumented(parsed) {
			found = append(found, fmt.Sprintf("%s: %s has no comment", files.Position(id.Pos()), id.Name))
		}
		return nil
	})

	// One file with a package comment is enough for all.
	for dir, is := range commented {
		if !is {
			found = append(found, dir+": no file of the package has a comment on it")
		}
	}
	slices.Sort(found)
	return found, err
}

// undocumented returns the exported names that a file declares at its top without a comment.
func undocumented(f *ast.File) (names []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && reachable(d.Recv) {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			if d.Doc == nil || d.Tok == token.TYPE && !onlyAliases(d.Specs) && d.Lparen.IsValid() {
				names = append(names, undocumentedSpecs(d.Specs)...)
			}
		}
	}
	return names
}

// undocumentedSpecs is undocumented for what stands in one declaration that has no comment of its own.
func undocumentedSpecs(specs []ast.Spec) (names []*ast.Ident) {
	for _, s := range specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
				names = append(names, s.Name)
			}
		case *ast.ValueSpec:
			if s.Doc != nil || s.Comment != nil {
				continue
			}
			for _, id := range s.Names {
				if id.IsExported() {
					names = append(names, id)
				}
			}
		}
	}
	return names
}

// onlyAliases reports whether a declaration gives types other names and nothing else.
func onlyAliases(specs []ast.Spec) bool {
	return !slices.ContainsFunc(specs, func(s ast.Spec) bool {
		t, ok := s.(*ast.TypeSpec)
		return !ok || !t.Assign.IsValid()
	})
}

// reachable reports whether a function is no method, or one of an exported type.
func reachable(receiver *ast.FieldList) bool {
	if receiver == nil {
		return true
	}
	t := receiver.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
