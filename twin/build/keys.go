package build

import (
	"fmt"
	"slices"

	"fugu/parser"
	"fugu/policy"
)

// family is a table with secrets and the tables whose rows go with its rows, each behind the one that it is linked to.
type family struct {
	root    *source
	sources []*source // the root first
	foreign []foreign // keys between them
}

// fresh says which columns of a table get new values, and from what. An old key would show which rows were drawn to who
// knows some of them, and copies of a row have one each.
type fresh map[string]freshKey

// freshKey is where the new value of a column comes from.
type freshKey struct {
	base string // the column's type
	of   string // the column of the table that it is linked to whose new value this is; empty: it is a key of its own
}

// numbers are the types of keys that are counted anew.
var numbers = []string{"int2", "int4", "int8"}

// freshKeys works out the new keys of every table of the family.
func (f *family) freshKeys() (map[*source]fresh, error) {
	out := map[*source]fresh{}
	for _, s := range f.sources {
		keys := fresh{}
		for _, columns := range append([][]string{s.primary}, s.unique...) {
			if len(columns) != 1 {
				continue
			}
			if c, _ := s.column(columns[0]); c.base == "uuid" || slices.Contains(numbers, c.base) {
				keys[c.name] = freshKey{base: c.base}
			}
		}
		out[s] = keys
	}

	// What a link points at has to be told apart among the copies of one row, whatever its type is; and the link follows.
	for _, s := range f.sources[1:] {
		parent := f.find(s.Link.To)
		for _, on := range s.Link.On {
			to, ok := parent.column(on.To)
			if !ok {
				return nil, noColumn(parent, on.To)
			}
			if _, ok := s.column(on.Own); !ok {
				return nil, noColumn(s, on.Own)
			}
			if _, ok := out[parent][to.name]; !ok {
				if !slices.Contains([]string{"text", "varchar", "uuid"}, to.base) && !slices.Contains(numbers, to.base) {
					return nil, fmt.Errorf("table %s is linked to column %s of %s, of type %s: "+
						"keys of that type cannot be made anew; link on an integer, a uuid or a text",
						s.qualified(), parser.QuoteIdent(to.name), parent.qualified(), to.typ)
				}
				out[parent][to.name] = freshKey{base: to.base}
			}
			out[s][on.Own] = freshKey{base: to.base, of: to.name}
		}
	}
	for _, s := range f.sources {
		if err := s.checkGenerated(out[s]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func noColumn(s *source, name string) error {
	return fmt.Errorf("table %s has no column %s, which a link of the policy names", s.qualified(), parser.QuoteIdent(name))
}

// find returns the family's table of that name.
func (f *family) find(name policy.QualifiedName) *source {
	i := slices.IndexFunc(f.sources, func(s *source) bool { return s.Qualified() == name })
	return f.sources[i]
}

// children are the tables that are linked to s.
func (f *family) children(s *source) (out []*source) {
	for _, c := range f.sources[1:] {
		if c.Link.To == s.Qualified() {
			out = append(out, c)
		}
	}
	return out
}

// value is the SQL of a new key of a column of a row that is numbered "fugu n". NULL stays NULL: it is no key.
func (k freshKey) value(s *source, column string) string {
	value := `"fugu n"::pg_catalog.` + k.base
	switch k.base {
	case "uuid":
		random := secretOf(`pg_catalog.int8send("fugu n")`, "key", s, column)
		value = `pg_catalog.encode(pg_catalog.substr(` + random + `, 1, 16), 'hex')::pg_catalog.uuid`
	case "text", "varchar":
		value = `"fugu n"::pg_catalog.text`
	}
	return "CASE WHEN " + parser.QuoteIdent(column) + " IS NOT NULL THEN " + value + " END"
}

// distinct reports whether the new values of the columns are distinct: one of them is a key of the table's own that was
// counted anew; or the links to a row, beside what told the rows of one apart before, do so still.
func (k fresh) distinct(columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool { _, ok := k[name]; return ok })
}

// secretOf is the SQL of 32 bytes that nobody can compute without the key of the order of drawing, nor tell from random
// ones: of an expression that has bytes, for one use in one table. An order of drawing hashes texts that begin otherwise.
func secretOf(bytes, use string, s *source, column string) string {
	words := parser.QuoteLiteral(use + " of " + s.qualified() + " " + column + ": ")
	return "pg_catalog.sha256(" + orderKey + " || pg_catalog.convert_to(" + words + ", 'UTF8') || " + bytes + ")"
}
