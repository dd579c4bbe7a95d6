package setup

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fugu/policy"
)

// text is a commented file in the making: comments stand in one column.
type text struct{ strings.Builder }

// commentsAt is the column of comments, where the line before them is not longer.
const commentsAt = 50

func (b *text) line(line, comment string) {
	if comment != "" {
		line = fmt.Sprintf("%-*s # %s", commentsAt, line, comment)
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// Policy is the text of the policy file.
func (p *Plan) Policy() string {
	var b text
	b.line("# What is secret about "+p.Root.String()+", and how analysts are answered.", "")
	b.line("# Every key is in docs/policy.md; fugu check says what is wrong, and why.", "")
	b.line("version: 1", "")
	b.line("dataset: "+yaml(p.Dataset), "in budgets and the ledger: a new name is a new budget")
	b.line("", "")

	// The table that has the secret, and how it is answered.
	b.line("tables:", "protected; everything else in the database is ordinary")
	b.line(fmt.Sprintf("  %s:", yaml(p.Root.String())), "")
	b.line(fmt.Sprintf("    rows: %d", p.Rows), "public: everybody may know it")
	if p.Answers == policy.FromTwin {
		p.twin(&b, p.Root)
	} else {
		p.noise(&b, p.Root)
	}

	// Linked tables are answered as it is: one statement may join them.
	for _, l := range p.Linked {
		b.line(fmt.Sprintf("  %s:", yaml(l.String())), "its rows go with those of "+l.To.String())
		var on []string
		for _, k := range l.On {
			on = append(on, yaml(ident(k[0]))+": "+yaml(ident(k[1])))
		}
		b.line(fmt.Sprintf("    link: {to: %s, on: {%s}}", yaml(l.To.String()), strings.Join(on, ", ")), "")
		if p.Answers == policy.FromTwin {
			p.twin(&b, l.Table)
		} else {
			p.noise(&b, l.Table)
		}
	}

	p.secret(&b)
	return b.String()
}

// twin writes how a table is answered from its twin.
func (p *Plan) twin(b *text, t *Table) {
	b.line("    answers: twin", "any SQL, on a copy in which the secret is blurred once")
	b.line("    twin:", "")
	if p.ShowRows {
		b.line("      rows: shown", "single rows of the twin, too: they are rows of the table, with other keys")
	} else {
		b.line("      rows: aggregates", "no single row is told; write shown if analysts may see rows")
	}

	// Why a column is left out stands above it, since whoever reviews the policy may put it back.
	var names []string
	for _, d := range p.Dropped {
		if d.Table == t.QualifiedName {
			names = append(names, yaml(ident(d.Column)))
			b.line("      # "+d.Column+": "+d.Why, "")
		}
	}
	if len(names) > 0 {
		b.line("      drop: ["+strings.Join(names, ", ")+"]", "columns that the twin leaves out")
	}

	// What is said of subjects and of known rows holds for the table that has the secret.
	if t != p.Root {
		return
	}
	if p.IndependentRows {
		b.line("      independent_rows: true", "rows of one subject are taken to be drawn one by one")
	}
	b.line("      known_rows: 0", "rows of the table that analysts may know one by one")
}

// noise writes how a table is answered with noise on each statement: by a reference, and by public domains, which are
// what the schema says.
func (p *Plan) noise(b *text, t *Table) {
	b.line("    reference: "+yaml(p.References[t.QualifiedName].String()),
		"public or held-out rows with the same columns")

	// A domain in the catalog is a promise of the schema, which is public; what rows have is not looked at.
	var domains []string
	for _, c := range t.Columns {
		if d := c.domain(); d != "" {
			domains = append(domains, fmt.Sprintf("      %s: %s", yaml(ident(c.Name)), d))
		}
	}

	// Where the schema says nothing, the owner is shown where to write.
	if domains == nil {
		b.line("    # group_by:", "by which columns statements may group, and the values that are public:")
		b.line("    #   a_column: [a, b]", "docs/policy.md#tables")
		return
	}

	b.line("    group_by:", "public values, as the schema has them; add what else may be known")
	for _, d := range domains {
		b.line(d, "")
	}
}

// mostListed is how many whole numbers are listed with null, where a column may have none: a range has no place for it.
const mostListed = 100

// domain is the public domain of a column as the policy writes it; empty: the schema has none. Rows without a value are
// in no group of a range, so that a column that may have none gets a list, or, where that is too long, nothing.
func (c *Column) domain() string {
	values := slices.Clone(c.Values)

	// A range of whole numbers stays one, or is written out.
	if values == nil && c.From != "" {
		from, err1 := strconv.ParseInt(c.From, 10, 64)
		to, err2 := strconv.ParseInt(c.To, 10, 64)
		switch {
		case c.NotNull:
			return fmt.Sprintf("{from: %s, to: %s}", c.From, c.To)
		case err1 != nil || err2 != nil || from > to || to-from < 0 || to-from >= mostListed:
			return ""
		}
		for v := from; v <= to; v++ {
			values = append(values, strconv.FormatInt(v, 10))
		}
	}
	if values == nil {
		return ""
	}

	// Each is written as YAML has values of the column's type.
	for i, v := range values {
		values[i] = scalar(v, c.Type)
	}
	if !c.NotNull {
		values = append(values, "null")
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// secret writes what is hidden, under which assumption, and what may be told of it.
func (p *Plan) secret(b *text) {
	b.line("", "")
	b.line("secrets:", "")
	b.line("  "+yaml(p.Secret)+":", "")
	b.line("    table: "+yaml(p.Root.String()), "")
	b.line("    proportion: "+yaml(p.Predicate), "the share of rows that satisfy it is secret")
	b.line(fmt.Sprintf("    values: {from: %s, to: %s, within: %s}", p.From, p.To, p.Within),
		"the range is public; shares so close look alike")
	b.line("", "")

	// A twin assumes something else than noise does, and is paid for once.
	if p.Answers == policy.FromTwin {
		b.line("assume: [exchangeable]", "rows are like each other, but for the secret: docs/twin.md")
	} else {
		b.line("assume: [translation, gaussian]", "how statistics are distributed: docs/policy.md#assumptions")
	}
	b.line("", "")
	b.line("privacy:", "")
	if p.Answers == policy.FromTwin {
		b.line("  epsilon: "+p.Epsilon, "the price of the twin, once, whatever is asked of it")
		b.line("  delta: "+p.Delta, "")
		b.line(fmt.Sprintf("  budget: {epsilon: %s, delta: %s, per: dataset}", p.Epsilon, p.Delta), "")
	} else {
		b.line("  epsilon: "+p.Epsilon, "of each statement: half of it, twice the noise")
		b.line("  delta: "+p.Delta, "")
		b.line(fmt.Sprintf("  budget: {epsilon: %s, delta: %s, per: dataset}", times(p.Epsilon, 20),
			times(p.Delta, 20)),
			"of all statements together")
	}
	b.line("", "")

	// Nobody who is not named may ask.
	var names []string
	for _, a := range p.Analysts {
		names = append(names, yaml(a))
	}
	b.line("analysts: ["+strings.Join(names, ", ")+"]", "who may ask about these tables")
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z_(][^\x00-\x1f]*$`)
	oddWords  = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
	flowSigns = regexp.MustCompile(`[\[\]{},"]|: |:$| #`)
)

// yaml writes text so that YAML reads it back.
func yaml(s string) string {
	if plainText.MatchString(s) && !oddWords.MatchString(s) && !flowSigns.MatchString(s) && strings.TrimSpace(s) == s {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// scalar writes a value of a column.
func scalar(v, typ string) string {
	switch typ {
	case "boolean", "smallint", "integer", "bigint":
		return v
	}
	return yaml(v)
}

// ident is a column's name as policies have it: as SQL does.
func ident(name string) string {
	q := policy.QualifiedName{Schema: "public", Name: name}.String()
	return strings.TrimPrefix(q, "public.")
}
