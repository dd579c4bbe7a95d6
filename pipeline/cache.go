package pipeline

import (
	"encoding/binary"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cache keeps what was used last, within a number of entries and of bytes. It is safe for concurrent use.
type cache[K comparable, V any] struct {
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

func newCache[K comparable, V any](entries, bytes int) *cache[K, V] {
	c := &cache[K, V]{limit: bytes}
	c.entries, _ = simplelru.NewLRU(entries, func(_ K, w weighed[V]) { c.bytes -= w.bytes })
	return c
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.entries.Get(key)
	return w.value, ok
}

// add keeps a value of that many bytes, at the cost of older ones; one that would take more than an eighth of the cache
// is not worth it.
func (c *cache[K, V]) add(key K, value V, bytes int) {
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

// size is the number of entries and of their bytes.
func (c *cache[K, V]) size() (entries, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.Len(), c.bytes
}

// planKey identifies a text, the parameter types that the client gave with it, and what its names mean in the session.
type planKey struct{ sql, types, means string }

func newPlanKey(sql string, paramTypes []uint32) planKey {
	if len(paramTypes) == 0 {
		return planKey{sql: sql}
	}
	b := make([]byte, 0, 4*len(paramTypes))
	for _, t := range paramTypes {
		b = binary.BigEndian.AppendUint32(b, t)
	}
	return planKey{sql: sql, types: string(b)}
}
