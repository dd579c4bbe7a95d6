package protected

import "sync"

// Kept is what statements over a table have in common, for those that come later. It holds what the policy and the
// reference say, as they were when the policy was loaded.
type Kept struct {
	Combinations Shared[[][]Value]   // of the values of declared columns, by the columns as SQL
	Alike        Shared[[][]float64] // by the statement that counted them: see planner.Bound.Alone
	Declared     Shared[bool]        // by the statement that looked for other values in the reference: there are none
}

// Shared keeps what a table's statements have in common, by text, for those that come later. It is safe for concurrent
// use.
type Shared[V any] struct {
	mu   sync.Mutex
	kept map[string]V
	size int
}

// Load gives what is kept under a name, if it is.
func (s *Shared[V]) Load(name string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.kept[name]
	return v, ok
}

// Store keeps a value of this size, where there is room for it: all sizes together are at most most.
func (s *Shared[V]) Store(name string, v V, size, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.kept[name]; ok || s.size+size > most {
		return
	}
	if s.kept == nil {
		s.kept = map[string]V{}
	}
	s.kept[name] = v
	s.size += size
}
