package sqlstate

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestAsShowsNothingUnknown(t *testing.T) {
	e := As(fmt.Errorf("reading row 42: %w", errors.New("secret")))
	if e.Code != InternalError || e.Message != "internal error" || e.Detail == "" || e.Cause == nil {
		t.Errorf("%+v", e)
	}
	known := New(NotAnswerable, "no %s", "max").WithHint("use %s", "count").At(7)
	if got := As(fmt.Errorf("parsing: %w", known)); got != known || !Is(got, NotAnswerable) || Is(nil, NotAnswerable) {
		t.Errorf("%+v", got)
	}
}

func TestEditsCopy(t *testing.T) {
	e := New(StatisticsFailed, "failed")
	cause := errors.New("cause")
	f := e.WithHint("h").WithDetail("d").At(3).Because(cause).Ending()
	if e.Hint != "" || e.Detail != "" || e.Position != 0 || e.Cause != nil || e.Fatal {
		t.Errorf("the original changed: %+v", e)
	}
	if f.Hint != "h" || f.Detail != "d" || f.Position != 3 || !errors.Is(f, cause) || !f.Fatal ||
		f.Error() != "failed (SQLSTATE PV005)" {
		t.Errorf("%+v", f)
	}
}

// An error for the client gets a place if it has none; what is not for the client gets none, nor loses its cause.
func TestPlace(t *testing.T) {
	if e := As(Place(New(NotAnswerable, "no"), 7)); e.Position != 7 || e.Message != "no" {
		t.Errorf("%+v", e)
	}
	if e := As(Place(fmt.Errorf("binding: %w", New(NotAnswerable, "no").At(3)), 7)); e.Position != 3 {
		t.Errorf("the place that is known is another: %+v", e)
	}
	if lost := errors.New("lost"); Place(lost, 7) != lost {
		t.Errorf("%v", Place(lost, 7))
	}
}

func TestCanceledKeepsItsCause(t *testing.T) {
	if e := Canceled(context.Canceled); e.Code != QueryCanceled || !errors.Is(e, context.Canceled) ||
		e.Message != "canceling statement due to user request" {
		t.Errorf("%+v", e)
	}
}
