package arch

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// What is measured is what a reader of these few files would count.
func TestMeasure(t *testing.T) {
	long := func(name string, lines int) string {
		return "func " + name + "() {" + strings.Repeat("\n", lines-1) + "}\n"
	}
	repository := fstest.MapFS{
		"p/p.go": {Data: []byte("// Package p is small.\n// It is.\npackage p\n\n/* one\ntwo */\n" +
			"var x = 1 // not a line of its own\n\t/* at a line's beginning */\n" +
			long("just", longFunction) + long("two", longFunction+1) +
			long("three", maxFunction+1))},
		"p/p_test.go":    {Data: []byte("package p\n// " + strings.Repeat("ä", maxColumns-3) + "\n")},
		"test/q/q.go":    {Data: []byte("package q\n\n\t// " + strings.Repeat("x", maxColumns-3-tabColumns) + "\n")},
		"docs/d.md":      {Data: []byte(strings.Repeat("x", maxColumns+1) + "\n\nend without a line's end")},
		".git/p.go":      {Data: []byte("no Go")},
		"p/testdata.sql": {Data: []byte("SELECT\n")},
	}

	got, err := Measure(repository)
	if err != nil {
		t.Fatal(err)
	}
	blank := 1 + longFunction - 2 + longFunction - 1 + maxFunction - 1
	want := Shape{
		Product: Size{Files: 1, Lines: 8 + longFunction + longFunction + 1 + maxFunction + 1, Blank: blank, Comment: 5,
			Long: []string{"p/p.go:69 two (61)", "p/p.go:130 three (81)"}, TooLong: 1,
			Dense: Dense{OneOfTwo: []string{"p/p.go:9 just (60)", "p/p.go:69 two (61)", "p/p.go:130 three (81)"}}},
		Tests:    Size{Files: 2, Lines: 5, Blank: 1, Comment: 2},
		Docs:     Size{Files: 1, Lines: 3, Blank: 1, Wide: 1},
		Packages: 2,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}

	// A function of twenty lines may be one paragraph, and so may a list; what stands behind code is no comment.
	body := func(name string, lines ...string) string {
		return "func " + name + "() {\n" + strings.Join(lines, "\n") + "\n}\n"
	}
	step := strings.TrimSpace(strings.Repeat("x++ // why\n", wordless-2))
	repository = fstest.MapFS{"p.go": {Data: []byte("package p\n" + body("short", step) +
		body("neither", step, "x++") + body("comment", step, "// why", "x++") +
		body("blank", step, "", "x++") + body("both", step, "", "// why", "x++") +
		body("list", "switch x {", "case 1:", step, "x++", "}", "return") +
		body("table", "return &T{", strings.Repeat("1,\n", wordless)+"}"))}}
	if got, err = Measure(repository); err != nil {
		t.Fatal(err)
	}
	if want := (Dense{Both: []string{"p.go:22 neither (21)"}, OneOfTwo: []string{"p.go:43 comment (22)",
		"p.go:65 blank (22)"}}); !reflect.DeepEqual(got.Product.Dense, want) {
		t.Errorf("got %+v\nwant %+v", got.Product.Dense, want)
	}

	repository["p/bad.go"] = &fstest.MapFile{Data: []byte("no Go")}
	if _, err := Measure(repository); err == nil {
		t.Error("a file that does not parse was measured")
	}
}
