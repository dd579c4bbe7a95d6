package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocs keeps docs/policy.md in step with the decoder: every key has its entry, and the example is the tested one.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, l := range leaves {
		standard, ok := documented(doc, l.path)
		if !ok {
			t.Errorf("no entry for %s", l.path)
		} else if (standard == "required") != (l.need != "") {
			t.Errorf("%s: the default %s is wrong", l.path, standard)
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

// documented returns what the documentation says of a key without a value: "required", or the default as it is written.
func documented(doc, path string) (standard string, ok bool) {
	_, entry, ok := strings.Cut(strings.ReplaceAll(doc, "\n  ", " "), "\n- `"+path+"` (`"+variable(path)+"`; ")
	entry, _, closed := strings.Cut(entry, "): ")
	parts := strings.Split(entry, "; ")
	return strings.TrimPrefix(parts[len(parts)-1], "default "), ok && closed
}

// TestDocumentedDefaults reads the documentation's defaults as if they were written in the file.
func TestDocumentedDefaults(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, l := range leaves {
		standard, _ := documented(string(data), l.path)
		value, isDefault := strings.CutPrefix(standard, "`")
		if !isDefault {
			continue
		}
		checked++
		c := defaults()
		l.set(c,
			setting{path: l.path, text: strings.TrimSuffix(value, "`"),
				bad: func(_, format string, args ...any) { t.Errorf(format, args...) }})
		if !reflect.DeepEqual(c, defaults()) {
			t.Errorf("%s: documented default %s is not the default", l.path, value)
		}
	}
	if checked != 18 {
		t.Errorf("%d defaults documented", checked)
	}
}
