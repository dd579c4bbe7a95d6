package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fugu/privacy"
)

// reading are the statements that read. Rows never change once they are committed, and an answer is committed together
// with its charges, so what several of them find belongs together.
type reading struct {
	seal seal

	answer, last, losses, total, accounts, scopes, head           *sql.Stmt
	lastEpoch, labelled, lastPeriod, history, newest, given, byID *sql.Stmt
}

const answerColumns = `SELECT id, key, dataset, scope, at, epsilon, delta, mechanism, assumption, failed, cells, bytes, certificates, sealed, epoch, begun FROM answers `

func (r *reading) prepare(ctx context.Context, db preparer) error {
	return prepareAll(ctx, db, map[**sql.Stmt]string{
		&r.answer: answerColumns + `WHERE key = $1`,
		&r.last:   answerColumns + `WHERE dataset = $1 ORDER BY id DESC LIMIT $2`,
		&r.losses: `SELECT secret, pure, kappa2, delta FROM charges WHERE answer = $1 AND scope = $2`,
		&r.total:  `SELECT pure, kappa2, delta FROM totals WHERE dataset = $1 AND period = $2 AND scope = $3 AND secret = $4`,
		&r.accounts: `SELECT secret, pure, kappa2, delta, releases FROM totals
		  WHERE dataset = $1 AND period = (SELECT coalesce(max(number), 0) FROM periods WHERE dataset = $1) AND scope = $2 ORDER BY secret`,
		&r.scopes: `SELECT DISTINCT scope FROM totals WHERE dataset = $1 ORDER BY scope`,
		&r.head:   lastEntry,

		&r.lastEpoch:  epochColumns + `WHERE dataset = $1 ORDER BY id DESC LIMIT 1`,
		&r.labelled:   `SELECT count(*) FROM epochs WHERE dataset = $1 AND label = $2`,
		&r.lastPeriod: periodColumns + `WHERE dataset = $1 ORDER BY number DESC LIMIT 1`,

		&r.history: `SELECT a.id, coalesce(c.key, a.key), a.epoch, a.failed,
		  coalesce((SELECT max(c.period) FROM charges c WHERE c.answer = a.id AND c.scope = ''), 0), t.bytes, t.sealed FROM answers a LEFT JOIN terms t ON t.answer = a.id
		  LEFT JOIN compacted c ON c.answer = a.id WHERE a.dataset = $1 AND a.id > $2 AND a.mechanism <> '` + Derived + `' ORDER BY a.id`,
		&r.byID:   answerColumns + `WHERE id = $1`,
		&r.given:  answerColumns + `WHERE dataset = $1 AND id > $2 AND mechanism <> '` + Derived + `' AND failed = 0 AND begun <> 1 ORDER BY id DESC LIMIT $3`,
		&r.newest: `SELECT coalesce((SELECT id FROM answers WHERE dataset = $1 AND mechanism <> '` + Derived + `' ORDER BY id DESC LIMIT 1), 0)`,
	})
}

// in returns the statements inside a transaction.
func (r *reading) in(tx *sql.Tx) *reading {
	return &reading{seal: r.seal, answer: tx.Stmt(r.answer), losses: tx.Stmt(r.losses), total: tx.Stmt(r.total), head: tx.Stmt(r.head),
		lastEpoch: tx.Stmt(r.lastEpoch), labelled: tx.Stmt(r.labelled), lastPeriod: tx.Stmt(r.lastPeriod), newest: tx.Stmt(r.newest)}
}

// stored is an answer as a row: without its losses, with whose it is.
type stored struct {
	Answer
	key            Key
	dataset, scope string
	epoch          int64
	begun          int    // whether it was charged ahead: see the constants
	content        string // see the function
	terms          string // digest of its terms; empty: none
}

type scanner interface{ Scan(...any) error }

