package protected

import (
	"context"

	"fugu/planner/row"
)

// Querier runs a statement over references, ordinary tables and constants, and returns its rows in text form.
type Querier interface {
	row.Evaluator
	Query(ctx context.Context, sql string, params [][]byte, paramTypes []uint32) ([][]Value, error)
}

// Database says what PostgreSQL resolves a statement to, without running it, and reads what is public.
type Database interface {
	row.Database
	Querier
}

// Tables finds protected tables by their names.
type Tables interface {
	Protected(schema, name string) (*Table, bool)
}
