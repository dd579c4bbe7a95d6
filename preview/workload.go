package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"fugu/answer"
	"fugu/explain"
	"fugu/parser"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// Statement is what there is to say of one statement of a workload.
type Statement struct {
	Line     int       `json:"line"` // of its first word, from 1
	Title    string    `json:"title,omitempty"`
	SQL      string    `json:"sql"`
	Dataset  string    `json:"dataset,omitempty"` // empty: it names no protected table, and costs nothing
	Noise    *Expected `json:"noise,omitempty"`   // nil: it is refused with noise
	Price    float64   `json:"price"`             // ε of noise, beside what was spent; -1: no ε is enough
	Refused  *Refusal  `json:"refused,omitempty"`
	Twin     *Expected `json:"twin,omitempty"` // nil: a twin answers it, and nothing says how well
	Unknown  string    `json:"twin_unknown,omitempty"`
	question string    // tells its answer from others
	losses   map[string]privacy.Loss
}

// Expected is how far the values of an answer are off.
type Expected struct {
	Values   int      `json:"values"`                   // that are told
	SD       float64  `json:"sd"`                       // the median standard deviation, in the values' units
	Relative *float64 `json:"relative_error,omitempty"` // the median of sd as a share of what is expected; nil: of 0
}

// Refusal is why a statement has no answer with noise, and what to write instead.
type Refusal struct {
	Code   sqlstate.Code `json:"sqlstate"`
	What   string        `json:"what"`
	Fix    string        `json:"fix,omitempty"`
	Line   int           `json:"line"`
	Column int           `json:"column"` // in characters, from 1
}

// Workload says of each statement of a text what EXPLAIN (PRIVACY) would say at one ε, and how well a twin would answer
// it that has this ε for its price and the budget's δ. Each is quoted by itself, as if none of the others had been
// asked.
func (d *Desk) Workload(ctx context.Context, text string, epsilon privacy.Epsilon) (*Workload, error) {
	parts, err := parser.Split(text)
	if err != nil {
		return nil, err
	}
	w := &Workload{Epsilon: float64(epsilon), desk: d, twins: map[string]twinOf{},
		policies: map[string]*policy.Policy{}}
	at := 0

	// Each part is looked for behind the one before it, so that its line is known.
	for _, part := range parts {
		found := strings.Index(text[at:], part)
		if found < 0 {
			return nil, fmt.Errorf("the text %q of the workload is not found in it", part)
		}
		from := at + found
		at = from + len(part)
		s, err := w.statement(ctx, text, from, at, epsilon)
		if err != nil {
			return nil, err
		}
		if s.SQL != "" {
			w.Statements = append(w.Statements, s)
		}
	}
	return w, w.sum(ctx)
}

// statement is that which stands between two offsets of a text.
func (w *Workload) statement(ctx context.Context, text string, from, to int,
	epsilon privacy.Epsilon) (s Statement, err error) {
	begins, title := parser.Beginning(text[:to], from)
	s = Statement{Line: 1 + strings.Count(text[:begins], "\n"), Title: title, SQL: strings.TrimSpace(text[begins:to])}
	if s.SQL == "" {
		return s, nil
	}

	err = w.desk.ask(ctx, s.SQL, nil, func(q *answer.Question) error {
		if q, err = q.At(epsilon); err != nil {
			return err
		}
		return w.take(ctx, &s, q, epsilon)
	})

	// A refusal is a result; every other error ends the preview.
	var e *sqlstate.Error
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case err == errNone || isFree(err):
		return s, nil
	case errors.As(err, &e):
		s.Refused = refusal(text, begins, e)
		return s, w.settle(ctx, &s)
	}
	return s, err
}

// refusal is an error about a statement that begins at an offset of a text, with its place in that.
func refusal(text string, begins int, e *sqlstate.Error) *Refusal {
	r := &Refusal{Code: e.Code, What: e.Message, Fix: e.Hint}
	for n := e.Position; n > 1 && begins < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[begins:])
		begins += size
	}
	before := text[:begins]
	r.Line = 1 + strings.Count(before, "\n")
	r.Column = 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return r
}

