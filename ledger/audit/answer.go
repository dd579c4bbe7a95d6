package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"fugu/privacy"
)

// Phase says how far an answer is. It is a column of the ledger's, so that its numbers never change.
type Phase int

// The phases.
const (
	AtOnce     Phase = iota // the answer came with its charge
	Pending                 // charged, and there is no answer yet
	Afterwards              // charged ahead, and answered since
)

// Answer is an answer as the tables have it, without what was given.
type Answer struct {
	ID                    int64
	Key, Dataset          string
	Scope                 string // who paid first
	Epoch                 int64
	Phase                 Phase
	Failed                bool
	Mechanism, Assumption string
	Requested             privacy.Budget
	Certificates          []Certificate
	Content, Terms        string // digests, as in Entry; Terms is empty where there are none
}

// Charge is what one scope paid for one secret of an answer.
type Charge struct {
	ID, Answer          int64
	Scope, Secret, User string
	At                  int64 // microseconds since 1970
	Loss                privacy.Loss
	Period              int64
}

// Payment returns the entry that tells of a scope that paid for the answer: its Release for who paid first, another that
// Joined otherwise.
func (a *Answer) Payment(scope, user string, period int64, losses map[string]privacy.Loss, at time.Time) Entry {
	event := Joined
	if scope == a.Scope {
		event = Release
	}
	failed, content := a.Failed, a.Content
	if a.Phase != AtOnce { // the entry of its outcome tells
		failed, content = false, ""
	}
	return Entry{At: at, Event: event, Dataset: a.Dataset, Epoch: a.Epoch, Period: period, Scope: scope, User: user,
		Answer: a.ID, Key: a.Key, Losses: losses, Requested: &a.Requested, Mechanism: a.Mechanism,
		Assumption: a.Assumption, Certificates: a.Certificates, Failed: failed, Content: content, Terms: a.Terms}
}

// Outcome returns the entry that tells what came of an answer that was charged ahead.
func (a *Answer) Outcome(user string, at time.Time) Entry {
	return Entry{At: at, Event: Answered, Dataset: a.Dataset, Epoch: a.Epoch, User: user, Answer: a.ID, Key: a.Key,
		Failed: a.Failed, Content: a.Content}
}

// Drop is what the chain needs to know of an answer without content: what it was before, and the entry that tells of it.
type Drop struct {
	Answer       int64
	Key, Content string
	Entry        int64
}

// Nobody is the key of an answer that can not be found any more, so that its own is free for a new one.
func (d Drop) Nobody() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "compacted %d %s", d.Answer, d.Key))
	return hex.EncodeToString(sum[:])
}

// Digest is that of Dropped: of answers in their order.
func Digest(drops []Drop) string {
	h := sha256.New()
	for _, d := range drops {
		fmt.Fprintf(h, "%d %s %s\n", d.Answer, d.Key, d.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}
