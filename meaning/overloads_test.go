package meaning

import (
	"testing"

	"fugu/planner/row"
)

func TestOverloadsApply(t *testing.T) {
	o := &Overloads{
		builtin: map[string]bool{signature('o', "=", []uint32{25, 25}): true,
			signature('f', "lower", []uint32{25}): true},
		implicit: map[[2]uint32]bool{{25, 70000}: true, {1043, 25}: true, {23, 20}: true},
	}
	operator := func(l, r uint32) overload { return overload{kind: 'o', name: "=", args: []uint32{l, r}} }
	function := func(args ...uint32) overload { return overload{kind: 'f', name: "lower", args: args} }
	text := func(loose bool) row.Use {
		return row.Use{Name: "=", Args: []uint32{25, 25}, Loose: []bool{false, loose}}
	}
	lower := func(oid uint32) row.Use { return row.Use{Name: "lower", Args: []uint32{oid}, Loose: []bool{false}} }
	for name, c := range map[string]struct {
		x    overload
		u    row.Use
		want bool
	}{
		"the same signature":                        {operator(25, 25), text(false), true},
		"the same signature, a literal":             {operator(25, 25), text(true), true},
		"reached by a cast, PostgreSQL's own exact": {operator(70000, 70000), text(true), false},
		"reached by a cast, none of its own exact":  {function(25), lower(1043), true},
		"exact, PostgreSQL's own by a cast":         {function(1043), lower(1043), true},
		"not to be reached":                         {function(1700), lower(1043), false},
		"takes anything":                            {function(2276), lower(1043), true},
		"another number of arguments":               {function(25, 25), lower(1043), false},
		"another name": {overload{kind: 'f', name: "upper", args: []uint32{1043}},
			lower(1043), false},
		"a type": {overload{kind: 't', name: "text"},
			row.Use{Name: "text", Type: true}, true},
		"a function with the name of a type": {overload{kind: 'f', name: "text"},
			row.Use{Name: "text", Type: true}, false},
		"further arguments have defaults": {overload{kind: 'f', name: "lower", args: []uint32{1043, 23},
			some: true}, lower(1043), true},
		"further arguments have defaults, first not": {overload{kind: 'f', name: "lower", args: []uint32{1700, 23},
			some: true}, lower(1043), false},
	} {
		if got := o.applies(c.x, c.u); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
