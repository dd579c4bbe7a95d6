package arch

import (
	"go/ast"
	"go/token"
	"strings"
)

// A function of more than wordless lines should have paragraphs, and say why before what is not obvious.
const wordless = 20

// Dense are functions of more than 20 lines whose body is one paragraph or says nothing: "file.go:12 name (34)". Those
// that are lists are left out.
type Dense struct {
	Both     []string // that have neither a blank line nor a comment
	OneOfTwo []string // that have one of the two
}

// isList reports whether a body is one switch, or one literal, with a step or two around it: its cases are its
// paragraphs.
func isList(body *ast.BlockStmt) bool {
	lists := 0
	for _, s := range body.List {
		switch x := s.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			lists++
		case *ast.ReturnStmt:
			if len(x.Results) == 1 && isLiteral(x.Results[0]) {
				lists++
			}
		}
	}
	return lists == 1 && len(body.List) <= 3
}

func isLiteral(e ast.Expr) bool {
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = u.X
	}
	_, ok := e.(*ast.CompositeLit)
	return ok
}

// add adds those of a file.
func (d *Dense) add(name, text string, files *token.FileSet, parsed *ast.File) {
	lines := strings.Split(text, "\n")
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
		if last-first+1 <= wordless || isList(f.Body) {
			continue
		}

		// The lines of a body, without those of its braces; what stands in a literal counts as well.
		blank, comment := false, false
		for _, line := range lines[files.Position(f.Body.Lbrace).Line : last-1] {
			line = strings.TrimSpace(line)
			blank = blank || line == ""
			comment = comment || strings.HasPrefix(line, "//")
		}
		at := extent{f.Name.Name, first, last - first + 1}.in(name)
		switch {
		case !blank && !comment:
			d.Both = append(d.Both, at)
		case !blank || !comment:
			d.OneOfTwo = append(d.OneOfTwo, at)
		}
	}
}
