package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// everything decodes a file with one key for each accessor.
func everything(r *Report, data []byte) {
	f := Parse(r, data).Fields("text", "word", "int", "float", "scalars", "map")
	f.Get("text").Text()
	f.Get("word").Word("red", "green")
	f.Get("int").Int(1, 9)
	f.Get("float").Float()
	items, _ := f.Get("scalars").List()
	for _, item := range items {
		item.Scalar()
	}
	entries, _ := f.Get("map").Entries()
	for _, e := range entries {
		e.Value.Text()
	}
}

// bad are texts and their findings.
var bad = []struct{ name, in, want string }{
	{"empty file", "", "1:1: the file is empty"},
	{"only a comment", "# x\n", "1:1: the file is empty"},
	{"not a mapping", "- a\n", "1:1: the file must be a section of keys and values, not a list"},
	{"scalar file", "a b\n", `1:1: the file must be a section of keys and values, not the text "a b"`},
	{"second document", "text: a\n---\ntext: b\n", "2:1: a second YAML document; put it into a file of its own"},
	{"document after an end mark", "text: a\n...\ntext: b\n",
		"3:1: a second YAML document; put it into a file of its own"},
	{"document after an empty one", "text: a\n---\n# c\n---\ntext: b\n",
		"2:1: a second YAML document; put it into a file of its own"},
	{"one document with its marks", "# c\n---\ntext: a\n...\n", ""},
	{"directive", "%YAML 1.2\n---\ntext: a\n", "1:1: a %-directive is not used here; remove the line"},
	{"unknown key", "text: a\nfoo: 1\n",
		`2:1: unknown key "foo"; known here: text, word, int, float, scalars, map`},
	{"misspelt key", "txet: a\n",
		`1:1: unknown key "txet"; write text; known here: text, word, int, float, scalars, map`},
	{"duplicate key", "text: a\nint: 1\ntext: b\n",
		`3:1: the key "text" is already there in line 1; keep one of the two`},
	{"nested duplicate, after wide characters", "map: {é中: x, b: y, b: z}\n",
		`1:20: the key "b" is already there in line 1; keep one of the two`},
	{"merge key", "map:\n  <<: {a: b}\n", "2:3: a merge key (<<) is not used here; write the keys out"},
	{"number as a key", "map:\n  1: a\n",
		"2:3: a key must be a name; put the key in quotes if it is meant as a name"},
	{"anchor and alias", "text: &a b\nword: *a\n",
		"1:7: an anchor (&) is not used here; write the value itself\n2:7: an alias (*) is not used here; write " +
			"the value itself"},
	{"tag", "int: !!int '1'\n", "1:6: a tag (!) is not used here; write the value itself"},
	{"empty values", "text:\nint:\n",
		"1:6: text is left empty\n2:5: int is left empty; write it as decimal digits without quotes"},
	{"blank text", "text: '  '\n", "1:7: text is blank"},
	{"NUL by escape", "text: \"a\\0\"\nscalars: [\"\\0\"]\n",
		"1:7: text has a NUL character\n2:11: scalars has a NUL character"},
	{"number for text", "text: 1.5\n", "1:7: text must be text, not 1.5; put it in quotes"},
	{"list for text", "text: [a]\n", "1:7: text must be text, not a list"},
	{"block mapping for text", "text:\n  a: b\n", "2:3: text must be text, not a section"},
	{"wrong word", "word: blue\n", `1:7: word must be one of red, green, not the text "blue"; write red or green`},
	{"text for int", "int: '3'\n",
		`1:6: int must be a whole number, not the text "3"; write it as decimal digits without quotes`},
	{"float for int", "int: 3.0\n",
		"1:6: int must be a whole number, not 3.0; write it as decimal digits without quotes"},
	{"int out of range", "int: 10\n", "1:6: int must be a whole number between 1 and 9, not 10"},
	{"int beyond 64 bits", "int: 99999999999999999999\n",
		"1:6: int must be a whole number between 1 and 9, not 99999999999999999999"},
	{"odd ints", "scalars: [017, 0x11, 1_000, 0b1, 0o7, 1_0.5, 00.5, True, FALSE, 08, 01e5]\n",
		odd("1:11 017", "1:16 0x11", "1:22 1_000", "1:29 0b1", "1:34 0o7", "1:39 1_0.5", "1:46 00.5", "1:52 True",
			"1:58 FALSE", "1:65 08", "1:69 01e5")},
	{"text for float", "float: x\n",
		`1:8: float must be a number, not the text "x"; write it as a decimal number without quotes`},
	{"inexact floats", "scalars: [.inf, -.inf, .nan, 0.1234567890123456, 1e999, 1e-999]\n",
		inexact("1:11 .inf", "1:17 -.inf", "1:24 .nan", "1:30 0.1234567890123456", "1:50 1e999", "1:57 1e-999")},
	{"empty scalar", "scalars: [{}, [a]]\n",
		"1:11: scalars must be text, a number, true, false or null, not a section; write null for the SQL null, " +
			"or '' for the empty text\n" +
			"1:15: scalars must be text, a number, true, false or null, not a list; write null for the SQL null, " +
			"or '' for the empty text"},
	{"bullet without a value", "scalars:\n  - a\n  -\n",
		"3:4: scalars is left empty; write null for the SQL null, or '' for the empty text"},
	{"text for a list", "scalars: a, b\n",
		`1:10: scalars must be a list, not the text "a, b"; write [a, b] or one '- a' on each line`},
	{"list for a map", "map: [a]\n", "1:6: map must be a section of keys and values, not a list"},
	{"syntax", "text: [a\nint: 1\n", "2:1: not valid YAML: ',' or ']' must be specified; look at this line and the " +
		"one above: keys of one section begin in one column, a colon has a space behind it, and brackets and quotes " +
		"are closed"},
	{"tab", "map:\n\ta: b\n",
		"2:1: not valid YAML: found character '\\t' that cannot start any token; indent by spaces, not by tabs"},
	{"not UTF-8", "text: é\nword: \xff\n", "2:7: the byte 0xff is not UTF-8; save the file as UTF-8"},
	{"control character", "text: é\x01\n", "1:8: a control character (U+0001)"},
	{"invisible character", "text: a\u2028int: 1\n", "1:8: an invisible character (U+2028)"},
	{"bare carriage return", "text: a\rint: 1\n",
		"1:8: a carriage return inside a line; end lines with LF or CR LF"},
	{"many at once", "\ufefffoo: 1\nint: x\nmap:\n  a: 1\n  b:\n    - 2\n",
		`1:1: unknown key "foo"; known here: text, word, int, float, scalars, map` + "\n" +
			`2:6: int must be a whole number, not the text "x"; write it as decimal digits without quotes` + "\n" +
			"4:6: map.a must be text, not 1; put it in quotes\n6:5: map.b must be text, not a list"},
	{"windows line ends", "text: a\r\nint: x\r\n",
		`2:6: int must be a whole number, not the text "x"; write it as decimal digits without quotes`},
	{"line end in a key", "map: {\"a\\nb\": 1}\n", "1:15: map.a\\nb must be text, not 1; put it in quotes"},
	{"fine",
		"# c\ntext: 'it''s'\nword: red\nint: 7 # x\nfloat: 1e-6\nscalars: [a, '', 1, null, ~, true, 1.5, yes, " +
			"2020-01-01]\nmap: {\"a b\": c}\n", ""},
}

