package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// hang is how long a client waits before it says that nothing comes any more, on a machine that has much else to do.
const hang = 3 * time.Minute

// mayFail are the codes that a client may get when the database is lost, is coming up, or has no room.
var mayFail = map[string]bool{"08006": true, "57P01": true, "57P02": true, "57P03": true, "53300": true}

// failed judges an error of a client's: a connection may break, and the database be lost.
func (s *soak) failed(ctx context.Context, kind string, err error, also ...string) {
	var pe *pgconn.PgError
	code, ok := "", true
	if errors.As(err, &pe) {
		code = pe.Code
		ok = mayFail[code]
		for _, c := range also {
			ok = ok || c == code
		}
	}
	if ctx.Err() != nil {
		s.t.Errorf("a client (%s) waited in vain: %v", kind, err)
	} else if !ok {
		s.t.Errorf("a client (%s) got %v", kind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[code]++
}

func (s *soak) succeeded(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served[kind]++
}

func (s *soak) dsn() string { return "postgres://alice@" + s.address + "/adult?sslmode=disable" }

// session runs f on a connection of its own, and reports whether it succeeded.
func (s *soak) session(kind string, f func(context.Context, *pgx.Conn) error, also ...string) bool {
	ctx, stop := context.WithTimeout(context.Background(), hang)
	defer stop()
	c, err := pgx.Connect(ctx, s.dsn())
	if err == nil {
		err = f(ctx, c)
		_ = c.Close(ctx)
	}
	if err != nil {
		s.failed(ctx, kind, err, also...)
		return false
	}
	s.succeeded(kind)
	return true
}

// ask asks a protected statement, whose answer must be the one that was given before, to whomever.
func (s *soak) ask(ctx context.Context, c *pgx.Conn, sql string, mode pgx.QueryExecMode) error {
	r, err := c.Query(ctx, sql, mode, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return err
	}
	got := ""
	for r.Next() {
		got += fmt.Sprintf("%q\n", r.RawValues())
	}
	if err := r.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if want, ok := s.answers[sql]; ok && got != want {
		s.t.Errorf("%s\nanswered\n%s\nbefore it was\n%s", sql, got, want)
	}
	s.answers[sql] = got
	return nil
}

var modes = []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeCacheStatement}

// analyst asks this and that on one connection for a while.
func (s *soak) analyst(r *rand.Rand) bool {
	return s.session("analyst", func(ctx context.Context, c *pgx.Conn) error {
		for range 20 {
			if err := s.ask(ctx, c, protectedStatement(r.IntN(protectedStatements)),
				modes[r.IntN(len(modes))]); err != nil {
				return err
			}
			n, sum := 1+r.IntN(2000), 0
			if err := c.QueryRow(ctx, "SELECT sum(x) FROM generate_series(1, $1::int) x", n).Scan(&sum); err != nil {
				return err
			}
			if sum != n*(n+1)/2 {
				s.t.Errorf("the sum of the numbers up to %d is %d", n, sum)
			}
		}
		return nil
	})
}

// transaction asks in a transaction with a savepoint, a temporary table and a copy, and rolls back or commits.
func (s *soak) transaction(r *rand.Rand) bool {
	return s.session("transaction", func(ctx context.Context, c *pgx.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		if _, err := tx.Exec(ctx, "CREATE TEMP TABLE t (x int) ON COMMIT DROP; SAVEPOINT s"); err != nil {
			return err
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"x"}, pgx.CopyFromSlice(500,
			func(i int) ([]any, error) { return []any{int32(i)}, nil })); err != nil {
			return err
		}
		if err := s.ask(ctx, c, protectedStatement(r.IntN(protectedStatements)),
			modes[r.IntN(len(modes))]); err != nil {
			return err
		}
		n := 0
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n); err != nil || n != 500 {
			return errors.Join(err, rowsLost(n))
		}
		return tx.Commit(ctx)
	})
}

