package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"fugu/privacy"
)

// preparer is a database or a transaction.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// wording is a statement and its text.
type wording struct {
	stmt **sql.Stmt
	text string
}

// prepareAll prepares each text into its statement.
func prepareAll(ctx context.Context, db preparer, all []wording) error {
	for _, w := range all {
		var err error
		if *w.stmt, err = db.PrepareContext(ctx, w.text); err != nil {
			return fmt.Errorf("preparing the ledger's statements: %w", err)
		}
	}
	return nil
}

// latestPeriod is the period of the dataset $1 that began last.
const latestPeriod = `(SELECT coalesce(max(number), 0) FROM periods WHERE dataset = $1)`

// reading are the statements that read. Rows never change once they are committed, and an answer is committed together
// with its charges, so what several of them find belongs together.
type reading struct {
	seal seal

	answer, last, losses, total, accounts, scopes, head           *sql.Stmt
	lastEpoch, labelled, lastPeriod, history, newest, given, byID *sql.Stmt
	promises                                                      *sql.Stmt
}

// prepare prepares the statements that read the ledger.
func (r *reading) prepare(ctx context.Context, db preparer) error {
	const (
		losses = `SELECT secret, pure, kappa2, delta FROM charges WHERE answer = $1 AND scope = $2`
		total  = `SELECT pure, kappa2, delta FROM totals WHERE dataset = $1 AND period = $2 AND scope = $3
		  AND secret = $4`
		accounts = `SELECT secret, pure, kappa2, delta, releases FROM totals
		  WHERE dataset = $1 AND period = ` + latestPeriod + ` AND scope = $2 ORDER BY secret`
		scopes = `SELECT DISTINCT scope FROM totals WHERE dataset = $1 ORDER BY scope`

		// An answer's period is the one in which it was charged to everybody. Answers that were derived cost nothing,
		// and are in no account.
		charged = `coalesce((SELECT max(c.period) FROM charges c WHERE c.answer = a.id AND c.scope = ''), 0)`
		history = `SELECT a.id, coalesce(c.key, a.key), a.epoch, a.failed, ` + charged + `, t.bytes, t.sealed
		  FROM answers a LEFT JOIN terms t ON t.answer = a.id LEFT JOIN compacted c ON c.answer = a.id
		  WHERE a.dataset = $1 AND a.id > $2 AND a.mechanism <> '` + Derived + `' ORDER BY a.id`
		given = answerColumns + `WHERE dataset = $1 AND id > $2 AND mechanism <> '` + Derived + `'
		  AND failed = 0 AND begun <> 1 ORDER BY id DESC LIMIT $3`
		last   = `SELECT id FROM answers WHERE dataset = $1 AND mechanism <> '` + Derived + `' ORDER BY id DESC LIMIT 1`
		newest = `SELECT coalesce((` + last + `), 0)`

		// Each charge reads its period: with it comes the newest promise there.
		lastPeriod = `SELECT l.number, p.began, p.at, p.reason,
		    coalesce((SELECT max(entry) FROM promises r WHERE r.dataset = $1 AND r.period = l.number), 0)
		  FROM (SELECT coalesce(max(number), 0) AS number FROM periods WHERE dataset = $1) l
		  LEFT JOIN periods p ON p.dataset = $1 AND p.number = l.number`
		promises = promiseColumns + `WHERE entry IN (SELECT max(entry) FROM promises GROUP BY dataset, "table")
		  AND (dataset = $1 OR period =
		    coalesce((SELECT max(number) FROM periods p WHERE p.dataset = promises.dataset), 0)) ORDER BY entry`
	)

	return prepareAll(ctx, db, []wording{
		{&r.answer, answerColumns + `WHERE key = $1`},
		{&r.byID, answerColumns + `WHERE id = $1`},
		{&r.last, answerColumns + `WHERE dataset = $1 ORDER BY id DESC LIMIT $2`},
		{&r.given, given},
		{&r.history, history},
		{&r.newest, newest},

		{&r.losses, losses},
		{&r.total, total},
		{&r.accounts, accounts},
		{&r.scopes, scopes},
		{&r.head, lastEntry},

		{&r.lastEpoch, epochColumns + `WHERE dataset = $1 ORDER BY id DESC LIMIT 1`},
		{&r.labelled, `SELECT count(*) FROM epochs WHERE dataset = $1 AND label = $2`},
		{&r.lastPeriod, lastPeriod},
		{&r.promises, promises},
	})
}

