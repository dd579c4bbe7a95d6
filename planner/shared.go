package planner

import "sync"

// shared keeps what a table's statements have in common, by text, for those that come later. It is safe for concurrent use.
type shared[V any] struct {
	mu   sync.Mutex
	kept map[string]V
	size int
}

func (s *shared[V]) load(name string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.kept[name]
	return v, ok
}

// store keeps a value of this size, where there is room for it: all sizes together are at most most.
func (s *shared[V]) store(name string, v V, size, most int) {
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
