package main

import (
	"context"
	"log/slog"
	"time"
)

// Which tables there are changes seldom, and to look takes a small statement on the catalog. What could not be taken
// over then, as where a migration is half done, is tried again after a while, though the catalog is the same.
const (
	catalogEvery = 5 * time.Second
	catalogAgain = time.Minute
)

// catalogWatch reads the tables of the policies in force again when the catalog says other things of them than it did:
// a partition was attached, a column added, a twin built, or somebody may read what nobody was to. A policy whose file
// was edited is not read for that: it is in force when it is reloaded.
type catalogWatch struct {
	states func(context.Context) (known, now string, err error) // of the catalog
	renew  func(context.Context) error                          // takes over what it says now
	loaded func(error)                                          // is told whether that is in force
	log    *slog.Logger

	tried string    // the last state that was not taken over
	at    time.Time // when
	said  string    // what is wrong with it; empty: nothing
}

// run watches until ctx ends.
func (w *catalogWatch) run(ctx context.Context) {
	every(ctx, catalogEvery, func() {
		known, now, err := w.states(ctx)
		switch {
		case err != nil: // a database that cannot be asked says so to those who ask it
		case now == known:
			w.settled()
		case now != w.tried || time.Since(w.at) > catalogAgain:
			w.tried, w.at = now, time.Now()
			w.take(ctx)
		}
	})
}

// settled says that what was wrong is not any more.
func (w *catalogWatch) settled() {
	if w.said != "" {
		w.loaded(nil)
		w.log.Info("protected tables are as they were known")
	}
	w.tried, w.said = "", ""
}

// take has the tables taken over as they are now, and says that, or what is wrong with them unless that was said.
func (w *catalogWatch) take(ctx context.Context) {
	err := w.renew(ctx)
	if ctx.Err() != nil {
		return
	}
	w.loaded(err)
	if err == nil {
		w.said = ""
		w.log.Info("protected tables changed, and were looked at again")
		return
	}
	if wrong := describe(err); wrong != w.said {
		w.said = wrong
		w.log.Error("protected tables changed, and what was known of them stands until this is mended",
			"error", wrong)
	}
}
