package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
)

// Planned is a statement of a policy or of its owner, planned and bound: one that has neither parameters nor ordinary
// tables.
type Planned struct {
	Policy *policy.Policy
	Plan   *planner.Plan
	Cuts   []*planner.Bound
}

// Ask plans a statement that aggregates protected tables, of a policy or, if that is nil, of any. It reads no row.
func (s *Snapshot) Ask(ctx context.Context, reader *upstream.Reader, p *policy.Policy, sql string) (Planned, error) {
	var out Planned
	none := sqlstate.New(sqlstate.NotAnswerable, "the text is not one statement that aggregates a protected table").
		WithHint("Write one SELECT with count, sum or avg over a protected table.")

	// Whatever else is wrong with a text that names nothing protected, it is no such statement.
	if !s.Names(sql) && !s.Masks.Mentions(sql) {
		return out, none
	}
	statements, err := parser.Parse(sql, s.Catalog(ctx, reader, nil))
	if err != nil {
		return out, err
	}
	if len(statements) != 1 || len(statements[0].Cuts) == 0 || statements[0].Prepare != nil {
		return out, none
	}
	st := statements[0]
	if out.Policy, err = s.PolicyOf(st); err != nil {
		return out, err
	}
	if out.Policy == nil {
		return out, none
	}
	if out.Plan, err = planner.New(ctx, st, s, reader, nil); err != nil {
		return out, err
	}

	// A model is of one statement, whoever asks it and whenever.
	switch {
	case len(out.Plan.Cuts) == 0:
		return out, none
	case p != nil && out.Policy != p:
		return out, sqlstate.New(sqlstate.NotAllowed, "the statement is about the tables of dataset %s",
			out.Policy.Dataset).
			WithHint("List it in that dataset's policy.")
	case out.Plan.ClientParams > 0:
		return out, sqlstate.New(sqlstate.NotAnswerable,
			"the statement has parameters, so there is no one model of it").
			WithHint("Write their values into it.")
	case len(out.Plan.Ordinary()) > 0:
		return out, sqlstate.New(sqlstate.NotAnswerable,
			"the statement reads ordinary tables, whose rows can change at any time").
			WithHint("Leave it out: it is modelled whenever it is asked.")
	}

	for _, c := range out.Plan.Cuts {
		bound, err := c.Bind(ctx, reader, nil)
		if err != nil {
			return out, err
		}
		out.Cuts = append(out.Cuts, bound)
	}
	return out, nil
}

// Listed is the protected table of a SELECT that lists rows, for which its reference may be read: where the policy does
// not offer that, it is refused.
func (s *Snapshot) Listed(plain *parser.Plain) (*Protected, error) {
	t := s.Find(plain.Table.Schema, plain.Table.Name)
	if t.Table.AtLeast == 0 && t.Config.PlainRows == policy.ReferenceRows {
		return t, nil
	}

	// The owner of the policy can let rows be seen that are not the table's own.
	refused := "rows of the protected table %s are not shown%s"
	offer := "plain_rows: reference, which lists rows of the reference instead"
	if t.Table.AtLeast > 0 {
		refused = "rows of the twin of %s are not listed%s"
		offer = "twin: {rows: shown}, which lists them"
	}
	hint := "Aggregate them: " + t.example() + ". The policy's owner can write " + offer + "."
	return nil, sqlstate.New(sqlstate.NotAnswerable, refused, plain.Table, parser.AskAggregates).
		WithHint("%s", cmp.Or(plain.Instead, hint)).At(plain.Position)
}

// example is a statement about the table that is answered, as people write it.
func (t *Protected) example() string {
	from := "count(*) FROM " + t.Syntax.String()
	i := slices.IndexFunc(t.Config.GroupBy, func(d policy.Domain) bool { return d.Dates == nil })
	if i < 0 {
		return "SELECT " + from
	}
	by := parser.SQL(parser.Column{Name: t.Config.GroupBy[i].Column}, "", nil)
	return "SELECT " + by + ", " + from + " GROUP BY " + by
}

// PolicyOf is the policy of the tables that a statement's cuts are charged for, nil if there are none.
func (s *Snapshot) PolicyOf(st *parser.Statement) (p *policy.Policy, err error) {
	for _, c := range st.Cuts {
		for _, src := range c.Sources {
			if src.Table.Ordinary || src.Table.Aggregates {
				continue // which cost nothing
			}
			of := s.Find(src.Table.Schema, src.Table.Name).Policy
			if p != nil && p != of {
				return p, sqlstate.New(sqlstate.NotAnswerable,
					"one statement cannot read the datasets %s and %s together", p.Dataset, of.Dataset).
					WithHint("Ask about each in a statement of its own. A link joins tables of one policy only: the " +
						"two would have to be protected by the same one.").At(src.Position)
			}
			p = of
		}
	}
	return p, nil
}

// single is the one cut of a statement that a policy speaks of.
func (s *Snapshot) single(ctx context.Context, reader *upstream.Reader, p *policy.Policy,
	sql string) (*planner.Bound, error) {
	asked, err := s.Ask(ctx, reader, p, sql)
	if err != nil {
		return nil, err
	}
	if len(asked.Cuts) != 1 || len(asked.Cuts[0].Aggregates) == 0 {
		return nil, fmt.Errorf(
			"the statement has %d SELECTs that aggregate protected rows; write one, with an aggregate", len(asked.Cuts))
	}
	return asked.Cuts[0], nil
}
