package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fugu/test/golden"
	"fugu/test/schema"
)

// shapes are what values look like, by the path of the key; of a section keys says it, and of a word words.
var shapes = map[string]schema.Node{
	"version": {"const": 1}, "dataset": {"type": "string", "pattern": labelPattern.String()}, "database": schema.Text(),
	"analysts": schema.List(schema.Text()), "fit": schema.List(schema.Text()),

	"tables.*.rows":      schema.Whole("minimum", 1, "maximum", maxRows),
	"tables.*.reference": schema.Text(), "tables.*.twin.drop": schema.List(schema.Text()),
	"tables.*.twin.at_least":         schema.Whole("minimum", 0, "maximum", maxRows),
	"tables.*.twin.known_rows":       schema.Whole("minimum", 0, "maximum", maxRows),
	"tables.*.twin.unit":             schema.Text(),
	"tables.*.twin.independent_rows": {"type": "boolean"},
	"tables.*.twin.smallest":         schema.Number("exclusiveMinimum", 0, "exclusiveMaximum", .5),
	"tables.*.link.to":               schema.Text(), "tables.*.link.on": schema.Map(schema.Text()),
	"tables.*.group_by.*.from": {"type": []string{"integer", "string"}},
	"tables.*.group_by.*.to":   {"type": []string{"integer", "string"}},

	"tables.*.twin.columns.*.obfuscate.epsilon": schema.Number("minimum", leastObfuscation),
	"tables.*.twin.columns.*.obfuscate.delta":   schema.Number("exclusiveMinimum", 0, "exclusiveMaximum", 1),
	"tables.*.twin.columns.*.transport.hide":    schema.Text(),

	"networks.*.independent":                schema.List(schema.Text()),
	"networks.*.parameters.*.column":        schema.Text(),
	"networks.*.parameters.*.values":        {"type": "array", "items": schema.Scalar(), "minItems": 2},
	"networks.*.parameters.*.parents":       schema.List(schema.Text()),
	"networks.*.parameters.*.probabilities": schema.List(schema.List(schema.Number("minimum", 0, "maximum", 1))),

	"secrets.*.table": schema.Text(), "secrets.*.proportion": schema.Text(), "secrets.*.mean": schema.Text(),
	"secrets.*.categories": schema.Text(), "secrets.*.parameter": schema.Text(),
	"secrets.*.pairs": schema.List(schema.Node{"type": "array", "minItems": 2, "maxItems": 2,
		"items": schema.Either(schema.Number(), schema.Map(schema.Number()))}),
	"secrets.*.values.from": schema.Number(), "secrets.*.values.to": schema.Number(),
	"secrets.*.values.within": schema.Number("exclusiveMinimum", 0),

	"declared.*.statement": schema.Text(), "declared.*.components": schema.List(schema.Text()),
	"declared.*.secrets.*.values":      schema.List(schema.Number()),
	"declared.*.secrets.*.means":       schema.List(schema.List(schema.Number())),
	"declared.*.secrets.*.covariances": schema.List(schema.List(schema.List(schema.Number()))),
	"declared.*.secrets.*.samples": schema.List(schema.List(schema.Either(schema.Number(),
		schema.List(schema.Number())))),
	"declared.*.secrets.*.weights": schema.List(schema.List(schema.Whole("minimum", 0))),
	"declared.*.secrets.*.concentrated.within": schema.Either(schema.Number("exclusiveMinimum", 0),
		schema.List(schema.Number("exclusiveMinimum", 0))),
	"declared.*.secrets.*.concentrated.but_for": schema.Number("minimum", 0, "exclusiveMaximum", .5),
	"public.*.statement":                        schema.Text(),
	"public.*.values": schema.Map(schema.Either(schema.Number(),
		schema.Node{"type": "string", "pattern": decimalNumber.String()})),

	"privacy.epsilon":          schema.Number("exclusiveMinimum", 0),
	"privacy.delta":            schema.Number("minimum", 0, "exclusiveMaximum", 1),
	"privacy.estimation.delta": schema.Number("exclusiveMinimum", 0, "exclusiveMaximum", 1),
	"privacy.error":            {"type": []string{"number", "string"}}, "privacy.max_error": {"type": []string{"number",
		"string"}},

	"privacy.model.within.rows":   schema.Whole("minimum", 1, "maximum", maxRows),
	"privacy.model.within.eta":    schema.Number("minimum", 0, "exclusiveMaximum", 1),
	"privacy.model.within.lambda": schema.Number("minimum", 0),
	"privacy.budget.epsilon":      schema.Number("exclusiveMinimum", 0),
	"privacy.budget.delta":        schema.Number("minimum", 0, "exclusiveMaximum", 1),
	"privacy.budget.renew":        {"type": "string", "pattern": `^(never|P[0-9]+[DW])$`},

	"privacy.budget.shares.users.*.epsilon":  schema.Number("exclusiveMinimum", 0),
	"privacy.budget.shares.users.*.delta":    schema.Number("minimum", 0, "exclusiveMaximum", 1),
	"privacy.budget.shares.groups.*.members": schema.List(schema.Text()),
	"privacy.budget.shares.groups.*.epsilon": schema.Number("exclusiveMinimum", 0),
	"privacy.budget.shares.groups.*.delta":   schema.Number("minimum", 0, "exclusiveMaximum", 1),
	"privacy.budget.shares.default.epsilon":  schema.Number("exclusiveMinimum", 0),
	"privacy.budget.shares.default.delta":    schema.Number("minimum", 0, "exclusiveMaximum", 1),
	"epoch.label":                            {"type": "string", "pattern": labelPattern.String()},
}

