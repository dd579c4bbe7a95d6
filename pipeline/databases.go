package pipeline

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"fugu/quote"
	"fugu/sqlstate"
	"fugu/wire"
)

// Databases opens each session in the engine of its database: there is one for each database of the server that clients
// may reach, with the policies of that database, perhaps none, and the masks of all. It is safe for concurrent use.
type Databases struct {
	engines  atomic.Pointer[map[string]*Engine]
	searches *quote.Searches // of all of them
}

// NewDatabases returns the engines under the names of their databases.
func NewDatabases(engines map[string]*Engine) *Databases {
	d := &Databases{searches: quote.NewSearches()}
	d.share(engines)
	d.engines.Store(&engines)
	return d
}

// Replace serves other databases from now on. Engines that are no longer among them are closed.
func (d *Databases) Replace(engines map[string]*Engine) {
	d.share(engines)
	before := *d.engines.Swap(&engines)
	for name, e := range before {
		if engines[name] != e {
			e.Close()
		}
	}
}

// share has engines that no session knows yet search for noise in one room: each by itself would take half of the
// processors.
func (d *Databases) share(engines map[string]*Engine) {
	for _, e := range engines {
		if e.desk.Searches != d.searches {
			e.desk.Searches = d.searches
		}
	}
}

// Searches is the room for large searches that all databases share.
func (d *Databases) Searches() *quote.Searches { return d.searches }

// Busy says how much is being answered and searched for in all databases.
func (d *Databases) Busy() quote.Busy { return d.searches.Busy() }

// Open implements wire.Engine. Where nothing is protected the one engine there is opens sessions in every database.
func (d *Databases) Open(ctx context.Context, startup wire.Startup) (wire.Session, error) {
	engines := *d.engines.Load()
	if e, ok := engines[startup.Database]; ok {
		return e.Open(ctx, startup)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		if !engines[name].protects() {
			return engines[name].Open(ctx, startup)
		}
		names = append(names, strconv.Quote(name))
	}
	return nil, sqlstate.New(sqlstate.InvalidCatalogName, "database %q is not served here", startup.Database).
		WithHint("Connect to database %s.", strings.Join(names, " or ")).Ending()
}
