package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
)

// Link is an entry as it stands in the chain: its text, and the digest of everything up to it.
type Link struct {
	Text string
	Hash string // lower-case hexadecimal SHA-256 of the hash before, a line feed, and Text; of no hash for the first
}

// Entry reads the link's text.
func (l Link) Entry() (Entry, error) {
	var e Entry
	err := json.Unmarshal([]byte(l.Text), &e)
	return e, err
}

// Chain says how links are made: plainly, or with a key that only the proxies have. The zero Chain makes them plainly.
type Chain struct{ key []byte }

// NewChain returns the chain whose hashes take a key (HMAC-SHA-256).
func NewChain(key []byte) Chain { return Chain{key} }

// Follow returns the link of an entry behind the hash of the one before, which is empty for the first.
func (c Chain) Follow(before string, e Entry) (Link, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return Link{}, err
	}
	return Link{string(text), c.hash(before, string(text))}, nil
}

func (c Chain) hash(before, text string) string {
	var h hash.Hash
	if c.key == nil {
		h = sha256.New()
	} else {
		h = hmac.New(sha256.New, c.key)
	}
	h.Write([]byte(before + "\n" + text))
	return hex.EncodeToString(h.Sum(nil))
}

// Walk follows a chain from its beginning.
type Walk struct {
	chain Chain
	next  int64
	last  Link
}

// Walk returns a walk that has seen nothing.
func (c Chain) Walk() *Walk { return &Walk{chain: c} }

// Step takes the next link, and says what is wrong with it: it is not the next one, or its hash does not follow.
func (w *Walk) Step(number int64, l Link) error {
	switch follows := w.chain.hash(w.last.Hash, l.Text) == l.Hash; {
	case number != w.next:
		return fmt.Errorf("it is damaged: entry %d of the audit chain is missing", w.next)
	case !follows && number == 0:
		return errors.New("the audit chain does not begin as it should: it is damaged, " +
			"or the ledger was written with another key")
	case !follows:
		return fmt.Errorf("it is damaged: entry %d of the audit chain does not follow from the one before", number)
	}
	w.next, w.last = number+1, l
	return nil
}

// End returns the last link. A chain without any is an error: every ledger's has a beginning.
func (w *Walk) End() (Link, error) {
	if w.next == 0 {
		return Link{}, errors.New("it is damaged: the audit chain is missing")
	}
	return w.last, nil
}
