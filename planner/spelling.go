package planner

import (
	"slices"
	"strings"

	"fugu/internal/hook"
	"fugu/parser"
)

// GROUP BY calls a group what its first row has, and values that are equal need not look alike: 1.0 and 1.00, 0 and -0,
// texts in a collation that tells no capitals apart. Where such values are mixed by a secret,
//
//	CASE WHEN secret THEN round(x, 1) ELSE round(x, 2) END
//
// each group would tell by its name alone, exactly and for nothing, whether its first row has it: F would be no sum
// over rows. So below the cut a key is written such that equal values are spelled alike, or, where that cannot be, such
// that values of different spelling are different. Cells keep the spelling in which they were declared.

// spelled prints an expression as a key is grouped by.
func (b *Bound) spelled(e parser.Expr, k Key) string {
	sql := b.sql(e)
	if hook.FirstRows {
		return sql
	}

	// Equal numbers may differ in trailing zeros, floats in the sign of zero, and texts in capitals and accents.
	switch k.family() {
	case "numeric":
		return "pg_catalog.trim_scale(" + sql + ")"
	case "real":
		return "((" + sql + ") + '0'::pg_catalog.float4)" // -0 + 0 is 0
	case "double":
		return "((" + sql + ") + '0'::pg_catalog.float8)"
	case "interval":
		return "(" + sql + ")::pg_catalog.text" // a day is 24 hours
	case "text":
		if slices.ContainsFunc(columns(e), b.collated) {
			return "((" + sql + `) COLLATE pg_catalog."default")`
		}
	}
	return sql
}

// valueOf prints an expression as values of a key are listed: texts that are equal in another collation are groups of
// their own.
func (b *Bound) valueOf(e parser.Expr, k Key) string {
	out := "CAST(" + b.sql(e) + " AS " + k.Type + ")"
	if k.family() == "text" {
		out += ` COLLATE pg_catalog."default"`
	}
	return out
}

// spelled is a value of a key as the statements over rows spell it.
func (k Key) spelled(v Value) Value {
	if hook.FirstRows {
		return v
	}
	switch k.family() {
	case "numeric":
		if strings.Contains(v.Text, ".") {
			v.Text = strings.TrimSuffix(strings.TrimRight(v.Text, "0"), ".")
		}
	case "real", "double":
		if v.Text == "-0" {
			v.Text = "0"
		}
	}
	return v
}

// family is what is to be known of a key's type: numeric without a scale, real, double, interval and text are those of
// which equal values may be spelled otherwise.
func (k Key) family() string {
	name, modifier, _ := strings.Cut(strings.TrimPrefix(k.Type, "pg_catalog."), "(")
	switch name {
	case "numeric":
		if modifier == "" { // otherwise all have the same number of digits
			return name
		}
	case "float4", "real":
		return "real"
	case "float8", "double precision":
		return "double"
	case "interval":
		return name
	case "text", "varchar", "character varying", "bpchar", "character", "name":
		return "text"
	}
	return ""
}

// collated reports whether a column may have another collation than the database's: a protected one of which that is
// known, and any of an ordinary table.
func (b *Bound) collated(c parser.Column) bool {
	t := b.sources.tables[c.Rel]
	return t == nil || t.Collation(c.Name) != ""
}
