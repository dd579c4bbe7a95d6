package ledger

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"fugu/privacy"
)

// check refuses a charge that could be booked wrongly. Its errors repeat names, never values.
func (c Charge) check() error {
	if err := c.Key.check(); err != nil {
		return err
	}

	switch {
	case c.Dataset == "":
		return errors.New("no dataset")
	case c.User == "":
		return errors.New("no user")
	case len(c.Losses) == 0:
		return errors.New("no losses: an answer that costs no secret anything has no place here")
	case c.Terms != nil && (c.Failed || c.After == nil || len(c.Terms) == 0):
		return errors.New("terms of a failure, or of an answer that does not say which others it counts with")
	case c.After != nil && *c.After < 0:
		return errors.New("an answer cannot count with others of a negative id")
	case c.Failed && (len(c.Answer) > 0 || len(c.Cells) > 0 || len(c.Certificates) > 0):
		return errors.New("a failure with an answer")
	case c.Ahead && (c.Failed || c.free() || len(c.Cells) > 0):
		return errors.New("a charge ahead of its answer that knows the answer, or costs nothing")
	case !c.Failed && (len(c.Answer) == 0 || c.Mechanism == "" || c.Assumption == ""):
		return errors.New("an answer without bytes, mechanism or assumption")
	}

	// A loss that is no number would never exceed a budget, and one below 0 would give some back.
	for secret, loss := range c.Losses {
		if secret == "" || !text(secret) {
			return errors.New("a loss without the name of its secret")
		}
		if !loss.Valid() {
			return fmt.Errorf("the loss of secret %s is not finite and non-negative", secret)
		}
	}

	for _, check := range []func() error{c.checkFree, c.checkPromises, c.checkLimits} {
		if err := check(); err != nil {
			return err
		}
	}

	// The audit chain is text, and is hashed as it stands.
	if !text(c.Dataset, c.User, c.Mechanism, c.Assumption, c.Reason) {
		return errors.New("a name is not UTF-8 text")
	}
	if !fingerprint(c.Statement) {
		return errors.New("the statement's fingerprint is not one")
	}

	for _, x := range c.Certificates {
		if !text(x.Secret, x.Mechanism) || !text(x.Assumptions...) {
			return errors.New("a certificate is not UTF-8 text")
		}
		if _, ok := c.Losses[x.Secret]; !ok || !finite(x.Pair[0]) || !finite(x.Pair[1]) || !finite(x.Epsilon) ||
			!finite(x.Delta) || !finite(x.Estimation) || !finite(x.Together) {
			return errors.New("a certificate needs a secret that is charged, and finite numbers")
		}
	}
	return checkCells(c.Cells)
}

func checkCells(cells []Cell) error {
	for i, cell := range cells {
		if !text(cell.Column, cell.GroupKey, cell.Value, cell.Secret) {
			return fmt.Errorf("cell %d is not UTF-8 text", i)
		}
		if !finite(cell.SD) || cell.SD < 0 || !finite(cell.Lower) || !finite(cell.Upper) || cell.Lower > cell.Upper {
			return fmt.Errorf("cell %d needs a finite noise and interval", i)
		}
	}
	return nil
}

// checkLimits refuses limits that say nothing, and scopes that are not told apart.
func (c Charge) checkLimits() error {
	budgets := []privacy.Budget{c.Requested}
	seen := map[string]bool{}
	for _, x := range c.limits() {
		if seen[x.Scope] || !text(x.Scope) {
			return errors.New("a share of everybody's, one that comes twice, or one whose scope is not UTF-8 text")
		}
		seen[x.Scope] = true
		budgets = append(budgets, x.Limit)
	}

	// What was asked for is checked like every limit: NaN compares with nothing, and would pass them all.
	for _, b := range budgets {
		if _, err := privacy.NewEpsilon(float64(b.Epsilon)); err != nil {
			return err
		}
		if _, err := privacy.NewDelta(float64(b.Delta)); err != nil {
			return err
		}
	}
	if c.Renew < 0 || c.Epoch < 0 {
		return errors.New("a period or an epoch below zero")
	}
	return nil
}

// checkPromises refuses promises of which nobody could say what they are beside.
func (c Charge) checkPromises() error {
	if c.Promised == nil && len(c.Promises) > 0 || c.Promised != nil && (*c.Promised < 0 || c.free()) {
		return errors.New("promises that were compared with none, or of an answer that costs nothing")
	}
	seen := map[string]bool{}
	for _, p := range c.Promises {
		if p.Table == "" || !text(p.Table) || len(p.Text) == 0 || seen[p.Table] {
			return errors.New("a promise without a table or text, or two of one table")
		}
		seen[p.Table] = true
	}
	return nil
}

func (k Key) check() error {
	if b, err := hex.DecodeString(string(k)); err != nil || len(b) != 32 || strings.ToLower(string(k)) != string(k) {
		return errors.New("the key is not a SHA-256 in lower-case hexadecimal")
	}
	return nil
}

// text reports whether strings come back from the database as they went in.
func text(ss ...string) bool {
	return !slices.ContainsFunc(ss, func(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) })
}

// fingerprint reports whether s can stand for a statement: it is too short, and of too few letters, to be one.
func fingerprint(s string) bool {
	return len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
