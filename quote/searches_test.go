package quote

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"fugu/sqlstate"
)

// held begins a search that goes on until end is called, and reports how it ended.
func (s *Searches) held(ctx context.Context, user string) (end func() error) {
	begun, release, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		result <- s.Run(ctx, user, largeSearch, func(context.Context, func()) error {
			close(begun)
			<-release
			return nil
		})
	}()
	select {
	case <-begun:
	case err := <-result:
		return func() error { return err }
	}
	return func() error { close(release); return <-result }
}

// empty reports whether nobody searches and nobody waits.
func (s *Searches) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all == 0 && len(s.byUser) == 0 && len(s.places) == 0
}

func nothing(context.Context, func()) error { return nil }

// One room has so many places, and of one user's so many searches; what has no place is refused, or waits and is told
// so.
func TestRoomForSearches(t *testing.T) {
	s := NewSearches()
	if cap(s.places) != max(1, runtime.GOMAXPROCS(0)/2) {
		t.Errorf("%d places of %d processors", cap(s.places), runtime.GOMAXPROCS(0))
	}
	s.places = make(chan struct{}, 2)
	first, second := s.held(t.Context(), "alice"), s.held(t.Context(), "alice")
	if err := s.Run(t.Context(), "alice", largeSearch, nothing); !sqlstate.Is(err, sqlstate.TooManySearches) {
		t.Errorf("a third search of one user: %v", err)
	}
	// What is small has no need of a place, and what is too large none to get.
	if err := s.Run(t.Context(), "alice", largeSearch-1, nothing); err != nil {
		t.Errorf("a small search: %v", err)
	}
	if err := s.Run(t.Context(), "bob", mostValues+1, nothing); !sqlstate.Is(err, sqlstate.NotAnswerable) {
		t.Errorf("a search of %d values: %v", mostValues+1, err)
	}
	waiting := make(chan error)
	for _, user := range []string{"bob", "bob", "carol", "dave"} {
		go func() { waiting <- s.Run(t.Context(), user, largeSearch, nothing) }()
	}
	for s.registered() < 6 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Run(t.Context(), "eve", largeSearch, nothing); !sqlstate.Is(err, sqlstate.TooManySearches) {
		t.Errorf("a search beyond those that may wait: %v", err)
	}
	if first() != nil || second() != nil {
		t.Error("a search failed")
	}
	for range 4 {
		if err := <-waiting; err != nil {
			t.Errorf("one that waited: %v", err)
		}
	}
	if !s.empty() {
		t.Errorf("a place is lost: %+v", s.byUser)
	}
}

func (s *Searches) registered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// A search, and the wait for its place, end with the client's patience and with the limit of time; no place is lost so,
// nor by an error or a panic.
func TestEndsOfSearches(t *testing.T) {
	s := NewSearches()
	s.places = make(chan struct{}, 1)
	until := func(ctx context.Context, _ func()) error { <-ctx.Done(); return ctx.Err() }

	s.time = 10 * time.Millisecond
	if err := s.Run(t.Context(), "alice", largeSearch, until); !sqlstate.Is(err, sqlstate.QueryCanceled) {
		t.Errorf("a search beyond its time: %v", err)
	}
	// The one that has the place does not have to hurry: on a busy machine it might not get there in time.
	s.time = searchTime
	first := s.held(t.Context(), "alice")
	s.time = 10 * time.Millisecond
	if err := s.Run(t.Context(), "bob", largeSearch, nothing); !sqlstate.Is(err, sqlstate.QueryCanceled) {
		t.Errorf("a wait beyond its time: %v", err)
	}

	s.time = searchTime
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() { waiting <- s.Run(ctx, "bob", largeSearch, nothing) }()
	for s.registered() < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-waiting; !sqlstate.Is(err, sqlstate.QueryCanceled) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
	_ = first()
	if err := s.Run(ctx, "bob", largeSearch, until); err == nil {
		t.Error("a search for a client that has left is done")
	}

	wrong := errors.New("wrong")
	if err := s.Run(t.Context(), "alice", largeSearch, func(context.Context, func()) error {
		return wrong
	}); err != wrong {
		t.Errorf("an error of the search's own: %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Run(t.Context(), "alice", largeSearch, func(context.Context, func()) error { panic("amid a search") })
	}()
	if !s.empty() {
		t.Errorf("a place is lost: %+v", s.byUser)
	}
}

// Searches rest while another's statement is being answered, and only then; their own statements do not count.
func TestSearchesRest(t *testing.T) {
	s := NewSearches()
	s.places = make(chan struct{}, 2)
	rests := 0
	s.pause = func(context.Context, time.Duration) { rests++ }
	defer s.Serve()() // the search's own statement
	// work is a search of five steps, each as long as one may work without a rest.
	work := func() int {
		rests = 0
		err := s.Run(t.Context(), "alice", largeSearch, func(_ context.Context, rest func()) error {
			for range 5 {
				time.Sleep(workTime)
				rest()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return rests
	}
	if n := work(); n != 0 {
		t.Errorf("a search that is alone rests %d times", n)
	}
	end := s.held(t.Context(), "bob")
	bobs := s.Serve()
	if n := work(); n != 0 {
		t.Errorf("a search rests %d times for another", n)
	}
	served := s.Serve()
	if n := work(); n < 5*restShare {
		t.Errorf("a search rests %d times for another's statement", n)
	}
	served()
	bobs()
	if err := end(); err != nil {
		t.Error(err)
	}
	if n := work(); n != 0 {
		t.Errorf("a search rests %d times for what is over", n)
	}
}
