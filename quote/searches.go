package quote

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"fugu/internal/hook"
	"fugu/sqlstate"
)

// The search for the noise of many values takes processors and memory, and costs no budget: whoever explains a
// statement may begin one. So there is little room for large ones, in all and for each user, and they let others go
// first; small ones need none.
const (
	// largeSearch is from how many values on a search needs a place: below, it is done within some tenths of a second.
	largeSearch = 400
	// mostValues is of one statement: a search takes 2 to 9 KB for each value, so this many some 150 MB.
	mostValues = 16_000
	// userSearches are of one user's at a time, running or waiting.
	userSearches = 2
	// waitingSearches are of all users', and no more than leave the reader connections for others: some that wait hold
	// one.
	waitingSearches = 4
	// searchTime bounds a search and the wait for its place.
	searchTime = 30 * time.Second

	// While others' statements are being answered, a search works for workTime and rests restShare times as long as
	// that took, in turn: longer where processors are scarce, but for longestRest at most. A small statement takes some
	// tens of milliseconds, so it has the processors for itself for most of them; and however many follow each other,
	// the search goes on.
	workTime    = 5 * time.Millisecond
	restShare   = 8
	longestRest = time.Second
)

// Searches is the room for large searches, one for all databases that a proxy serves: they share its processors.
type Searches struct {
	places  chan struct{} // of those that run: half of the processors stay for everything else
	time    time.Duration // searchTime, but for tests
	pause   func(context.Context, time.Duration)
	serving atomic.Int64 // statements about protected rows that are being answered, those that search with them

	mu     sync.Mutex
	all    int // of those that run or wait
	byUser map[string]int
}

// NewSearches returns searches of which as many run at once as half of the processors allow, and one at the least.
func NewSearches() *Searches {
	return &Searches{places: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), time: searchTime, pause: pause,
		byUser: map[string]int{}}
}

// Serve counts a statement as one that is being answered, until the function that it returns is called. Searches rest
// meanwhile. What they could tell by it is no more than when an answer left, and that is a point of the public grid.
func (s *Searches) Serve() (served func()) {
	s.serving.Add(1)
	return func() { s.serving.Add(-1) }
}

// Busy is what Searches are at. All of it follows from what was asked, and when clients were told: none of it moves at
// the end of a reading of protected rows.
type Busy struct {
	Answering int // statements about protected rows
	Searches  int // large ones, running or waiting
	Running   int // of these
	Places    int // for those that run
}

// Busy returns what they are at.
func (s *Searches) Busy() Busy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Busy{Answering: int(s.serving.Load()), Searches: s.all, Running: len(s.places), Places: cap(s.places)}
}

// Run calls search, for a statement of so many values, when there is a place; a small one at once. The search is to end
// when its context does, and to call rest between its steps.
func (s *Searches) Run(ctx context.Context, user string, values int,
	search func(_ context.Context, rest func()) error) error {
	if values < largeSearch {
		return search(ctx, func() {})
	}

	// A search has its time from here on, also while it waits for a place.
	limit := s.time
	if hook.LongSearches {
		limit = 10 * time.Minute
	}
	bounded, stop := context.WithTimeout(ctx, limit)
	defer stop()
	leave, err := s.enter(bounded, user, values)
	if err != nil {
		return err
	}
	defer leave()

	// Who gave up is told by the caller's context, who took too long by this one.
	err = search(bounded, s.resting(bounded))
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return tookTooLong(bounded, values)
	}
	return err
}

// enter waits for a place, until leave.
func (s *Searches) enter(ctx context.Context, user string, values int) (leave func(), err error) {
	if hook.OpenSearches {
		return func() {}, nil
	}
	if values > mostValues {
		return nil, sqlstate.New(sqlstate.NotAnswerable, "the statement has %d values, and noise is looked for of "+
			"at most %d together", values, mostValues).
			WithHint("Group by fewer columns, or ask for fewer aggregates at a time.")
	}
	if err := s.register(user); err != nil {
		return nil, err
	}
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places; s.unregister(user) }, nil
	case <-ctx.Done():
		s.unregister(user)
		return nil, tookTooLong(ctx, values)
	}
}

// register counts a search, unless there are too many.
func (s *Searches) register(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byUser[user] >= userSearches || s.all >= cap(s.places)+waitingSearches {
		return sqlstate.New(sqlstate.TooManySearches, "noise is being looked for of too many large statements at a "+
			"time").
			WithDetail("%d may run and %d may wait, of one user %d in all.", cap(s.places), waitingSearches,
				userSearches).
			WithHint("Ask again when the others are done; statements of fewer than %d values need not wait.",
				largeSearch)
	}
	s.all++
	s.byUser[user]++
	return nil
}

func (s *Searches) unregister(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// others reports whether any statement is being answered that does not search itself.
func (s *Searches) others() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serving.Load() > int64(s.all)
}

// resting returns what a search calls between its steps, in one goroutine: it waits where the search has worked for
// long enough beside others, so that they are slowed down by a bounded share, however many processors there are.
func (s *Searches) resting(ctx context.Context) (rest func()) {
	if hook.OpenSearches {
		return func() {}
	}
	resumed := time.Now()
	return func() {
		worked := time.Since(resumed)
		if worked < workTime {
			return
		}
		for n := min(restShare*worked, longestRest) / workTime; n > 0 && s.others() && ctx.Err() == nil; n-- {
			s.pause(ctx, workTime)
		}
		resumed = time.Now()
	}
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// tookTooLong is the error of a search, or of the wait for one, that was ended.
func tookTooLong(ctx context.Context, values int) error {
	if ctx.Err() == context.Canceled {
		return sqlstate.Canceled(ctx.Err())
	}
	return sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to statement timeout").
		WithDetail("The search for the noise of %d values took too long.", values).WithHint("Group by fewer columns.").
		Because(ctx.Err())
}
