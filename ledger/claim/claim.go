// Package claim has one question at a time be read rows for, among all processes that share a ledger: two readings of
// one question would show two times, and one was paid for. It knows keys and nothing of what is asked, charged or told;
// that there is one answer for ever is the ledger's work, with claims or without.
package claim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
)

// Claims are those of one process. They are safe for concurrent use.
type Claims struct {
	among Among

	mu   sync.Mutex
	held map[string]chan struct{} // by the key, closed when it is given back
}

// Among is how the processes that share a ledger learn of each other's claims. What a process has taken is given back
// when it ends, however it ends.
type Among interface {
	// Take takes a key, unless another process has it.
	Take(ctx context.Context, key string) (taken bool, err error)
	// Return gives back what was taken.
	Return(ctx context.Context, key string) error
	Close() error
}

// New has nobody claim anything yet.
func New(among Among) *Claims { return &Claims{among: among, held: map[string]chan struct{}{}} }

// Close gives back what is claimed.
func (c *Claims) Close() error { return c.among.Close() }

// How often another process is asked whether it has done: soon at first, for most readings are short.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// Claim makes the caller the one who reads rows for the key, until release. Where another is, in this process or in
// another, it waits until that one has done, and release is nil: there is likely an answer now, or nothing that is paid
// for any more. Where settled says so, it waits no longer, whoever has the key: it may be one who reads nothing.
func (c *Claims) Claim(ctx context.Context, key string, settled Settled) (release func(), err error) {
	mine, others := c.enter(key)
	if mine == nil {
		select {
		case <-others:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}

	// What cannot be given back, because the server is gone, is not held any more either.
	release = func() {
		_ = c.among.Return(context.WithoutCancel(ctx), key)
		c.leave(key, mine)
	}
	taken, waited, err := c.take(ctx, key, settled)
	switch {
	case err != nil:
		c.leave(key, mine)
		return nil, fmt.Errorf("claiming a question: %w", err)
	case !taken:
		c.leave(key, mine)
		return nil, nil
	case waited:
		release()
		return nil, nil
	}
	return release, nil
}

// Settled reports whether there is nothing to be read for a key any more.
type Settled func(context.Context) (bool, error)

// take takes the key from the other processes, when they let it, unless it is settled before.
func (c *Claims) take(ctx context.Context, key string, settled Settled) (taken, waited bool, err error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if taken, err = c.among.Take(ctx, key); taken || err != nil {
			return taken, waited, err
		}
		waited = true
		if done, err := settled(ctx); done || err != nil {
			return false, waited, err
		}
		if err := wait(ctx, pause); err != nil {
			return false, waited, err
		}
	}
}

// enter makes the caller the one of this process who has the key; nil: another does, until others is closed.
func (c *Claims) enter(key string) (mine chan struct{}, others <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if others, ok := c.held[key]; ok {
		return nil, others
	}
	mine = make(chan struct{})
	c.held[key] = mine
	return mine, nil
}

func (c *Claims) leave(key string, mine chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, key)
	close(mine)
}

func wait(ctx context.Context, pause time.Duration) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// place is a number for a key, which no other is likely to have; those who share one wait for each other. It is
// positive, and so is the next.
func place(key string) int64 {
	sum := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 2)
}
