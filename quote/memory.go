package quote

import (
	"context"

	"fugu/internal/cache"
)

// Sizes of a memory. What is in it depends on texts, parameters and policy only; what does not fit is worked out anew
// each time, so that no choice of statements takes more memory.
const (
	memoryEntries = 256
	memoryBytes   = 64 << 20
)

// Memory keeps quotes for as long as a policy and its references are believed to stand. It is safe for concurrent use.
type Memory struct {
	quotes *cache.Cache[key, *Quote]
}

// NewMemory returns a memory without quotes.
func NewMemory() *Memory { return &Memory{cache.New[key, *Quote](memoryEntries, memoryBytes)} }

// Known returns what is remembered of a request.
func (m *Memory) Known(r *Request) (*Quote, bool) { return m.quotes.Get(r.Key) }

// Quote returns what is known of a request. What is not remembered under its key is worked out, with one scan of the
// reference for each cut, as soon as the searches of others leave room.
func (m *Memory) Quote(ctx context.Context, s *Searches, user string, r *Request) (*Quote, error) {
	if q, ok := m.Known(r); ok {
		return q, nil
	}

	var q *Quote
	err := s.Run(ctx, user, r.Values(), func(ctx context.Context, rest func()) (err error) {
		// Others may have looked for the same meanwhile.
		var found bool
		if q, found = m.Known(r); found {
			return nil
		}
		if q, err = r.measure(ctx, rest); err == nil {
			m.quotes.Add(r.Key, q, q.size())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}
