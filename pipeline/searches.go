package pipeline

import (
	"context"
	"runtime"
	"sync"
	"time"

	"fugu/internal/hook"
	"fugu/sqlstate"
)

// The search for the noise of many values takes processors and memory, and costs no budget: whoever explains a statement
// may begin one. So there is little room for large ones, in all and for each user; small ones need none.
const (
	// largeSearch is from how many values on a search needs a place: below, it is done within some tenths of a second.
	largeSearch = 400
	// mostValues is of one statement: a search holds matrices of values by values, this many some 512 MiB.
	mostValues = 16_000
	// userSearches are of one user's at a time, running or waiting.
	userSearches = 2
	// waitingSearches are of all users', and no more than leave the reader connections for others: some that wait hold one.
	waitingSearches = 4
	// searchTime bounds a search and the wait for its place.
	searchTime = 30 * time.Second
)

// searches is the room for large searches.
type searches struct {
	once   sync.Once
	places chan struct{} // of those that run: half of the processors stay for everything else

	mu     sync.Mutex
	all    int
	byUser map[string]int
}

// enter waits for a place for a search of so many values, until leave.
func (s *searches) enter(ctx context.Context, user string, values int) (leave func(), err error) {
	if values < largeSearch || hook.OpenSearches {
		return func() {}, nil
	}
	if values > mostValues {
		return nil, sqlstate.New(sqlstate.NotAnswerable, "the statement has %d values, and noise is looked for of at most %d together", values, mostValues).
			WithHint("Group by fewer columns, or ask for fewer aggregates at a time.")
	}
	s.once.Do(func() {
		s.places, s.byUser = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), map[string]int{}
	})
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
func (s *searches) register(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byUser[user] >= userSearches || s.all >= cap(s.places)+waitingSearches {
		return sqlstate.New(sqlstate.TooManySearches, "noise is being looked for of too many large statements at a time").
			WithDetail("%d may run and %d may wait, of one user %d in all.", cap(s.places), waitingSearches, userSearches).
			WithHint("Ask again when the others are done; statements of fewer than %d values need not wait.", largeSearch)
	}
	s.all++
	s.byUser[user]++
	return nil
}

func (s *searches) unregister(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// tookTooLong is the error of a search, or of the wait for one, that was ended.
func tookTooLong(ctx context.Context, values int) error {
	if ctx.Err() == context.Canceled {
		return canceled(ctx)
	}
	return sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to statement timeout").
		WithDetail("The search for the noise of %d values took too long.", values).WithHint("Group by fewer columns.").Because(ctx.Err())
}
