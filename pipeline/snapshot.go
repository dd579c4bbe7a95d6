package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/policy"
	"fugu/upstream"
)

// Sizes of the caches. What is in them depends on texts, parameters and policy only; what does not fit is worked out anew
// each time, so that no choice of statements takes more memory.
const (
	planEntries     = 4096
	planBytes       = 64 << 20
	measuredEntries = 256
	measuredBytes   = 64 << 20
)

// Snapshot is everything that the policies and the catalog say, at one time, and what has been worked out of it since:
// that goes with it.
type Snapshot struct {
	*dataset.Snapshot

	plans    *cache[planKey, []template]
	shapes   *cache[planKey, shape]
	planned  atomic.Uint64 // the serial of the template that was planned last
	recalled *cache[recalledBy, recalled]
	measured *cache[ledger.Key, *measured]
	accounts map[*policy.Policy]*account // of policies that have a joint one
}

// Load is dataset.Load, with joint accounts that have no answer yet.
func Load(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader, protected ...string) (*Snapshot, error) {
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
	return s, nil
}

// LoadApart is dataset.LoadApart.
func LoadApart(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader, protected ...string) (*Snapshot, error) {
	loaded, err := dataset.LoadApart(ctx, policies, reader, protected...)
	if err != nil {
		return nil, err
	}
	return newSnapshot(loaded), nil
}

// newSnapshot has nothing worked out yet.
func newSnapshot(loaded *dataset.Snapshot) *Snapshot {
	return &Snapshot{Snapshot: loaded,
		plans:    newCache[planKey, []template](planEntries, planBytes),
		shapes:   newCache[planKey, shape](shapeEntries, shapeMemory),
		recalled: newCache[recalledBy, recalled](recalledEntries, recalledBytes),
		measured: newCache[ledger.Key, *measured](measuredEntries, measuredBytes),
		accounts: map[*policy.Policy]*account{}}
}
