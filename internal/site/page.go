package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var pageHTML string

var (
	layout   = template.Must(template.New("page").Parse(pageHTML))
	markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
)

// place is where a file of the repository goes in the site.
func place(source string) string {
	if source == "docs/README.md" {
		return index
	}
	if name, ok := strings.CutSuffix(source, ".md"); ok {
		return name + ".html"
	}
	return source
}

// page makes a page of a document, and says which files of the repository it leads to.
func page(root fs.FS, source string, document []byte) (html []byte, targets []string, err error) {
	ids := parser.WithContext(parser.NewContext(parser.WithIDs(slugs{})))
	tree := markdown.Parser().Parse(text.NewReader(document), ids)
	title := ""
	err = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var destination *[]byte
		switch n := n.(type) {
		case *ast.Heading:
			if title == "" {
				title = string(n.Lines().Value(document))
			}
		case *ast.Link:
			destination = &n.Destination
		case *ast.Image:
			destination = &n.Destination
		}
		if destination == nil || strings.Contains(string(*destination), "://") {
			return ast.WalkContinue, nil
		}

		link, target, err := lead(root, source, string(*destination))
		if target != "" {
			targets = append(targets, target)
		}
		*destination = []byte(link)
		return ast.WalkContinue, err
	})
	if err != nil {
		return nil, nil, err
	}

	var body, out bytes.Buffer
	if err := markdown.Renderer().Render(&body, document, tree); err != nil {
		return nil, nil, err
	}
	home, err := filepath.Rel(path.Dir(place(source)), index)
	if err != nil {
		return nil, nil, err
	}
	err = layout.Execute(&out, struct {
		Title, Home string
		Body        template.HTML // of this repository's documents, in which raw HTML is left out
	}{title, filepath.ToSlash(home), template.HTML(body.String())})
	return out.Bytes(), targets, err
}

// lead is where a link of a document leads in the site, and to which file of the repository; none: to the same page.
func lead(root fs.FS, source, link string) (there, target string, err error) {
	file, anchor, has := strings.Cut(link, "#")
	if file == "" {
		return link, "", nil
	}

	// A link to nothing stops the building of the site.
	target = path.Join(path.Dir(source), file)
	info, err := fs.Stat(root, target)
	if err != nil {
		return "", "", err
	}

	// A directory is shown by its README, as the hosts of repositories do.
	if info.IsDir() {
		target = path.Join(target, "README.md")
		if _, err := fs.Stat(root, target); err != nil {
			return "", "", fmt.Errorf("the link %s leads to a directory without a README.md", link)
		}
	}

	there, err = filepath.Rel(path.Dir(place(source)), place(target))
	there = filepath.ToSlash(there)
	if has {
		there += "#" + anchor
	}
	return there, target, err
}

// slugs names headings as the links of the documents expect it: lower case, hyphens for blanks, and nothing of the rest
// but letters, digits, hyphens and underscores. It has the names of one page.
type slugs map[string]bool

// Generate implements parser.IDs.
func (s slugs) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(heading))
	unique := name
	for i := 1; s[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	s[unique] = true
	return []byte(unique)
}

// Put implements parser.IDs.
func (s slugs) Put(name []byte) { s[string(name)] = true }
