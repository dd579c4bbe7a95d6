package build

import (
	"fmt"
	"slices"

	"fugu/parser"
)

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

	// What a link points at has to be told apart among the copies of a row, whatever its type is; and the link follows.
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
				if !slices.Contains([]string{"text", "varchar", "uuid"}, to.base) &&
					!slices.Contains(numbers, to.base) {
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
	return fmt.Errorf("table %s has no column %s, which a link of the policy names", s.qualified(),
		parser.QuoteIdent(name))
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
	if c, _ := s.column(column); c.notNull {
		return value
	}
	return "CASE WHEN " + parser.QuoteIdent(column) + " IS NOT NULL THEN " + value + " END"
}

// distinct reports whether the new values of the columns are distinct: one of them is a key of the table's own that was
// counted anew; or the links to a row, beside what told the rows of one apart before, do so still.
func (k fresh) distinct(columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool { _, ok := k[name]; return ok })
}

// checkGenerated refuses columns that are generated from a key that is made anew: they show the old one.
func (s *source) checkGenerated(keys fresh) error {
	for _, c := range s.kept() {
		for _, from := range c.from {
			if _, ok := keys[from]; ok {
				return fmt.Errorf("column %s of %s is generated from %s, which gets new values in the twin: leave it "+
					"out (drop)", parser.QuoteIdent(c.name), s.qualified(), parser.QuoteIdent(from))
			}
		}
	}
	return nil
}
