package ledger

import (
	"time"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// Key identifies an answer: the lower-case hexadecimal SHA-256 of everything that was asked. The caller computes it.
type Key string

// Charge is an answer with what it costs.
type Charge struct {
	Key     Key
	Dataset string
	Epoch   int64  // which data it is about: Standing.Epoch as it was before they were read
	User    string // who asked
	// Statement is the fingerprint of the statement's shape, up to 64 hexadecimal digits; empty: it has none. It is
	// written into the audit chain.
	Statement string
	Reason    string // why, in the operator's words, for the audit chain alone; empty: the statement says it
	Losses    map[string]privacy.Loss
	Limit     privacy.Budget // of everybody together, for each secret
	Shares    []Share        // further limits, of scopes that are told the answer
	Renew     time.Duration  // how long a period is; 0: it never ends

	Requested             privacy.Budget
	Mechanism, Assumption string // may be empty only of a failure
	Answer                []byte
	Failed                bool // the statistics statement failed, and that is the answer
	Cells                 []Cell
	Certificates          []audit.Certificate

	// Ahead charges before the answer is known, which comes by Give: until then Answer is whatever tells what it will
	// be.
	Ahead bool

	// Terms say, for the joint account of the dataset, what was released: opaque here; nil: nothing says it. After is
	// the newest answer of the dataset, but for Derived ones, that Losses count with, 0 where there was none: once
	// there is a newer one, the charge is ErrOvertaken. nil: Losses depend on no other answer.
	Terms []byte
	After *int64

	// Promised is the newest promise of the dataset, in the period of the charge, that this one's were compared with, 0
	// where there was none: once there is a newer one, the charge is ErrPromised. Promises are those that it adds. nil:
	// it makes none, which is an error beside others that do.
	Promised *int64
	Promises []Promise
}

// Cell describes one released value. It holds noisy values only.
type Cell struct {
	Column   string  `json:"column"`
	GroupKey string  `json:"group_key"`
	Value    string  `json:"value"`
	SD       float64 `json:"sd"` // of the noise, in the units of Value, as Lower and Upper are
	Lower    float64 `json:"lower"`
	Upper    float64 `json:"upper"`
	Secret   string  `json:"secret"`
}

// Answer is a stored answer.
type Answer struct {
	ID                    int64 // grows with each new answer
	Bytes                 []byte
	Failed                bool
	Mechanism, Assumption string
	Requested             privacy.Budget
	Losses                map[string]privacy.Loss // by secret: what it costs each scope that asks
	Cells                 []Cell
	Certificates          []audit.Certificate
	At                    time.Time // when it was first given; whole microseconds, UTC
	Fresh                 bool      // this call stored it; false: it was there already
	Pending               bool      // it is charged, and there is no answer yet: Bytes are those of its Charge
}

// Account is what the releases to one scope have cost one secret.
type Account struct {
	Secret   string
	Loss     privacy.Loss
	Releases int
}

// Outcome is what came of a question that was charged ahead.
type Outcome struct {
	Key     Key
	Charged Answer // what Charge returned
	Dataset string
	Epoch   int64 // the data that were read
	User    string
	Scopes  []string // who is told: they have been charged, besides everybody
	Answer  []byte
	Failed  bool // the statistics statement failed, and that is the answer
	Cells   []Cell
}

// Past is an answer as later ones have to count with it.
type Past struct {
	ID     int64
	Epoch  int64
	Failed bool   // there is nothing to count with
	Period int64  // in which it was charged
	Terms  []byte // of its Charge; nil: it has none

	// Of an answer without Terms: what it cost everybody, and how many values it has; 0 where it was compacted.
	Losses map[string]privacy.Loss
	Values int
}

// Given is an answer as others are computed from it.
type Given struct {
	ID    int64
	Epoch int64
	Key   Key
	Bytes []byte
}
