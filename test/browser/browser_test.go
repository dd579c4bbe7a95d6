//go:build !byday

package browser

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func show(t *testing.T, p *Page, html string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte("<!doctype html><html lang=en><meta charset=utf-8>"+html), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Go(t, (&url.URL{Scheme: "file", Path: file}).String())
}

// What is wrong with a page is found, and nothing on one with which nothing is.
func TestPage(t *testing.T) {
	p := Open(t, Screen{Width: 360, Height: 640, Dark: true})
	show(t, p, `<style>body { color: #767676; background: #fff } h1 { color: #949494; font-size: 32px }</style>
		<h1>Large</h1><p>Just enough</p><div style="overflow-x: auto"><pre style="width: 900px">wide</pre></div>`)
	if got := p.Faint(t); len(got) != 0 {
		t.Errorf("faint: %q", got)
	}
	if n := p.Overflow(t); n != 0 {
		t.Errorf("it is wider by %d", n)
	}
	if got := p.Problems(); got != "" {
		t.Errorf("the console has %q", got)
	}
	if !Eval[bool](t, p, "matchMedia('(prefers-color-scheme: dark)').matches && innerWidth === 360") {
		t.Error("it is not the screen that was asked for")
	}

	show(t, p, `<style>body { background: #fff } p { color: #777 } b { color: rgb(0 0 0 / 50%) }</style>
		<p>too faint</p><b>half of it</b><pre style="width: 900px">wide</pre>
		<script>console.error('an error'); nothing()</script>`)
	if got := strings.Join(p.Faint(t), "\n"); !strings.Contains(got, "4.48: too faint") ||
		!strings.Contains(got, "3.98: half of it") || strings.Contains(got, "wide") {
		t.Errorf("faint: %q", got)
	}
	if p.Overflow(t) <= 0 {
		t.Error("it is not wider than the screen")
	}
	if got := p.Problems(); !strings.Contains(got, "an error") || !strings.Contains(got, "nothing is not defined") {
		t.Errorf("the console has %q", got)
	}

	file := filepath.Join(t.TempDir(), "shots", "page.png")
	p.Shoot(t, file)
	if image, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(image), "\x89PNG") {
		t.Errorf("no picture: %v", err)
	}
}
