package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxColumns is the width that code and docs keep to. A tab is tabColumns wide, as most editors show it.
	maxColumns = 120
	tabColumns = 4

	// A function of more than longFunction lines should be two, and none has more than maxFunction.
	longFunction, maxFunction = 60, 80
)

// Size is how much of something there is, in lines; functions are counted from their first line to the last brace.
type Size struct {
	Files, Lines, Blank, Comment, Wide int
	Long                               []string // functions of more than 60 lines: "file.go:12 name (77)"
	TooLong                            int      // those of more than 80
	Dense                              Dense
}

// Shape is what a repository looks like from outside: the measure of how readable it can be.
type Shape struct {
	Product, Tests Size // Go
	Docs           Size // Markdown
	Packages       int  // directories with Go files, those of tests alone as well
}

// Measure reads the repository whose files are in root. An error is that of a file that cannot be read or parsed.
func Measure(root fs.FS) (Shape, error) {
	var s Shape
	packages := make(map[string]bool)
	err := walk(root, func(name, text string) error {
		switch path.Ext(name) {
		case ".md":
			s.Docs.lines(text)
		case ".go":
			packages[path.Dir(name)] = true
			f := file{dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
			if f.test || in(f.dir, "test") {
				return s.Tests.source(name, text)
			}
			return s.Product.source(name, text)
		}
		return nil
	})
	s.Packages = len(packages)
	return s, err
}

// lines counts what needs no grammar.
func (s *Size) lines(text string) {
	s.Files++
	for line := range strings.Lines(text) {
		s.Lines++
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" {
			s.Blank++
		}
		if columns(line) > maxColumns {
			s.Wide++
		}
	}
}

// columns is how wide a line is shown.
func columns(line string) int {
	return utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
}

// source adds a Go file.
func (s *Size) source(name, text string) error {
	s.lines(text)
	files, parsed, err := parse(name, text)
	if err != nil {
		return err
	}

	// A comment behind code on the same line is not a line of comment.
	for _, group := range parsed.Comments {
		for _, c := range group.List {
			at := files.Position(c.Pos())
			if strings.TrimSpace(text[at.Offset-at.Column+1:at.Offset]) == "" {
				s.Comment += 1 + strings.Count(c.Text, "\n")
			}
		}
	}

	for _, f := range longer(longFunction, files, parsed) {
		s.Long = append(s.Long, f.in(name))
		if f.lines > maxFunction {
			s.TooLong++
		}
	}
	s.Dense.add(name, text, files, parsed)
	return nil
}

// extent is where a function begins, and how long it is.
type extent struct {
	name        string
	line, lines int
}

// in is how a report names a function of a file.
func (e extent) in(file string) string {
	return fmt.Sprintf("%s:%d %s (%d)", file, e.line, e.name, e.lines)
}

// longer returns the functions of more than so many lines.
func longer(than int, files *token.FileSet, parsed *ast.File) (found []extent) {
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := files.Position(f.Pos()).Line, files.Position(f.End()).Line
		if n := last - first + 1; n > than {
			found = append(found, extent{f.Name.Name, first, n})
		}
	}
	return found
}

// parse reads a Go file with its comments.
func parse(name, text string) (*token.FileSet, *ast.File, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return files, parsed, err
}

// String is a line of the report.
func (s Size) String() string {
	share := func(n int) float64 { return 100 * float64(n) / float64(max(s.Lines, 1)) }
	return fmt.Sprintf("%5d files %7d lines, %4.1f%% blank, %4.1f%% comment; %4d lines over %d columns; "+
		"%3d functions over %d lines, %d over %d; of those over %d %d without a paragraph and a comment, %d "+
		"without one of the two", s.Files, s.Lines, share(s.Blank), share(s.Comment),
		s.Wide, maxColumns, len(s.Long), longFunction, s.TooLong, maxFunction,
		wordless, len(s.Dense.Both), len(s.Dense.OneOfTwo))
}

// walk calls visit with each text of the repository, in the order of names.
func walk(root fs.FS, visit func(name, text string) error) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin"}, name):
			return fs.SkipDir
		case !d.Type().IsRegular() || name == ".git": // a file, in a work tree of git's beside another
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil || !utf8.Valid(data) {
			return err
		}
		return visit(name, string(data))
	})
}
