package row

import (
	"fmt"
	"strings"

	"fugu/parser"
)

// Use is an operator or function together with the types that it is applied to, or a type that is cast to: what an
// object of a user's with the same name could take over, where the client's search_path finds it.
type Use struct {
	Name  string
	Args  []uint32
	Loose []bool // of each argument: it is a literal, which fits every type
	Type  bool
}

// Names lists all that the expressions can use, by what it is: functions with the aggregates, operators, types.
func Names() (functions, operators, types []string) {
	functions = append(parser.FunctionNames(), parser.Aggregates()...)
	for name := range mirrored {
		if !strings.HasPrefix(name, "IS") {
			operators = append(operators, name)
		}
	}
	operators = append(operators, "+", "-", "*", "/", "%", "^", "||", "~~", "!~~", "~~*", "!~~*")
	for _, name := range typeNames {
		types = append(types, name)
	}
	return functions, operators, types
}

// Uses lists what the expressions use, for a check of the client's own overloads.
func (t *Typing) Uses() []Use { return t.uses }

func (r *resolver) collectUses() {
	seen := map[string]bool{}
	add := func(name string, args ...*term) {
		u := Use{Name: name}
		for _, a := range args {
			u.Args, u.Loose = append(u.Args, a.typ.OID), append(u.Loose, a.kind == kLiteral || a.kind == kNull)
		}
		if key := fmt.Sprint(u); !seen[key] {
			seen[key] = true
			r.uses = append(r.uses, u)
		}
	}
	addType := func(name string) {
		if !seen["type "+name] {
			seen["type "+name] = true
			r.uses = append(r.uses, Use{Name: name, Type: true})
		}
	}
	var walk func(*term)
	walk = func(t *term) {
		for _, a := range t.args {
			walk(a)
		}
		if t.kind != kOp {
			return
		}
		switch t.op {
		case opNegate:
			add("-", t.args[0])
		case opIn, opNotIn:
			for _, a := range t.args[1:min(len(t.args), 20)] {
				add("=", t.args[0], a)
			}
		case opAny, opAll:
			add("=", t.args[0], &term{typ: plain(elements[t.args[1].typ.OID])})
		case "NULLIF":
			add("=", t.args...)
		case opSemi:
			if t.semi.X != nil {
				add("=", t.args[:2]...)
			}
		case opCast:
			addType(typeNames[t.typ.OID] + typeNames[elements[t.typ.OID]])
		case "GREATEST", "LEAST", "COALESCE", opCase, "AND", "OR", "NOT": // these are found by no name
		case "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE":
			add(map[string]string{"LIKE": "~~", "NOT LIKE": "!~~", "ILIKE": "~~*", "NOT ILIKE": "!~~*"}[t.op],
				t.args...)
		case "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
			add("=", t.args...)
		default:
			switch {
			case strings.Contains(t.op, "BETWEEN"):
				add("<=", t.args[0], t.args[2])
				add(">=", t.args[0], t.args[1])
			case !strings.HasPrefix(t.op, "IS "):
				add(t.op, t.args...)
			}
		}
	}
	for i, t := range r.terms {
		walk(t)
		if root := r.roots[i]; root.Aggregate != "" && !root.Further {
			args := r.arguments(i)
			if strings.HasPrefix(root.Aggregate, "percentile_") { // its fraction comes first
				args = append([]*term{{typ: plain(oidFloat8)}}, args...)
			}
			add(root.Aggregate, args...)
		}
	}
}
