package build

import (
	"fmt"
	"regexp"
	"strings"

	"fugu/parser"
	"fugu/policy"
)

// Subjects says what to write where the unit of a table's twin is to be the subject of a row and not the row. Rows of
// one subject that were drawn one by one would show how many of them there are not; drawn together they are the theorem
// with subjects in the place of rows. Rows that stand and fall together are what a link makes: so the subjects get a
// table of their own, with what is secret about them, and the rows are linked to it.
//
// It returns SQL for the database and lines for the policy, which hold as they are, but for the number of subjects.
func Subjects(p *policy.Policy, t policy.Table) string {
	subjects := policy.QualifiedName{Schema: t.Schema, Name: t.Name + "_subject"}
	unit := parser.QuoteIdent(t.Twin.Unit)

	var columns, secrets []string
	for _, s := range p.Secrets {
		switch {
		case s.Table != t.Qualified():
		case s.Categories != "":
			columns = append(columns, fmt.Sprintf("min(%s) AS %[1]s", parser.QuoteIdent(s.Categories)))
			secrets = append(secrets, fmt.Sprintf("  %s: {table: %s, categories: %s, ...} # with its group_by",
				inYAML(s.Name),
				inYAML(subjects.String()), named(s.Categories)))
		default:
			columns = append(columns, fmt.Sprintf("bool_or(%s) AS %s", s.Proportion, parser.QuoteIdent(s.Name)))
			secrets = append(secrets, fmt.Sprintf("  %s: {table: %s, proportion: %s, ...}", inYAML(s.Name),
				inYAML(subjects.String()), inYAML(parser.QuoteIdent(s.Name))))
		}
	}

	// The lines can be copied as they stand.
	lines := []string{
		fmt.Sprintf("table %s: a twin draws rows, and the rows of a subject (unit: %s) are to stand or fall together. "+
			"Give subjects a table of their own, of which each is a row, and link the rows to it. In the database:",
			t.Qualified(), t.Twin.Unit),
		fmt.Sprintf("  CREATE TABLE %s AS SELECT %s, %s FROM %s WHERE %[2]s IS NOT NULL GROUP BY %[2]s;",
			quoted(subjects), unit,
			strings.Join(columns, ", "), quoted(t.Qualified())),
		fmt.Sprintf("  ALTER TABLE %s ADD PRIMARY KEY (%s);", quoted(subjects), unit),
		fmt.Sprintf("and the grants of %s; in the policy (a subject has what any of its rows has):", t.Qualified()),
		"tables:",
		fmt.Sprintf("  %s: {rows: NUMBER, answers: twin, twin: %s}", inYAML(subjects.String()), ofRoot(t.Twin)),
		fmt.Sprintf("  %s: {link: {to: %s, on: {%s: %[3]s}}, twin: %s}", inYAML(t.Qualified().String()),
			inYAML(subjects.String()), named(t.Twin.Unit), ofLinked(t.Twin)),
		"secrets:",
	}
	return strings.Join(append(lines, secrets...), "\n")
}

// ofRoot are the keys of a twin's section that are about subjects.
func ofRoot(w *policy.Twin) string {
	keys := listing(w)
	if w.KnownRows > 0 {
		keys += fmt.Sprintf(", known_rows: %d", w.KnownRows)
	}
	if w.Smallest > 0 {
		keys += fmt.Sprintf(", smallest: %g", w.Smallest)
	}
	return "{" + keys + "}"
}

// ofLinked are those that stay with the rows.
func ofLinked(w *policy.Twin) string {
	drop := make([]string, len(w.Drop))
	for i, name := range w.Drop {
		drop[i] = named(name)
	}
	return "{" + listing(w) + ", drop: [" + strings.Join(drop, ", ") + "]}"
}

func listing(w *policy.Twin) string {
	if w.Rows == policy.Aggregate {
		return fmt.Sprintf("rows: %s, at_least: %d", w.Rows, w.AtLeast)
	}
	return fmt.Sprintf("rows: %s", w.Rows)
}

// named writes a column's name as a policy has it: as SQL, in YAML.
func named(column string) string {
	return inYAML(strings.TrimPrefix(policy.QualifiedName{Schema: "x", Name: column}.String(), "x."))
}

// plain are texts that mean themselves in YAML.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// inYAML writes a text as YAML does.
func inYAML(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
