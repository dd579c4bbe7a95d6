package arch

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

func TestRepositoryIsDocumented(t *testing.T) {
	found, err := CheckDocs(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// Each planted omission is found, and it alone.
func TestCheckDocs(t *testing.T) {
	const comment = "// Package p is a test's.\npackage p\n"
	for _, c := range []struct{ file, text, want string }{
		{"p/p.go", "package p", "p: no file of the package has a comment on it"},
		{"p/p_test.go", "package p\nfunc F() {}", ""},
		{"p/testdata/p.go", "package p\nfunc F() {}", ""},
		{"p/p.go", "// Command p is a test's.\npackage main\nfunc F() {}", ""},
		{"p/p.go", comment + "func F() {}", "p/p.go:3:6: F has no comment"},
		{"p/p.go", comment + "// F is documented.\nfunc F() {}\nfunc f() {}", ""},
		{"p/p.go", comment + "type T int", "p/p.go:3:6: T has no comment"},
		{"p/p.go", comment + "// All of these are.\ntype (\n\tT int\n)", "p/p.go:5:2: T has no comment"},
		{"p/p.go", comment + "// Other names.\ntype (\n\tT = int\n)", ""},
		{"p/p.go", comment + "type (\n\t// T is.\n\tT int\n\tu int\n)", ""},
		{"p/p.go", comment + "const A, b = 1, 2", "p/p.go:3:7: A has no comment"},
		{"p/p.go", comment + "// All of these are.\nconst (\n\tA = 1\n\tB = 2\n)", ""},
		{"p/p.go", comment + "var (\n\tA = 1 // is\n\tB = 2\n)", "p/p.go:5:2: B has no comment"},
		{"p/p.go", comment + "// T is.\ntype T[X any] int\nfunc (*T[X]) M() {}", "p/p.go:5:14: M has no comment"},
		{"p/p.go", comment + "type t int\nfunc (t) M() {}\nfunc (*t) N() {}", ""},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		got, err := CheckDocs(fstest.MapFS{c.file: {Data: []byte(c.text)}})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", c.text, got, err, want)
		}
	}
	if _, err := CheckDocs(fstest.MapFS{"p/p.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that does not parse was accepted")
	}
}
