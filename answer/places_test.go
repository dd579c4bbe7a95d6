package answer

import (
	"context"
	"testing"
	"testing/synctest"

	"fugu/sqlstate"
)

// asking are users who ask for places, and those of them who got one, in that order.
type asking struct {
	t     *testing.T
	desk  Desk
	have  []string
	leave map[string][]func()
}

// ask has a user ask for so many places at once. Who gets none waits.
func (a *asking) ask(user string, n int) {
	for range n {
		go func() {
			_, leave, err := a.desk.Place(a.t.Context(), user)
			if err != nil {
				return // it has waited to the end of the test
			}
			a.desk.places.mu.Lock()
			defer a.desk.places.mu.Unlock()
			a.have, a.leave[user] = append(a.have, user), append(a.leave[user], leave)
		}()
		synctest.Wait()
	}
}

// give has a user give a place back.
func (a *asking) give(user string) {
	leave := a.leave[user][0]
	a.leave[user] = a.leave[user][1:]
	leave()
	synctest.Wait()
}

// got is who got places since it was asked last.
func (a *asking) got(want ...string) {
	a.t.Helper()
	if len(a.have) != len(want) {
		a.t.Fatalf("%v got places, not %v", a.have, want)
	}
	for i, user := range want {
		if a.have[i] != user {
			a.t.Fatalf("%v got places, not %v", a.have, want)
		}
	}
	a.have = nil
}

// However many statements two users have, a third one gets a place at once; of more users each gets one before anybody
// gets another.
func TestPlacesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asking{t: t, leave: map[string][]func(){}}
		a.ask("alice", 8)
		a.got("alice", "alice", "alice", "alice")
		a.ask("bob", 8)
		a.got("bob", "bob")
		a.ask("carol", 8)
		a.got("carol")
		a.ask("dave", 1)
		a.ask("eve", 1)
		a.got()

		// What becomes free is for who has none, the first to come first.
		a.give("alice")
		a.got("dave")
		a.give("alice")
		a.got("eve")

		// The last one stays free for whoever comes next; what is more than that is for who has the fewest.
		a.give("bob")
		a.got()
		a.give("carol")
		a.got("carol")
		a.give("alice")
		a.got("alice")
		a.ask("frank", 1)
		a.got("frank")
	})
}

// Who waits may leave, and takes nothing along; a statement that has a place needs no other; and nobody is remembered
// who has none.
func TestPlacesAreLeft(t *testing.T) {
	d := &Desk{}
	ctx, cancel := context.WithCancel(t.Context())
	held, leaveFirst, err := d.Place(ctx, "alice")
	leave := []func(){leaveFirst}
	for range allPlaces / 2 {
		_, l, bad := d.Place(ctx, "alice")
		if bad != nil || err != nil {
			t.Fatal(bad, err)
		}
		leave = append(leave, l)
	}
	_, again, err := d.Place(held, "alice")
	if err != nil {
		t.Fatal("a statement waits for itself:", err)
	}
	again()

	waiting := make(chan error)
	go func() {
		_, _, err := d.Place(ctx, "alice")
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !sqlstate.Is(err, sqlstate.QueryCanceled) {
		t.Errorf("one more than there are: %v", err)
	}

	// A place that is given back is had by who waits.
	got := make(chan func())
	go func() {
		_, l, err := d.Place(t.Context(), "alice")
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
	if p := &d.places; p.all != 0 || len(p.taken) != 0 || len(p.waiting) != 0 {
		t.Errorf("when all have left: %d places are taken, by %v, and %d wait", p.all, p.taken, len(p.waiting))
	}
}
