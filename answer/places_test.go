package answer

import (
	"context"
	"testing"

	"fugu/sqlstate"
)

// A user has so many places, whoever else has some; who waits may leave, and nobody is remembered who has none.
func TestPlaces(t *testing.T) {
	d := &Desk{}
	ctx, cancel := context.WithCancel(t.Context())
	var leave []func()
	for _, user := range []string{"alice", "bob"} {
		for range userPlaces {
			l, err := d.Place(ctx, user)
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, l)
		}
	}

	waiting := make(chan error)
	go func() {
		_, err := d.Place(ctx, "alice")
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !sqlstate.Is(err, sqlstate.QueryCanceled) {
		t.Errorf("one more than there are: %v", err)
	}

	// A place that is given back is had by who waits.
	got := make(chan func())
	go func() {
		l, err := d.Place(t.Context(), "alice")
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	leave[0]()
	leave[0] = <-got
	for _, l := range leave {
		l()
	}
	if len(d.places.byUser) != 0 {
		t.Errorf("users who have no place: %d", len(d.places.byUser))
	}
}
