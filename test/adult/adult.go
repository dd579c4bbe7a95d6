// Package adult loads the example database of fugu/examples/adult into a cluster, for tests and for the demonstration.
package adult

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	example "fugu/examples/adult"
	"fugu/test/pgcluster"
)

// Options say which data Load loads.
type Options struct {
	// CSV is a file with the columns of the Adult census data set in their order and a header; ? is a missing value.
	// Empty: generated data, of the size of the census's complete rows.
	CSV string
}

// Loaded says how much Load loaded.
type Loaded struct {
	Rows          int64 // of the protected table adult: 35,222 from the generator and from the census
	ReferenceRows int64 // of the public table adult_reference: 10,000
}

// Load creates the database db with the example's tables, and the example's roles, which are the whole cluster's, if
// they are not there; and fills the tables.
func Load(ctx context.Context, c *pgcluster.Cluster, db string, o Options) (Loaded, error) {
	loaded, err := load(ctx, c, db, o)
	if err != nil {
		return Loaded{}, fmt.Errorf("load the Adult example: %w", err)
	}
	return loaded, nil
}

// load is Load into a new database.
func load(ctx context.Context, c *pgcluster.Cluster, db string, o Options) (loaded Loaded, err error) {
	if err := c.CreateDatabase(ctx, db, ""); err != nil {
		return loaded, err
	}
	conn, err := pgx.Connect(ctx, c.DSN("postgres", db))
	if err != nil {
		return loaded, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()

	// The census is there between the schema, which reads it, and the split, which divides it.
	schema, err := withoutExistingRoles(ctx, conn)
	if err != nil {
		return loaded, err
	}
	if err := exec(ctx, conn, schema); err != nil {
		return loaded, err
	}
	if err := fillCensus(ctx, conn, o.CSV); err != nil {
		return loaded, err
	}
	if err := exec(ctx, conn, example.Split); err != nil {
		return loaded, err
	}

	err = conn.QueryRow(ctx, "SELECT (SELECT count(*) FROM adult), (SELECT count(*) FROM adult_reference)").
		Scan(&loaded.Rows, &loaded.ReferenceRows)
	if err == nil && loaded.Rows == 0 {
		err = fmt.Errorf("all %d complete rows went to the reference: there are too few", loaded.ReferenceRows)
	}
	return loaded, err
}

// exec runs a script of several statements.
func exec(ctx context.Context, conn *pgx.Conn, script string) error {
	_, err := conn.PgConn().Exec(ctx, script).ReadAll()
	return err
}

// withoutExistingRoles gives the schema without the statements that create roles which the cluster has.
func withoutExistingRoles(ctx context.Context, conn *pgx.Conn) (string, error) {
	rows, err := conn.Query(ctx, "SELECT rolname FROM pg_roles WHERE rolname LIKE 'fugu%'")
	if err != nil {
		return "", err
	}
	roles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	schema := example.Schema
	for _, role := range roles {
		schema = strings.ReplaceAll(schema, "CREATE ROLE "+role+" LOGIN;", "")
	}
	return schema, err
}

// fillCensus makes the temporary table census.
func fillCensus(ctx context.Context, conn *pgx.Conn, csv string) error {
	if csv == "" {
		return generate(ctx, conn)
	}
	return read(ctx, conn, csv)
}

// CensusFile is the path of the real census data as a file for Options.CSV, for tests that want it: the value of the
// variable ADULT_CSV, or shared/data/adult.csv beside the directory of the module; empty if there is none.
func CensusFile() string {
	if path := os.Getenv("ADULT_CSV"); path != "" {
		return path
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	if path := filepath.Join(filepath.Dir(dir), "shared", "data", "adult.csv"); exists(path) {
		return path
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
