package build

import (
	"context"
	"encoding/json"
	"fmt"

	"fugu/parser"
	"fugu/policy"
)

// CheckConditions refuses secrets of a table whose condition calls a function that a guest may replace, who could have
// a build run anything, or can be one thing at one look at a row and another at the next: a build looks at each row
// several times, and the law of a twin is about rows that are of one class. guests are those that can reach the
// database. No condition is run or planned before it is known whose code it calls.
func CheckConditions(ctx context.Context, db querier, p *policy.Policy, table policy.QualifiedName,
	guests []string) error {
	for _, s := range p.Secrets {
		if s.Table != table || s.Proportion == "" {
			continue
		}

		// First of all, since the second question has PostgreSQL plan the condition.
		theirs, err := guestsCode(ctx, db, table, s.Proportion, guests)
		switch {
		case err != nil:
			return fmt.Errorf("secret %s: looking what its condition calls: %w", s.Name, err)
		case theirs != "":
			return fmt.Errorf("secret %s: its condition calls %s, which belongs to a role that guests can be: they "+
				"could have a build run anything; give it another owner", s.Name, theirs)
		}

		volatile, err := isVolatile(ctx, db, table, s.Proportion)
		if err != nil {
			return fmt.Errorf("secret %s: %w", s.Name, err)
		}
		if volatile {
			return fmt.Errorf("secret %s: its condition calls a volatile function, which may say something else of a "+
				"row at each look, and a row has to be of one class. Write a condition on what is in the row; a "+
				"function of your own is volatile unless ALTER FUNCTION ... IMMUTABLE or STABLE says otherwise", s.Name)
		}
	}
	return nil
}

// isVolatile has PostgreSQL say whether a condition is volatile, all that it calls and reads included (manual, section
// 38.7): its planner dissolves a subquery into the query around it unless that would evaluate something volatile once
// more, so that a subquery which is still there in the plan is volatile. No row is read.
func isVolatile(ctx context.Context, db querier, table policy.QualifiedName, condition string) (bool, error) {
	const alias = "fugu looks"
	sql := fmt.Sprintf(`EXPLAIN (COSTS off, FORMAT json) SELECT FROM (SELECT (%s) AS holds FROM %s AS t) AS %s
		WHERE holds IS NULL`, condition, quoted(table), parser.QuoteIdent(alias))
	var text []byte
	if err := db.QueryRow(ctx, sql).Scan(&text); err != nil {
		return false, err
	}
	var plan any
	if err := json.Unmarshal(text, &plan); err != nil {
		return false, fmt.Errorf("reading a plan: %w", err)
	}
	return scans(plan, alias), nil
}

// scans reports whether a plan, or a part of it, has a node of the alias.
func scans(plan any, alias string) bool {
	switch x := plan.(type) {
	case []any:
		for _, v := range x {
			if scans(v, alias) {
				return true
			}
		}
	case map[string]any:
		for _, v := range x {
			if v == any(alias) || scans(v, alias) {
				return true
			}
		}
	}
	return false
}
