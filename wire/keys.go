package wire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"sync"
)

// keys are the sessions by the process ids and secrets that cancel requests name them by (manual, "Canceling Requests in
// Progress").
type keys struct {
	mu sync.Mutex
	m  map[uint32]key
}

type key struct {
	secret  []byte
	session *session
}

// add gives a session a process id that no other has, a secret, and a name for statements of Fugu's own, which the
// client cannot guess. The id is wanted, the guest's, if it is free: clients give what they were told to
// pg_terminate_backend, and compare it with that of notifications and of pg_stat_activity.
func (k *keys) add(s *session, wanted uint32) (pid uint32, secret []byte, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid := wanted; ; {
		var random [16]byte
		_, _ = rand.Read(random[:]) // it does not fail
		if _, taken := k.m[pid]; taken || pid == 0 {
			pid = binary.BigEndian.Uint32(random[:]) & 0x7fffffff
			continue
		}
		secret := random[4:8]
		k.m[pid] = key{secret, s}
		return pid, secret, "fugu " + hex.EncodeToString(random[8:])
	}
}

func (k *keys) remove(pid uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.m, pid)
}

// find gives the session that the key is of, or nil.
func (k *keys) find(pid uint32, secret []byte) *session {
	k.mu.Lock()
	found := k.m[pid]
	k.mu.Unlock()
	if found.session == nil || subtle.ConstantTimeCompare(found.secret, secret) != 1 {
		return nil
	}
	return found.session
}
