package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/planner/row"
	"fugu/sqlstate"
)

// resolve takes over the types that PostgreSQL gives the keys, the aggregates and the parameters.
func (c *Cut) resolve(ctx context.Context, d Describer, types []uint32) error {
	var err error
	c.typing, err = row.Resolve(ctx, d, c.sources.beside(), "t", c.written().roots(c), func(n int) uint32 { return types[c.number[n]-1] })
	if err != nil {
		return sqlstate.Place(err, c.cut.Position)
	}
	if !slices.Equal(c.typing.Params, c.Params) {
		return fmt.Errorf("resolving a cut: parameters %v, want %v", c.typing.Params, c.Params)
	}
	c.ParamTypes = c.typing.ParamTypes
	for i := range c.Keys {
		if err := c.keyType(i, c.typing.Results[i]); err != nil {
			return err
		}
	}
	next := len(c.Keys)
	for i := range c.Aggregates {
		a := &c.Aggregates[i]
		result := uint32(pgtype.Int8OID) // of count(*)
		for k := range c.cut.Aggregates[i].Args {
			if k == 0 {
				result = c.typing.Results[next]
			}
			a.whole = append(a.whole, slices.Contains(smallIntegers, c.typing.Types[next]))
			if k == 0 && a.Sampled != nil {
				var ok bool
				if result, ok = a.Sampled.result(result); !ok {
					return a.badType(c.cut.Aggregates[i].Position)
				}
			}
			next++
		}
		switch result {
		case pgtype.Int2OID:
			a.Type, a.Integer = "int2", true
		case pgtype.Int4OID:
			a.Type, a.Integer = "int4", true
		case pgtype.Int8OID:
			a.Type, a.Integer = "int8", true
		case pgtype.NumericOID:
			a.Type = "numeric"
		case pgtype.Float4OID:
			a.Type = "float4"
		case pgtype.Float8OID:
			a.Type = "float8"
		default:
			return a.badType(c.cut.Aggregates[i].Position)
		}
	}
	return nil
}

// badType refuses an argument.
func (a *Aggregate) badType(position int) error {
	if a.Sampled != nil && a.Sampled.Kind == DistinctCount {
		return sqlstate.New(sqlstate.NotAnswerable, "%s is over values of a type that is not supported", a.Label).WithHint("Cast them to text.").At(position)
	}
	name, _, _ := strings.Cut(a.Name, "(")
	return sqlstate.New(sqlstate.NotAnswerable, "%s is not a number", a.Label).
		WithHint("%s takes integers, numeric, real and double precision.", name).At(position)
}

// keyType names the type of a key that is not a column of a protected table.
func (c *Cut) keyType(i int, oid uint32) error {
	k := &c.Keys[i]
	if k.Type != "" {
		return nil
	}
	name, ok := typeNames[oid]
	if !ok {
		return sqlstate.New(sqlstate.NotAnswerable, "protected rows cannot be grouped by %s: its type is not supported", k.Label).
			WithHint("Cast it to text.").At(k.position)
	}
	k.Type = "pg_catalog." + name
	return nil
}
