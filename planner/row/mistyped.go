package row

import (
	"regexp"
	"strings"

	"fugu/sqlstate"
)

// noFunction is PostgreSQL's message about a function that does not take values of a type. Those of the probe are
// written with their schema, which the client has seldom done.
var noFunction = regexp.MustCompile(`^function pg_catalog\.(\w+)\((.*)\) does not exist$`)

// mistyped puts an error about the types of the probe into words of the client's statement, with what to write instead.
func (r *resolver) mistyped(err error) error {
	e := *sqlstate.As(err)
	switch e.Code {
	case sqlstate.DatatypeMismatch: // of the probe's own IS TRUE
		e.Message = strings.Replace(e.Message, "argument of IS TRUE must", "argument of WHERE must", 1)
		return &e
	case sqlstate.UndefinedFunction:
		found := noFunction.FindStringSubmatch(e.Message)
		if found == nil { // an operator does not exist between two types
			return e.WithHint("Cast one side to the other's type, as in x::int = 3; or write the constant in quotes.")
		}
		name, types := found[1], found[2]
		e.Message = "function " + name + "(" + types + ") does not exist"
		if place, aggregate := r.placeOf(name); aggregate {
			return e.WithHint("%s", numbersHint(name, types)).At(place)
		}
		return e.WithHint("Cast what it is called with to a type that it takes.")
	}
	return err
}

// placeOf is where an aggregate of a name stands; 0: in several places, any of which may be meant. aggregate is false
// if the statement calls none of that name.
func (r *resolver) placeOf(name string) (position int, aggregate bool) {
	for _, root := range r.roots {
		if root.Aggregate != name || root.Further {
			continue
		}
		if aggregate {
			return 0, true
		}
		position, aggregate = root.Position, true
	}
	return position, aggregate
}

// numbersHint says what to write for an aggregate that takes no values of a type.
func numbersHint(name, typ string) string {
	switch {
	case typ == "boolean":
		return "Count the rows for which it holds, count(*) FILTER (WHERE x), or take their share: avg(x::int)."
	case typ == "date":
		return "Take the days since another date: " + name + "(x - date '2024-01-31')."
	case strings.HasPrefix(typ, "timestamp"):
		return "Take the seconds: " + name + "(extract(epoch FROM x))."
	case strings.HasPrefix(typ, "json"), strings.HasSuffix(typ, "[]"):
		return "Make the number a column of the protected table; JSON and arrays cannot be taken apart here."
	}
	return "It takes numbers: cast the values, " + name + "(x::numeric), or count them."
}
