//go:build !byday

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"fugu/test/browser"
	"fugu/test/nightly"
)

// byDay are pages with all that is on others: wide tables, long lines of code and pictures.
var byDay = []string{"docs/architecture.html", "docs/choosing.html", "index.html", "search.html"}

// screens are those on which pages are looked at.
var screens = []browser.Screen{
	{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true},
	{Width: 360, Height: 740}, {Width: 360, Height: 740, Dark: true},
}

// written is the site in a directory, and the addresses of its pages there.
func written(t *testing.T) (dir string, pages []string) {
	t.Helper()
	files, err := build(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, text := range files {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".html") {
			pages = append(pages, name)
		}
	}
	slices.Sort(pages)
	return dir, pages
}

func address(dir, page string) string {
	return (&url.URL{Scheme: "file", Path: filepath.Join(dir, page)}).String()
}

// On every screen no page is wider than it, no text is faint, every picture is there, and the console is silent; by day
// of some pages. With SHOTS=directory pictures of what is shown are kept there.
func TestPagesInABrowser(t *testing.T) {
	dir, pages := written(t)
	if !nightly.Is() {
		pages = byDay
	}
	for _, screen := range screens {
		t.Run(screen.String(), func(t *testing.T) {
			p := browser.Open(t, screen)
			for _, name := range pages {
				p.Go(t, address(dir, name))
				if n := p.Overflow(t); n != 0 {
					t.Errorf("%s is wider than the screen by %d pixels", name, n)
				}
				if faint := p.Faint(t); len(faint) > 0 {
					t.Errorf("%s has faint text: %q", name, faint)
				}
				const broken = "[...document.images].filter(i => !i.naturalWidth || !i.alt).map(i => i.src)"
				if images := browser.Eval[[]string](t, p, broken); len(images) > 0 {
					t.Errorf("%s has pictures that are not there, or without words: %q", name, images)
				}
				if shots := os.Getenv("SHOTS"); shots != "" {
					file := strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-")
					p.Shoot(t, filepath.Join(shots, file+"-"+screen.String()+".png"))
				}
			}
			if problems := p.Problems(); problems != "" {
				t.Errorf("the console has %s", problems)
			}
		})
	}
}

// What is looked for is found: what a question of the index says, and a heading, each by any of its words.
func TestSearchInABrowser(t *testing.T) {
	dir, _ := written(t)
	p := browser.Open(t, screens[0])
	const shown = `[...document.querySelectorAll('.found li:not([hidden]) a')].map(a => a.textContent + ' ' +
		a.getAttribute('href'))`

	// From any page by its field, as a form that is sent.
	p.Go(t, address(dir, "docs/theory/twin.html"))
	p.Do(t, chromedp.SendKeys("input[type=search]", "misleads REFERENCE", chromedp.ByQuery),
		chromedp.Submit("input[type=search]", chromedp.ByQuery), chromedp.WaitVisible("#count", chromedp.ByQuery))
	if got := strings.Join(browser.Eval[[]string](t, p, shown), "\n"); !strings.Contains(got,
		"What if the reference misleads? A reference that misleads docs/policy.html#a-reference-that-misleads") ||
		strings.Contains(got, "Glossary") {
		t.Errorf("found\n%s", got)
	}

	// And while it is typed.
	all := len(browser.Eval[[]string](t, p, shown))
	browser.Eval[string](t, p, "document.querySelector('input').value = ''")
	p.Do(t, chromedp.SendKeys("input[type=search]", "zzz", chromedp.ByQuery))
	if got := browser.Eval[[]string](t, p, shown); len(got) != 0 || all == 0 {
		t.Errorf("%d were found, and by no word %q", all, got)
	}
	if problems := p.Problems(); problems != "" {
		t.Errorf("the console has %s", problems)
	}
}
