package upstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sqlstate"
)

// ReaderConns is the size of the reader's pool: statistics statements are scans, and more of them at a time than the
// database has cores only wait for each other.
const ReaderConns = 8

// Reader runs statistics statements.
type Reader struct {
	pool    *pgxpool.Pool
	timeout time.Duration
}

// pinned are the settings that could change what a statement of ours means, or how its result is written.
func pinned(timeout time.Duration) map[string]string {
	settings := map[string]string{
		"application_name":              "fugu reader",
		"default_transaction_read_only": "on",
		"search_path":                   "pg_catalog, pg_temp",
		"TimeZone":                      "UTC",
		"DateStyle":                     "ISO, YMD",
		"IntervalStyle":                 "postgres",
		"extra_float_digits":            "1",
		"client_encoding":               "UTF8",
		"standard_conforming_strings":   "on",
		// Everybody may read in pg_stat_all_indexes how many entries index scans have returned, and that would be the
		// number of protected rows that a condition holds for. A scan of the whole table counts, and takes, the same
		// always.
		"enable_indexscan":     "off",
		"enable_indexonlyscan": "off",
		"enable_bitmapscan":    "off",
		// Scans that begin where another one is would show how far that came: of ordinary tables to everybody.
		"synchronize_seqscans": "off",
		"statement_timeout":    strconv.FormatInt(timeout.Milliseconds(), 10),
		// A transaction is idle while an answer waits for its point in time.
		"idle_in_transaction_session_timeout": "0",
		// To compile the expressions of a model takes every worker 0.1 s. PostgreSQL's own 100000 is met by a scan of a
		// million rows with twenty sums, which saves less than that. From this on PostgreSQL optimizes what it
		// compiles, too.
		"jit_above_cost": "500000",
	}

	if hook.ReaderPath {
		settings["search_path"] = "public, pg_catalog"
	}
	if hook.ReaderIndexes {
		settings["enable_indexscan"], settings["enable_seqscan"] = "on", "off"
	}
	return settings
}

// OpenReader makes the pool. It does not connect: a database that is down is reported by the first statement.
func OpenReader(dsn string, timeout time.Duration, options ...func(*pgxpool.Config)) (*Reader, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("reading upstream.reader: %w", err)
	}
	cfg.MaxConns = ReaderConns
	for k, v := range pinned(timeout) {
		cfg.ConnConfig.RuntimeParams[k] = v
	}
	if cfg.ConnConfig.ValidateConnect != nil {
		// target_session_attrs=read-write asks the session whether it is read-only, so it may be so only behind that.
		readOnly := cfg.ConnConfig.RuntimeParams["default_transaction_read_only"]
		delete(cfg.ConnConfig.RuntimeParams, "default_transaction_read_only")
		cfg.ConnConfig.AfterConnect = func(ctx context.Context, c *pgconn.PgConn) error {
			return c.Exec(ctx, "SET default_transaction_read_only = "+readOnly).Close()
		}
	}

	// A restart of the database must not fail the statement that meets it first.
	cfg.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return doubtful(p) }
	for _, o := range options {
		o(cfg)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the reader's pool: %w", err)
	}
	return &Reader{pool, timeout}, nil
}

// Timeout is how long a statement of the reader's may take; 0: as long as it likes.
func (r *Reader) Timeout() time.Duration { return r.timeout }

// Close closes the pool and waits for its connections.
func (r *Reader) Close() { r.pool.Close() }

// Describe asks PostgreSQL for a statement's types. Nothing runs. PostgreSQL's own error about the statement (an
// operator or a literal that does not fit) is passed on with its code, without a position: it speaks of text and
// catalog only.
func (r *Reader) Describe(ctx context.Context, sql string, paramTypes []uint32) (planner.Description, error) {
	return r.DescribeMeanwhile(ctx, sql, paramTypes, func() {})
}

// DescribeMeanwhile is Describe, and does work between the question and the answer.
func (r *Reader) DescribeMeanwhile(
	ctx context.Context, sql string, paramTypes []uint32, work func(),
) (planner.Description, error) {
	var out planner.Description
	err := r.with(ctx, func(c *pgconn.PgConn) error {
		p := c.StartPipeline(ctx)
		defer p.Close()
		p.SendPrepare("", sql, paramTypes)
		if err := p.Sync(); err != nil {
			return err
		}

		// The server types the statement while this works.
		work()
		answer, err := p.GetResults()
		if err != nil {
			return aboutText(err)
		}
		d, ok := answer.(*pgconn.StatementDescription)
		if !ok {
			return fmt.Errorf("describing a statement gave %T", answer)
		}
		out.ParamTypes = d.ParamOIDs
		for _, f := range d.Fields {
			out.ResultTypes = append(out.ResultTypes, f.DataTypeOID)
			out.ResultMods = append(out.ResultMods, f.TypeModifier)
		}
		return p.Close()
	})
	return out, err
}

// Evaluate runs a statement over constants. PostgreSQL's error about them is passed on with its code: it speaks of text
// only.
func (r *Reader) Evaluate(
	ctx context.Context, sql string, params [][]byte, paramTypes []uint32,
) ([][]planner.Value, error) {
	var out [][]planner.Value
	err := r.with(ctx, func(c *pgconn.PgConn) (err error) {
		out, err = query(ctx, c, sql, params, paramTypes)
		return aboutText(err)
	})
	return out, err
}