// in returns the statements that a charge needs inside its transaction.
func (r *reading) in(tx *sql.Tx) *reading {
	return &reading{
		seal: r.seal, answer: tx.Stmt(r.answer), newest: tx.Stmt(r.newest), losses: tx.Stmt(r.losses),
		total: tx.Stmt(r.total), head: tx.Stmt(r.head), lastEpoch: tx.Stmt(r.lastEpoch), labelled: tx.Stmt(r.labelled),
		lastPeriod: tx.Stmt(r.lastPeriod),
	}
}

// byKey returns the answer stored under a key, if there is one, without its losses.
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

// epoch returns the epoch of a dataset that stands.
func (r *reading) epoch(ctx context.Context, dataset string) (Epoch, error) {
	e, err := scanEpoch(r.lastEpoch.QueryRowContext(ctx, dataset))
	if errors.Is(err, sql.ErrNoRows) {
		return Epoch{Dataset: dataset}, nil
	}
	return e, err
}

// period returns the latest period of a dataset that has begun, with its newest promise.
func (r *reading) period(ctx context.Context, dataset string) (period, error) {
	p := period{dataset: dataset}
	var began, at sql.NullInt64
	var reason sql.NullString
	err := r.lastPeriod.QueryRowContext(ctx, dataset).Scan(&p.number, &began, &at, &reason, &p.promise)
	if p.known = began.Valid; p.known {
		p.began, p.at, p.reason = time.UnixMicro(began.Int64).UTC(), time.UnixMicro(at.Int64).UTC(), reason.String
	}
	return p, err
}

// writing are the statements that book.
type writing struct {
	answer, fill, charge, total, entry, epoch, period, terms, promise *sql.Stmt
}

func (w *writing) prepare(ctx context.Context, db preparer) error {
	const (
		answer = `INSERT INTO answers (key, dataset, scope, at, epsilon, delta, mechanism, assumption, failed,
		    cells, bytes, certificates, sealed, epoch, begun)
		  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id`
		fill   = `UPDATE answers SET failed = $1, cells = $2, bytes = $3, sealed = $4, begun = 2 WHERE id = $5`
		charge = `INSERT INTO charges (answer, scope, secret, "user", at, pure, kappa2, delta, period)
		  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
		total = `INSERT INTO totals (dataset, period, scope, secret, pure, kappa2, delta, releases)
		  VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
		  ON CONFLICT (dataset, period, scope, secret) DO UPDATE
		  SET pure = excluded.pure, kappa2 = excluded.kappa2, delta = excluded.delta, releases = totals.releases + 1`
		epoch = `INSERT INTO epochs (dataset, number, label, independent, "user", reason, at)
		  VALUES ($1, $2, $3, $4, $5, $6, $7)`
		period = `INSERT INTO periods (dataset, number, began, at, reason) VALUES ($1, $2, $3, $4, $5)`
		terms  = `INSERT INTO terms (answer, bytes, sealed) VALUES ($1, $2, $3)`

		promise = `INSERT INTO promises (entry, dataset, period, "table", at, bytes, sealed)
		  VALUES ($1, $2, $3, $4, $5, $6, $7)`
	)

	// A ledger whose schema does not fit fails here, when it is opened, and not when something is to be charged.
	return prepareAll(ctx, db, []wording{
		{&w.answer, answer}, {&w.fill, fill}, {&w.charge, charge}, {&w.total, total}, {&w.entry, insertEntry},
		{&w.epoch, epoch}, {&w.period, period}, {&w.terms, terms}, {&w.promise, promise},
	})
}

// in returns the statements inside a transaction.
func (w *writing) in(tx *sql.Tx) writing {
	return writing{answer: tx.Stmt(w.answer), fill: tx.Stmt(w.fill), charge: tx.Stmt(w.charge), total: tx.Stmt(w.total),
		entry: tx.Stmt(w.entry), epoch: tx.Stmt(w.epoch), period: tx.Stmt(w.period), terms: tx.Stmt(w.terms),
		promise: tx.Stmt(w.promise)}
}