// required are the keys that a section cannot do without, whatever else stands in it.
var required = map[string][]string{
	"": {"version", "dataset", "tables", "secrets", "privacy"}, "estimates": {"prior"},
	"tables.*.twin.columns.*.obfuscate": {"epsilon", "delta"}, "tables.*.twin.columns.*.transport": {"hide", "target",
		"cost"},
	"tables.*.link": {"to", "on"}, "tables.*.group_by.*": {"from", "to"}, "networks.*": {"parameters"},
	"networks.*.parameters.*": {"values", "probabilities"}, "secrets.*": {"table"}, "secrets.*.values": {"within"},
	"declared.*": {"statement", "secrets"}, "declared.*.secrets.*": {"values"},
	"declared.*.secrets.*.concentrated": {"within", "but_for"},
	"public.*":                          {"statement", "values"},
	"privacy":                           {"epsilon", "delta", "budget"}, "privacy.model": {"within"},
	"privacy.estimation":   {"delta"},
	"privacy.model.within": {"lambda"}, "privacy.budget": {"epsilon", "delta"},
	"privacy.budget.shares.users.*":  {"epsilon", "delta"},
	"privacy.budget.shares.groups.*": {"members", "epsilon", "delta"},
	"privacy.budget.shares.default":  {"epsilon", "delta"},
}

// node is the schema of what stands under a path, and marks what it was made of as used.
func node(t *testing.T, path string, docs map[string]string, used map[string]bool) (n schema.Node) {
	t.Helper()
	shape, leaf := shapes[path]
	switch {
	case path == "assume":
		n = schema.List(schema.Word(words[path]...))
		n["uniqueItems"] = true
	case words[path] != nil:
		n = schema.Word(words[path]...)
	case leaf:
		used[path], n = true, schema.Node{}
		for k, v := range shape {
			n[k] = v
		}
	case keys[path] != nil:
		properties := map[string]schema.Node{}
		for _, key := range keys[path] {
			properties[key] = node(t, strings.TrimPrefix(path+"."+key, "."), docs, used)
		}
		n = schema.Section(properties, required[path])
	case keys[path+".*"] != nil:
		n = schema.Map(node(t, path+".*", docs, used))
	default:
		t.Fatalf("nothing says what %s looks like", path)
	}

	// What several keys of a section have to do with each other, as far as a schema can say it.
	switch path {
	case "tables.*":
		n["anyOf"] = []schema.Node{{"required": []string{"rows"}}, {"required": []string{"link"}}}
	case "secrets.*":
		n["oneOf"] = []schema.Node{{"required": []string{"proportion"}}, {"required": []string{"mean"}},
			{"required": []string{"categories"}}, {"required": []string{"parameter"}}}
	case "tables.*.twin.columns.*":
		n["oneOf"] = []schema.Node{{"required": []string{"obfuscate"}}, {"required": []string{"transport"}}}
	case "tables.*.group_by.*":
		return schema.Either(schema.List(schema.Scalar()), schema.Node{"const": "reference"}, n)
	case "privacy.estimation":
		n = schema.Either(schema.Number("minimum", 0, "maximum", 100), n)
	}
	if text := docs[path]; text != "" {
		n["description"] = text
	}
	return n
}

// The schema is what the decoder knows, and says of it what the documentation does; no shape is of a key that is none.
func TestSchemaOfKeys(t *testing.T) {
	used := map[string]bool{}
	docs := schema.Docs(t, "../docs/policy.md")
	root := node(t, "", docs, used)
	for path := range shapes {
		if !used[path] {
			t.Errorf("%s is no key that the decoder knows", path)
		}
	}
	golden.Check(t, "policy.schema.json", schema.JSON(t, "https://fugu.invalid/policy.schema.json", "Fugu's policy",
		root))

	// Each key is described, as editors show it.
	for section, names := range keys {
		for _, name := range names {
			if path := strings.TrimPrefix(section+"."+name, "."); docs[path] == "" {
				t.Errorf("docs/policy.md says nothing of %s", path)
			}
		}
	}
}

// ofShape are findings about the shape of a file; of keys that are needed beside others a schema does not know.
var (
	ofShape = regexp.MustCompile(`: (unknown key|.* must be (text|one of|a whole number,|a number,|a list|a section|` +
		`true or false)|.* is missing|.* is left empty)`)
	beside = regexp.MustCompile(`(reference|rows|delta|label|from|to|eta|obfuscate) is missing`)
)

// Every good policy validates, and every bad one that is bad by its shape does not.
func TestSchemaOfFiles(t *testing.T) {
	s := schema.Compile(t, Schema)
	files := func(patterns ...string) (out []string) {
		for _, p := range patterns {
			found, err := filepath.Glob(p)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, slices.DeleteFunc(found, func(path string) bool { // which Load does not read
				return strings.HasPrefix(filepath.Base(path), ".")
			})...)
		}
		return out
	}
	good := files("testdata/*.good.yaml", "testdata/*.good/*.policy.yaml", "../examples/*/*.policy.yaml")
	for _, path := range good {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(s, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	bad := 0
	for _, path := range files("testdata/*.bad.yaml", "testdata/*.bad/*.policy.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a directory that is named like a policy
		}
		_, err = Parse(path, text)
		if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(line string) bool {
			return ofShape.MatchString(line) && !beside.MatchString(line)
		}) {
			continue
		}
		bad++
		if schema.Validate(s, text) == nil {
			t.Errorf("%s validates, and the decoder says\n%v", path, err)
		}
	}
	if len(good) < 12 || bad < 12 {
		t.Errorf("%d good and %d bad files were tried", len(good), bad)
	}
}
