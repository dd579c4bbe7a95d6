package row

import (
	"strings"
)

const readBound = "the first 1000000 characters count"

var textRules = []rule{
	{"lower", readBound, rewrites}, {"upper", readBound, rewrites}, {"initcap", readBound, rewrites},
	{"length", "", measures}, {"octet_length", "", measures}, {"ascii", "", measures},
	{"btrim", "", trims}, {"ltrim", "", trims}, {"rtrim", "", trims},
	{"substring", "NULL for a negative length; no regular expressions", substring},
	{"left", "", part}, {"right", "", part},
	{"strpos", "", finds}, {"starts_with", "", finds}, {"split_part", "the number is a constant other than 0", splits},
	{"replace", "what is replaced, and by what, are constants; " + readBound, replaces},
	{"concat", readBound, joins}, {"concat_ws", readBound, joins}, {"||", readBound, joins},
	{"lpad", "the length is a constant up to 10000", pads}, {"rpad", "the length is a constant up to 10000", pads},
	{"LIKE", "the pattern is a constant", likes}, {"NOT LIKE", "the pattern is a constant", likes},
	{"ILIKE", "the pattern is a constant", likes}, {"NOT ILIKE", "the pattern is a constant", likes},
}

// texts refuses operands that are not text.
func texts(t *term, args []value) error {
	for i, a := range args {
		if c := a.class(); c != text && c != padded && c != null {
			return refuse(t.args[i], "Cast it: x::text.", "%s cannot be used on values of type %s on protected rows",
				describe(t.op), c)
		}
	}
	return nil
}

func tooMuch(t *term) error {
	return refuse(t, "Take a part of the text first: left(x, 1000).", "%s could make a text that is too long",
		describe(t.op))
}

func rewrites(t *term, args []value) (value, error) {
	if err := texts(t, args); err != nil {
		return value{}, err
	}
	v := args[0].bounded()
	v.term, v.chars = op(t.op, oidText, v.term), v.chars*3
	return v, nil
}

func measures(t *term, args []value) (value, error) {
	if err := texts(t, args); err != nil {
		return value{}, err
	}
	a := args[0]
	if a.class() == text { // char(n) has lengths of its own
		a = a.asText()
	}
	if t.op == "ascii" {
		a = a.asText()
	}
	return function(t.op, oidInt4, a), nil
}

func trims(t *term, args []value) (value, error) {
	if err := texts(t, args); err != nil {
		return value{}, err
	}
	chars := args[0].chars
	for i := range args {
		args[i] = args[i].asText()
	}
	if len(args) == 2 { // each character is looked up in the set
		if args[1].kind != kConst {
			return value{}, refuse(t.args[1], "Write the characters: "+t.op+"(x, ' .').",
				"the characters that %s removes must be a constant", t.op)
		}
		args[0] = args[0].bounded()
	}
	v := function(t.op, oidText, args...)
	v.chars = chars
	return v, nil
}

// whole number arguments

func substring(t *term, args []value) (value, error) {
	if c := args[1].class(); c != integer && c != null {
		return value{}, refuse(t, hintRegexp, "substring with a pattern cannot be used on protected rows")
	}
	if err := texts(t, args[:1]); err != nil {
		return value{}, err
	}

	// A negative length fails; it is NULL instead.
	chars := args[0].chars
	args[0] = args[0].asText()
	for i := 1; i < len(args); i++ {
		var err error
		if args[i], err = args[i].int4(t.args[i]); err != nil {
			return value{}, err
		}
		if i == 2 && (args[i].kind != kConst || strings.HasPrefix(args[i].text, "-")) {
			v := args[i]
			minus := constant(oidInt4, "-1")
			v.term = op("NULLIF", oidInt4, op("GREATEST", oidInt4, v.term, minus), minus)
			args[i] = v
		}
	}

	v := function("substring", oidText, args...)
	v.chars = chars
	return v, nil
}

const hintRegexp = "Use substring(x FROM 2 FOR 3), split_part(x, ',', 1), left or right."

