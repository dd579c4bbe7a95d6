package row

import (
	"slices"
	"strings"

	"fugu/internal/hook"
	"fugu/sqlstate"
)

// Cost is how many nanoseconds an expression may take for one row, as it is printed, every branch counted: an estimate
// for a common processor, made from text and types alone. It bounds by how much the values of a row can change the time
// that a statement takes, and so what that time can tell of the rows.
type Cost float64

// MaxCost is what all expressions of a cut may cost together.
const MaxCost Cost = 50_000

// What a column is taken to hold where its type does not say it, in digits or characters. An owner decides what columns
// hold, and no statement: longer values cost more, but not by an analyst's choice.
const nominalDigits, nominalChars = 20, 64

// dear refuses a term that no row may be asked for.
func dear(t, asWritten *term) (Cost, error) {
	c, _ := t.cost()
	if c > MaxCost && !hook.DearRows {
		return c, tooDear(c).At(asWritten.position())
	}
	return c, nil
}

func tooDear(c Cost) *sqlstate.Error {
	return sqlstate.New(sqlstate.NotAnswerable, "the expressions would take up to %.0f µs for each protected row, "+
		"and may take %.0f µs: how long a statement takes must not tell about rows", float64(c)/1000,
		float64(MaxCost)/1000).
		WithHint("Nest fewer functions, multiply fewer numbers, or compute in double precision: x::float8.")
}

// cost is t's, with the digits or characters that its value may have.
func (t *term) cost() (c Cost, size float64) {
	switch t.kind {
	case kColumn:
		return 10, t.typ.nominal()
	case kOp:
	default:
		return 1, float64(len(t.text))
	}
	sizes := make([]float64, len(t.args))
	for i, a := range t.args {
		var of Cost
		of, sizes[i] = a.cost()
		c += of
	}
	own, size := t.own(sizes)
	return c + own, size
}

// nominal is how long a value of the type is taken to be.
func (t Type) nominal() float64 {
	switch classes[t.OID] {
	case numeric:
		if p, _, ok := t.decimal(); ok {
			return float64(p)
		}
		return nominalDigits
	case integer:
		return 10
	case text, padded:
		if n, ok := t.length(); ok {
			return float64(min(n, nominalChars))
		}
		return nominalChars
	}
	return 16
}

// own is what t costs beside its operands.
func (t *term) own(sizes []float64) (Cost, float64) {
	longest := 0.0
	if len(sizes) > 0 {
		longest = slices.Max(sizes)
	}

	// Numbers and texts cost by their lengths, and most else costs the same for each value.
	switch {
	case t.class() == numeric:
		return t.numericCost(sizes, longest)
	case t.op == opCast:
		return t.castCost(longest)
	case t.class() == text, t.class() == padded,
		len(t.args) > 0 && (t.args[0].class() == text || t.args[0].class() == padded):
		return t.textCost(sizes, longest)
	case t.class() == date || t.class() == timestamp || t.class() == timestamptz ||
		slices.Contains([]string{"extract", "date_part"}, t.op):
		if t.op == "timezone" {
			return 700, 16
		}
		return 250, 16
	case t.op == opSemi:
		return 500, 1
	case t.op == opIn, t.op == opNotIn: // long lists are hashed
		return 20 + 10*Cost(min(len(t.args), 50)), 1
	case t.op == "width_bucket":
		return 300, 10
	}
	return 20 + 5*Cost(len(t.args)), max(longest, 16)
}

// numericCost: numbers of any length are computed in groups of four digits.
func (t *term) numericCost(sizes []float64, longest float64) (Cost, float64) {
	sum := 0.0
	for _, s := range sizes {
		sum += s
	}

	// The second result is how many digits the value may have.
	switch t.op {
	case "*":
		return 80 + Cost(.15*product(sizes)), sum
	case "/", "%", "div":
		return 300 + Cost(.6*(longest+nominalDigits)*(longest+nominalDigits)), longest + nominalDigits
	case "sqrt":
		return 800 + Cost(longest*longest), longest + nominalDigits
	case "exp", "ln":
		return 9000 + Cost(20*longest*longest), longest + 16
	case "log":
		return 35_000 + Cost(20*longest*longest), longest + 16
	case "power":
		if e, ok := atoi(strings.TrimPrefix(t.args[1].text, "-")); ok {
			made := sizes[0] * float64(max(e, 1))
			return 500 + Cost(.3*made*made), made
		}
		return 35_000 + Cost(20*sizes[0]*sizes[0]), 8 * sizes[0]
	case opCast:
		return 200 + Cost(5*longest), longest
	case "extract", "date_part":
		return 400, 10
	}
	return 60 + Cost(2*sum), longest + 1
}

func product(sizes []float64) float64 {
	out := 1.0
	for _, s := range sizes {
		out *= max(s, 1)
	}
	return out
}

func (t *term) castCost(size float64) (Cost, float64) {
	from := t.args[0].class()
	switch {
	case from == numeric:
		return 400 + Cost(5*size), size
	case from == text || from == padded:
		return 30, size
	case t.class() == text:
		return 400, 32
	}
	return 20, size
}

// textCost is the cost of functions of text. They go through it once, unless there is a line for them here.
func (t *term) textCost(sizes []float64, longest float64) (Cost, float64) {
	sum := 0.0
	for _, s := range sizes {
		sum += s
	}

	// The second result is how many characters the value may have.
	switch t.op {
	case opCase, "COALESCE", "NULLIF", "AND", "OR", "NOT":
		return 20 + 5*Cost(len(t.args)), longest
	case "md5":
		return 900 + Cost(6*longest), 32
	case "lower", "upper", "initcap", "reverse":
		return 200 + Cost(20*longest), longest
	case "LIKE", "NOT LIKE":
		return 60 + Cost(3*sizes[0])*Cost(1+strings.Count(t.args[1].text, "%")), 1
	case "ILIKE", "NOT ILIKE":
		return 200 + Cost(20*sizes[0])*Cost(1+strings.Count(t.args[1].text, "%")), 1
	case "replace":
		grows := max(1, sizes[2]/max(1, sizes[1]))
		return 300 + Cost(10*sizes[0]*grows), sizes[0] * grows
	case "lpad", "rpad":
		n, _ := atoi(t.args[1].text)
		return 200 + Cost(15*n), float64(max(n, 0))
	case "left", "right", "substring":
		if n := t.args[len(t.args)-1]; n.kind == kConst && len(t.args)+len(n.text) > 2 {
			if k, ok := atoi(n.text); ok && k >= 0 {
				return 100 + Cost(6*longest), min(longest, float64(k))
			}
		}
		return 100 + Cost(6*longest), longest
	case "||", "concat", "concat_ws":
		return 100 + Cost(3*sum), sum
	case "to_char":
		return 1500, max(longest, 32)
	case opIn, opNotIn:
		return 40 + 40*Cost(min(len(t.args), 50)), 1
	}
	return 60 + Cost(6*longest), longest
}
