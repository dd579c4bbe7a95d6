package sqlsupport

import (
	"strings"
	"unicode/utf8"
)

// columns is how wide a line of the page is at most, but for words and code that are longer.
const columns = 118

// page is a document that is written from top to bottom.
type page struct{ strings.Builder }

// heading begins a section: ## for level 2.
func (p *page) heading(level int, title string) {
	p.WriteString("\n" + strings.Repeat("#", level) + " " + title + "\n\n")
}

// paragraph writes a text in lines of the page's width.
func (p *page) paragraph(text string) { p.WriteString(wrap(text, "") + "\n") }

// item writes an item of a list.
func (p *page) item(text string) { p.WriteString("- " + wrap(text, "  ")[2:] + "\n") }

// statement writes SQL as it would be typed.
func (p *page) statement(sql string) { p.WriteString("\n```sql\n" + sql + "\n```\n") }

// wrap breaks a text between words; what stands between backquotes is one word. Each line begins with indent.
func wrap(text, indent string) string {
	var b strings.Builder
	b.WriteString(indent)
	at := utf8.RuneCountInString(indent)
	for i, word := range words(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > columns:
			b.WriteString("\n" + indent)
			at = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// words takes a text apart at its blanks, but for those of code.
func words(text string) (out []string) {
	var word strings.Builder
	code := false
	for _, r := range text {
		if r == '`' {
			code = !code
		}

		// A word ends at the first of several blanks.
		if (r == ' ' || r == '\n') && !code {
			if word.Len() > 0 {
				out = append(out, word.String())
			}
			word.Reset()
			continue
		}
		word.WriteRune(r)
	}
	if word.Len() > 0 {
		out = append(out, word.String())
	}
	return out
}
