package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Each recipe has its page, which can be taken apart and is listed; and there is no page that nothing runs.
func TestPages(t *testing.T) {
	dir := filepath.Join(moduleRoot(), "docs/recipes")
	list, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		p, err := readPage(filepath.Join(dir, r.name+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, s := range p.sections {
			if strings.TrimSpace(s.printed) == "" {
				t.Errorf("%s, %s: nothing is printed", r.name, s.title)
			}
		}
		if !strings.Contains(string(list), "("+r.name+".md)") {
			t.Errorf("README.md does not list %s", r.name)
		}
	}

	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if name != "README" && !slices.ContainsFunc(recipes, func(r recipe) bool { return r.name == name }) {
			t.Errorf("%s.md is run by nothing", name)
		}
	}
}

const tool = "# Tool\n\n## On a twin\n\n```sql\na\n```\n\nprints\n\n```text\nA 1\n```\n\n## Error bars\n\n" +
	"```sql\nb\n```\n```text\nB\n```\n\n## With noise\n\n```sql\nc\n```\n\n```text\n```\n"

func TestSplit(t *testing.T) {
	p := &page{file: "tool.md", text: tool}
	if err := p.split(); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3]string{{onTwin, "a\n", "A 1\n"}, {errorBars, "b\n", "B\n"}, {withNoise, "c\n", ""}} {
		if s := p.sections[i]; s.title != want[0] || s.program != want[1] || s.printed != want[2] {
			t.Errorf("section %d is %+v", i, s)
		}
	}
	if got := p.with([]string{"A 1\n", "B\n", ""}); got != tool {
		t.Errorf("written anew it is\n%s", got)
	}
	want := strings.NewReplacer("A 1\n", "A 22\nmore\n", "c\n```\n\n```text\n", "c\n```\n\n```text\nC\n").Replace(tool)
	if got := p.with([]string{"A 22\nmore\n", "B\n", "C\n"}); got != want {
		t.Errorf("with other texts it is\n%s", got)
	}

	for _, broken := range []string{"## On a twin", "```text\nB\n```\n", "```sql\nc\n```\n"} {
		p := &page{file: "tool.md", text: strings.Replace(tool, broken, "", 1)}
		if err := p.split(); err == nil {
			t.Errorf("without %q it is taken for a page", broken)
		}
	}
}

// Two texts have one shape if only what is drawn differs.
func TestShape(t *testing.T) {
	same := [][2]string{
		{"web | 17509 | 3.88\n", "web   |  9  |  -12\n"},
		{" channel |   n\n---------+------\n web | 1\n", " channel | n\n---+---\n web | 22 \n"},
		{"5f0c3bd2-0b7c-4a4e-9b1e-0123456789ab\n", "ffffffff-0b7c-4a4e-9b1e-0123456789ab\n"},
		{"1.5e-7\n", "2\n"},
		{"─┬──┐\n", "───┬─┐\n"},
	}
	for _, c := range same {
		if shape(c[0]) != shape(c[1]) {
			t.Errorf("%q and %q have the shapes %q and %q", c[0], c[1], shape(c[0]), shape(c[1]))
		}
	}
	different := [][2]string{
		{"PV001 refused\n", "PV003 refused\n"},
		{"web | 1\n", "app | 1\n"},
		{"web | 1\napp | 2\n", "web | 1\n"},
		{"true\n", "false\n"},
		{"web | 1\n", "web | NaN\n"},
		{"HINT:  ask\n", "\n"},
	}
	for _, c := range different {
		if shape(c[0]) == shape(c[1]) {
			t.Errorf("%q and %q have one shape, %q", c[0], c[1], shape(c[0]))
		}
	}
}

// What is folded is no wider than a page, and comes back as it was.
func TestFold(t *testing.T) {
	words := strings.Repeat("─ab cdefg ", 40)
	for _, text := range []string{"", "a\n", words + "\n" + words + "end\nmore\n", strings.Repeat("x", 130) + "\n",
		strings.Repeat("x", 120) + "\n"} {
		folded := fold(text)
		if unfold(folded) != text {
			t.Errorf("%q is folded to %q, and comes back as %q", text, folded, unfold(folded))
		}
		for line := range strings.Lines(folded) {
			if strings.Contains(line, " ") && utf8.RuneCountInString(line) > width+1 {
				t.Errorf("a line has %d characters: %q", utf8.RuneCountInString(line)-1, line)
			}
		}
	}
}

// Only the notice is taken out of what is compared with PostgreSQL.
func TestNotice(t *testing.T) {
	const told = "NOTICE:  public.t is answered from its twin: a copy\n"
	for _, c := range [][2]string{
		{"a\npsql:x:3: " + told + "HINT:  Ask.\nb\n", "a\nb\n"},
		{"public.t is answered from its twin: a copy\nNone\nb\n", "b\n"},
		{told + "b\n", "b\n"},
		{"NOTICE:  else\nHINT:  Look.\n", "NOTICE:  else\nHINT:  Look.\n"},
	} {
		if got := notice.ReplaceAllString(c[0], ""); got != c[1] {
			t.Errorf("of %q is left %q", c[0], got)
		}
	}
}
