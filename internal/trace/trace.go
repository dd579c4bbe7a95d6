// Package trace names the stages of the way of a statement about protected rows, and tells a Recorder when each begins
// and ends: the one that the context carries, or nobody, which costs a look into the context.
//
// What may be told of a stage is closed: its name, the Facts below, the error code that the client gets as well, and
// two moments. There is no way to hand over a text, a parameter, an error's message, a value or a number. Whoever ends
// a stage in which protected rows are read ends it at the point of the grid at which the client may learn that it is
// over, so that the moments tell no more than the client sees (docs/threat-model.md, Time).
//
// The package knows no collector and no protocol; internal/trace/otlp does.
package trace

import (
	"context"

	"fugu/sqlstate"
)

// Stage is a part of a statement's way.
type Stage string

// The stages. Interpret, Answer and Explain begin a trace of their own; the others are parts of one of them.
const (
	Interpret Stage = "interpret" // a text that nobody has asked before: Parse, and Plan for each statement in it
	Parse     Stage = "parse"     // from the text to trees that are cut
	Plan      Stage = "plan"      // from a cut to F and its statements; PostgreSQL is asked for types

	Answer  Stage = "answer"  // one binding of a statement, to what is bound for the guest: the stages below
	Explain Stage = "explain" // the same without spending
	Quote   Stage = "quote"   // the model of F, and its noise; references are read where they are not remembered
	Price   Stage = "price"   // beside all answers that were given
	Charge  Stage = "charge"  // the ledger has it, durably
	Scan    Stage = "scan"    // protected rows are read and noise is drawn, up to a point of the grid of times
	Keep    Stage = "keep"    // the ledger stores the answer
)

// Facts are what a stage may tell of its statement. None of them follows from a row or a literal.
type Facts struct {
	Dataset   string // as the policy calls it
	Statement string // the fingerprint of its shape, as in the audit; empty: it has none
	Mechanism string // by which noise is drawn
}

// Recorder is told of stages. It is safe for concurrent use, and keeps nobody waiting.
type Recorder interface {
	// Begin returns a context in which further stages are parts of this one.
	Begin(ctx context.Context, s Stage) (context.Context, Record)
}

// Record is what a Recorder keeps of one stage.
type Record interface {
	Tell(f Facts)
	// End is told once; without a code it went well.
	End(code sqlstate.Code)
}

type carried struct{}

// With returns a context whose stages are told to r; without r it is ctx.
func With(ctx context.Context, r Recorder) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, carried{}, r)
}

// Span is a stage that has begun; the zero value is one that nobody is told of.
type Span struct{ record Record }

// Begin begins a stage, where the context carries a Recorder.
func Begin(ctx context.Context, s Stage) (context.Context, Span) {
	r, ok := ctx.Value(carried{}).(Recorder)
	if !ok {
		return ctx, Span{}
	}
	ctx, record := r.Begin(ctx, s)
	return ctx, Span{record}
}

// Tell adds what is not empty in f.
func (s Span) Tell(f Facts) {
	if s.record != nil {
		s.record.Tell(f)
	}
}

// End ends the stage. It takes a pointer so that it can be deferred before the error is known; of the error its code is
// told and nothing else.
func (s Span) End(err *error) {
	if s.record == nil {
		return
	}
	var code sqlstate.Code
	if *err != nil {
		code = sqlstate.As(*err).Code
	}
	s.record.End(code)
}
