package wire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"sync"
)

// keys are the sessions by the process ids and secrets that cancel requests name them by (manual, "Canceling Requests
// in Progress").
type keys struct {
	mu sync.Mutex
	m  map[uint32]key
}

type key struct {
	secret  []byte
	session *session
}

// Lengths of cancel keys, in bytes: up to protocol 3.1 there is one only, and from 3.2 on it is PostgreSQL's
// (MAX_CANCEL_KEY_LENGTH).
const (
	shortKey = 4
	longKey  = 32
)

// add gives a session a process id that no other has, a secret as long as the version of the protocol allows, and a
// name for statements of Fugu's own, which the client cannot guess. The id is wanted, the guest's, if it is free:
// clients give what they were told to pg_terminate_backend, and compare it with that of notifications and of
// pg_stat_activity.
func (k *keys) add(s *session, wanted, version uint32) (pid uint32, secret []byte, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid := wanted; ; {
		var random [12 + longKey]byte
		_, _ = rand.Read(random[:]) // it does not fail
		if _, taken := k.m[pid]; taken || pid == 0 {
			pid = binary.BigEndian.Uint32(random[:]) & 0x7fffffff
			continue
		}
		secret := random[12:]
		if version < protocol32 {
			secret = secret[:shortKey:shortKey]
		}
		k.m[pid] = key{secret, s}
		return pid, secret, "fugu " + hex.EncodeToString(random[4:12])
	}
}

func (k *keys) remove(pid uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.m, pid)
}

// find returns the session that has the key, or nil.
func (k *keys) find(pid uint32, secret []byte) *session {
	k.mu.Lock()
	found := k.m[pid]
	k.mu.Unlock()
	if found.session == nil || subtle.ConstantTimeCompare(found.secret, secret) != 1 {
		return nil
	}
	return found.session
}