func part(t *term, args []value) (value, error) {
	if err := texts(t, args[:1]); err != nil {
		return value{}, err
	}
	n, err := args[1].int4(t.args[1])
	if err != nil {
		return value{}, err
	}
	v := function(t.op, oidText, args[0].asText(), n)
	v.chars = args[0].chars
	if k, ok := atoi(n.text); ok && n.kind == kConst && k >= 0 && (v.chars < 0 || k < v.chars) {
		v.chars = k
	}
	return v, nil
}

func finds(t *term, args []value) (value, error) {
	if err := texts(t, args); err != nil {
		return value{}, err
	}
	return function(t.op, t.typ.OID, args[0].bounded(), args[1].bounded()), nil
}

func splits(t *term, args []value) (value, error) {
	if err := texts(t, args[:2]); err != nil {
		return value{}, err
	}
	n, ok := atoi(args[2].text)
	if args[2].kind != kConst || !ok || n == 0 || args[1].kind != kConst {
		return value{}, refuse(t, "Write split_part(x, ',', 1).", "delimiter and number of split_part must be "+
			"constants, the number not 0")
	}
	v := function("split_part", oidText, args[0].bounded(), args[1].asText(), args[2])
	v.chars = maxRead
	return v, nil
}

func replaces(t *term, args []value) (value, error) {
	if err := texts(t, args); err != nil {
		return value{}, err
	}
	if args[1].kind != kConst || args[2].kind != kConst {
		return value{}, refuse(t, "Write replace(x, 'a', 'b').", "what replace looks for, and what it puts there, "+
			"must be constants")
	}
	x := args[0].bounded()
	chars := x.chars * max(1, (len(args[2].text)+max(1, len(args[1].text))-1)/max(1, len(args[1].text)))
	if chars > maxMade {
		return value{}, tooMuch(t)
	}
	v := function("replace", oidText, x, args[1].asText(), args[2].asText())
	v.chars = chars
	return v, nil
}

// shown is the length of the longest text form of a value that is not text.
const shown = 20_000

func joins(t *term, args []value) (value, error) {
	chars := 0
	for i, a := range args {
		switch c := a.class(); {
		case c == text || c == padded && t.op == "||":
			args[i] = a.bounded()
			chars += args[i].chars
		case c == padded: // concat shows the blanks
			chars += max(a.chars, 0)
			if a.chars < 0 {
				args[i] = a.bounded()
				chars += maxRead
			}
		case c == null:
		default:
			if c == numeric {
				args[i] = a.limit(300)
			}
			if t.op == "||" {
				args[i].term = cast(args[i].term, plain(oidText))
			}
			chars += shown
		}
	}

	// What a row is joined to has to fit in memory, whatever its columns hold.
	if chars > maxMade {
		return value{}, tooMuch(t)
	}
	v := function(t.op, oidText, args...)
	v.chars = chars
	return v, nil
}

func pads(t *term, args []value) (value, error) {
	if err := texts(t, append([]value{args[0]}, args[2:]...)); err != nil {
		return value{}, err
	}
	n, ok := atoi(args[1].text)
	if args[1].kind != kConst || !ok || n > 10000 {
		return value{}, refuse(t, "Write "+t.op+"(x, 10, '0').", "the length of %s must be a constant up to 10000",
			t.op)
	}
	for i := range args {
		if i != 1 {
			args[i] = args[i].asText()
		}
	}
	v := function(t.op, oidText, args...)
	v.chars = max(n, 0)
	return v, nil
}

func likes(t *term, args []value) (value, error) {
	if err := texts(t, args); err != nil {
		return value{}, err
	}

	p := args[1]
	if p.kind == kNull {
		return rebuild(t, oidBool, args), nil
	}
	if p.kind != kConst {
		return value{}, refuse(t, "Write LIKE 'a%', or strpos(x, y) > 0, starts_with(x, y).",
			"the pattern of LIKE must be a constant")
	}

	// A pattern that ends with its escape character fails when it is read, in a row.
	if n := len(p.text) - len(strings.TrimRight(p.text, `\`)); n%2 == 1 {
		return value{}, refuse(t, `Double the backslash: 'a\\'.`, "the pattern of LIKE must not end with its escape "+
			"character")
	}
	if args[0].class() == text {
		args[0] = args[0].bounded()
	}
	args[1] = p.pattern()
	return rebuild(t, oidBool, args), nil
}
