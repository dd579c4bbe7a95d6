package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fugu/sqlstate"
)

// heard writes down what it is told.
type heard struct{ lines []string }

type heardRecord struct {
	heard *heard
	stage Stage
}

func (h *heard) Begin(ctx context.Context, s Stage) (context.Context, Record) {
	return ctx, heardRecord{h, s}
}

func (r heardRecord) Tell(f Facts) { r.heard.lines = append(r.heard.lines, fmt.Sprint(r.stage, f)) }

func (r heardRecord) End(code sqlstate.Code) {
	r.heard.lines = append(r.heard.lines, fmt.Sprintf("%s ends %s", r.stage, code))
}

// A recorder hears of an error its code, and of one that has none that it is internal: never what it says.
func TestSpan(t *testing.T) {
	h := &heard{}
	for _, err := range []error{nil, sqlstate.New(sqlstate.NotAnswerable, "the secret %d", 42),
		fmt.Errorf("wrapped: %w", sqlstate.New(sqlstate.BudgetExhausted, "none left")), errors.New("42 rows")} {
		_, span := Begin(With(t.Context(), h), Scan)
		span.End(&err)
	}
	_, span := Begin(With(t.Context(), h), Answer)
	span.Tell(Facts{Dataset: "adult"})
	want := []string{"scan ends ", "scan ends PV001", "scan ends PV002", "scan ends XX000", "answer{adult  }"}
	if !slices.Equal(h.lines, want) {
		t.Errorf("heard %q, want %q", h.lines, want)
	}
}

// Where nobody listens, a stage makes nothing.
func TestNobody(t *testing.T) {
	ctx, err := With(t.Context(), nil), errors.New("any")
	if n := testing.AllocsPerRun(100, func() {
		inner, span := Begin(ctx, Answer)
		span.Tell(Facts{Dataset: "adult"})
		span.End(&err)
		if inner != ctx {
			t.Error("the context is another one")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
