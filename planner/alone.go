package planner

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fugu/parser"
)

// maxAlone bounds how many counts a table keeps. Statements choose the columns, and there are as many sets of these as they like.
const maxAlone = 1024

// Alone counts, in each class of the secret, the rows of the root's reference of which no other of the class has the same values of
// the columns. It asks ref once for each secret and columns of a table, as constants do not change what it counts: like the sizes of the classes, which were counted when the
// policy was loaded, they are the reference's of then.
func (b *Bound) Alone(ctx context.Context, ref Querier, secret int, columns []string) ([]float64, error) {
	sql := b.alone(secret, columns)
	if counts, ok := b.Table.alone.load(sql); ok {
		return counts, nil
	}
	rows, err := ref.Query(ctx, sql, nil, nil)
	if err != nil {
		return nil, err
	}
	s := b.Table.Secrets[secret]
	counts := make([]float64, s.Size())
	for _, row := range rows {
		class := 0
		if s.Number == nil {
			class, row = s.Class(row[0]), row[1:]
		}
		n, err := strconv.ParseFloat(row[0].Text, 64)
		if err != nil {
			return nil, fmt.Errorf("counting rows that are alone: %w", err)
		}
		if class >= 0 {
			counts[class] = n
		}
	}
	b.Table.alone.store(sql, counts, 1, maxAlone)
	return counts, nil
}

// alone composes the statement of Alone: a row holds the label, of a secret that has any, and a number.
func (b *Bound) alone(secret int, columns []string) string {
	var inner, outer, group []string
	if s := b.Table.Secrets[secret]; s.Number == nil {
		inner, outer, group = []string{s.label("t") + " AS s"}, []string{"s"}, []string{"1"}
	}
	for i, c := range columns {
		inner = append(inner, parser.SQL(parser.Column{Name: c}, "t", nil)+" AS c"+strconv.Itoa(i))
	}
	by := make([]string, len(inner))
	for i := range by {
		by[i] = strconv.Itoa(i + 1)
	}
	once := "SELECT " + strings.Join(inner, ", ") + " FROM " + b.Table.Reference + " AS t GROUP BY " + strings.Join(by, ", ") + " HAVING pg_catalog.count(*) = 1"
	return selectSQL(append(outer, "pg_catalog.count(*)"), "("+once+") AS q", "", group)
}