// take notes what a question's answer would be like and cost, with noise and on a twin.
func (w *Workload) take(ctx context.Context, s *Statement, q *answer.Question, epsilon privacy.Epsilon) error {
	p := q.Request.Policy
	s.Dataset, s.question = p.Dataset, string(q.Key)
	w.policies[p.Dataset] = p
	x, err := q.Explain(ctx)
	if err != nil {
		return err
	}

	expected := make([]float64, len(x.Values))
	noise := make([]float64, len(x.Values))
	for k, v := range x.Values {
		expected[k], noise[k] = v.Expected, v.SD
	}
	if x.Refused != "" {
		s.Refused = &Refusal{Code: sqlstate.NotAllowed, What: x.Refused, Line: s.Line, Column: 1}
	} else {
		s.Noise = expect(noise, expected)
		if s.losses, s.Price, err = priced(ctx, q, x); err != nil {
			return err
		}
	}

	// The same question on a twin that has this ε for its price.
	t := w.twinOf(q, epsilon)
	if t.err != nil {
		s.Unknown = t.err.Error()
		return nil
	}
	off, err := t.deviations(ctx, q)
	if errors.Is(err, errUnmodelled) || errors.Is(err, errRare) {
		s.Unknown = err.Error()
		return nil
	} else if err != nil {
		return err
	}
	if s.Twin = expect(off, expected); s.Twin == nil {
		s.Unknown = "of numbers of different values nobody says how many a sample lacks"
	}
	return nil
}

// priced is what an answer costs by itself: as losses, and as ε of what it takes from the dearest secret.
func priced(ctx context.Context, q *answer.Question, x explain.Explanation) (losses map[string]privacy.Loss,
	price float64, err error) {
	m, err := q.Measure(ctx)
	if err != nil {
		return nil, 0, err
	}

	// A budget that is used up has a price all the same: that of the noise alone.
	losses = m.Calibration.Losses
	if p, err := q.Price(ctx, m); err == nil {
		losses = p.Losses
	} else if !sqlstate.Is(err, sqlstate.BudgetExhausted) {
		return nil, 0, err
	}

	for _, c := range x.Cost {
		if c.Scope == "" {
			price = max(price, c.Cost)
		}
	}

	// JSON has no infinity.
	if math.IsInf(price, 1) {
		price = -1
	}
	return losses, price, nil
}

// expect is the median of how far values are off; nil: of none of them anything is foreseen.
func expect(off, expected []float64) *Expected {
	var sds, shares []float64
	for k, sd := range off {
		if math.IsNaN(sd) || math.IsInf(sd, 0) {
			continue
		}
		sds = append(sds, sd)
		if expected[k] != 0 && !math.IsNaN(expected[k]) {
			shares = append(shares, sd/math.Abs(expected[k]))
		}
	}

	if len(off) > 0 && len(sds) == 0 {
		return nil
	}

	// A value that is expected to be 0 has no relative error.
	out := &Expected{Values: len(off), SD: median(sds)}
	if share := median(shares); len(shares) > 0 {
		out.Relative = &share
	} else if len(off) == 0 { // all of it is known to everybody, and exact
		out.Relative = new(float64)
	}
	return out
}

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	slices.SortFunc(xs, cmp.Compare)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

// twinOf is the twin of a policy's table, or why there can be none.
type twinOf struct {
	*imagined
	err error
}

// twinOf is the twin that a question would be answered from.
func (w *Workload) twinOf(q *answer.Question, epsilon privacy.Epsilon) twinOf {
	p := q.Request.Policy
	for _, c := range q.Request.Cuts {
		name := policy.QualifiedName{Schema: c.Table.Schema, Name: c.Table.Name}
		key := p.Dataset + " " + name.String()
		if _, ok := w.twins[key]; !ok {
			price := privacy.Budget{Epsilon: epsilon, Delta: p.Privacy.Budget.Delta}
			t, err := imagine(p, name, price)
			w.twins[key] = twinOf{t, err}
		}
		if len(q.Request.Cuts) == 1 || w.twins[key].err != nil {
			return w.twins[key]
		}
	}
	return twinOf{err: errors.New("it asks several tables at once")}
}
