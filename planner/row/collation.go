package row

import "slices"

// Texts of different collations meet in an error, once there is a row to compare; and so does a collation in which
// unequal texts can be equal with a search inside of a text (manual, section 24.2). Where that could be, every column
// is taken in the database's own collation. That changes no equality of texts, and no order but that of columns that
// have a collation of their own.

// searches look into texts.
var searches = []string{"LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "strpos", "starts_with", "replace", "split_part"}

// meet gives args a common collation where they need one.
func meet(name string, args []value) {
	var texts []int
	seen := map[string]bool{}
	for i, a := range args {
		if c := a.class(); c == text || c == padded {
			texts = append(texts, i)
			a.textColumns(seen)
		}
	}
	if len(seen) < 2 && (len(seen) == 0 || !slices.Contains(searches, name)) {
		return
	}
	for _, i := range texts {
		args[i].term = collated(args[i].term)
	}
}

// textColumns collects the columns from which a text comes.
func (t *term) textColumns(seen map[string]bool) {
	if c := t.class(); t.kind == kColumn && (c == text || c == padded) {
		seen[t.String()] = true
	}
	for _, a := range t.args {
		a.textColumns(seen)
	}
}

// collated is t with its columns of text in the database's collation.
func collated(t *term) *term {
	switch c := t.class(); {
	case t.kind == kColumn && (c == text || c == padded):
		return &term{op: opCollate, typ: t.typ, args: []*term{t}}
	case t.kind != kOp || t.op == opCollate:
		return t
	}
	args := make([]*term, len(t.args))
	for i, a := range t.args {
		args[i] = collated(a)
	}
	return t.of(args)
}
