package parser

import (
	"strconv"
	"strings"
)

// Semi is EXISTS (SELECT FROM Sources WHERE Where), or X IN (SELECT Value FROM ...): a subquery over ordinary tables. NOT
// stands around it.
type Semi struct {
	X, Value Expr // nil: EXISTS
	Sources  []Source
	Where    Expr
}

func (e Semi) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	if e.X == nil {
		b.WriteString("EXISTS (SELECT")
	} else {
		e.X.sql(b, p)
		b.WriteString(" IN (SELECT ")
		e.Value.sql(b, p)
	}
	b.WriteString(" FROM ")
	from(b, p, e.Sources, func(s Source) string { return QuoteIdent(s.Table.Schema) + "." + QuoteIdent(s.Table.Name) })
	if e.Where != nil {
		b.WriteString(" WHERE ")
		e.Where.sql(b, p)
	}
	b.WriteString("))")
}

// Alias is the alias of the source with the number rel.
func Alias(alias string, rel int) string {
	if rel == 0 {
		return alias
	}
	return alias + strconv.Itoa(rel)
}

// FromSQL prints sources as a FROM clause; name gives the text that stands for each source's relation.
func FromSQL(sources []Source, alias string, param map[int]int, name func(Source) string) string {
	var b strings.Builder
	from(&b, printer{alias, param}, sources, name)
	return b.String()
}

func from(b *strings.Builder, p printer, sources []Source, name func(Source) string) {
	if p.alias == "" {
		p.alias = "t"
	}
	for i, s := range sources {
		switch {
		case s.Left:
			b.WriteString(" LEFT JOIN ")
		case i > 0:
			b.WriteString(" CROSS JOIN ")
		}
		b.WriteString(name(s) + " AS " + Alias(p.alias, s.Rel))
		if s.Left {
			b.WriteString(" ON ")
			if s.On == nil {
				b.WriteString("TRUE")
			} else {
				s.On.sql(b, p)
			}
		}
	}
}
