package arch

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// What docs/papers.md says of an item of a paper has three parts, none of them empty, and the files and tests that it
// names are there.
func TestPapers(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS("../.."), "docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t)
	entries := 0
	for _, entry := range strings.Split(string(text), "\n- ")[1:] {
		entry, _, _ = strings.Cut(entry, "\n\n")
		entries++
		if err := unsaid(strings.Join(strings.Fields(entry), " ")); err != "" {
			t.Errorf("%q: %s", entry, err)
		}
		for _, name := range missing(entry, tests) {
			t.Errorf("%q: there is no %s", entry, name)
		}
	}
	if entries < 70 {
		t.Errorf("%d entries: some are gone", entries)
	}

	// The checks find what they look for.
	if unsaid("**A**. *Code*: x. *Reached*: . *Number*: y.") == "" || unsaid("**A**. *Code*: x. *Number*: y.") == "" {
		t.Error("an entry without a part passes")
	}
	if got := missing("`no/such.go` `TestPapers` `TestNothing` `arch.go`", tests); len(got) != 3 {
		t.Errorf("of three names that are not there %q are missed", got)
	}
}

// unsaid says which part an entry lacks; nothing, if it has all.
func unsaid(entry string) string {
	for _, part := range []string{"*Code*: ", "*Reached*: ", "*Number*: "} {
		_, rest, ok := strings.Cut(entry, part)
		if said, _, _ := strings.Cut(rest, " *"); !ok || len(strings.Trim(said, ". ")) == 0 {
			return "nothing behind " + part
		}
	}
	return ""
}

var paperKey = regexp.MustCompile("^`([^`]+)`\\. \\*Right\\*: `([^`]+)`\\. \\*Wrong\\*: `([^`]+)`\\. " +
	"\\*Through psql\\*: `([^`]+)`\\. \\*For DBAs\\*: \\[[^]]+\\]\\(policy\\.md#[^)]+\\)\\.$")

// Each key of docs/papers.md has a good and a bad file, a test and a link.
func TestPaperKeys(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS("../.."), "docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, keys := declaredTests(t), 0
	for _, entry := range strings.Split(string(text), "\n* ")[1:] {
		m := paperKey.FindStringSubmatch(strings.Join(strings.Fields(entry), " "))
		if m == nil {
			t.Errorf("%q: not a key, two files, a test and a link", entry)
			continue
		}
		keys++
		for _, file := range m[2:4] {
			if _, err := fs.Stat(os.DirFS("../../policy/testdata"), file); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
		}
		if !tests[m[4]] {
			t.Errorf("%s: there is no %s", m[1], m[4])
		}
	}
	if keys < 8 {
		t.Errorf("%d keys: some are gone", keys)
	}
}

var quotedName = regexp.MustCompile("`([^`]*)`")

// missing are the files and tests that an entry names and that are not there.
func missing(entry string, tests map[string]bool) (out []string) {
	for _, m := range quotedName.FindAllStringSubmatch(entry, -1) {
		name := m[1]
		if strings.HasPrefix(name, "Test") && !tests[name] {
			out = append(out, name)
		}
		if path.Ext(name) == ".go" {
			if _, err := fs.Stat(os.DirFS("../.."), name); err != nil {
				out = append(out, name)
			}
		}
	}
	return out
}

var declaredTest = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// declaredTests are the names of all tests.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := walk(os.DirFS("../.."), func(name, text string) error {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range declaredTest.FindAllStringSubmatch(text, -1) {
				out[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
