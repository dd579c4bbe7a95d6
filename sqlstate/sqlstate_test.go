package sqlstate

import (
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
	if f.Hint != "h" || f.Detail != "d" || f.Position != 3 || !errors.Is(f, cause) || !f.Fatal || f.Error() != "failed (SQLSTATE PV005)" {
		t.Errorf("%+v", f)
	}
}
