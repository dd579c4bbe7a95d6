package pipeline

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"fugu/answer"
	"fugu/dataset"
	"fugu/internal/cache"
	"fugu/policy"
	"fugu/wire"
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
	known    *answer.Known
}

// newSnapshot has nothing worked out yet.
func newSnapshot(loaded *dataset.Snapshot, policies []*policy.Policy) (*Snapshot, error) {
	known, err := answer.Learn(loaded, policies)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Snapshot: loaded, known: known,
		plans:    cache.New[planKey, []template](planEntries, planBytes),
		shapes:   cache.New[planKey, shape](shapeEntries, shapeMemory),
		recalled: cache.New[recalledBy, recalled](recalledEntries, recalledBytes)}, nil
}

// fingerprints are those of the policies, with their datasets, in order.
func (s *Snapshot) fingerprints() (out []string) {
	for _, p := range s.Policies {
		out = append(out, p.Dataset+" "+p.Fingerprint)
	}
	slices.Sort(out)
	return out
}

// Sizes of the cache of what was recalled, and of one binding that it knows, in bytes.
const (
	recalledEntries = 4096
	recalledBytes   = 32 << 20
	bindingBytes    = 4 << 10
)

// recalled is a stored answer in the form that one binding of a statement takes. To find it, nothing has to be planned
// or hashed, and nothing to be decoded. It is a shortcut to what the memory of the ledger has returned, and goes with
// the snapshot of its policy.
type recalled struct {
	told   answer.Told
	bound  wire.Binding // by the client, whoever it was; not changed
	values [][]byte     // that stand in the place of protected tables; not changed
}

// recalledBy is all that the answer depends on where settings are as the policy has them: the plan, the data, whose
// shares have paid for it, and what the client bound.
type recalledBy struct {
	serial  uint64 // of the template
	epoch   int64
	scopes  string
	binding string
}

// size is how many bytes it keeps alive, about.
func (r recalled) size() int {
	n := 3*structBytes + r.told.Size() + 2*len(r.bound.Formats)
	for _, v := range slices.Concat(r.values, r.bound.Values) {
		n += 24 + len(v)
	}
	return n
}

func (r recalledBy) size() int { return structBytes + len(r.scopes) + len(r.binding) }

// structBytes is about what a small struct takes, with a string or two in it.
const structBytes = 64

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

func (k planKey) size() int { return structBytes + len(k.sql) + len(k.types) + len(k.means) }
