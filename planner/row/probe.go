package row

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/sqlstate"
)

// probe is the statement that asks for every type at once. The roots come first, as the client wrote them, since that
// is what parameters and literals take their types from.
func (r *resolver) probe(from string) string {
	bare := func(t *term) string {
		if t.kind == kParam {
			return "$" + itoa(r.numbers[t.number])
		}
		return "$" + itoa(t.number)
	}

	var cols []string
	add := func(format string, terms ...*term) {
		list := make([]string, len(terms))
		for i, t := range terms {
			list[i] = parser.SQL(t.form(bare), "t", nil)
		}
		cols = append(cols, fmt.Sprintf(format, strings.Join(list, ", ")))
	}

	for i, root := range r.roots {
		switch {
		case root.Further:
			add("CAST(%s AS pg_catalog.float8)", r.terms[i]) // so they are for every aggregate of several arguments
		case root.Aggregate != "" && !root.Value:
			add("pg_catalog."+root.Aggregate+"(%s) OVER ()", r.arguments(i)...)
		case root.Condition:
			add("(%s) IS TRUE", r.terms[i])
		default:
			add("%s", r.terms[i])
		}
	}

	// A node's type is asked for where it stands: what a semi-join brings into FROM is known in there alone.
	for _, n := range r.nodes {
		format := "%s"
		for _, from := range slices.Backward(n.scope) {
			format = "(SELECT " + format + " FROM " + strings.ReplaceAll(from, "%", "%%") + ")"
		}
		add(format, n.term)
	}
	return "SELECT " + strings.Join(cols, ", ") + " FROM " + from
}

// arguments are those of the aggregate whose first one root i is.
func (t *Typing) arguments(i int) []*term {
	end := i + 1
	for end < len(t.roots) && t.roots[end].Further {
		end++
	}
	return t.terms[i:end]
}

// typed takes over the answer.
func (r *resolver) typed(d Description) error {
	if len(d.ResultTypes) != len(r.roots)+len(r.nodes) || len(d.ParamTypes) != r.slots {
		return fmt.Errorf("describing expressions: %d columns and %d parameters", len(d.ResultTypes), len(d.ParamTypes))
	}
	r.Results, r.ParamTypes = d.ResultTypes[:len(r.roots)], d.ParamTypes[:len(r.Params)]
	for i, n := range r.nodes {
		t, k := n.term, len(r.roots)+i
		t.typ = plain(d.ResultTypes[k])
		if t.kind == kColumn {
			t.typ.Mod = d.ResultMods[k]
			for _, same := range r.columns[parser.SQL(t.column, "t", nil)] {
				same.typ = t.typ
			}
		}
	}

	// Constants and parameters have the types of the parameters that stood for them.
	for _, t := range r.leaves {
		n := t.number
		if t.kind == kParam {
			n = r.numbers[n]
		}
		t.typ = plain(d.ParamTypes[n-1])
	}
	return nil
}

// enums makes sure that types which users have made are enums. Any other has no class, and nothing is computed from it.
//
// A parameter has none but the type of a column that the statement reads. PostgreSQL would compute with one of a type
// of the client's own by the client's casts, and check it by the client's domain, with the reader's rights.
func (r *resolver) enums(ctx context.Context, db Evaluator) error {
	users := map[uint32]bool{}
	for _, n := range r.nodes {
		if n.typ.OID >= firstUser {
			users[n.typ.OID] = false
		}
	}

	for _, t := range r.leaves {
		column := func(n node) bool { return n.kind == kColumn && n.typ.OID == t.typ.OID }
		if t.typ.OID >= firstUser && !hook.GuestCode && !slices.ContainsFunc(r.nodes, column) {
			return sqlstate.New(sqlstate.NotAnswerable, "a parameter of a type of your own cannot be used on "+
				"protected rows").
				WithHint("Pass text, or give the parameter no type.").At(t.pos)
		}
	}

	if len(users) == 0 {
		return nil
	}

	var list []string
	for _, oid := range slices.Sorted(maps.Keys(users)) {
		list = append(list, strconv.FormatUint(uint64(oid), 10))
	}
	rows, err := db.Evaluate(ctx, "SELECT t.oid::pg_catalog.text FROM pg_catalog.pg_type AS t WHERE t.typtype = 'e' "+
		"AND t.oid IN ("+strings.Join(list, ", ")+")", nil, nil)
	if err != nil {
		return err
	}
	for _, row := range rows {
		oid, err := strconv.ParseUint(row[0].Text, 10, 32)
		if err != nil {
			return fmt.Errorf("reading the enum types: %w", err)
		}
		users[uint32(oid)] = true
	}

	// A type that is no enum is none that is known here.
	all := slices.Clone(r.leaves)
	for _, n := range r.nodes {
		all = append(all, n.term)
	}
	for _, list := range append([][]*term{all}, mapValues(r.columns)...) {
		for _, t := range list {
			if isEnum, user := users[t.typ.OID]; user && !isEnum {
				t.typ.OID = 0
			}
		}
	}
	return nil
}

func mapValues(m map[string][]*term) [][]*term {
	var out [][]*term
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
