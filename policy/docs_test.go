package policy

import (
	"os"
	"strings"
	"testing"
)

// TestDocs keeps docs/policy.md in step with the decoder: every key has its entry, every word is there, and the example
// is the tested one.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for section, names := range keys {
		for _, name := range names {
			if section != "" {
				name = section + "." + name
			}
			if !strings.Contains(doc, "\n- `"+name+"` (") {
				t.Errorf("no entry for %s", name)
			}
		}
	}
	for path, list := range words {
		for _, word := range list {
			if !strings.Contains(doc, "`"+word+"`") {
				t.Errorf("%s: no mention of %s", path, word)
			}
		}
	}
	_, rest, _ := strings.Cut(doc, "```yaml\nversion:")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	example, err := Parse("docs/policy.md", []byte("version:"+block))
	if err != nil {
		t.Fatal(err)
	}
	if tested := load(t, "testdata/adult.good.yaml"); example.Fingerprint != tested.Fingerprint {
		t.Error("the example differs from testdata/adult.good.yaml")
	}
}

// TestKeysAreRead gives every known key a value that no key takes; a key without a finding is one that nobody reads.
func TestKeysAreRead(t *testing.T) {
	for section, names := range keys {
		for _, name := range names {
			text := nested(section, name)
			_, err := Parse("f", []byte(text))
			if err == nil || !strings.Contains(err.Error(), "."+name) && !strings.Contains(err.Error(), ": "+name) {
				t.Errorf("%s.%s: nothing reads it: %v", section, name, err)
			}
			if err != nil && strings.Contains(err.Error(), "unknown key") {
				t.Errorf("%s.%s: %v", section, name, err)
			}
		}
	}
}

// nested writes a file that has nothing but one key, with a value of no use: [[[]]].
func nested(section, name string) string {
	var b strings.Builder
	indent := ""
	if section != "" {
		for _, part := range strings.Split(section, ".") {
			if part == "*" {
				part = "x"
			}
			b.WriteString(indent + part + ":\n")
			indent += "  "
		}
	}
	b.WriteString(indent + name + ": [[[]]]\n")
	return b.String()
}
