package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fugu/test/golden"
	"fugu/test/schema"
)

// choices are the words that a leaf may be, by what the decoder says of one that is none; nil: it may be any text.
func (l leaf) choices() (words []string) {
	l.set(defaults(), setting{path: l.path, text: "nonsense", bad: func(hint, format string, _ ...any) {
		if list, ok := strings.CutPrefix(hint, "write "); ok && strings.HasSuffix(format, "the word is not known") {
			words = strings.Split(list, " or ")
		}
	}})
	return words
}

// shape is what the value of a leaf looks like.
func (l leaf) shape() schema.Node {
	words := l.choices()
	switch {
	case words != nil:
		return schema.Word(words...)
	case l.kind == count:
		return schema.Whole("minimum", 1)
	case l.kind == share:
		return schema.Node{"type": "number", "minimum": 0, "maximum": 1}
	case l.kind == amount:
		return schema.Node{"type": []string{"string", "integer"}}
	}
	return schema.Text()
}

// sectionsNode is the whole file.
func sectionsNode(t *testing.T) schema.Node {
	docs := schema.Docs(t, "../../docs/policy.md")
	properties := map[string]map[string]schema.Node{"": {}}
	place := func(path string, n schema.Node) {
		section, key := split(path)
		if properties[section] == nil {
			properties[section] = map[string]schema.Node{}
		}
		if docs[path] == "" {
			t.Errorf("docs/policy.md says nothing of %s", path)
		}
		n["description"] = docs[path]
		properties[section][key] = n
	}
	for _, l := range leaves {
		if !l.env {
			place(l.path, l.shape())
		}
	}
	place("upstream.databases", schema.List(schema.Text()))
	place("upstream.guests", schema.Map(schema.Node{"type": "object", "additionalProperties": false, "minProperties": 1,
		"maxProperties": 1, "properties": map[string]schema.Node{"dsn": schema.Text(), "role": schema.Text()}}))

	// The decoder's own list of keys is what there has to be, neither more nor less.
	known := sections()
	for section, names := range properties {
		if section != "" {
			properties[""][section] = schema.Section(names, nil)
		}
	}
	for section, names := range known {
		if len(names) != len(properties[section]) {
			t.Errorf("section %q has the keys %v, and the schema %d", section, names, len(properties[section]))
		}
		for _, name := range names {
			if properties[section][name] == nil {
				t.Errorf("the schema has no %s.%s", section, name)
			}
		}
	}
	return schema.Section(properties[""], nil)
}

// The schema is what the decoder knows, word by word.
func TestSchemaOfKeys(t *testing.T) {
	golden.Check(t, "config.schema.json",
		schema.JSON(t, "https://fugu.invalid/config.schema.json", "Fugu's configuration", sectionsNode(t)))

	// All leaves that are words have said which.
	source, err := os.ReadFile("decode.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, l := range leaves {
		if l.choices() != nil {
			found++
		}
	}
	if n := strings.Count(string(source), "s.word("); n != found || n == 0 {
		t.Errorf("%d keys are words for the decoder, and %d for the schema", n, found)
	}
}

var ofShape = regexp.MustCompile(`: (unknown key|.* must be (text|a whole number,|a list|a section)|.* is left empty)`)

// Every good configuration validates, and every bad one that is bad by its shape does not.
func TestSchemaOfFiles(t *testing.T) {
	s := schema.Compile(t, Schema)
	var good, bad int
	for _, pattern := range []string{"testdata/*.yaml", "../../examples/*/fugu*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, wrong := Parse(path, text, nil)
			valid := schema.Validate(s, text)
			switch {
			case wrong == nil && valid != nil:
				t.Errorf("%s: %v", path, valid)
			case wrong == nil:
				good++
			case ofShape.MatchString(wrong.Error()):
				if bad++; valid == nil {
					t.Errorf("%s validates, and the decoder says\n%v", path, wrong)
				}
			}
		}
	}
	if good < 5 || bad < 1 {
		t.Errorf("%d good and %d bad files were tried", good, bad)
	}
}