func (l seal) scan(row scanner) (stored, error) {
	var s stored
	var at int64
	var sealed int
	var cells, certificates string
	err := row.Scan(&s.ID, &s.key, &s.dataset, &s.scope, &at, &s.Requested.Epsilon, &s.Requested.Delta, &s.Mechanism, &s.Assumption, &s.Failed, &cells, &s.Bytes, &certificates, &sealed, &s.epoch, &s.begun)
	if err != nil {
		return stored{}, err
	}
	if s.Bytes, cells, err = l.opened(s.Bytes, cells, sealed, s.key); err != nil {
		return stored{}, fmt.Errorf("answer %d: %w", s.ID, err)
	}
	s.Pending = s.begun == pending
	s.At, s.content = time.UnixMicro(at).UTC(), l.content(s.Bytes, cells)
	if cells != "[]" {
		if err := json.Unmarshal([]byte(cells), &s.Cells); err != nil {
			return stored{}, fmt.Errorf("cells of answer %d: %w", s.ID, err)
		}
	}
	if certificates != "[]" {
		if err := json.Unmarshal([]byte(certificates), &s.Certificates); err != nil {
			return stored{}, fmt.Errorf("certificates of answer %d: %w", s.ID, err)
		}
	}
	return s, nil
}

func (r *reading) byKey(ctx context.Context, key Key) (stored, bool, error) {
	s, err := r.seal.scan(r.answer.QueryRowContext(ctx, string(key)))
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, false, nil
	}
	return s, err == nil, err
}

// charged returns what scope was charged for an answer, nil if it was not.
func (r *reading) charged(ctx context.Context, answer int64, scope string) (map[string]privacy.Loss, error) {
	var losses map[string]privacy.Loss
	err := each(ctx, r.losses, func(row scanner) error {
		var secret string
		var l privacy.Loss
		if err := row.Scan(&secret, &l.Pure, &l.Kappa2, &l.Delta); err != nil {
			return err
		}
		if losses == nil {
			losses = map[string]privacy.Loss{}
		}
		losses[secret] = l
		return nil
	}, answer, scope)
	return losses, err
}

// each calls f with each row.
func each(ctx context.Context, stmt *sql.Stmt, f func(scanner) error, args ...any) error {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Find implements Ledger.
func (l *store) Find(ctx context.Context, key Key, scopes ...string) (Answer, bool, error) {
	if err := key.check(); err != nil {
		return Answer{}, false, fmt.Errorf("finding an answer: %w", err)
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var s stored
	err := l.again(ctx, func() (err error) {
		var ok bool
		if s, ok, err = l.onRead.byKey(ctx, key); err != nil || !ok {
			return err
		}
		for _, scope := range append([]string{Everybody}, scopes...) {
			if s.Losses, err = l.onRead.charged(ctx, s.ID, scope); err != nil || s.Losses == nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Answer{}, false, fmt.Errorf("finding an answer: %w", err)
	}
	if s.Losses == nil {
		return Answer{}, false, nil
	}
	return s.Answer, !s.Pending, nil
}

// Spent implements Ledger.
func (l *store) Spent(ctx context.Context, dataset, scope string) ([]Account, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var out []Account
	err := l.again(ctx, func() error {
		out = nil
		return each(ctx, l.onRead.accounts, func(row scanner) error {
			var a Account
			err := row.Scan(&a.Secret, &a.Loss.Pure, &a.Loss.Kappa2, &a.Loss.Delta, &a.Releases)
			out = append(out, a)
			return err
		}, dataset, scope)
	})
	if err != nil {
		return nil, fmt.Errorf("reading what was spent: %w", err)
	}
	return out, nil
}

// Releases implements Ledger.
func (l *store) Releases(ctx context.Context, dataset string, limit int) ([]Answer, error) {
	if limit < 1 {
		return nil, fmt.Errorf("reading releases: a limit of %d", limit)
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var out []Answer
	err := l.again(ctx, func() error {
		var found []stored
		err := each(ctx, l.onRead.last, func(row scanner) error {
			s, err := l.seal.scan(row)
			found = append(found, s)
			return err
		}, dataset, limit)
		out = make([]Answer, len(found))
		for i, s := range found {
			if err == nil {
				s.Losses, err = l.onRead.charged(ctx, s.ID, s.scope)
				out[i] = s.Answer
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading releases: %w", err)
	}
	return out, nil
}

// Scopes implements Ledger.
func (l *store) Scopes(ctx context.Context, dataset string) ([]string, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	var out []string
	err := l.again(ctx, func() error {
		out = nil
		return each(ctx, l.onRead.scopes, func(row scanner) error {
			var s string
			err := row.Scan(&s)
			out = append(out, s)
			return err
		}, dataset)
	})
	if err != nil {
		return nil, fmt.Errorf("reading scopes: %w", err)
	}
	return out, nil
}
