//go:build fuguhooks

package attack

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Rows scattered by arithmetic alone.
func TestSpreadArithmetic(t *testing.T) {
	spread{sign: func(i int, of string) string {
		return fmt.Sprintf("(%s)::int8 * (%s) %% (%s1 + %s2)", mixed(i, of), mixed(i+1, of), of, of)
	}}.play(t)
}

// By text.
func TestSpreadText(t *testing.T) {
	spread{sign: func(i int, of string) string { return fmt.Sprintf("(%s)::text || %s1", mixed(i, of), of) }}.play(t)
}

// By dates.
func TestSpreadDates(t *testing.T) {
	spread{sign: func(i int, of string) string {
		return fmt.Sprintf("date '2020-01-01' + ((%s) %% 9999)::int", mixed(i, of))
	}}.play(t)
}

// By casts, and with values that are 0 or 1.
func TestSpreadCasts(t *testing.T) {
	spread{sign: func(i int, of string) string { return "(" + mixed(i, of) + ")::numeric::text" },
		terms: func(i int, x func(int) string) [][]string {
			return [][]string{{"(" + x(i) + ")::int"}, {"((" + x(i) + ") = t)::int"}}
		}}.play(t)
}

// By CASE.
func TestSpreadCases(t *testing.T) {
	spread{sign: func(i int, of string) string {
		return fmt.Sprintf("CASE WHEN %s1 < %s2 THEN %s ELSE %s END", of, of, mixed(i, of), mixed(i+1, of))
	}}.play(t)
}

// A sum, and over another statement the sum of both: what differs is the difference of two answers.
func TestSpreadDifferences(t *testing.T) {
	spread{sign: mixed, pairs: 200, terms: func(i int, x func(int) string) [][]string {
		return [][]string{{plus(x(i))}, {"CASE WHEN t THEN " + plus(x(i)) + " ELSE o - o END"}}
	}}.play(t)
}

// Three statements: the third is the sum of the others, turned round for one class.
func TestSpreadTriples(t *testing.T) {
	spread{sign: mixed, terms: func(i int, x func(int) string) [][]string {
		a, b := plus(x(2*i)), plus(x(2*i+1))
		return [][]string{{a}, {b}, {"CASE WHEN t THEN " + a + " + " + b + " ELSE -(" + a + ") - " + b + " END"}}
	}}.play(t)
}

// Both values of a pair in one statement, which has a certificate of its own.
func TestSpreadTogether(t *testing.T) {
	spread{sign: mixed, terms: func(i int, x func(int) string) [][]string {
		return [][]string{{plus(x(i)),
			turned(x(i))}}
	}}.play(t)
}

// Counts of rows in the place of sums.
func TestSpreadCounts(t *testing.T) {
	spread{sign: mixed, value: "count(*) FILTER (WHERE %s = 1)"}.play(t)
}

// Averages.
func TestSpreadAverages(t *testing.T) {
	spread{sign: mixed, value: "avg(%s)", rows: spreadRows, pairs: 40}.play(t)
}

// With parameters, and prepared.
func TestSpreadExtended(t *testing.T) {
	spread{sign: mixed, ask: func(ctx context.Context, c *pgx.Conn, sql string) error {
		_, err := c.Exec(ctx, sql+" WHERE id >= $1", pgx.QueryExecModeCacheDescribe, 0)
		return err
	}}.play(t)
}

// At a smaller ε each.
func TestSpreadSmallEpsilon(t *testing.T) {
	spread{sign: mixed, set: []string{"fugu.epsilon = 0.1"}}.play(t)
}

// By what auto takes.
func TestSpreadMechanisms(t *testing.T) {
	for _, m := range []string{"auto", "directional"} {
		t.Run(m, func(t *testing.T) { spread{sign: mixed, set: []string{"fugu.mechanism = '" + m + "'"}}.play(t) })
	}
}

// By users who each have a part.
func TestSpreadColluding(t *testing.T) {
	spread{sign: mixed, users: []string{"alice", "bob", "carol"}}.play(t)
}

// In two sessions of one user.
func TestSpreadSessions(t *testing.T) { spread{sign: mixed, users: []string{"alice", "alice"}}.play(t) }
