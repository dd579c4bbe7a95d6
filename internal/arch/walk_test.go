package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// maxWalk is how many files a statement may pass on its way.
const maxWalk = 25

// docs/architecture.md says which files an ordinary aggregate of a protected table passes.
func TestWalk(t *testing.T) {
	root := os.DirFS("../..")
	text, err := fs.ReadFile(root, "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := readWalk(string(text))
	if len(steps) < 15 {
		t.Fatalf("only %d steps were found", len(steps))
	}
	for _, finding := range checkWalk(root, steps) {
		t.Error(finding)
	}
}

// step is a function that a statement comes to: called by the step of a lesser depth that was named last before it.
type step struct {
	depth          int
	file, function string
}

var stepItem = regexp.MustCompile("(?m)^( *)- `([a-z0-9_/]+\\.go)` `([A-Za-z0-9_]+)`")

// readWalk returns the steps of the list in the section "A statement's walk".
func readWalk(text string) (out []step) {
	_, section, _ := strings.Cut(text, "\n## A statement's walk\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range stepItem.FindAllStringSubmatch(section, -1) {
		out = append(out, step{len(m[1]) / 2, m[2], m[3]})
	}
	return out
}

// checkWalk looks whether each function is where the list says, and whether the one above it calls it, in the order of
// the list. Calls are told by their names: what an interface hides is found all the same.
func checkWalk(root fs.FS, steps []step) (findings []string) {
	files := map[string]bool{}
	type open struct {
		step
		body *ast.BlockStmt
		at   token.Pos // behind the call of the step below it that was named last
	}
	var above []open
	for _, s := range steps {
		files[s.file] = true
		body, err := function(root, s.file, s.function)
		if err != nil {
			findings = append(findings, err.Error())
			continue
		}

		for len(above) > 0 && above[len(above)-1].depth >= s.depth {
			above = above[:len(above)-1]
		}
		if len(above) > 0 {
			caller := &above[len(above)-1]
			if at := call(caller.body, s.function, caller.at); at.IsValid() {
				caller.at = at
			} else {
				findings = append(findings, fmt.Sprintf("%s: %s does not call %s, or not in this order", caller.file,
					caller.function, s.function))
			}
		}
		above = append(above, open{step: s, body: body})
	}
	if len(files) > maxWalk {
		findings = append(findings, fmt.Sprintf("the walk passes %d files, more than %d", len(files), maxWalk))
	}
	return findings
}

// function returns the body of a function or method of a file.
func function(root fs.FS, file, name string) (*ast.BlockStmt, error) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name && fn.Body != nil {
			return fn.Body, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no function %s", file, name)
}

// call returns the place of the first use of a function behind a place of a body, whether it is called there or handed
// over.
func call(body *ast.BlockStmt, name string, behind token.Pos) (at token.Pos) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name && id.Pos() > behind && !at.IsValid() {
			at = id.Pos()
		}
		return true
	})
	return at
}

func TestCheckWalk(t *testing.T) {
	walk := readWalk("# A\n\n## A statement's walk\nText.\n\n- `a.go` `f`: begins\n  - `a.go` `g`, then\n" +
		"    - `b.go` `h`\n  - `b.go` `m`\n\n## More\n- `c.go` `x`\n")
	if len(walk) != 4 || walk[2] != (step{2, "b.go", "h"}) {
		t.Fatalf("read %v", walk)
	}
	for _, c := range []struct{ name, a, want string }{
		{"as it is", "func f() { g(); t.m() }\nfunc g() { defer h() }", ""},
		{"handed over", "func f() { each(g); t.m() }\nfunc g() { h() }", ""},
		{"gone", "func f() { g(); t.m() }",
			"a.go: there is no function g; a.go: f does not call h, or not in this order"},
		{"not called", "func f() { g(); t.m() }\nfunc g() { }", "a.go: g does not call h, or not in this order"},
		{"in another order", "func f() { t.m(); g() }\nfunc g() { h() }",
			"a.go: f does not call m, or not in this order"},
	} {
		root := os.DirFS(t.TempDir())
		write(t, root, "a.go", "package p\n"+c.a)
		write(t, root, "b.go", "package p\nfunc h() {}\nfunc (T) m() {}")
		if got := strings.Join(checkWalk(root, walk), "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func write(t *testing.T, root fs.FS, name, text string) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("%s/%s", root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
