package build

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
)

// Keeper makes twins.
type Keeper struct {
	Conn     *pgx.Conn // of the keeper's role, from Connect
	Target   *pgx.Conn // where twins are published, if that is another database, from Connect
	Ledger   ledger.Ledger
	Random   io.Reader // secret and unpredictable: crypto/rand's
	Guests   []string  // roles that may read twins whose rows are shown
	Reader   string    // the role that may read the others; empty: none
	Operator string    // who builds, for the audit chain
	Progress func(Step)
}

// Step is what a build is doing: the part of the whole that is done before it, and what it is.
type Step struct {
	Done float64 // 0 to 1
	What string
}

// Options say what to do with a twin that is there.
type Options struct {
	Again       bool   // make it again from the rows that there are now, with the noisy counts that it has; free
	New         bool   // draw new noisy counts, which is charged like the first
	Reason      string // why New
	Independent bool   // the owner declares that the rows are drawn independently of those of every twin before
	Outside     bool   // a table that has no row of some class is meant to be so
}

// Report is what became of a build.
type Report struct {
	Twins     []Twin   // the root's first
	Made      bool     // false: all was there
	Charged   bool     // a price was paid by this build
	Warnings  []string // for the DBA alone: some speak of the true table
	Mechanism string   // K in words
}

// Connect opens the keeper's connection with the settings that what it sends relies on.
func Connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("reading upstream.keeper: %w", err)
	}
	for name, value := range map[string]string{
		// Names mean PostgreSQL's own, and the texts of keys, which the order of drawing hashes, are always the same.
		"application_name": "fugu keeper", "search_path": "pg_catalog, pg_temp", "client_encoding": "UTF8",
		"TimeZone": "UTC", "DateStyle": "ISO, YMD", "IntervalStyle": "postgres", "lc_monetary": "C",
		"extra_float_digits": "1", "standard_conforming_strings": "on", "bytea_output": "hex",
		// Rows that a policy of PostgreSQL's hides are an error, and not left out of the counts.
		"row_security": "off",
	} {
		cfg.RuntimeParams[name] = value
	}

	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connecting as the keeper: %w", err)
	}
	return c, nil
}

func (k *Keeper) say(done float64, what string) {
	if k.Progress != nil {
		k.Progress(Step{done, what})
	}
}
