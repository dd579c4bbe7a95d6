package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"math"
	"time"

	"fugu/privacy"
)

// Entry is one line of the audit chain: an answer that was given, or another scope that paid for one, in the words of the
// ledger. It holds no statement, literal or statistic: Key and Content are digests.
type Entry struct {
	Number int64     `json:"number"` // from 0, without gaps
	At     time.Time `json:"at"`
	Event  Event     `json:"event"`

	// Of Begin: how many answers and charges were there before the chain, and a digest of them.
	Before *Before `json:"before,omitempty"`

	// Of the others.
	Dataset      string                  `json:"dataset,omitempty"`
	Epoch        int64                   `json:"epoch,omitempty"`  // of the answer, or that began
	Period       int64                   `json:"period,omitempty"` // in which it was charged, or that began
	Scope        string                  `json:"scope,omitempty"`
	User         string                  `json:"user,omitempty"`
	Answer       int64                   `json:"answer,omitempty"`
	Key          Key                     `json:"key,omitempty"`
	Losses       map[string]privacy.Loss `json:"losses,omitempty"`
	Requested    *privacy.Budget         `json:"requested,omitempty"`
	Mechanism    string                  `json:"mechanism,omitempty"`
	Assumption   string                  `json:"assumption,omitempty"`
	Certificates []Certificate           `json:"certificates,omitempty"`
	Failed       bool                    `json:"failed,omitempty"`
	Content      string                  `json:"content,omitempty"` // SHA-256 of what was given and its description
	Terms        string                  `json:"terms,omitempty"`   // SHA-256 of its Terms

	// Of NewEpoch and NewPeriod.
	Label       string     `json:"label,omitempty"`
	Independent bool       `json:"independent,omitempty"`
	Reason      string     `json:"reason,omitempty"` // of Reset, Compacted and Abandoned too, and of a Release that an operator asked for: what User says
	Began       *time.Time `json:"began,omitempty"`  // of a period; At is when the ledger saw it

	Statement string     `json:"statement,omitempty"` // fingerprint of the statement's shape, without its literals
	Code      string     `json:"code,omitempty"`      // of Refused: the SQLSTATE
	Times     int64      `json:"times,omitempty"`     // of Refused: how often, if more than once, until Until; of Lost: how many
	Until     *time.Time `json:"until,omitempty"`
	Dropped   *Dropped   `json:"dropped,omitempty"` // of Compacted and Abandoned
}

// Event is what an Entry tells of.
type Event string

// The events.
const (
	Begin     Event = "begin"   // of the chain
	Release   Event = "release" // a new answer, paid by everybody; before totals bound everybody: by who asked first
	Joined    Event = "joined"  // another scope that paid for it, then or later
	NewEpoch  Event = "epoch"   // other data, or a label for those that there are
	NewPeriod Event = "period"  // a budget that began anew

	Refused   Event = "refused"   // a statement that was not answered
	Lost      Event = "lost"      // refusals that are not in the chain: there were too many, or the ledger was down
	Reset     Event = "reset"     // who has a period begin that is next in the chain, and why
	Compacted Event = "compacted" // answers lost their content
	Answered  Event = "answered"  // what came of a question that was charged ahead of its answer
	Abandoned Event = "abandoned" // nothing came of it: it stays charged, and is charged again when it is asked again
)

// Before is what an older Fugu, which kept no chain, had booked.
type Before struct {
	Answers int64  `json:"answers"` // the largest id
	Charges int64  `json:"charges"`
	Digest  string `json:"digest"`
}

// Link is an entry as it stands in the chain: its text, and the digest of everything up to it.
type Link struct {
	Text string
	Hash string // lower-case hexadecimal SHA-256 of the hash before, a line feed, and Text; of no hash before for the first
}

// Entry reads the link's text.
func (l Link) Entry() (Entry, error) {
	var e Entry
	err := json.Unmarshal([]byte(l.Text), &e)
	return e, err
}

// follow returns the link of an entry behind the hash of the one before.
func (c chain) follow(before string, e Entry) (Link, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return Link{}, err
	}
	return Link{string(text), c.hash(before, string(text))}, nil
}

// chain says how links are made: plainly, or with a key that only the proxies have.
type chain struct{ key []byte }

func (c chain) hash(before, text string) string {
	var h hash.Hash
	if c.key == nil {
		h = sha256.New()
	} else {
		h = hmac.New(sha256.New, c.key)
	}
	h.Write([]byte(before + "\n" + text))
	return hex.EncodeToString(h.Sum(nil))
}

// entry tells of a scope that paid for an answer.
func (s stored) entry(event Event, period int64, scope, user string, losses map[string]privacy.Loss, at time.Time) Entry {
	failed, content := s.Failed, s.content
	if s.begun != chargedWith { // the entry of its outcome tells
		failed, content = false, ""
	}
	return Entry{At: at, Event: event, Dataset: s.dataset, Epoch: s.epoch, Period: period, Scope: scope, User: user, Answer: s.ID, Key: s.key, Losses: losses,
		Requested: &s.Requested, Mechanism: s.Mechanism, Assumption: s.Assumption, Certificates: s.Certificates, Failed: failed, Content: content, Terms: s.terms}
}

// append writes an entry behind the last.
func (b *booking) append(ctx context.Context, e Entry) error {
	var before string
	switch err := b.read.head.QueryRowContext(ctx).Scan(&e.Number, &before); {
	case errors.Is(err, sql.ErrNoRows):
		return errors.New("the audit chain has no beginning")
	case err != nil:
		return err
	}
	e.Number++
	l, err := b.seal.chain.follow(before, e)
	if err != nil {
		return err
	}
	_, err = b.write.entry.ExecContext(ctx, e.Number, l.Text, l.Hash)
	return err
}

// begin makes the first entry of a chain, in the transaction that makes its table.
func (s seal) begin(ctx context.Context, tx *sql.Tx) error {
	if s.fill != nil {
		return s.fill(ctx, tx, s)
	}
	p, err := s.payments(ctx, tx, new(done))
	if err != nil {
		return err
	}
	before := p.digest(math.MaxInt64, math.MaxInt64)
	l, err := s.chain.follow("", Entry{At: now(), Event: Begin, Before: &before})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, insertEntry, 0, l.Text, l.Hash)
	return err
}
