package dataset

import (
	"context"
	"errors"
	"fmt"

	"fugu/parser"
	"fugu/parser/shadow"
	"fugu/upstream"
)

// here asks for the database by name and number, and whether its server may be asked for its own.
const here = `SELECT current_database(), (SELECT oid FROM pg_database WHERE datname = current_database()),
	has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')`

// identify finds out where the tables are. A name can become another table's, and there is one in every copy of a
// database: by server, database and number each relation is told from all others. roots are the tables, in order.
func (s *Snapshot) identify(ctx context.Context, reader *upstream.Reader, roots []shadow.Root) error {
	rows, err := reader.Query(ctx, here, nil, nil)
	if err == nil && len(rows) != 1 {
		err = errors.New("it does not say")
	}
	if err != nil {
		return fmt.Errorf("asking in which database the tables are: %w", err)
	}
	s.database = rows[0][0].Text

	// A server may keep its number to itself: then nobody knows whether two of its relations are one.
	if rows[0][2].Text != "t" {
		return nil
	}
	server, err := reader.Server(ctx)
	if err != nil {
		return fmt.Errorf("asking which server the tables are on: %w", err)
	}
	for i, t := range s.Tables {
		t.Relation = fmt.Sprintf("%s/%s/%d", server, rows[0][1].Text, roots[i].OID)
	}
	return nil
}

var _ parser.Placed = (*Snapshot)(nil)

// Database is the name of the one that the snapshot is of.
func (s *Snapshot) Database() string { return s.database }
