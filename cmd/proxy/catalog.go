package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/dataset"
	"fugu/upstream"
)

// reach opens a reader for each room, and takes down what the catalog says before anything of it is looked at: what
// changes while it is looked at is looked at again. Where it cannot be asked, the next who ask say so. Readers are kept
// for as long as the house is open, since statements may be under way in a room that a reload leaves out.
func (h *house) reach(ctx context.Context) error {
	for i, r := range h.rooms {
		if h.readers[r.database] == nil {
			own := func(c *pgxpool.Config) {
				c.ConnConfig.DialFunc = overheard(h.guest.DialFunc)
				if i > 0 { // of the guest's own database the reader's may be a replica by another name
					c.ConnConfig.Database = r.database
				}
			}
			dsn := string(h.config.Upstream.Reader)
			reader, err := upstream.OpenReader(dsn, h.config.Limits.StatementTimeout, own)
			if err != nil {
				return err
			}
			h.readers[r.database] = reader
		}
		r.reader = h.readers[r.database]
		r.state, _ = dataset.State(ctx, r.policies, r.reader)
	}
	return nil
}

// Which tables there are changes seldom, and to look takes a small statement on the catalog. What could not be taken
// over then, as where a migration is half done, is tried again after a while, though the catalog is the same.
const (
	catalogEvery = 5 * time.Second
	catalogAgain = time.Minute
)

// watchCatalog reads the tables of the policies in force again when the catalog says other things of them than it did,
// until ctx ends: a partition was attached, a column added, a twin built, or somebody may read what nobody was to. A
// policy whose file was edited is not read for that: it is in force when it is reloaded.
func (s *served) watchCatalog(ctx context.Context) {
	tick := time.NewTicker(catalogEvery)
	defer tick.Stop()
	var tried catalogTry
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		// A database that cannot be asked says so to those who ask it.
		stands := s.office.stands.Load()
		before, now, err := stands.catalog(ctx)
		if err != nil {
			continue
		}
		if now == before {
			if tried.said != "" {
				s.office.health.Loaded(tablesLoaded, nil)
				s.log.Info("protected tables are as they were known")
			}
			tried = catalogTry{}
			continue
		}
		if now == tried.state && time.Since(tried.at) < catalogAgain {
			continue
		}
		tried.state, tried.at = now, time.Now()
		tried.said = s.lookAgain(ctx, stands, tried.said)
	}
}

// catalogTry is the last state of the catalog that was not taken over yet.
type catalogTry struct {
	state string
	at    time.Time
	said  string // of what is wrong with it; empty: nothing
}

// lookAgain takes the tables over as they are now, and logs that, or what is wrong with them unless that was said.
func (s *served) lookAgain(ctx context.Context, stands *house, said string) string {
	err := s.renew(ctx, stands)
	if ctx.Err() != nil {
		return said
	}
	s.office.health.Loaded(tablesLoaded, err)
	if err == nil {
		s.log.Info("protected tables changed, and were looked at again")
		return ""
	}
	wrong := describe(err)
	if wrong != said {
		s.log.Error("protected tables changed, and what was known of them stands until this is mended",
			"error", wrong)
	}
	return wrong
}

// catalog is what the catalogs of all rooms said of the policies' tables when these were loaded, and what they say now.
func (h *house) catalog(ctx context.Context) (before, now string, err error) {
	for _, r := range h.rooms {
		if len(r.policies) == 0 || h.twinsApart() {
			continue
		}
		state, err := dataset.State(ctx, r.policies, r.reader)
		if err != nil {
			return "", "", err
		}
		before, now = before+r.state+"\n", now+state+"\n"
	}
	return before, now, nil
}

// renew replaces what is in force by the same policies over the tables of now, unless it was replaced meanwhile.
func (s *served) renew(ctx context.Context, stands *house) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if s.office.stands.Load() != stands {
		return nil
	}
	return s.replace(ctx, stands.policies)
}
