// Package strictyaml decodes small YAML files by hand: every value knows its place in the file, and everything that is
// wrong is reported at once, each with its line and column.
//
// It is strict where YAML is generous. Refused are: second documents, directives, anchors, aliases, merge keys, tags,
// keys that are not plain names, duplicate and unknown keys, values that are left empty, numbers that YAML's versions
// read differently (017, 0x11, 1_000), bytes that are not UTF-8, control characters, and input that is too large or too
// deep for the parser. Scalars follow YAML 1.2's core schema.
//
// It knows no schema: the packages that own a file format say what they expect, value by value.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxBytes = 1 << 20
	// maxDepth bounds nesting before the recursive parser sees the input: a stack overflow cannot be recovered from.
	maxDepth = 32
)

// hintOfSyntax says what is wrong as a rule where the parser does not know how to go on.
func hintOfSyntax(message string) string {
	if strings.Contains(message, "'\t'") {
		return "indent by spaces, not by tabs"
	}
	return "look at this line and the one above: keys of one section begin in one column, a colon has a space behind " +
		"it, and brackets and quotes are closed"
}

// Parse reads the one document in data. It returns nil, with a finding in the report, where there is none to decode;
// other findings leave a Value that can be decoded further, so that one run shows everything.
func Parse(r *Report, data []byte) *Value {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !checkBytes(r, data) {
		return nil
	}

	tokens, file, err := parse(data)
	if err != nil {
		var syntax yaml.Error
		at := Position{Line: 1, Column: 1}
		message := err.Error()
		if errors.As(err, &syntax) {
			message = syntax.GetMessage()
			if tk := syntax.GetToken(); tk != nil {
				at = position(tk)
			}
		}
		if r.Withhold {
			message, _, _ = strings.Cut(message, `"`) // what follows is quoted from the file
		}
		r.Add(at, hintOfSyntax(message), "not valid YAML: %s",
			strings.ReplaceAll(strings.TrimRight(message, " :"), "\t", `\t`))
		return nil
	}

	// Directives are documents to the parser.
	var root ast.Node
	for _, doc := range file.Docs {
		if root == nil && doc.Body != nil && doc.Body.Type() != ast.DirectiveType {
			root = doc.Body
		}
	}

	oneDocument(r, tokens)
	if root == nil {
		r.Add(Position{Line: 1, Column: 1}, "", "the file is empty")
		return nil
	}
	c := converter{report: r, lines: strings.Split(string(data), "\n")}
	return c.value(root, "")
}

// checkBytes refuses what no text file holds, before the parser may silently replace or drop it.
func checkBytes(r *Report, data []byte) bool {
	if len(data) > maxBytes {
		r.Add(Position{Line: 1, Column: 1}, "", "the file is larger than %d bytes", maxBytes)
		return false
	}

	// Findings have to point at the character, so that lines and columns are counted in passing.
	at := Position{Line: 1, Column: 1}
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			r.Add(at, "save the file as UTF-8", "the byte 0x%02x is not UTF-8", data[i])
			return false
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7f, c >= 0x80 && c < 0xa0:
			r.Add(at, "", "a control character (U+%04X)", c)
			return false
		case c == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			r.Add(at, "end lines with LF or CR LF", "a carriage return inside a line")
			return false
		case c == 0x2028 || c == 0x2029 || c == 0xfeff:
			r.Add(at, "", "an invisible character (U+%04X)", c)
			return false
		}

		if c == '\n' {
			at = Position{Line: at.Line + 1, Column: 1}
		} else {
			at.Column++
		}
		i += n
	}
	return true
}

// parse is the library's parser behind a guard of depth; a panic in it, which is a defect of the library's, is an
// error like any other.
func parse(data []byte) (tokens token.Tokens, file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the parser gave up")
		}
	}()
	tokens = lexer.Tokenize(string(data))
	if tk := tooDeep(tokens); tk != nil {
		return nil, nil, &yaml.SyntaxError{Message: fmt.Sprintf("nested more than %d deep", maxDepth), Token: tk}
	}
	file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	return tokens, file, err
}

// oneDocument reports a second document, and directives. It asks the tokens because the parser loses documents that
// follow an empty one.
func oneDocument(r *Report, tokens token.Tokens) {
	const second = "put it into a file of its own"

	// Behind "..." nothing may come, and "---" may only come first.
	var begun, ended bool
	for _, tk := range tokens {
		switch tk.Type {
		case token.CommentType:
		case token.DirectiveType:
			r.Add(position(tk), "remove the line", "a %%-directive is not used here")
			return
		case token.DocumentEndType:
			ended = true
		case token.DocumentHeaderType:
			if begun {
				r.Add(position(tk), second, "a second YAML document")
				return
			}
			begun = true
		default:
			if ended {
				r.Add(position(tk), second, "a second YAML document")
				return
			}
			begun = true
		}
	}
}

// tooDeep returns the first token whose nesting is beyond maxDepth. Flow collections nest by brackets; on one line
// block collections and node properties nest by their indicators (`- - - x`), and over lines by indentation.
func tooDeep(tokens token.Tokens) *token.Token {
	flow, line, onLine := 0, 0, 0
	var indents []int
	for _, tk := range tokens {
		if tk.Position.Line != line {
			line, onLine = tk.Position.Line, 0
			if flow == 0 && tk.Type != token.CommentType {
				for len(indents) > 0 && indents[len(indents)-1] >= tk.Position.Column {
					indents = indents[:len(indents)-1]
				}
				indents = append(indents, tk.Position.Column)
			}
		}

		// An indicator within brackets nests nothing: the brackets themselves do.
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType, token.AliasType:
			onLine++
		case token.MappingValueType:
			if flow == 0 {
				onLine++
			}
		}

		if flow > maxDepth || onLine > maxDepth || len(indents) > maxDepth {
			return tk
		}
	}
	return nil
}

func position(tk *token.Token) Position {
	if tk == nil || tk.Position == nil {
		return Position{Line: 1, Column: 1}
	}
	return Position{Line: max(1, tk.Position.Line), Column: max(1, tk.Position.Column)}
}
