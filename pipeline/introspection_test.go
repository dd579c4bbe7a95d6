package pipeline

import (
	"sync"
	"testing"
)

// Sessions that ask at the same time what tables there are share what is made for the first of them.
func TestSessionsAskWhatThereIs(t *testing.T) {
	h := newHouse(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s := &session{engine: h.engine, user: h.user}
			for _, view := range []string{"tables", "columns", "key_column_usage", "no_such_view"} {
				if _, err := s.Interpret(t.Context(), "SELECT * FROM information_schema."+view, nil); err != nil {
					t.Errorf("%s: %v", view, err)
				}
			}
		})
	}
	all.Wait()
}
