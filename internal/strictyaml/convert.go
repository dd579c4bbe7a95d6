package strictyaml

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// converter turns the parser's tree into Values and refuses what no format here uses.
type converter struct {
	report *Report
	lines  []string
}

// start is where a node begins to a reader: the parser puts a block mapping at its first colon.
func start(n ast.Node) Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return start(n.Values[0])
		}
	case *ast.MappingValueNode:
		return position(n.Key.GetToken())
	}
	return position(n.GetToken())
}

// after is where a value that is not there would begin: the parser's own place for it can be in the next line.
func after(tk *token.Token) Position {
	at := position(tk)
	at.Column++
	return at
}

func (c *converter) value(n ast.Node, path string) *Value {
	v := &Value{report: c.report, Path: path, At: start(n), TextAt: start(n)}
	switch n := n.(type) {
	case *ast.MappingNode:
		v.Kind = Map
		c.entries(v, n.Values)
	case *ast.MappingValueNode:
		v.Kind = Map
		c.entries(v, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		v.Kind = List
		for i, item := range n.Values {
			v.items = append(v.items, c.value(item, path))
			if item := v.items[i]; item.Kind == Empty && i < len(n.Entries) {
				item.At = after(n.Entries[i].Start)
			}
		}
	case *ast.LiteralNode:
		v.Kind, v.text, v.Quoted = String, n.Value.Value, true
		v.TextAt = c.block(v.At)
	case *ast.StringNode:
		v.text = n.Value
		v.Quoted = n.Token.Type != token.StringType
		if v.Quoted {
			v.Kind = String
			v.TextAt.Column++
		} else {
			v.Kind = plainKind(n.Value)
		}
	case *ast.NullNode:
		v.Kind = Null
		if n.Token.Type == token.ImplicitNullType {
			v.Kind = Empty
		}
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		v.text = n.GetToken().Value
		v.Kind = plainKind(v.text)
		if v.Kind == String { // to the parser it is none: True, which a text column may well hold as it stands
			v.Kind = Ambiguous
		}
	default:
		v.Kind = Ambiguous
		c.report.Add(v.At, "write the value itself", "%s is not used here", nodeName(n))
		v.reported = true
	}
	return v
}

func nodeName(n ast.Node) string {
	switch n.(type) {
	case *ast.AnchorNode:
		return "an anchor (&)"
	case *ast.AliasNode:
		return "an alias (*)"
	case *ast.TagNode:
		return "a tag (!)"
	}
	return "this kind of YAML value"
}

// entries takes over the entries of a map, each key once.
func (c *converter) entries(v *Value, values []*ast.MappingValueNode) {
	seen := map[string]Position{}
	for _, kv := range values {
		at := start(kv)
		key, ok := kv.Key.(*ast.StringNode)
		switch {
		case kv.Key.Type() == ast.MergeKeyType:
			c.report.Add(at, "write the keys out", "a merge key (<<) is not used here")
			continue
		case !ok:
			c.report.Add(at, "put the key in quotes if it is meant as a name", "a key must be a name")
			continue
		}

		// YAML takes the last of two keys. Here neither is a safe choice.
		if before, twice := seen[key.Value]; twice {
			c.report.Add(at, "keep one of the two",
				"the key%s is already there in line %d", c.report.key(key.Value), before.Line)
			continue
		}

		seen[key.Value] = at
		e := Entry{Key: key.Value, Quoted: key.Token.Type != token.StringType, At: at,
			Value: c.value(kv.Value, join(v.Path, key.Value))}
		if e.Value.Kind == Empty {
			e.Value.At = after(kv.Start)
		}
		v.entries = append(v.entries, e)
	}
}

// block is where the text of a block scalar begins: behind the indentation of its first line that is not blank.
func (c *converter) block(header Position) Position {
	for i := header.Line; i < len(c.lines); i++ {
		if text := strings.TrimLeft(c.lines[i], " "); strings.TrimSpace(text) != "" {
			return Position{Line: i + 1, Column: len(c.lines[i]) - len(text) + 1}
		}
	}
	return header
}

// The core schema of YAML 1.2.2, section 10.3.2, for decimal numbers without leading zeros.
var (
	intPattern   = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	floatPattern = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	infPattern   = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	// oddPattern is what some YAML reader takes for a number and another for text or for a different number.
	oddPattern = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9_]+)?$|^[-+]?0[xXoObB][0-9a-fA-F_]+$`)
)

func plainKind(text string) Kind {
	switch {
	case text == "true" || text == "false":
		return Bool
	case intPattern.MatchString(text):
		return Int
	case floatPattern.MatchString(text), infPattern.MatchString(text):
		return Float
	case oddPattern.MatchString(text):
		return Ambiguous
	}
	return String
}
