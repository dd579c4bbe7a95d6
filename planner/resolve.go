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
	given := func(n int) uint32 { return types[c.number[n]-1] }
	c.typing, err = row.Resolve(ctx, d, c.sources.beside(), c.written().roots(c), given)
	if err != nil {
		return sqlstate.Place(err, c.cut.Position)
	}
	if !slices.Equal(c.typing.Params, c.Params) {
		return fmt.Errorf("resolving a cut: parameters %v, want %v", c.typing.Params, c.Params)
	}

	c.ParamTypes = c.typing.ParamTypes
	for i := range c.Keys {
		if err := c.setKeyType(i, c.typing.Results[i]); err != nil {
			return err
		}
	}

	// The expressions come in the order of roots: keys, then the arguments of each aggregate.
	next := len(c.Keys)
	for i := range c.Aggregates {
		a, n := &c.Aggregates[i], next+len(c.cut.Aggregates[i].Args)
		result := uint32(pgtype.Int8OID) // the type of count(*), which has no argument
		if n > next {
			result = c.typing.Results[next]
		}
		for _, t := range c.typing.Types[next:n] {
			a.whole = append(a.whole, slices.Contains(smallIntegers, t))
		}
		if next = n; !a.setType(result) {
			return a.refuseType(c.cut.Aggregates[i].Position)
		}
	}
	return nil
}

// setType gives the aggregate the type that PostgreSQL says a call of it has. It returns false if that is no number,
// which noise could be added to.
func (a *Aggregate) setType(result uint32) bool {
	if a.Sampled != nil {
		var ok bool
		if result, ok = a.Sampled.result(result); !ok {
			return false
		}
	}
	if !slices.Contains(numbers, result) {
		return false
	}
	a.Type = typeNames[result]
	a.Integer = slices.Contains(integers, result)
	return true
}

// refuseType refuses an aggregate whose argument has a type that it cannot have.
func (a *Aggregate) refuseType(position int) error {
	if a.Sampled != nil && a.Sampled.Kind == DistinctCount {
		return sqlstate.New(sqlstate.NotAnswerable, "%s is over values of a type that is not supported", a.Label).
			WithHint("Cast them to text.").At(position)
	}
	name, _, _ := strings.Cut(a.Name, "(")
	return sqlstate.New(sqlstate.NotAnswerable, "%s is not a number", a.Label).
		WithHint("%s takes integers, numeric, real and double precision. An interval has seconds, "+
			"extract(epoch FROM x), and money is cast: x::numeric.", name).At(position)
}

// setKeyType names the type of a key that is not a column of a protected table.
func (c *Cut) setKeyType(i int, oid uint32) error {
	k := &c.Keys[i]
	if k.Type != "" {
		return nil
	}
	name, ok := typeNames[oid]
	if !ok {
		return sqlstate.New(sqlstate.NotAnswerable,
			"protected rows cannot be grouped by %s: its type is not supported", k.Label).
			WithHint("Cast it to text.").At(k.position)
	}
	k.Type = "pg_catalog." + name
	return nil
}
