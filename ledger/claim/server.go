package claim

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

// OnServer has claims as advisory locks of one session of PostgreSQL, in the database that the connector leads to.
//
// Guests may have a session in the same database, and with it the same locks at hand: so their numbers depend on root,
// a subselect of what nobody else may read, and Fugu shows guests no advisory locks of other roles. So nobody but the
// proxies of the ledger can take one, or wait for one. Who sees them all the same, with another way to the database,
// and takes one keeps nobody from an answer that is charged and comes: a key is for one charge, and who waits is told
// when that is settled.
func OnServer(c driver.Connector, root string) Among {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1) // the locks are the session's
	db.SetMaxIdleConns(1)
	const number = `(hashtextextended($1 || `
	return &server{db: db, take: `SELECT pg_try_advisory_lock` + number + root + `, 0))`,
		give: `SELECT pg_advisory_unlock` + number + root + `, 0))`}
}

type server struct {
	db         *sql.DB
	take, give string
}

// patience bounds a question to the server, which answers it without waiting for anybody.
const patience = 20 * time.Second

// ask asks without regard to the client: one who leaves amid a question would have the session closed, and with it all
// claims of this process.
func (s *server) ask(ctx context.Context, sql, key string) (had bool, err error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	err = s.db.QueryRowContext(ctx, sql, key).Scan(&had)
	return had, err
}

// Take implements Among. It asks twice: that a connection was cut meanwhile shows at the first question alone, and with
// a connection goes whatever was taken on it.
func (s *server) Take(ctx context.Context, key string) (bool, error) {
	had, err := s.ask(ctx, s.take, key)
	if err != nil {
		had, err = s.ask(ctx, s.take, key)
	}
	return had, err
}

// Return implements Among.
func (s *server) Return(ctx context.Context, key string) error {
	_, err := s.ask(ctx, s.give, key)
	return err
}

// Close implements Among.
func (s *server) Close() error { return s.db.Close() }
