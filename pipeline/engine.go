package pipeline

import (
	"context"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/answer"
	"fugu/internal/trace"
	"fugu/ledger"
	"fugu/meaning"
	"fugu/parser/lex"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/twin/told"
	"fugu/upstream"
	"fugu/wire"
)

// Engine answers the statements of all sessions. It is safe for concurrent use.
type Engine struct {
	guest    *pgconn.Config
	guests   map[string]*pgconn.Config // by user, of those who have one of their own
	desk     *answer.Desk
	log      *slog.Logger
	snapshot atomic.Pointer[Snapshot]

	overloads meaning.Overloads
	namesakes meaning.Namesakes
	built     told.Built
	refusals  *ledger.Refusals // nil: none is recorded
	recorder  trace.Recorder   // nil: nothing is traced
	closed    atomic.Bool      // its database is not served any more
}

// New returns an engine. Guests connect with the configuration guest; everything else is as loaded.
func New(guest *pgconn.Config, reader *upstream.Reader, l ledger.Ledger, s *Snapshot, log *slog.Logger) *Engine {
	e := &Engine{guest: guest, log: log,
		desk: &answer.Desk{Ledger: l, Reader: reader, Searches: quote.NewSearches()}}
	e.snapshot.Store(s)
	return e
}

// GiveGuests has sessions of the users named run as guests of their own, on the same database; before the first Open.
func (e *Engine) GiveGuests(guests map[string]*pgconn.Config) { e.guests = guests }

// Grid has answers of protected rows leave at points of a grid that begins with first; 0: they leave when they are
// there. It is called before the first Open.
func (e *Engine) Grid(first time.Duration) { e.desk.Grid = first }

// Trace has the stages of statements told to r; before the first Open.
func (e *Engine) Trace(r trace.Recorder) { e.recorder = r }

// Replace makes later statements use another snapshot: a reload of the policy. Statements already prepared keep theirs,
// and are refused when bound.
func (e *Engine) Replace(s *Snapshot) { e.snapshot.Store(s) }

// Close ends the sessions that there are, each when it asks for something: their database is not served any more.
func (e *Engine) Close() { e.closed.Store(true) }

// serves reports whether statements that were planned with s may still run.
func (e *Engine) serves(s *Snapshot) bool { return !e.closed.Load() && e.snapshot.Load() == s }

// open is an error that ends the session once the engine is closed.
func (e *Engine) open() error {
	if !e.closed.Load() {
		return nil
	}
	return sqlstate.New(sqlstate.InvalidCatalogName, "database %q is not served here any more", e.guest.Database).
		Ending()
}

// Open begins the session of a client, which has no guest yet.
func (e *Engine) Open(_ context.Context, startup wire.Startup) (wire.Session, error) {
	if db := startup.Database; db != "" && db != e.guest.Database && e.protects() {
		return nil, sqlstate.New(sqlstate.InvalidCatalogName, "database %q is not served here", db).
			WithHint("Connect to database %q.", e.guest.Database).Ending()
	}

	if err := e.snapshot.Load().Admits(startup.User); err != nil {
		return nil, err
	}

	// A setting in the startup message is one that was ever named: settings are then asked for.
	s := &session{engine: e, user: startup.User}
	for name, value := range startup.Parameters {
		if lex.ContainsFold(name+value, "fugu") {
			s.touched = true
		}
	}

	// Who has a guest of their own stays in its role: to choose another one would leave the rights that were checked.
	config, own := e.guests[startup.User]
	if !own {
		config = e.guest
	}
	if role, given := config.RuntimeParams["role"]; given {
		if asked, ok := startup.Parameters["role"]; ok && asked != role {
			return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied to set role \"%s\"", asked).
				Ending()
		}
	}

	// With nothing protected anywhere each database is the guest's own affair.
	if db := startup.Database; db != "" && db != config.Database && !e.protects() {
		config = config.Copy()
		config.Database = db
	}
	s.login, s.parameters = config, maps.Clone(startup.Parameters)
	return s, nil
}

// protects reports whether there is any policy, of this database or of one beside it. Then an engine is of one
// database: the catalogs of others show what depends on protected rows, so they need masks of their own. Without any
// policy, each is the guest's own affair.
func (e *Engine) protects() bool {
	s := e.snapshot.Load()
	return len(s.Policies) > 0 || len(s.Apart) > 0 || s.Masks != nil
}
