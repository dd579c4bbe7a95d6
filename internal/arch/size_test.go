package arch

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRepositoryFitsAScreen(t *testing.T) {
	found, err := CheckSizes(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// Each planted excess is found, and it alone.
func TestCheckSizes(t *testing.T) {
	long := func(lines int) string { return "package p\nfunc f() {" + strings.Repeat("\n", lines-1) + "}\n" }
	for _, c := range []struct{ file, text, want string }{
		{"p/p.go", "package p\n\n\t// " + strings.Repeat("x", 113), ""},
		{"p/p.go", "package p\n\n\t// " + strings.Repeat("x", 114), "p/p.go:3: is 121 columns wide, more than 120"},
		{"p/p.md", strings.Repeat("ε", 120), ""},
		{"p/p.md", "\n" + strings.Repeat("ε", 121), "p/p.md:2: is 121 columns wide, more than 120"},
		{"p/p.sh", strings.Repeat("x", 121), ""},
		{"p/testdata/p.md", strings.Repeat("x", 121), ""},
		{"p/p_test.go", long(maxFunction), ""},
		{"p/p_test.go", long(maxFunction + 1), "p/p_test.go:2: f has 81 lines, more than 80"},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		got, err := CheckSizes(fstest.MapFS{c.file: {Data: []byte(c.text)}})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", c.file, got, err, want)
		}
	}
}
