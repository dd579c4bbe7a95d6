package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"path"
	"strings"
)

//go:embed page.html
var pageHTML string

var layout = template.Must(template.New("page").Parse(pageHTML))

// site is all documents, in groups, as the menu of each page lists them.
type site []group

type group struct {
	name      string
	documents []*document
}

// grouped sorts documents by where they stand in the repository, each group in the order in which links lead there.
func grouped(documents []*document) site {
	s := site{{name: "Documents"}, {name: "Theory"}, {name: "Examples"}, {name: "Project"}}
	for _, d := range documents {
		i := 3
		switch {
		case strings.HasPrefix(d.source, "docs/theory/"):
			i = 1
		case strings.HasPrefix(d.source, "docs/"):
			i = 0
		case strings.HasPrefix(d.source, "examples/"):
			i = 2
		}
		s[i].documents = append(s[i].documents, d)
	}
	return s
}

// view is what the layout shows. Links are as they are from the page's place.
type view struct {
	Title, Home, Search string
	Menu                []menu
	Headings            []heading     // of this page
	Body                template.HTML // none: this is the page to search in
	Found               []found       // all that can be searched for there
}

type menu struct {
	Name    string
	Entries []entry
}

type entry struct {
	Title, Link string
	Here        bool // this page
}

// found is something to search for: a question of the index, or a heading with the document in which it stands.
type found struct{ Text, Link, Document string }

// page lays a document out.
func (s site) page(d *document) ([]byte, error) {
	v := view{Title: d.title, Body: d.body}
	for _, h := range d.headings {
		if h.Level == 2 {
			v.Headings = append(v.Headings, h)
		}
	}
	return s.render(v, d.place)
}

// search lays out the page with all questions and headings. It is a list without any script, and one that a field above
// it shortens with it.
func (s site) search() ([]byte, error) {
	v := view{Title: "Search"}
	for _, g := range s {
		for _, d := range g.documents {
			for _, q := range d.questions {
				v.Found = append(v.Found, found{q.Text, q.Link, "By question"})
			}
			v.Found = append(v.Found, found{d.title, d.place, ""})
			for _, h := range d.headings {
				v.Found = append(v.Found, found{h.Text, d.place + "#" + h.ID, d.title})
			}
		}
	}
	return s.render(v, search)
}

// render fills the layout for a page at a place.
func (s site) render(v view, at string) ([]byte, error) {
	var err error
	link := func(to string) string {
		there, failed := relative(at, to)
		if failed != nil {
			err = failed
		}
		return there
	}

	// Every page can be opened as a file, so that links are relative to it.
	v.Home, v.Search = link(index), link(search)
	for _, g := range s {
		m := menu{Name: g.name}
		for _, d := range g.documents {
			m.Entries = append(m.Entries, entry{d.name(), link(d.place), d.place == at})
		}
		if len(m.Entries) > 0 {
			v.Menu = append(v.Menu, m)
		}
	}
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	err = layout.Execute(&out, v)
	return out.Bytes(), err
}

// name is a document's title as a menu has it: an example's is that of its directory, as titles there are sentences.
func (d *document) name() string {
	if strings.HasPrefix(d.source, "examples/") {
		return path.Base(path.Dir(d.source))
	}
	return d.title
}
