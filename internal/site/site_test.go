package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	references = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	resources  = regexp.MustCompile(`(?i)<(?:script[^>]+src|link|iframe|object|embed)\b|@import|url\(|src="[a-z]*:?//`)
)

// faults are what is wrong with a site: links and anchors that lead nowhere, and what is loaded from elsewhere.
func faults(files map[string][]byte) (found []string) {
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		if m := resources.Find(text); m != nil {
			found = append(found, name+" loads "+string(m))
		}
		for _, m := range references.FindAllSubmatch(text, -1) {
			link, err := url.PathUnescape(string(m[1]))
			if err != nil || strings.Contains(link, "://") {
				continue // another site's, behind a link that somebody follows
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			there, ok := files[target]
			if !ok || anchor != "" && !strings.Contains(string(there), ` id="`+anchor+`"`) {
				found = append(found, name+" has a link that leads nowhere: "+link)
			}
		}
	}
	return found
}

// Every link and anchor of the site leads somewhere, every document is in it, which is to say that links lead there
// from the index, and nothing is loaded from elsewhere.
func TestSite(t *testing.T) {
	root := os.DirFS("../..")
	files, err := build(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults(files) {
		t.Error(f)
	}
	documents := 0
	err = fs.WalkDir(root, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			documents++
			if _, ok := files[place(name)]; !ok {
				t.Errorf("%s is not reached from the index", name)
			}
		}
		return err
	})
	if err != nil || documents < 20 {
		t.Errorf("%d documents were found: %v", documents, err)
	}
}

// What the test above looks for is found where it is.
func TestFaults(t *testing.T) {
	files, err := build(fstest.MapFS{
		"docs/README.md": {Data: []byte("# A\n\n[b](b.md#here) ![p](https://example.org/p.png) [c](b.md#gone) " +
			"[top](#a)\n")},
		"docs/b.md":     {Data: []byte("# Here\n\n[home](README.md#a)\n")},
		"docs/alone.md": {Data: []byte("# Alone\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := faults(files); len(got) != 2 {
		t.Errorf("found %q, want the picture from elsewhere and the anchor that is gone", got)
	}
	if _, ok := files["docs/alone.html"]; ok {
		t.Error("a document that nothing leads to is in the site")
	}
	if _, err := build(fstest.MapFS{"docs/README.md": {Data: []byte("[x](gone.md)")}}); err == nil {
		t.Error("a link to a file that is not there makes no error")
	}
}
