package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"fugu/dataset"
	"fugu/internal/cache"
	"fugu/policy"
	"fugu/quote"
	"fugu/upstream"
)

// Sizes of the caches. What is in them depends on texts, parameters and policy only; what does not fit is worked out
// anew each time, so that no choice of statements takes more memory.
const (
	planEntries = 4096
	planBytes   = 64 << 20
)

// Snapshot is everything that the policies and the catalog say, at one time, and what has been worked out of it since:
// that goes with it.
type Snapshot struct {
	*dataset.Snapshot

	plans    *cache.Cache[planKey, []template]
	shapes   *cache.Cache[planKey, shape]
	planned  atomic.Uint64 // the serial of the template that was planned last
	recalled *cache.Cache[recalledBy, recalled]
	quotes   *quote.Memory
	accounts map[*policy.Policy]*account // of policies that have a joint one
}

// Load is dataset.Load, with joint accounts that have no answer yet.
func Load(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader,
	protected ...string) (*Snapshot, error) {
	loaded, err := dataset.Load(ctx, policies, reader, protected...)
	if err != nil {
		return nil, err
	}
	s := newSnapshot(loaded)
	for _, p := range policies {
		if p.Privacy.Composition != policy.Jointly {
			continue
		}
		if s.accounts[p], err = newAccount(loaded, p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	s.tryClasses(ctx, reader)
	return s, nil
}

// LoadApart is dataset.LoadApart.
func LoadApart(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader,
	protected ...string) (*Snapshot, error) {
	loaded, err := dataset.LoadApart(ctx, policies, reader, protected...)
	if err != nil {
		return nil, err
	}
	return newSnapshot(loaded), nil
}

// newSnapshot has nothing worked out yet.
func newSnapshot(loaded *dataset.Snapshot) *Snapshot {
	return &Snapshot{Snapshot: loaded,
		plans:    cache.New[planKey, []template](planEntries, planBytes),
		shapes:   cache.New[planKey, shape](shapeEntries, shapeMemory),
		recalled: cache.New[recalledBy, recalled](recalledEntries, recalledBytes),
		quotes:   quote.NewMemory(func(m *quote.Quote) int { return weight(m) }),
		accounts: map[*policy.Policy]*account{}}
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
