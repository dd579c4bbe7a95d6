package row

import (
	"fmt"
	"maps"
	"slices"
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
	for _, name := range slices.Sorted(maps.Keys(mirrored)) {
		if !strings.HasPrefix(name, "IS") {
			operators = append(operators, name)
		}
	}
	operators = append(operators, "+", "-", "*", "/", "%", "^", "||", "~~", "!~~", "~~*", "!~~*")
	types = slices.Sorted(maps.Values(typeNames))
	return functions, operators, types
}

// Uses lists what the expressions use, for a check of the client's own overloads.
func (t *Typing) Uses() []Use { return t.uses }

// useList collects uses, each once, in the order in which they come.
type useList struct {
	uses []Use
	seen map[string]bool
}

func (l *useList) add(name string, args ...*term) {
	u := Use{Name: name}
	for _, a := range args {
		u.Args, u.Loose = append(u.Args, a.typ.OID), append(u.Loose, a.kind == kLiteral || a.kind == kNull)
	}
	if key := fmt.Sprint(u); !l.seen[key] {
		l.seen[key] = true
		l.uses = append(l.uses, u)
	}
}

func (l *useList) addType(name string) {
	if !l.seen["type "+name] {
		l.seen["type "+name] = true
		l.uses = append(l.uses, Use{Name: name, Type: true})
	}
}

// addAll adds what t and its operands use.
func (l *useList) addAll(t *term) {
	for _, a := range t.args {
		l.addAll(a)
	}
	if t.kind == kOp {
		l.addOperation(t)
	}
}

// maxListed is how many values of a list are looked at: the rest have the types of these.
const maxListed = 20

// addOperation adds what PostgreSQL looks up by name for one operation. BETWEEN, IN and their like are short for the
// operators that they are defined by.
func (l *useList) addOperation(t *term) {
	switch t.op {
	case opNegate:
		l.add("-", t.args[0])
	case opIn, opNotIn:
		for _, a := range t.args[1:min(len(t.args), maxListed)] {
			l.add("=", t.args[0], a)
		}
	case opAny, opAll:
		l.add("=", t.args[0], &term{typ: plain(elements[t.args[1].typ.OID])})
	case "NULLIF", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		l.add("=", t.args...)
	case opSemi:
		if t.semi.X != nil {
			l.add("=", t.args[:2]...)
		}
	case opCast:
		l.addType(typeNames[t.typ.OID] + typeNames[elements[t.typ.OID]])
	case "GREATEST", "LEAST", "COALESCE", opCase, "AND", "OR", "NOT": // these are found by no name
	case "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE":
		l.add(patternOperators[t.op], t.args...)
	default:
		switch {
		case strings.Contains(t.op, "BETWEEN"):
			l.add("<=", t.args[0], t.args[2])
			l.add(">=", t.args[0], t.args[1])
		case !strings.HasPrefix(t.op, "IS "):
			l.add(t.op, t.args...)
		}
	}
}

// patternOperators are the operators that LIKE is another spelling of.
var patternOperators = map[string]string{"LIKE": "~~", "NOT LIKE": "!~~", "ILIKE": "~~*", "NOT ILIKE": "!~~*"}

func (r *resolver) collectUses() {
	list := useList{seen: map[string]bool{}}
	for i, t := range r.terms {
		list.addAll(t)
		if root := r.roots[i]; root.Aggregate != "" && !root.Further {
			args := r.arguments(i)
			if strings.HasPrefix(root.Aggregate, "percentile_") { // its fraction comes first
				args = append([]*term{{typ: plain(oidFloat8)}}, args...)
			}
			list.add(root.Aggregate, args...)
		}
	}
	r.uses = list.uses
}
