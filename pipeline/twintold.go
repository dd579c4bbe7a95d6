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
	"fugu/twin"
	"fugu/wire"
)

// toldClass is what may be known of one class of a twin's rows; of a table that comes with another there is no class.
type toldClass struct {
	table, built, class        string
	rows, sampled, told, taken string // as PostgreSQL writes numbers; empty: none
	epsilon, delta, assumption string
	countError                 float64  // of the count of few rows by drawing: times the root of the count
	toldError                  *float64 // of told, by noise; nil: the twin was built before that was said
	known                      bool     // there is a class
}

// tell asks, as the client may, what the registry says of the twins of the policies' tables.
func (s *statement) tell(ctx context.Context, b wire.Binding) (out []toldClass, err error) {
	there, err := s.session.engine.reader.Query(ctx, "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = "+
		"c.relnamespace WHERE n.nspname = $1 AND c.relname = 'fugu twins'",
		[][]byte{[]byte(parser.TwinSchema)}, []uint32{25})
	if err != nil || len(there) == 0 {
		return nil, err
	}
	rows, err := b.Ask(ctx, `SELECT t.table_schema, t.table_name, t.built, t.rows, t.sampled, c.class, c.told, c.taken, pg_catalog.to_jsonb(t) -> 'noise' ->> (c.i - 1)::pg_catalog.int4, t.epsilon, t.delta, t.assumption, c.i
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
		c := toldClass{table: t.Table.String(), built: r[2], rows: r[3], sampled: r[4], class: r[5], told: r[6],
			taken: r[7], epsilon: r[9], delta: r[10], assumption: r[11], known: r[12] != ""}
		told, _ := strconv.ParseInt(c.told, 10, 64)
		taken, _ := strconv.ParseInt(c.taken, 10, 64)
		c.countError = twin.DrawingError(told, taken)
		if off, err := strconv.ParseFloat(r[8], 64); err == nil {
			c.toldError = &off
		}
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
			row := []planner.Value{text(t.Policy.Dataset), text(name), said(c.built), said(c.rows), said(c.sampled),
				null, said(c.told), said(c.taken), null, said(c.epsilon), said(c.delta), said(c.assumption)}
			if c.known {
				row[5], row[8] = text(c.class), float(c.countError)
			}
			off := null
			if c.toldError != nil {
				off = float(*c.toldError)
			}
			rows = append(rows, append(row, least, off))
		}
		if !found {
			rows = append(rows, slices.Concat([]planner.Value{text(t.Policy.Dataset), text(name)},
				slices.Repeat([]planner.Value{null}, 10), []planner.Value{least, null}))
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
	Class string `json:"class"`
	Told  string `json:"told"`
	Taken string `json:"taken"`
	// CountError, times the root of the count, is one standard deviation of a count of few rows, by drawing alone.
	CountError float64 `json:"count_error"`
	// ToldError is one of Told, by the noise on the secret: nil, if the twin was built before that was said.
	ToldError *float64 `json:"told_error,omitempty"`
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
				e.Classes = append(e.Classes, ExplainedClass{c.class, c.told, c.taken, c.countError, c.toldError})
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
			fmt.Sprintf("  Twin of %s: %s rows, made of %s that were drawn; it was paid for when it was built, "+
				"epsilon %s, delta %s", t.Table, t.Rows, t.Sampled, t.Epsilon, t.Delta),
			"    Price of the statement: 0, assuming "+strings.TrimSpace(t.Assumption))
		if t.AtLeast > 0 {
			lines = append(lines, fmt.Sprintf("    Rows are not listed: groups of fewer than %d rows of the sample "+
				"are left out, other values of fewer are NULL", t.AtLeast))
		}
		for _, c := range t.Classes {
			lines = append(lines, c.line())
		}
	}
	return lines
}

// line says of a class how far counts of its rows are off, and what of that is drawing.
func (c ExplainedClass) line() string {
	told, _ := strconv.ParseFloat(c.Told, 64)
	var sizes, both, drawing []string
	for _, k := range []float64{100, 1000, 10000, told} {
		if k > told || k == told && len(sizes) > 2 {
			continue
		}
		d := twin.Deviation{Drawing: c.CountError * math.Sqrt(k*(1-k/told))}
		if c.ToldError != nil {
			d.Noise = *c.ToldError * k / told
		}
		sizes, both = append(sizes, strconv.FormatFloat(k, 'f', -1, 64)), append(both, quote.Short(d.Both()))
		drawing = append(drawing, quote.Short(d.Drawing))
	}
	list := func(of []string) string { return strings.Join(of, ", ") }
	noise := ""
	if c.ToldError == nil {
		noise = ", without the noise on the secret, of which a new fugu twin build will say more"
	}
	return fmt.Sprintf("    Rows where %s: told as %s, of which %s were drawn; a count of %s of them is off by %s (sd)%s; "+
		"drawing alone moves it by %s", c.Class, c.Told, c.Taken, list(sizes), list(both), noise, list(drawing))
}
