package arch

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fences   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	headings = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// Documents of this repository refer to files and headings that exist.
func TestLinks(t *testing.T) {
	root := os.DirFS("../..")
	var files []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(name, ".git")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, name := range files {
		for _, dead := range deadLinks(root, name) {
			t.Errorf("%s: %s leads nowhere", name, dead)
		}
	}
	if len(files) < 10 {
		t.Errorf("only %d documents were found", len(files))
	}
}

// deadLinks returns the targets of links in a document, relative to it, that are no files or no headings of theirs.
func deadLinks(root fs.FS, name string) (dead []string) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return []string{err.Error()}
	}

	for _, m := range links.FindAllStringSubmatch(fences.ReplaceAllString(string(text), ""), -1) {
		// What is on other machines is nothing that this test could know.
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		target := name
		if file != "" {
			target = path.Join(path.Dir(name), file)
		}
		there, err := fs.ReadFile(root, target)
		switch info, statErr := fs.Stat(root, target); {
		case statErr != nil:
			dead = append(dead, m[1])
		case anchor != "" && (info.IsDir() || err != nil || !hasHeading(string(there), anchor)):
			dead = append(dead, m[1])
		}
	}
	return dead
}

func hasHeading(text, anchor string) bool {
	for _, h := range headings.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		if slug(h[1]) == anchor {
			return true
		}
	}
	return false
}

// slug is the anchor of a heading, by the rule of the sites that show these documents: lower case, hyphens for blanks,
// and nothing of the rest but letters, digits, hyphens and underscores.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func TestDeadLinks(t *testing.T) {
	root := os.DirFS("testdata/links")
	got := strings.Join(deadLinks(root, "a.md"), " ")
	if want := "gone.md b.md#nothing #here b.md#in-a-fence"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
