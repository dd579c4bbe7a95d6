package dataset

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/upstream"
)

// typeOf names the type of a column that a policy speaks of.
func typeOf(t *planner.Table, column string) (string, error) {
	for _, c := range t.Columns {
		if c.Name == column {
			return c.Type, nil
		}
	}
	return "", fmt.Errorf("the table has no such column")
}

// loadDates lists the units of a range of days. Days are all that there is to a column of dates, so that these are its
// values; any other column gets a calendar.
func loadDates(ctx context.Context, reader *upstream.Reader, t *planner.Table, d policy.Domain) error {
	typ, err := typeOf(t, d.Column)
	if err != nil {
		return err
	}
	if typ != "date" && !strings.HasPrefix(typ, "timestamp") {
		return fmt.Errorf("the column is of type %s, and {from, to, by} is for dates and timestamps", typ)
	}

	// The first unit begins at or before from, and the last one ends at or after to.
	step := "1 " + string(d.Dates.By)
	if d.Dates.By == policy.Quarter {
		step = "3 months"
	}
	rows, err := reader.Query(ctx, `SELECT s::`+typ+`::text,
	    (s + $4::interval - interval '1 microsecond')::`+typ+`::text
	  FROM generate_series(date_trunc($1, $2::timestamp), $3::timestamp, $4::interval) AS s ORDER BY s`,
		[][]byte{[]byte(d.Dates.By), []byte(d.Dates.From), []byte(d.Dates.To), []byte(step)}, nil)
	if err != nil {
		return fmt.Errorf("listing its units as %s: %w", typ, err)
	}
	c := planner.Calendar{By: string(d.Dates.By)}
	for _, r := range rows {
		c.Starts, c.Lasts = append(c.Starts, r[0]), append(c.Lasts, r[1])
	}
	if typ == "date" && d.Dates.By == policy.Day {
		t.Domains[d.Column] = c.Starts
	} else {
		t.Calendars[d.Column] = c
	}
	return nil
}

// Undeclared is how the declared domain of a column and a reference differ.
type Undeclared struct {
	Table, Column  string
	Rows, Of       int64 // rows of the reference outside of the domain, and all of them
	Unseen, Values int64 // values of the domain that no row of the reference has, and all of them
}

// Undeclared lists the domains that a policy declares and from which the reference differs. Of the protected rows it
// says nothing but what the reference does.
func (s *Snapshot) Undeclared(ctx context.Context, p *policy.Policy, reader planner.Querier) ([]Undeclared, error) {
	var out []Undeclared
	for _, t := range s.Tables {
		if t.Policy != p || t.Table.Reference == "" {
			continue
		}
		// A domain that is read from the reference cannot lack a value of it.
		for _, d := range t.Config.GroupBy {
			if d.FromReference {
				continue
			}

			u, err := t.undeclared(ctx, reader, d.Column)
			if err != nil {
				return nil, err
			}
			if u.Rows > 0 || u.Unseen > 0 {
				out = append(out, u)
			}
		}
	}
	return out, nil
}

func (t *Protected) undeclared(ctx context.Context, reader planner.Querier, column string) (Undeclared, error) {
	value := "t." + parser.QuoteIdent(column)
	values, null := t.Table.Domains[column], "false"
	u := Undeclared{Table: t.Table.String(), Column: column}
	if c, ok := t.Table.Calendars[column]; ok {
		typ, err := typeOf(t.Table, column)
		if err != nil {
			return u, err
		}
		value, values = "pg_catalog.date_trunc("+parser.QuoteLiteral(c.By)+", "+value+")::"+typ, c.Starts
	}

	// A NULL is inside where the domain has it, and is not equal to anything.
	for _, v := range values {
		if v.Null {
			null = "true"
		}
	}
	inside := "CASE WHEN v IS NULL THEN " + null + " ELSE coalesce(v = ANY ($1::pg_catalog.text[]), false) END"
	rows, err := reader.Query(ctx, "SELECT coalesce(pg_catalog.sum(n) FILTER (WHERE NOT "+inside+"), 0), "+
		"coalesce(pg_catalog.sum(n), 0), pg_catalog.count(*) FILTER (WHERE "+inside+") "+
		"FROM (SELECT ("+value+")::pg_catalog.text AS v, pg_catalog.count(*) AS n FROM "+t.Table.Reference+
		" AS t GROUP BY 1) AS q", [][]byte{planner.Array(values)}, nil)
	if err != nil {
		return u, fmt.Errorf("comparing the reference with the domain of %s: %w", column, err)
	}

	seen := int64(0)
	for i, n := range []*int64{&u.Rows, &u.Of, &seen} {
		if *n, err = strconv.ParseInt(rows[0][i].Text, 10, 64); err != nil {
			return u, fmt.Errorf("comparing the reference with the domain of %s: %w", column, err)
		}
	}
	u.Values = int64(len(values))
	u.Unseen = u.Values - seen
	return u, nil
}
