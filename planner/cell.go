package planner

import (
	"fmt"
	"strings"
)

// Cell is one group of the answer: a grouping set, and the values of its keys; the other keys are NULL.
type Cell struct {
	Set  int
	Keys []Value
}

// Index finds cells by the Head of a statement's rows.
type Index map[string]int

// Find returns the cell of a row with this head.
func (ix Index) Find(head []Value) (int, bool) {
	i, ok := ix[indexKey(head)]
	return i, ok
}

func indexKey(keys []Value) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Null {
			b.WriteString("n")
			continue
		}
		fmt.Fprintf(&b, "%d:%s", len(k.Text), k.Text)
	}
	return b.String()
}

// Point is the name of values of the axes, in their order.
func Point(values []Value) string { return indexKey(values) }

// Array writes values as a PostgreSQL array literal (manual, section 8.15.6).
func Array(values []Value) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.Null {
			b.WriteString("NULL")
			continue
		}

		// In quotes, NULL and braces are text like any other.
		b.WriteByte('"')
		for _, r := range []byte(v.Text) {
			if r == '"' || r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(r)
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return []byte(b.String())
}
