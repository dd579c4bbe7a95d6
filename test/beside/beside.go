// Package beside puts what Fugu tells of a statement beside what is true, cell by cell, for the demonstration and for
// tests of how useful answers are.
package beside

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Table is the answer to a statement, as texts.
type Table struct {
	Columns []string
	Rows    [][]Value
}

// Value is one value of an answer.
type Value struct {
	Text string
	Null bool
}

// String is the value as psql shows it, and NULL.
func (v Value) String() string {
	if v.Null {
		return "NULL"
	}
	return v.Text
}

// Query asks a statement through the extended protocol.
func Query(ctx context.Context, conn *pgx.Conn, sql string, args ...any) (t Table, err error) {
	rows, err := conn.Query(ctx, sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for _, f := range rows.FieldDescriptions() {
		t.Columns = append(t.Columns, f.Name)
	}
	for rows.Next() {
		var row []Value
		for _, v := range rows.RawValues() {
			row = append(row, Value{string(v), v == nil})
		}
		t.Rows = append(t.Rows, row)
	}
	return t, rows.Err()
}

// Cell is a value of the true answer and of the one told, of the same column and about the same thing.
type Cell struct {
	Key, Column string
	Truth, Told Value   // of a row that only one of the two answers has, the other's are NULL
	Off         float64 // by how much what is told is off, as a share of the truth
}

// Cells matches the rows of two answers by their first columns, which are keys, and compares the others. The cells
// are in the order of the true answer; behind them are those of rows that only the other has.
func Cells(truth, told Table, keys int) (cells []Cell) {
	of := map[string][]Value{}
	for _, row := range told.Rows {
		of[key(row, keys)] = row
	}
	none := make([]Value, len(truth.Columns))
	for i := range none {
		none[i].Null = true
	}

	compare := func(k string, truly, told []Value) {
		for i := keys; i < len(truth.Columns); i++ {
			cells = append(cells, Cell{k, truth.Columns[i], truly[i], told[i], off(truly[i], told[i])})
		}
	}
	for _, row := range truth.Rows {
		k := key(row, keys)
		other, ok := of[k]
		if !ok {
			other = none
		}
		delete(of, k)
		compare(k, row, other)
	}
	for _, row := range told.Rows {
		if k := key(row, keys); of[k] != nil {
			compare(k, none, row)
		}
	}
	return cells
}

func key(row []Value, keys int) string {
	parts := make([]string, keys)
	for i, v := range row[:keys] {
		parts[i] = v.String()
	}
	return strings.Join(parts, ", ")
}

// off is the relative error of what is told. What is missing, made up, or another text is off by the whole of it.
func off(truth, told Value) float64 {
	if truth == told {
		return 0
	}
	a, errA := strconv.ParseFloat(truth.Text, 64)
	b, errB := strconv.ParseFloat(told.Text, 64)
	if errA != nil || errB != nil || a == 0 {
		return 1
	}
	return math.Abs(b-a) / math.Abs(a)
}

// Median is the median relative error of the cells, of two in the middle the larger.
func Median(cells []Cell) float64 {
	if len(cells) == 0 {
		return math.NaN()
	}
	errors := make([]float64, len(cells))
	for i, c := range cells {
		errors[i] = c.Off
	}
	slices.Sort(errors)
	return errors[len(errors)/2]
}

// Named is the table with names of columns, for an answer that came without them.
func (t Table) Named(columns []string) Table { return Table{columns, t.Rows} }
