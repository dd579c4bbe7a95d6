//go:build fuguhooks

package hook

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
)

// Open is sql.Open, with points before and after each statement, BEGIN and COMMIT.
func Open(name, dsn string) (*sql.DB, error) {
	db, err := sql.Open(name, dsn)
	if err != nil {
		return nil, err
	}
	d := db.Driver()
	_ = db.Close()
	return OpenDB(opening{d, dsn}), nil
}

// OpenDB is sql.OpenDB, as Open is sql.Open.
func OpenDB(c driver.Connector) *sql.DB { return sql.OpenDB(connector{c}) }

// opening is the connector of a driver that has none.
type opening struct {
	driver driver.Driver
	dsn    string
}

func (o opening) Connect(context.Context) (driver.Conn, error) { return o.driver.Open(o.dsn) }
func (o opening) Driver() driver.Driver                        { return o.driver }

type withinKey struct{}

// Within names what the statements under the context belong to. It stands in front of their points, so that how often
// one is passed does not depend on what else the database is asked, and when.
func Within(ctx context.Context, what string) context.Context {
	return context.WithValue(ctx, withinKey{}, what+": ")
}

func within(ctx context.Context) string {
	what, _ := ctx.Value(withinKey{}).(string)
	return what
}

type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{inner}, nil
}

// between passes the points around f.
func between[T any](name string, f func() (T, error)) (T, error) {
	Point(name)
	v, err := f()
	Point(name + ": done")
	return v, err
}

// about is what a statement does to which table: its first word, and the table.
func about(sql string) string {
	words := strings.Fields(sql)
	if len(words) == 0 {
		return "empty statement"
	}
	verb := strings.ToUpper(words[0])
	for i, w := range words[1:] {
		switch strings.ToUpper(w) {
		case "FROM", "INTO", "UPDATE", "TABLE":
			if i+2 < len(words) {
				return verb + " " + words[i+2]
			}
		}
	}
	return verb
}

// conn passes on what database/sql asks of connections that have contexts; the ledger's drivers both do.
type conn struct{ driver.Conn }

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{s, about(query)}, nil
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return between(within(ctx)+"BEGIN", func() (driver.Tx, error) {
		t, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
		if err != nil {
			return nil, err
		}
		return tx{t, within(ctx)}, nil
	})
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return between(within(ctx)+about(query), func() (driver.Result, error) {
		return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	})
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return between(within(ctx)+about(query), func() (driver.Rows, error) {
		return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	})
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) Ping(ctx context.Context) error { return c.Conn.(driver.Pinger).Ping(ctx) }

type stmt struct {
	driver.Stmt
	about string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return between(within(ctx)+s.about, func() (driver.Result, error) {
		return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	})
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return between(within(ctx)+s.about, func() (driver.Rows, error) {
		return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	})
}

type tx struct {
	driver.Tx
	within string
}

func (t tx) Commit() error {
	_, err := between(t.within+"COMMIT", func() (struct{}, error) { return struct{}{}, t.Tx.Commit() })
	return err
}
