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
			Long: []string{"p/p.go:69 two (61)", "p/p.go:130 three (81)"}, TooLong: 1},
		Tests:    Size{Files: 2, Lines: 5, Blank: 1, Comment: 2},
		Docs:     Size{Files: 1, Lines: 3, Blank: 1, Wide: 1},
		Packages: 2,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}

	repository["p/bad.go"] = &fstest.MapFile{Data: []byte("no Go")}
	if _, err := Measure(repository); err == nil {
		t.Error("a file that does not parse was measured")
	}
}
