package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocs keeps docs/policy.md in step with the decoder: every key has its row, and the example is the tested one.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, l := range leaves {
		row := "\n| `" + l.path + "` | `" + variable(l.path) + "` |"
		_, rest, ok := strings.Cut(doc, row)
		if !ok {
			t.Errorf("no row for %s", l.path)
			continue
		}
		rest, _, _ = strings.Cut(rest, "\n")
		if cells := strings.Split(rest, " | "); (strings.TrimSpace(cells[1]) == "required") != (l.need != "") {
			t.Errorf("%s: the default %s is wrong", l.path, cells[1])
		}
	}
	_, rest, _ := strings.Cut(doc, "```yaml\nlisten:")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	got, err := Parse("testdata/fugu.good.yaml", []byte("listen:"+block), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := example(); !reflect.DeepEqual(got, want) {
		t.Errorf("the example differs from testdata/fugu.good.yaml: %#v", got)
	}
}

// TestDocumentedDefaults reads the documentation's defaults as if they were written in the file.
func TestDocumentedDefaults(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, l := range leaves {
		_, rest, _ := strings.Cut(string(data), "| `"+variable(l.path)+"` |")
		rest, _, _ = strings.Cut(rest, "\n")
		cells := strings.Split(rest, " | ")
		value, isDefault := strings.CutPrefix(strings.TrimSpace(cells[1]), "`")
		if !isDefault {
			continue
		}
		checked++
		c := defaults()
		l.set(c, setting{path: l.path, text: strings.TrimSuffix(value, "`"), bad: func(_, format string, args ...any) { t.Errorf(format, args...) }})
		if !reflect.DeepEqual(c, defaults()) {
			t.Errorf("%s: documented default %s is not the default", l.path, value)
		}
	}
	if checked != 13 {
		t.Errorf("%d defaults documented", checked)
	}
}
