package parser

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fugu/parser/lex"
)

// printer says how an Expr's columns and parameters are written.
type printer struct {
	alias string      // of the relation; empty: columns stand alone, as people write them
	param map[int]int // client's parameter number -> the statement's own; nil: unchanged
}

// SQL prints e fully parenthesised, columns qualified by alias; with an empty alias it is meant for people. Parameters
// are renumbered by param (the client's number to the new one); nil leaves them as they are. Equal expressions print
// equally, whatever their source looked like.
func SQL(e Expr, alias string, param map[int]int) string {
	var b strings.Builder
	e.sql(&b, printer{alias, param})
	return b.String()
}

// FromSQL prints sources as a FROM clause; name gives the text that stands for each source's relation.
func FromSQL(sources []Source, alias string, param map[int]int, name func(Source) string) string {
	var b strings.Builder
	writeFrom(&b, printer{alias, param}, sources, name)
	return b.String()
}

// SelectSQL writes a SELECT of these columns; where and group may be empty.
func SelectSQL(columns []string, from, where string, group []string) string {
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if where != "" {
		sql += " WHERE " + where
	}
	if len(group) > 0 {
		sql += " GROUP BY " + strings.Join(group, ", ")
	}
	return sql
}

// Alias is the alias of the source with the number rel.
func Alias(alias string, rel int) string {
	if rel == 0 {
		return alias
	}
	return alias + strconv.Itoa(rel)
}

func writeFrom(b *strings.Builder, p printer, sources []Source, name func(Source) string) {
	if p.alias == "" {
		p.alias = "t"
	}

	// The first source stands alone; ON of an outer join decides which rows have a partner.
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

// QuoteIdent writes an identifier so that it is read back unchanged.
func QuoteIdent(s string) string { return lex.QuoteIdent(s) }

// QuoteLiteral writes a string constant; standard_conforming_strings is on in every session of ours.
func QuoteLiteral(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

var plainIdent = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

func writeList(b *strings.Builder, p printer, open, sep string, args []Expr) {
	b.WriteString(open)
	for i, a := range args {
		if i > 0 {
			b.WriteString(sep)
		}
		a.sql(b, p)
	}
	b.WriteByte(')')
}

func (e Column) sql(b *strings.Builder, p printer) {
	switch {
	case p.alias != "":
		b.WriteString(Alias(p.alias, e.Rel) + "." + QuoteIdent(e.Name))
	case plainIdent.MatchString(e.Name):
		b.WriteString(e.Name)
	default:
		b.WriteString(QuoteIdent(e.Name))
	}
}

func (e Const) sql(b *strings.Builder, _ printer) {
	switch e.Kind {
	case Null:
		b.WriteString("NULL")
	case Bool:
		b.WriteString(strings.ToUpper(e.Text))
	case Number:
		b.WriteString(e.Text)
	default:
		b.WriteString(QuoteLiteral(e.Text))
	}
}

func (e Param) sql(b *strings.Builder, p printer) {
	n := e.Number
	if p.param != nil {
		n = p.param[n]
	}
	b.WriteString("$" + strconv.Itoa(n))
}

func (e Unary) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	if !e.Postfix {
		b.WriteString(e.Op + " ")
	}
	e.X.sql(b, p)
	if e.Postfix {
		b.WriteString(" " + e.Op)
	}
	b.WriteByte(')')
}

func (e Binary) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.L.sql(b, p)
	b.WriteString(" " + e.Op + " ")
	e.R.sql(b, p)
	b.WriteByte(')')
}

func (e Logic) sql(b *strings.Builder, p printer) {
	writeList(b, p, "(", " "+e.Op+" ", e.Args)
}

func (e In) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	if e.Not {
		b.WriteString(" NOT")
	}
	writeList(b, p, " IN (", ", ", e.List)
	b.WriteByte(')')
}

func (e Between) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	b.WriteString(" " + e.Op + " ")
	e.Low.sql(b, p)
	b.WriteString(" AND ")
	e.High.sql(b, p)
	b.WriteByte(')')
}

func (e Like) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	b.WriteString(" " + e.Op + " ")
	e.Pattern.sql(b, p)
	if e.Escape != nil {
		b.WriteString(" ESCAPE ")
		e.Escape.sql(b, p)
	}
	b.WriteByte(')')
}

func (e Case) sql(b *strings.Builder, p printer) {
	b.WriteString("(CASE")
	if e.Operand != nil {
		b.WriteByte(' ')
		e.Operand.sql(b, p)
	}
	for _, w := range e.Whens {
		b.WriteString(" WHEN ")
		w.Cond.sql(b, p)
		b.WriteString(" THEN ")
		w.Result.sql(b, p)
	}
	if e.Else != nil {
		b.WriteString(" ELSE ")
		e.Else.sql(b, p)
	}
	b.WriteString(" END)")
}

func (e Cast) sql(b *strings.Builder, p printer) {
	b.WriteString("CAST(")
	e.X.sql(b, p)
	fmt.Fprintf(b, " AS %s)", e.Type)
}

func (e Func) sql(b *strings.Builder, p printer) {
	writeList(b, p, "pg_catalog."+e.Name+"(", ", ", e.Args)
}

func (e Any) sql(b *strings.Builder, p printer) {
	b.WriteByte('(')
	e.X.sql(b, p)
	b.WriteString(map[bool]string{false: " = ANY (", true: " <> ALL ("}[e.Not])
	e.Array.sql(b, p)
	b.WriteString("))")
}

func (e Form) sql(b *strings.Builder, p printer) {
	for i, t := range e.Text {
		b.WriteString(t)
		if i < len(e.Columns) {
			e.Columns[i].sql(b, p)
		}
	}
}

func (e Call) sql(b *strings.Builder, p printer) {
	writeList(b, p, e.Name+"(", ", ", e.Args)
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
	writeFrom(b, p, e.Sources, func(s Source) string {
		return QuoteIdent(s.Table.Schema) + "." + QuoteIdent(s.Table.Name)
	})
	if e.Where != nil {
		b.WriteString(" WHERE ")
		e.Where.sql(b, p)
	}
	b.WriteString("))")
}
