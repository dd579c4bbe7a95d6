package pipeline

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner"
	"fugu/wire"
)

// aggregated are the twins whose rows a statement aggregates and may not list.
func aggregated(st *parser.Statement) (uses []parser.TwinUse) {
	for _, c := range st.Cuts {
		for _, s := range c.Sources {
			if s.Table.Aggregates {
				uses = append(uses, parser.TwinUse{Table: s.Table, Position: s.Position})
			}
		}
	}
	return uses
}

// free are the arrays that cost nothing, behind those of the answer: of twins, and of virtual tables. They are there
// before anything is charged, so that what fails in them costs nothing either.
func (s *statement) free(ctx context.Context, b wire.Binding) ([][]byte, error) {
	arrays, err := s.twinArrays(ctx, b)
	if err != nil {
		return nil, err
	}
	virtual, err := s.virtual(ctx, b)
	return append(arrays, virtual...), err
}

// twinArrays asks the reader what stands in the places of the cuts of twins: for each an array for each column. All
// are of one snapshot of the twins, and cost nothing.
func (s *statement) twinArrays(ctx context.Context, b wire.Binding) (arrays [][]byte, err error) {
	if len(s.plan.Twins) == 0 {
		return nil, nil
	}
	types := pgtype.NewMap()
	var statements []string
	for _, c := range s.plan.Twins {
		params := make([][]byte, len(c.Params))
		for i, n := range c.Params {
			if params[i], err = textParam(types, b, n, c.ParamTypes[i]); err != nil {
				return nil, err
			}
		}
		sql, err := c.Bind(ctx, s.session.engine.reader, params)
		if err != nil {
			return nil, err
		}
		statements = append(statements, sql)
	}
	answers, err := s.session.engine.reader.Groups(ctx, statements, planner.MaxGroups)
	if err != nil {
		return nil, err
	}
	for i, rows := range answers {
		for k := range s.plan.Twins[i].Width() {
			column := make([]planner.Value, len(rows))
			for j, r := range rows {
				column[j] = r[k]
			}
			arrays = append(arrays, planner.Array(column))
		}
	}
	return arrays, nil
}
