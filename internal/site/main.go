// Command site writes the documents of this repository as HTML: go run ./internal/site DIRECTORY, from the root. What
// is written needs no server and nothing from elsewhere. The index by question, docs/README.md, is the first page; the
// others keep their places, so that relative links go on to lead where they led. Beside the documents there is one page
// that lists all their headings, to search in. The product does not link it.
package main

import (
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: site DIRECTORY")
	}
	files, err := build(os.DirFS("."))
	for name, text := range files {
		if err == nil {
			err = write(filepath.Join(os.Args[1], filepath.FromSlash(name)), text)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d files are in %s: begin with %s\n", len(files), os.Args[1], filepath.Join(os.Args[1], index))
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// index is where docs/README.md goes, search the page that lists all headings.
const index, search = "index.html", "search.html"

// build returns the site's files: a page for docs/README.md and each document that links lead to from there, and what
// these show or refer to besides (pictures, SQL, policies).
func build(root fs.FS) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	var documents []*document
	todo, seen := []string{"docs/README.md"}, map[string]bool{}
	for len(todo) > 0 {
		source := todo[0]
		todo = todo[1:]
		if seen[source] {
			continue
		}
		seen[source] = true
		text, err := fs.ReadFile(root, source)
		if err != nil {
			return nil, err
		}
		if filepath.Ext(source) != ".md" {
			files[place(source)] = text
			continue
		}

		d, err := read(root, source, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		documents = append(documents, d)
		todo = append(todo, d.targets...)
	}

	// Every page lists all documents, so that none can be laid out before all are known.
	site := grouped(documents)
	for _, d := range documents {
		if files[d.place], err = site.page(d); err != nil {
			return nil, fmt.Errorf("%s: %w", d.source, err)
		}
	}
	files[search], err = site.search()
	return files, err
}
