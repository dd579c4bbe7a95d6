// Package cache keeps what was used last, within a number of entries and of bytes. It does not know what it keeps, nor
// weigh it.
package cache

import (
	"iter"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps what was used last, within a number of entries and of bytes. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries *simplelru.LRU[K, weighed[V]]
	bytes   int
	limit   int // bytes
}

// weighed is a value with what it and its key hold of memory, in bytes, about.
type weighed[V any] struct {
	value V
	bytes int
}

// New returns an empty cache of at most so many entries and bytes.
func New[K comparable, V any](entries, bytes int) *Cache[K, V] {
	c := &Cache[K, V]{limit: bytes}
	c.entries, _ = simplelru.NewLRU(entries, func(_ K, w weighed[V]) { c.bytes -= w.bytes })
	return c
}

// Get returns what is kept under a key, which is then used last.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.entries.Get(key)
	return w.value, ok
}

// Add keeps a value of that many bytes, at the cost of older ones; one that would take more than an eighth of the cache
// is not worth it.
func (c *Cache[K, V]) Add(key K, value V, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	if bytes > c.limit/8 {
		return
	}
	c.bytes += bytes
	c.entries.Add(key, weighed[V]{value, bytes})
	for c.bytes > c.limit {
		c.entries.RemoveOldest()
	}
}

// Size is the number of entries and of their bytes.
func (c *Cache[K, V]) Size() (entries, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.Len(), c.bytes
}

// Weights goes through the keys, the one used longest ago first, and how many bytes each was added with.
func (c *Cache[K, V]) Weights() iter.Seq2[K, int] {
	return func(yield func(K, int) bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, k := range c.entries.Keys() {
			if w, ok := c.entries.Peek(k); ok && !yield(k, w.bytes) {
				return
			}
		}
	}
}
