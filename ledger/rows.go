package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"fugu/ledger/audit"
)

// What is read of each table. The columns are in the order in which they are scanned.
const (
	answerColumns = `SELECT id, key, dataset, scope, at, epsilon, delta, mechanism, assumption, failed, cells, bytes,
	  certificates, sealed, epoch, begun FROM answers `
	chargeColumns = `SELECT id, answer, scope, secret, "user", at, pure, kappa2, delta, period FROM charges `
	epochColumns  = `SELECT dataset, number, label, independent, "user", reason, at FROM epochs `
	periodColumns = `SELECT dataset, number, began, at, reason FROM periods `

	promiseColumns = `SELECT entry, dataset, period, "table", at, bytes, sealed FROM promises `
)

type scanner interface{ Scan(...any) error }

// each calls f with each row of a prepared statement.
func each(ctx context.Context, stmt *sql.Stmt, f func(scanner) error, args ...any) error {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return visit(rows, f)
}

// rows calls f with each row of a query in a transaction.
func rows(ctx context.Context, tx *sql.Tx, query string, f func(scanner) error, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return visit(rows, f)
}

func visit(rows *sql.Rows, f func(scanner) error) error {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// stored is an answer as a row: without its losses, with whose it is.
type stored struct {
	Answer
	key            Key
	dataset, scope string
	epoch          int64
	phase          audit.Phase // the column begun
	content        string      // digest: see the function
	terms          string      // digest of its terms; empty: none
}

// audited returns the answer as an auditor sees it.
func (s *stored) audited() audit.Answer {
	return audit.Answer{ID: s.ID, Key: string(s.key), Dataset: s.dataset, Scope: s.scope, Epoch: s.epoch,
		Phase:  s.phase,
		Failed: s.Failed, Mechanism: s.Mechanism, Assumption: s.Assumption, Requested: s.Requested,
		Certificates: s.Certificates, Content: s.content, Terms: s.terms}
}

// scan reads answerColumns.
func (s seal) scan(row scanner) (stored, error) {
	var a stored

	var at int64
	var sealed int
	var cells, certificates string
	err := row.Scan(&a.ID, &a.key, &a.dataset, &a.scope, &at, &a.Requested.Epsilon, &a.Requested.Delta, &a.Mechanism,
		&a.Assumption, &a.Failed, &cells, &a.Bytes, &certificates, &sealed, &a.epoch, &a.phase)
	if err != nil {
		return stored{}, err
	}

	// Both are sealed together under the answer's key: one that was moved from another answer does not open.
	if a.Bytes, cells, err = s.opened(a.Bytes, cells, sealed, a.key); err != nil {
		return stored{}, fmt.Errorf("answer %d: %w", a.ID, err)
	}
	a.Pending = a.phase == audit.Pending
	a.At, a.content = time.UnixMicro(at).UTC(), s.content(a.Bytes, cells)

	if cells != noList {
		if err := json.Unmarshal([]byte(cells), &a.Cells); err != nil {
			return stored{}, fmt.Errorf("cells of answer %d: %w", a.ID, err)
		}
	}
	if certificates != noList {
		if err := json.Unmarshal([]byte(certificates), &a.Certificates); err != nil {
			return stored{}, fmt.Errorf("certificates of answer %d: %w", a.ID, err)
		}
	}
	return a, nil
}

// noList is an empty list as the tables have it.
const noList = "[]"

// list writes a list as JSON.
func list[T any](v []T) (string, error) {
	if len(v) == 0 {
		return noList, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// scanCharge reads chargeColumns.
func scanCharge(row scanner) (c audit.Charge, err error) {
	err = row.Scan(&c.ID, &c.Answer, &c.Scope, &c.Secret, &c.User, &c.At, &c.Loss.Pure, &c.Loss.Kappa2, &c.Loss.Delta,
		&c.Period)
	return c, err
}

// scanEpoch reads epochColumns.
func scanEpoch(row scanner) (e Epoch, err error) {
	var at int64
	err = row.Scan(&e.Dataset, &e.Number, &e.Label, &e.Independent, &e.User, &e.Reason, &at)
	e.At = time.UnixMicro(at).UTC()
	return e, err
}

// period is a row of periods.
type period struct {
	dataset   string
	number    int64
	began, at time.Time
	reason    string
	known     bool  // it has a row; period 0 of a dataset whose budget is never renewed has none
	promise   int64 // the newest promise of the period; 0: there is none, or it was not looked for
}

// scanPeriod reads periodColumns.
func scanPeriod(row scanner) (period, error) {
	var began, at int64
	p := period{known: true}
	err := row.Scan(&p.dataset, &p.number, &began, &at, &p.reason)
	p.began, p.at = time.UnixMicro(began).UTC(), time.UnixMicro(at).UTC()
	return p, err
}

// over reports whether the period is over, and since when: whole periods after it began, so that their bounds stay
// where they are whenever charges come.
func (p period) over(renew time.Duration, now time.Time) (since time.Time, over bool) {
	elapsed := now.Sub(p.began)
	if !p.known || renew <= 0 || elapsed < renew {
		return time.Time{}, false
	}
	return p.began.Add(elapsed.Truncate(renew)), true
}

// due reports whether a charge would begin another period.
func (p period) due(renew time.Duration, now time.Time) bool {
	_, due := p.over(renew, now)
	return due
}

// entry tells of a period that began.
func (p period) entry() audit.Entry {
	began := p.began
	return audit.Entry{At: p.at, Event: audit.NewPeriod, Dataset: p.dataset, Period: p.number, Began: &began,
		Reason: p.reason}
}
