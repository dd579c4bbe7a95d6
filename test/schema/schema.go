// Package schema makes the JSON Schemas of files that parsers of Fugu's read, for tests that hold the two in step: what
// a parser knows and the documentation says go in, and what editors are given comes out. It validates files, too.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"fugu/internal/strictyaml"
)

// Draft is the dialect of the schemas.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Node is a part of a schema.
type Node map[string]any

// Text is text that is not blank.
func Text() Node { return Node{"type": "string", "pattern": `\S`} }

// Word is one of the words.
func Word(words ...string) Node { return Node{"enum": words} }

// Number is a number with bounds, such as "minimum", 0.
func Number(bounds ...any) Node { return bounded("number", bounds) }

// Whole is a whole number with bounds.
func Whole(bounds ...any) Node { return bounded("integer", bounds) }

func bounded(kind string, bounds []any) Node {
	n := Node{"type": kind}
	for i := 0; i < len(bounds); i += 2 {
		n[bounds[i].(string)] = bounds[i+1]
	}
	return n
}

// List is a list of so-and-so.
func List(of Node) Node { return Node{"type": "array", "items": of} }

// Map is a section whose keys the writer chooses.
func Map(of Node) Node { return Node{"type": "object", "additionalProperties": of} }

// Either is one of several.
func Either(of ...Node) Node { return Node{"anyOf": of} }

// Scalar is text, a number, true, false or null.
func Scalar() Node { return Node{"type": []string{"string", "number", "boolean", "null"}} }

// Section has known keys, of which some are required.
func Section(properties map[string]Node, required []string) Node {
	n := Node{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		n["required"] = required
	}
	return n
}

// JSON is a schema as it is printed.
func JSON(t testing.TB, id, title string, n Node) string {
	t.Helper()
	n["$schema"], n["$id"], n["title"] = Draft, id, title
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(n); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// entry is what documentation says of a key: - `path` (what it may be): what it means.
var (
	entry  = regexp.MustCompile("^- `([a-z_.*]+)` \\(((?:[^()`]|`[^`]*`|\\([^()]*\\))*)\\): (.*)$")
	link   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	spaces = regexp.MustCompile(`\s+`)
)

// Docs are what a document says of each key, in plain text.
func Docs(t testing.TB, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	joined := strings.ReplaceAll(string(data), "\n  ", " ")
	for _, line := range strings.Split(joined, "\n") {
		m := entry.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		text := link.ReplaceAllString(m[3]+" ("+m[2]+")", "$1")
		text = strings.NewReplacer("`", "", "**", "").Replace(text)
		out[m[1]] = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	}
	return out
}

// Compile reads a schema.
func Compile(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Validate says what a schema has against a text of YAML, read as Fugu's parsers do.
func Validate(s *jsonschema.Schema, text []byte) error {
	r := &strictyaml.Report{}
	v := strictyaml.Parse(r, text)
	if err := r.Err(); err != nil {
		return fmt.Errorf("not YAML: %w", err)
	}
	doc, err := like(v)
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// like is a value as JSON has it.
func like(v *strictyaml.Value) (any, error) {
	switch v.Kind {
	case strictyaml.Map:
		out := map[string]any{}
		entries, _ := v.Entries()
		for _, e := range entries {
			x, err := like(e.Value)
			if err != nil {
				return nil, err
			}
			out[e.Key] = x
		}
		return out, nil
	case strictyaml.List:
		out := []any{}
		items, _ := v.List()
		for _, item := range items {
			x, err := like(item)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case strictyaml.Null, strictyaml.Empty:
		return nil, nil
	case strictyaml.Bool:
		b, _ := v.Bool()
		return b, nil
	}
	text, _, ok := v.Scalar()
	if !ok {
		return nil, fmt.Errorf("%s has no certain value", v.Path)
	}
	if v.Kind == strictyaml.Int || v.Kind == strictyaml.Float {
		return json.Number(text), nil
	}
	return text, nil
}