func rowsLost(n int) error {
	if n == 500 || n == 0 {
		return nil
	}
	return &pgconn.PgError{Message: fmt.Sprintf("%d of 500 rows", n), Code: "lost"}
}

// pipeline sends protected and ordinary statements in one pipeline.
func (s *soak) pipeline(r *rand.Rand) bool {
	return s.session("pipeline", func(ctx context.Context, c *pgx.Conn) error {
		var b pgx.Batch
		for i := range 20 {
			b.Queue("SELECT $1::int", i)
			b.Queue(protectedStatement(r.IntN(protectedStatements)))
		}
		results := c.SendBatch(ctx, &b)
		for i := range 20 {
			got := -1
			if err := results.QueryRow().Scan(&got); err != nil {
				return errors.Join(err, results.Close())
			}
			if got != i {
				s.t.Errorf("statement %d was answered %d", i, got)
			}
			if _, err := results.Exec(); err != nil {
				return errors.Join(err, results.Close())
			}
		}
		return results.Close()
	})
}

// greeting is a startup packet and a few statements of every kind, of which the last never end.
func greeting(r *rand.Rand) []byte {
	b := []byte(packet(version3, "user\x00alice\x00database\x00adult\x00\x00"))
	for _, m := range []message{query("BEGIN"), query(protectedStatement(r.IntN(protectedStatements))),
		parse("s", "SELECT generate_series(1, 100)"),
		bind("p", "s"), execute("p", 10), &pgproto3.Flush{}, execute("p", 10), sync,
		query("CREATE TEMP TABLE t (x int)"), query("COPY t FROM STDIN"),
		&pgproto3.CopyData{Data: []byte("1\n2\n")}} {
		b, _ = m.Encode(b)
	}
	return b
}

// vanisher is gone somewhere in the middle, with a reset or without a word.
func (s *soak) vanisher(r *rand.Rand) bool {
	c, err := net.DialTimeout("tcp", s.address, hang)
	if err != nil {
		return false
	}
	defer c.Close()
	b := greeting(r)
	_, _ = c.Write(b[:r.IntN(len(b)+1)])
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
	if r.IntN(2) == 0 {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	return true
}

// slowReader takes its time over a long answer, and may lose interest.
func (s *soak) slowReader(r *rand.Rand) bool {
	return s.session("slow reader", func(ctx context.Context, c *pgx.Conn) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		results, err := c.Query(ctx, "SELECT repeat('x', 1000) FROM generate_series(1, 5000)")
		if err != nil {
			return err
		}
		defer results.Close()
		leaves := r.IntN(8000)
		for n := 0; results.Next(); n++ {
			if n%500 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			if n == leaves {
				return c.PgConn().Conn().Close()
			}
		}
		return results.Err()
	})
}

// crowd comes all at once, and most go again at once.
func (s *soak) crowd(r *rand.Rand) bool {
	for range 20 {
		c, err := net.DialTimeout("tcp", s.address, hang)
		if err != nil {
			continue
		}
		_, _ = io.WriteString(c, packet(version3, "user\x00alice\x00database\x00adult\x00\x00")[:r.IntN(30)])
		defer c.Close()
	}
	return s.session("crowd", func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) })
}

// canceler asks for something long and thinks better of it.
func (s *soak) canceler(r *rand.Rand) bool {
	return s.session("canceler", func(ctx context.Context, c *pgx.Conn) error {
		canceled := make(chan error, 1)
		wait := time.Duration(r.IntN(30)) * time.Millisecond
		go func() {
			time.Sleep(wait)
			canceled <- c.PgConn().CancelRequest(ctx)
		}()
		_, err := c.Exec(ctx, "SELECT pg_sleep(1.5)")
		<-canceled
		if code(err) == "57014" {
			err = nil
		}
		if err != nil {
			return err
		}
		return s.ask(ctx, c, protectedStatement(r.IntN(protectedStatements)), pgx.QueryExecModeSimpleProtocol)
	}, "57014")
}