func TestFindings(t *testing.T) {
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			r := &Report{File: "f"}
			everything(r, []byte(c.in))
			var lines []string
			if err := r.Err(); err != nil {
				var fs Findings
				if !errors.As(err, &fs) {
					t.Fatalf("error is a %T", err)
				}
				for _, f := range fs {
					lines = append(lines, strings.TrimPrefix(f.String(), "f:"))
				}
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func odd(items ...string) string {
	return each(items,
		"%s: scalars: YAML readers do not agree on what %q is; put it in quotes if it is text, or write a plain "+
			"decimal number or true or false")
}

func inexact(items ...string) string {
	return each(items,
		"%s: scalars: the number %s has no certain text form; put it in quotes, in the form that PostgreSQL prints")
}

func each(items []string, format string) string {
	var lines []string
	for _, item := range items {
		at, text, _ := strings.Cut(item, " ")
		lines = append(lines, fmt.Sprintf(format, at, text))
	}
	return strings.Join(lines, "\n")
}

func TestScalars(t *testing.T) {
	for _, c := range []struct {
		in, text string
		null     bool
	}{
		{in: "abc", text: "abc"}, {in: "'1'", text: "1"}, {in: "''"}, {in: "yes", text: "yes"}, {in: "'null'",
			text: "null"},
		{in: "null", null: true}, {in: "~", null: true}, {in: "NULL", null: true},
		{in: "true", text: "true"}, {in: "'True'", text: "True"},
		{in: "0", text: "0"}, {in: "-0", text: "0"}, {in: "+7", text: "7"}, {in: "99999999999999999999",
			text: "99999999999999999999"},
		{in: "1.50", text: "1.5"}, {in: "15e-1", text: "1.5"}, {in: ".5", text: "0.5"}, {in: "-0.0",
			text: "0"}, {in: "1e3", text: "1000"},
		{in: "1e-7", text: "0.0000001"}, {in: "0.30", text: "0.3"}, {in: "12:30", text: "12:30"},
	} {
		r := &Report{File: "f"}
		text, null, ok := Parse(r, []byte("k: "+c.in+"\n")).Fields("k").Get("k").Scalar()
		if !ok || text != c.text || null != c.null {
			t.Errorf("%s: got %q, null %v, ok %v (%v)", c.in, text, null, ok, r.Err())
		}
	}
}

func TestFloat(t *testing.T) {
	for in, want := range map[string]float64{
		"1": 1, "0.1": 0.1, "1e-6": 1e-6, "-2.5": -2.5, ".5": .5, ".inf": math.Inf(1), "-.inf": math.Inf(-1),
		"1e999": math.Inf(1),
	} {
		r := &Report{File: "f"}
		got, ok := Parse(r, []byte("k: "+in+"\n")).Fields("k").Get("k").Float()
		if !ok || got != want {
			t.Errorf("%s: got %v, ok %v", in, got, ok)
		}
	}
	if got, ok := Parse(&Report{}, []byte("k: .nan\n")).Fields("k").Get("k").Float(); !ok || !math.IsNaN(got) {
		t.Errorf(".nan: got %v, ok %v", got, ok)
	}
}

func TestTextPosition(t *testing.T) {
	for _, c := range []struct {
		in, text string
		at       Position
	}{
		{"k: a = 'é'   # c\n", "a = 'é'", Position{1, 4}},
		{"k: 'a'\n", "a", Position{1, 5}},
		{"k:\n    a = 1\n", "a = 1", Position{2, 5}},
		{"k: |\n\n   a = 1\n   AND b\n", "\na = 1\nAND b\n", Position{3, 4}},
		{"k: >-  # c\n   a = 1\n   AND b\n", "a = 1 AND b", Position{2, 4}},
	} {
		r := &Report{File: "f"}
		v := Parse(r, []byte(c.in)).Fields("k").Get("k")
		if text, ok := v.Text(); !ok || text != c.text || v.TextAt != c.at {
			t.Errorf("%q: got %q at %v (%v)", c.in, text, v.TextAt, r.Err())
		}
	}
}

// TestDepth gives the parser what would overflow its stack, were there enough of it.
func TestDepth(t *testing.T) {
	nest := func(open, close string, n int) string {
		return strings.Repeat(open, n) + "x" + strings.Repeat(close, n) + "\n"
	}
	steps := func(step string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + step + "\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name, deep, shallow string
	}{
		{"brackets", nest("[", "]", 10_000), nest("[", "]", maxDepth)},
		{"brackets over lines", nest("[\n", "]\n", 10_000), nest("[\n", "]\n", maxDepth)},
		{"braces", nest("{a: ", "}", 10_000), nest("{a: ", "}", maxDepth)},
		{"bullets", nest("- ", "", 10_000), nest("- ", "", maxDepth)},
		{"question marks", nest("? ", "", 10_000), ""},
		{"tags", nest("!a ", "", 10_000), ""},
		{"anchors", nest("&a ", "", 10_000), ""},
		{"colons", nest("a: ", "", 10_000), ""},
		{"steps of keys", steps("a:", 500), steps("a:", maxDepth)},
		{"steps of bullets", steps("-", 500), steps("-", maxDepth)},
		{"many, not deep", nest("[\n", "]\n", maxDepth+1),
			"k:\n" + strings.Repeat("- [a, {b: c}]\n", 1000) + strings.Repeat("k: v\n", 1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for in, deep := range map[string]bool{c.deep: true, c.shallow: false} {
				r := &Report{File: "f"}
				Parse(r, []byte(in))
				if err := r.Err(); (err != nil && strings.Contains(err.Error(), "nested more than 32 deep")) != deep {
					t.Errorf("deep: %v, got %.200v", deep, err)
				}
			}
		})
	}
	r := &Report{File: "f"}
	Parse(r, []byte("k: v\n"+strings.Repeat("#\n", maxBytes/2)))
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("large: %v", err)
	}
}

func TestWithhold(t *testing.T) {
	const secret = "s3cr3t"
	for _, in := range []string{
		"text: {x://u:s3cr3t@h: 1, x://u:s3cr3t@h: 2}\n", "int: x://u:s3cr3t@h\n", "word: s3cr3t\n", "scalars: " +
			"s3cr3t\n", "map: s3cr3t\n",
		"x://s3cr3t@h: 1\n", "text: |s3cr3t\n a\n", "text: !s3cr3t[ a\n", "s3cr3t pass\n", "text: 's3cr3t\n", "text: " +
			"a: s3cr3t\n",
	} {
		r := &Report{File: "f", Withhold: true}
		everything(r, []byte(in))
		if err := r.Err(); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"text: a\n", "int: 1\nscalars: [a, 1.5, null]\nmap: {a: b}\n", "- - - [{a: |\n  x}",
		"a: &b !!c *d\n", "---\n...\n%A\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &Report{File: "f"}
		everything(r, data)
		lines := strings.Count(string(data), "\n") + 1
		for _, f := range r.findings {
			if f.Line < 1 || f.Line > lines || f.Column < 1 || f.Message == "" {
				t.Errorf("finding without a place in the file: %+v", f)
			}
		}
	})
}
