package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/planner"
	"fugu/quote"
	"fugu/wire"
)

// toldClass is what may be known of one class of a twin's rows; of a table that comes with another there is no class.
type toldClass struct {
	table, built, class        string
	rows, sampled, told, taken string // as PostgreSQL writes numbers; empty: none
	epsilon, delta, assumption string
	countError                 float64
	known                      bool // there is a class
}

// countError is such that a count of k rows of a class is off by about countError·√k, by sampling and by copying alone: one
// standard deviation. Of told rows taken ones were drawn, and each stands ⌊w⌋ or ⌈w⌉ times, w = told/taken.
//
// A group of k rows has k/w rows of the sample, nearly Poisson's, but for the rows that were not drawn: k·(w - 1). Which of
// them stand once more adds f(1-f) for each, f the fraction of w.
func countError(told, taken float64) float64 {
	if taken <= 0 {
		return 0
	}
	w := told / taken
	f := w - math.Floor(w)
	return math.Sqrt(math.Max(0, w-1) + f*(1-f)/math.Max(w, 1))
}

// tell asks, as the client may, what the registry says of the twins of the policies' tables.
func (s *statement) tell(ctx context.Context, b wire.Binding) (out []toldClass, err error) {
	there, err := s.session.engine.reader.Query(ctx, "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'fugu twins'",
		[][]byte{[]byte(parser.TwinSchema)}, []uint32{25})
	if err != nil || len(there) == 0 {
		return nil, err
	}
	rows, err := b.Ask(ctx, `SELECT t.table_schema, t.table_name, t.built, t.rows, t.sampled, c.class, c.told, c.taken, t.epsilon, t.delta, t.assumption, c.i
	  FROM `+parser.TwinRegistry+` AS t LEFT JOIN LATERAL ROWS FROM (pg_catalog.unnest(t.classes), pg_catalog.unnest(t.told), pg_catalog.unnest(t.taken)) WITH ORDINALITY AS c(class, told, taken, i) ON true
	  ORDER BY t.table_schema, t.table_name, c.i`)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		t := s.snapshot.Find(r[0], r[1])
		if t == nil || !t.Table.Twin {
			continue
		}
		c := toldClass{table: t.Table.String(), built: r[2], rows: r[3], sampled: r[4], class: r[5], told: r[6], taken: r[7], epsilon: r[8], delta: r[9], assumption: r[10], known: r[11] != ""}
		told, _ := strconv.ParseFloat(c.told, 64)
		taken, _ := strconv.ParseFloat(c.taken, 64)
		c.countError = countError(told, taken)
		out = append(out, c)
	}
	return out, nil
}

// twinRows are the rows of fugu.twin: one for each class of each table, and one of NULLs for a twin that is not built.
func (s *statement) twinRows(ctx context.Context, b wire.Binding) (rows [][]planner.Value, err error) {
	classes, err := s.tell(ctx, b)
	if err != nil {
		return nil, err
	}
	null := planner.Value{Null: true}
	said := func(v string) planner.Value { return planner.Value{Text: v, Null: v == ""} }
	for _, t := range s.snapshot.Tables {
		if !t.Table.Twin {
			continue
		}
		name, found := t.Table.String(), false
		least := null // rows are shown
		if t.Table.AtLeast > 0 {
			least = integer(t.Table.AtLeast)
		}
		for _, c := range classes {
			if c.table != name {
				continue
			}
			found = true
			row := []planner.Value{text(t.Policy.Dataset), text(name), said(c.built), said(c.rows), said(c.sampled), null, said(c.told), said(c.taken), null, said(c.epsilon), said(c.delta), said(c.assumption)}
			if c.known {
				row[5], row[8] = text(c.class), float(c.countError)
			}
			rows = append(rows, append(row, least))
		}
		if !found {
			rows = append(rows, slices.Concat([]planner.Value{text(t.Policy.Dataset), text(name)}, slices.Repeat([]planner.Value{null}, 10), []planner.Value{least}))
		}
	}
	return rows, nil
}

// ExplainedTwin is what EXPLAIN (PRIVACY) says of a twin that a statement reads.
type ExplainedTwin struct {
	Table      string  `json:"table"`
	Price      float64 `json:"price"` // of the statement: none
	Epsilon    string  `json:"epsilon"`
	Delta      string  `json:"delta"`
	Assumption string  `json:"assumption"`
	Rows       string  `json:"rows"`
	Sampled    string  `json:"sampled"`
	AtLeast    int64   `json:"at_least,omitempty"` // rows of the sample that whatever is told is of; 0: rows are shown
	Classes    []ExplainedClass
}

// ExplainedClass says how far a count of rows of one class may be off.
type ExplainedClass struct {
	Class      string  `json:"class"`
	Told       string  `json:"told"`
	Taken      string  `json:"taken"`
	CountError float64 `json:"count_error"` // times the root of the count: one standard deviation
}

// addTwins says what the twins are that the statement reads.
func (x *Explanation) addTwins(ctx context.Context, s *statement, b wire.Binding) error {
	classes, err := s.tell(ctx, b)
	if err != nil {
		return err
	}
	for _, t := range s.twins {
		e := ExplainedTwin{Table: t.Table.String(), AtLeast: t.Table.AtLeast}
		for _, c := range classes {
			if c.table != e.Table {
				continue
			}
			e.Epsilon, e.Delta, e.Assumption, e.Rows, e.Sampled = c.epsilon, c.delta, c.assumption, c.rows, c.sampled
			if c.known {
				e.Classes = append(e.Classes, ExplainedClass{c.class, c.told, c.taken, c.countError})
			}
		}
		x.Twins = append(x.Twins, e)
	}
	if x.Above == readsNothing {
		x.Above = "The statement reads twins, and no protected table: it costs nothing."
	}
	return nil
}

func (x Explanation) twinLines() (lines []string) {
	for _, t := range x.Twins {
		lines = append(lines,
			fmt.Sprintf("  Twin of %s: %s rows, made of %s that were drawn; it was paid for when it was built, epsilon %s, delta %s", t.Table, t.Rows, t.Sampled, t.Epsilon, t.Delta),
			"    Price of the statement: 0, assuming "+strings.TrimSpace(t.Assumption))
		if t.AtLeast > 0 {
			lines = append(lines, fmt.Sprintf("    Rows are not listed: groups of fewer than %d rows of the sample are left out, other values of fewer are NULL", t.AtLeast))
		}
		for _, c := range t.Classes {
			at := func(k float64) string { return quote.Short(c.CountError * math.Sqrt(k)) }
			lines = append(lines, fmt.Sprintf("    Rows where %s: told as %s, of which %s were drawn; sampling alone moves a count of 100, 1000, 10000 of them by %s, %s, %s (sd)",
				c.Class, c.Told, c.Taken, at(100), at(1000), at(10000)))
		}
	}
	return lines
}