// aboutText makes PostgreSQL's errors about a statement's text or its constants fit for the client.
func aboutText(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && len(pe.Code) == 5 && (pe.Code[:2] == "42" || pe.Code[:2] == "22" || pe.Code[:2] == "3F") {
		return sqlstate.New(sqlstate.Code(pe.Code), "%s", pe.Message)
	}
	return err
}

// Query runs a statement over reference tables or catalogs, and returns its rows in text form.
func (r *Reader) Query(
	ctx context.Context, sql string, params [][]byte, paramTypes []uint32,
) ([][]planner.Value, error) {
	var out [][]planner.Value
	err := r.with(ctx, func(c *pgconn.PgConn) (err error) {
		out, err = query(ctx, c, sql, params, paramTypes)
		return err
	})
	return out, err
}

func query(
	ctx context.Context, c *pgconn.PgConn, sql string, params [][]byte, paramTypes []uint32,
) ([][]planner.Value, error) {
	var out [][]planner.Value
	rows := c.ExecParams(ctx, sql, params, paramTypes, nil, nil)
	for rows.NextRow() {
		row := make([]planner.Value, len(rows.Values()))
		for i, v := range rows.Values() {
			row[i] = planner.Value{Text: string(v), Null: v == nil}
		}
		out = append(out, row)
	}
	_, err := rows.Close()
	return out, err
}

// withheld is what is said instead of PostgreSQL's reason.
const withheld = "The reason is withheld, since it can tell about the rows; " +
	"the statement is charged as if it had been answered."

// ErrStatistics is the error of a statistics statement that failed on its rows: PV005, whatever the reason.
var ErrStatistics = sqlstate.New(sqlstate.StatisticsFailed, "the statement failed on protected rows").
	WithDetail(withheld).
	WithHint("Keep divisors from zero with NULLIF, and do not cast text to numbers.")

// ErrInterrupted is the error of a statistics statement that the database could not finish, for a reason that may be
// gone at the next try: a timeout, memory, a lock. It is PV005 and charged like any other, since the data may have a
// part in it.
var ErrInterrupted = sqlstate.New(sqlstate.StatisticsFailed,
	"the database could not finish the statement on protected rows").
	WithDetail(withheld).
	WithHint("Select fewer rows. Another try is charged again.")

// interruption is ErrInterrupted with the code of the database's own error.
type interruption struct{ code sqlstate.Code }

func (i interruption) Error() string { return fmt.Sprintf("%v (%s)", ErrInterrupted, i.code) }

func (i interruption) Unwrap() error { return ErrInterrupted }

// InterruptedBy reports whether err is ErrInterrupted because of a database's error with that code.
func InterruptedBy(err error, code sqlstate.Code) bool {
	i, ok := errors.AsType[interruption](err)
	return ok && i.code == code
}

// with runs f on a connection of the pool, and turns errors into what may be shown.
func (r *Reader) with(ctx context.Context, f func(*pgconn.PgConn) error) error {
	conn, err := r.pool.Acquire(ctx)
	if err != nil && ctx.Err() == nil {
		return unavailable(err) // whatever the code: no statement has run, so none has failed
	} else if err != nil {
		return scrub(ctx, err)
	}
	defer conn.Release()
	c := conn.Conn().PgConn()
	err = f(c)
	if c.IsClosed() {
		go cancelAll(c)
	}
	return scrub(ctx, err)
}

// cancelAll cancels whatever a connection that was given up still runs, until PostgreSQL has closed it, or pgx, which
// waits for that, has lost its patience (15 s). pgx itself asks once, and a request that overtakes its statement
// cancels nothing: PostgreSQL would begin the statement afterwards, and work on it for nobody until statement_timeout.
func cancelAll(c *pgconn.PgConn) {
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		select {
		case <-c.CleanupDone():
			return
		case <-time.After(wait):
		}
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		_ = c.CancelRequest(ctx) // there is nobody to tell, and the next one may succeed
		stop()
	}
}

// scrub keeps what a reader's error may tell: that the client cancelled, that the database cannot be reached, or only
// that the statement failed.
func scrub(ctx context.Context, err error) error {
	var known *sqlstate.Error
	var pe *pgconn.PgError

	// Which error of class 22, of data, a row has raised would tell about the row: they are all one.
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case hook.RawErrors && errors.As(err, &pe):
		return sqlstate.New(sqlstate.Code(pe.Code), "%s", pe.Message).Because(err)
	case errors.Is(ctx.Err(), context.Canceled):
		return sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to user request").Because(err)
	case errors.As(err, &pe) && len(pe.Code) == 5:
		switch class := pe.Code[:2]; {
		case class == "08" || class == "28" || class == "3D" || pe.Code[:3] == "57P":
			return unavailable(err)
		case class == "22":
			return ErrStatistics
		}
		return interruption{sqlstate.Code(pe.Code)}
	}
	return unavailable(err)
}

// unavailable is the error of a connection that did not come about. A role that is not let in does not get better by
// waiting, so that whoever is told does not.
func unavailable(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && sqlstate.Code(refused.Code).ForbidsLogin() {
		return sqlstate.New(sqlstate.ConnectionFailure, "the database does not let Fugu's role in").
			WithHint("Whoever runs Fugu can mend it: its log and fugu check say which role, and why.").Because(err)
	}
	return sqlstate.New(sqlstate.ConnectionFailure, "the database cannot be reached").
		WithHint("Try again when it is back.").Because(err)
}
