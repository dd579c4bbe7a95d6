package wire

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

func collect(t *testing.T, rows pgx.Rows, err error) []int64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPgx(t *testing.T) {
	p := serve(t, nil)
	for name, mode := range map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol, "statements": pgx.QueryExecModeCacheStatement,
		"describe": pgx.QueryExecModeCacheDescribe, "describe each": pgx.QueryExecModeDescribeExec,
		"exec": pgx.QueryExecModeExec,
	} {
		t.Run(name, func(t *testing.T) { pgxIn(t, p, mode) })
	}
	for name, test := range map[string]func(*testing.T, *pgx.Conn){
		"batch": pgxBatch, "copy": pgxCopy, "cancel": pgxCancel, "pipeline": pgxPipeline,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := pgx.Connect(t.Context(), p.dsn())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(context.Background())
			test(t, c)
		})
	}
}

// pgxIn asks, is refused, and loses a transaction by that, in one of pgx's ways to speak the protocol.
func pgxIn(t *testing.T, p *proxy, mode pgx.QueryExecMode) {
	config, err := pgx.ParseConfig(p.dsn())
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for range 3 {
		rows, err := c.Query(t.Context(), protected)
		if got := collect(t, rows, err); !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("got %v", got)
		}
		if mode != pgx.QueryExecModeSimpleProtocol {
			rows, err = c.Query(t.Context(), "SELECT x+$1::int8 FROM noisy WHERE x < $2::int8 ORDER BY 1 /*p*/",
				int64(10), int64(3))
			if got := collect(t, rows, err); !slices.Equal(got, []int64{11, 12}) {
				t.Errorf("got %v", got)
			}
		}
		var pe *pgconn.PgError
		if _, err := c.Exec(t.Context(), "SELECT /*refuse*/ x FROM noisy"); !errors.As(err, &pe) ||
			pe.Code != "PV001" || pe.Position != 8 {
			t.Errorf("a refusal is %v", err)
		}
	}
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT /*refuse*/"); err == nil {
		t.Error("not refused")
	}
	if err := tx.Commit(t.Context()); !errors.Is(err, pgx.ErrTxCommitRollback) {
		t.Errorf("a transaction with a refusal commits: %v", err)
	}
}

func pgxBatch(t *testing.T, c *pgx.Conn) {
	batch := &pgx.Batch{}
	for i := range 50 {
		batch.Queue("SELECT $1::int8", i)
		batch.Queue("SELECT x+$1::int8 FROM noisy ORDER BY 1 /*p*/", i)
	}
	results := c.SendBatch(t.Context(), batch)
	for i := range int64(50) {
		rows, err := results.Query()
		if got := collect(t, rows, err); !slices.Equal(got, []int64{i}) {
			t.Fatalf("%d: %v", i, got)
		}
		rows, err = results.Query()
		if got := collect(t, rows, err); !slices.Equal(got, []int64{i + 1, i + 2, i + 3}) {
			t.Fatalf("%d: %v", i, got)
		}
	}
	if err := results.Close(); err != nil {
		t.Fatal(err)
	}
}

func pgxCopy(t *testing.T, c *pgx.Conn) {
	if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE copied (x int8)"); err != nil {
		t.Fatal(err)
	}
	rows := make([][]any, 20000)
	for i := range rows {
		rows[i] = []any{int64(i)}
	}
	if n, err := c.CopyFrom(t.Context(), pgx.Identifier{"copied"}, []string{"x"},
		pgx.CopyFromRows(rows)); n != 20000 || err != nil {
		t.Errorf("%d rows were copied, %v", n, err)
	}
	var out strings.Builder
	if tag, err := c.PgConn().CopyTo(t.Context(), &out, "COPY copied TO STDOUT"); err != nil ||
		tag.RowsAffected() != 20000 || strings.Count(out.String(), "\n") != 20000 {
		t.Errorf("%v, %v", tag, err)
	}
}

func pgxCancel(t *testing.T, c *pgx.Conn) {
	done := make(chan error, 1)
	go func() { done <- c.PgConn().Exec(t.Context(), "SELECT pg_sleep(600), 'pgx cancel'").Close() }()
	admin := direct(t)
	eventually(t, "it runs", func() bool { return running(t, admin, "'pgx cancel'") })
	if err := c.PgConn().CancelRequest(t.Context()); err != nil {
		t.Error(err)
	}
	var pe *pgconn.PgError
	if err := <-done; !errors.As(err, &pe) || pe.Code != "57014" {
		t.Errorf("canceled, it ends with %v", err)
	}
}

func pgxPipeline(t *testing.T, c *pgx.Conn) {
	pipeline := c.PgConn().StartPipeline(t.Context())
	for range 100 {
		pipeline.SendQueryParams(protected, nil, nil, nil, nil)
		pipeline.SendQueryParams("SELECT 1", nil, nil, nil, nil)
	}
	if err := pipeline.Sync(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		r, err := pipeline.GetResults()
		if err != nil {
			t.Fatal(err)
		}
		reader, ok := r.(*pgconn.ResultReader)
		if !ok {
			break
		}
		n += len(reader.Read().Rows)
	}
	if err := pipeline.Close(); err != nil || n != 400 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestLibPQ(t *testing.T) {
	p := serve(t, nil)
	for name, extra := range map[string]string{"prepared": "", "binary": "binary_parameters=yes"} {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open("postgres", strings.TrimSuffix(p.dsn(extra), "&"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(2)
			statement, err := db.PrepareContext(t.Context(), "SELECT sum(x+$1::int8)::int8 FROM noisy /*p*/")
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(5) {
				var got int64
				if err := statement.QueryRowContext(t.Context(), i).Scan(&got); err != nil || got != 6+3*i {
					t.Errorf("got %d, %v", got, err)
				}
				if err := db.QueryRowContext(t.Context(), "SELECT sum(x)::int8 FROM noisy /*p*/").
					Scan(&got); err != nil || got != 6 {
					t.Errorf("got %d, %v", got, err)
				}
				var pe *pq.Error
				if _, err := db.ExecContext(t.Context(), "SELECT $1::int /*refuse*/", 1); !errors.As(err, &pe) ||
					pe.Code != "PV001" {
					t.Errorf("a refusal is %v", err)
				}
			}
			libpqCopy(t, db)
			libpqCancel(t, db)
		})
	}
}

func libpqCopy(t *testing.T, db *sql.DB) {
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "CREATE TEMP TABLE copied (x int8) ON COMMIT DROP"); err != nil {
		t.Fatal(err)
	}
	in, err := tx.PrepareContext(t.Context(), "COPY copied (x) FROM STDIN")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := in.ExecContext(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.ExecContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM copied").Scan(&n); err != nil || n != 1000 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

func libpqCancel(t *testing.T, db *sql.DB) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		admin := direct(t)
		eventually(t, "it runs", func() bool { return running(t, admin, "'pq cancel'") })
		cancel()
	}()
	if _, err := db.ExecContext(ctx, "SELECT pg_sleep(600), 'pq cancel'"); err == nil {
		t.Error("canceled, it ends well")
	}
}
