package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/planner/row"
	"fugu/sqlstate"
)

// PostgreSQL's type OIDs for the results of aggregates (pg_type.dat).
const (
	oidInt8    = 20
	oidInt2    = 21
	oidInt4    = 23
	oidFloat4  = 700
	oidFloat8  = 701
	oidNumeric = 1700
)

// typeNames are the types that an expression can be grouped by.
var typeNames = map[uint32]string{16: "bool", oidInt8: "int8", oidInt2: "int2", oidInt4: "int4", 25: "text", oidFloat4: "float4", oidFloat8: "float8",
	1042: "bpchar", 1043: "varchar", 1082: "date", 1083: "time", 1114: "timestamp", 1184: "timestamptz", oidNumeric: "numeric"}

// resolve takes over the types that PostgreSQL gives the keys, the aggregates and the parameters.
func (c *Cut) resolve(ctx context.Context, d Describer, types []uint32) error {
	var err error
	c.typing, err = row.Resolve(ctx, d, c.sources.beside(), "t", c.written().roots(c), func(n int) uint32 { return types[c.number[n]-1] })
	if err != nil {
		return c.somewhere(err)
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
		result := uint32(oidInt8) // of count(*)
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
		case oidInt2:
			a.Type, a.Integer = "int2", true
		case oidInt4:
			a.Type, a.Integer = "int4", true
		case oidInt8:
			a.Type, a.Integer = "int8", true
		case oidNumeric:
			a.Type = "numeric"
		case oidFloat4:
			a.Type = "float4"
		case oidFloat8:
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

// smallIntegers are int2 and int4, whose sums PostgreSQL makes in int8.
var smallIntegers = []uint32{oidInt2, oidInt4}

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
