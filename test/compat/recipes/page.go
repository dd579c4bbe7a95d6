package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The sections of a page, in this order. What the first says has to come out of PostgreSQL as well; the second asks
// for what only Fugu has, and the third asks tables that are answered with noise.
const (
	onTwin    = "On a twin"
	errorBars = "Error bars"
	withNoise = "With noise"
)

// section is a program of a page and what the page says that it prints.
type section struct {
	title         string
	program       string
	printed       string
	before, after int // where printed stands in the text of the page
}

// page is a recipe: a document whose programs run.
type page struct {
	file, text string
	sections   []section
}

// fenced is a program, and the text that it prints in the next fence of the section.
var fenced = regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```\n")

// readPage takes a page apart.
func readPage(file string) (*page, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &page{file: file, text: string(content)}
	return p, p.split()
}

func (p *page) split() error {
	for _, title := range []string{onTwin, errorBars, withNoise} {
		start := strings.Index(p.text, "\n## "+title+"\n")
		if start < 0 {
			return fmt.Errorf("%s: there is no section %q", p.file, title)
		}
		end := len(p.text)
		if next := strings.Index(p.text[start+1:], "\n## "); next >= 0 {
			end = start + 1 + next + 1
		}

		fences := fenced.FindAllStringSubmatchIndex(p.text[start:end], -1)
		language := func(i int) string { return p.text[start+fences[i][2] : start+fences[i][3]] }
		if len(fences) != 2 || language(0) == "text" || language(1) != "text" {
			return fmt.Errorf("%s, %s: want a program in a fence, and behind it what it prints in one of text",
				p.file, title)
		}
		program, printed := fences[0], fences[1]
		p.sections = append(p.sections, section{title: title,
			program: p.text[start+program[4] : start+program[5]],
			printed: unfold(p.text[start+printed[4] : start+printed[5]]),
			before:  start + printed[4], after: start + printed[5]})
	}
	return nil
}

// with is the page with other texts in the place of what its programs print, one for each section.
func (p *page) with(printed []string) string {
	var out strings.Builder
	from := 0
	for i, s := range p.sections {
		out.WriteString(p.text[from:s.before])
		out.WriteString(fold(printed[i]))
		from = s.after
	}
	return out.String() + p.text[from:]
}

// Lines that are too long for a page go on in the next, behind a mark.
const (
	width = 120
	goes  = "\n↳ "
)

// fold breaks lines at spaces.
func fold(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		for room := width; utf8.RuneCountInString(line) > room+1; room = width - 2 {
			runes := []rune(line)
			at := strings.LastIndex(string(runes[:room+1]), " ")
			if at <= 0 {
				break
			}
			out.WriteString(line[:at] + goes)
			line = line[at+1:]
		}
		out.WriteString(line)
	}
	return out.String()
}

// unfold is the other way round.
func unfold(text string) string { return strings.ReplaceAll(text, goes, " ") }

// What a build of a twin or noise draws, and what follows from it in a drawn table: numbers, keys, and how wide columns
// are.
var (
	keys    = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
	numbers = regexp.MustCompile(`-?\b[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?\b`)
	widths  = regexp.MustCompile(`[ \t]+`)
	rules   = regexp.MustCompile(`[-─]+`)
	ends    = regexp.MustCompile(` *\n`)
)

// shape is what of a text depends on no chance. Two texts of one shape differ by values alone.
func shape(text string) string {
	text = keys.ReplaceAllString(text, "KEY")
	text = numbers.ReplaceAllString(text, "N")
	text = rules.ReplaceAllString(text, "-")
	text = widths.ReplaceAllString(text, " ")
	return ends.ReplaceAllString(text, "\n")
}

// tidy is a program's output as a page has it: no space at the ends of lines, one newline at its end.
func tidy(output string) string {
	output = strings.ReplaceAll(output, "\r\n", "\n")
	return strings.TrimRight(ends.ReplaceAllString(output+"\n", "\n"), "\n") + "\n"
}
