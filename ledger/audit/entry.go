// Package audit is the chain in which a ledger tells of everything that was booked, entry by entry, each with a digest
// of all before it; and the rules by which one finds that the ledger's tables say what the chain says, nothing else and
// nothing more: whoever can write to the database could put a period there, and spend a budget twice.
//
// It knows no database. The ledger reads rows and links, and takes from here what has to be written and whether what
// was read is sound. What cannot be found is a ledger that was put back as a whole to what it was.
package audit

import (
	"encoding/json"
	"time"

	"fugu/privacy"
)

// Entry is one line of the chain: an answer that was given, or another scope that paid for one, in the words of the
// ledger. It holds no statement, literal or statistic: Key and Content are digests.
//
// Its JSON is what the digests are of: the order, the names and the omission of its fields never change.
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
	Key          string                  `json:"key,omitempty"`
	Losses       map[string]privacy.Loss `json:"losses,omitempty"`
	Requested    *privacy.Budget         `json:"requested,omitempty"`
	Mechanism    string                  `json:"mechanism,omitempty"`
	Assumption   string                  `json:"assumption,omitempty"`
	Certificates []Certificate           `json:"certificates,omitempty"`
	Failed       bool                    `json:"failed,omitempty"`
	Content      string                  `json:"content,omitempty"` // SHA-256 of what was given and its description
	Terms        string                  `json:"terms,omitempty"`   // SHA-256 of what a joint account counts with

	// Of NewEpoch and NewPeriod. Reason is of Reset, Compacted and Abandoned too, and of a Release that an operator
	// asked for: what User says. Began is of a period; At is when the ledger saw it.
	Label       string     `json:"label,omitempty"`
	Independent bool       `json:"independent,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Began       *time.Time `json:"began,omitempty"`

	Statement string `json:"statement,omitempty"` // fingerprint of the statement's shape, without its literals
	Code      string `json:"code,omitempty"`      // of Refused: the SQLSTATE
	// Of Refused: how often, if not once, until Until; of Lost: how many.
	Times   int64      `json:"times,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
	Dropped *Dropped   `json:"dropped,omitempty"` // of Compacted and Abandoned

	Table string `json:"table,omitempty"` // of Promised, with Content
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
	Promised  Event = "promised"  // what answers about a table hide from now on in the period
	Abandoned Event = "abandoned" // nothing came of it: it stays charged, and is charged again when it is asked again
)

// ByReset is the Reason of a NewPeriod that begins because somebody says so. It follows on the Reset that tells who.
const ByReset = "reset"

// Before is what an older Fugu, which kept no chain, had booked.
type Before struct {
	Answers int64  `json:"answers"` // the largest id
	Charges int64  `json:"charges"`
	Digest  string `json:"digest"`
}

// Dropped tells which answers have lost their content.
type Dropped struct {
	Before  time.Time `json:"before"` // they were given before that
	Answers int64     `json:"answers"`
	Digest  string    `json:"digest"` // SHA-256 of their ids, keys and contents
}

// Certificate is what holds for one secret of one release by itself: every pair of its values is
// (Epsilon,Delta)-indistinguishable under the assumptions.
type Certificate struct {
	Secret      string     `json:"secret"`
	Mechanism   string     `json:"mechanism"`
	Assumptions []string   `json:"assumptions"`
	Pair        [2]float64 `json:"pair"` // the values that are hardest to hide; 0, 0: all alike
	Epsilon     float64    `json:"epsilon"`
	Delta       float64    `json:"delta"`
	// The ε that holds under estimation error; 0: not known, below 0: unbounded.
	Estimation float64 `json:"estimation"`

	// Together is δ of all answers of the dataset, this one the last, at the ε of its whole budget: of a joint account
	// alone.
	Together float64 `json:"together,omitempty"`
}

// is reports whether the entry, as the tables have it, is what the link of that number says.
func (e Entry) is(number int64, l Link) bool {
	e.Number = number
	text, err := json.Marshal(e)
	return err == nil && string(text) == l.Text
}
