package main

import (
	"bytes"
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

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// document is one Markdown file, read.
type document struct {
	source, place string // in the repository, and in the site
	title         string
	body          template.HTML // of this repository's documents, in which raw HTML is left out
	headings      []heading     // below the title
	questions     []question    // where it is the index
	targets       []string      // files of the repository that it leads to
}

// heading is one below a document's title.
type heading struct {
	Level    int
	Text, ID string
}

// question is an entry of a list: its words, and where its first link leads, from the document's place.
type question struct{ Text, Link string }

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

// read takes a document apart and renders its body, with links as they are in the site.
func read(root fs.FS, source string, content []byte) (*document, error) {
	d := &document{source: source, place: place(source)}
	ids := parser.WithContext(parser.NewContext(parser.WithIDs(slugs{})))
	tree := markdown.Parser().Parse(text.NewReader(content), ids)
	if err := d.redirect(root, tree); err != nil {
		return nil, err
	}
	d.collect(tree, content)

	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, content, tree); err != nil {
		return nil, err
	}
	d.body = template.HTML(body.String())
	return d, nil
}

// redirect has the links and pictures of a document lead to their places in the site, and notes which files they are.
func (d *document) redirect(root fs.FS, tree ast.Node) error {
	return ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var destination *[]byte
		switch n := n.(type) {
		case *ast.Link:
			destination = &n.Destination
		case *ast.Image:
			destination = &n.Destination
		}
		if !entering || destination == nil || strings.Contains(string(*destination), "://") {
			return ast.WalkContinue, nil
		}

		// What leads out of the site stays as it is.
		link, target, err := lead(root, d.source, string(*destination))
		if target != "" {
			d.targets = append(d.targets, target)
		}
		*destination = []byte(link)
		return ast.WalkContinue, err
	})
}

// collect notes title, headings and, in the index, questions. Each heading below the title gets a link to itself behind
// it, which readers copy.
func (d *document) collect(tree ast.Node, source []byte) {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			words := plain(n, source)
			if d.title == "" {
				d.title = words
				continue
			}

			// The anchor is behind the heading, which keeps its own text for lists of headings.
			id, _ := n.AttributeString("id")
			h := heading{n.Level, words, string(id.([]byte))}
			d.headings = append(d.headings, h)

			link := ast.NewLink()
			link.Destination = []byte("#" + h.ID)
			link.SetAttributeString("class", []byte("anchor"))
			link.Title = []byte("Link to this section")
			link.AppendChild(link, ast.NewString([]byte("#")))
			n.AppendChild(n, link)
		case *ast.List:
			for item := n.FirstChild(); item != nil && d.place == index; item = item.NextSibling() {
				if link := firstLink(item); link != "" {
					d.questions = append(d.questions, question{plain(item, source), link})
				}
			}
		}
	}
}

// plain is the text below a node, without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// firstLink is where the first link below a node leads; none: nothing.
func firstLink(n ast.Node) (destination string) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			destination = string(l.Destination)
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return destination
}

// lead is where a link of a document leads in the site, and to which file of the repository; none: to the same page.
func lead(root fs.FS, source, link string) (there, target string, err error) {
	file, anchor, has := strings.Cut(link, "#")
	if file == "" {
		return link, "", nil
	}

	// A link that leads nowhere is an error: the site is made only whole.
	target = path.Join(path.Dir(source), file)
	info, err := fs.Stat(root, target)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		target = path.Join(target, "README.md")
		if _, err := fs.Stat(root, target); err != nil {
			return "", "", fmt.Errorf("the link %s leads to a directory without a README.md", link)
		}
	}

	there, err = relative(place(source), place(target))
	if has {
		there += "#" + anchor
	}
	return there, target, err
}

// relative is the link from one place of the site to another.
func relative(from, to string) (string, error) {
	there, err := filepath.Rel(path.Dir(from), to)
	return filepath.ToSlash(there), err
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
