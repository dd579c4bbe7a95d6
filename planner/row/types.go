package row

import (
	"context"
	"math"
	"strconv"
	"strings"
)

// Description holds what PostgreSQL resolves a statement to: type OIDs, and the result columns' type modifiers, -1 for
// none.
type Description struct {
	ParamTypes  []uint32
	ResultTypes []uint32
	ResultMods  []int32
}

// Value is a value in PostgreSQL's text form.
type Value struct {
	Text string
	Null bool
}

// Database is asked for types, and for the values of constants.
type Database interface {
	// Describe says what a statement resolves to, without running it.
	Describe(ctx context.Context, sql string, paramTypes []uint32) (Description, error)
	Evaluator
}

// Evaluator is asked for the values of constants.
type Evaluator interface {
	// Evaluate runs a statement that names no table but the catalog's. Its error is PostgreSQL's, for the client.
	Evaluate(ctx context.Context, sql string, params [][]byte, paramTypes []uint32) ([][]Value, error)
}

// Type OIDs (pg_type.dat).
const (
	oidBool, oidName, oidInt8, oidInt2, oidInt4, oidText = 16, 19, 20, 21, 23, 25
	oidFloat4, oidFloat8, oidUnknown, oidBpchar          = 700, 701, 705, 1042
	oidVarchar, oidDate, oidTime, oidTimestamp           = 1043, 1082, 1083, 1114
	oidTimestamptz, oidInterval, oidNumeric, oidUUID     = 1184, 1186, 1700, 2950
	oidMoney                                             = 790
	firstUser                                            = 16384 // objects that users create have OIDs from here on
)

// class is a family of types whose values mean the same.
type class int

const (
	other class = iota
	null        // NULL of no type yet
	boolean
	integer // int2, int4, int8: below the cut they overflow nowhere, so they are one
	numeric
	single // float4
	double
	text   // text, varchar, name
	padded // char(n), whose trailing blanks do not count
	date
	clock // time
	timestamp
	timestamptz
	interval
	uuid
	enum
)

var classes = map[uint32]class{
	oidUnknown: null, oidBool: boolean, oidInt2: integer, oidInt4: integer, oidInt8: integer, oidNumeric: numeric,
	oidFloat4: single, oidFloat8: double, oidText: text, oidVarchar: text, oidName: text, oidBpchar: padded,
	oidDate: date, oidTime: clock, oidTimestamp: timestamp, oidTimestamptz: timestamptz, oidInterval: interval,
	oidUUID: uuid,
}

var typeNames = map[uint32]string{
	oidBool: "bool", oidInt2: "int2", oidInt4: "int4", oidInt8: "int8", oidNumeric: "numeric", oidFloat4: "float4",
	oidFloat8: "float8", oidText: "text", oidVarchar: "varchar", oidName: "name", oidBpchar: "bpchar",
	oidDate: "date", oidTime: "time", oidTimestamp: "timestamp", oidTimestamptz: "timestamptz",
	oidInterval: "interval", oidUUID: "uuid",
}

var typeOIDs = func() map[string]uint32 {
	out := map[string]uint32{}
	for oid, name := range typeNames {
		out[name] = oid
	}
	return out
}()

// elements are the element types of array types.
var elements = map[uint32]uint32{1000: oidBool, 1003: oidName, 1005: oidInt2, 1007: oidInt4, 1016: oidInt8,
	1231: oidNumeric, 1021: oidFloat4, 1022: oidFloat8, 1009: oidText, 1015: oidVarchar, 1014: oidBpchar,
	1182: oidDate, 1183: oidTime, 1115: oidTimestamp, 1185: oidTimestamptz, 2951: oidUUID}

// natural is the type in which values of a class are computed.
var natural = map[class]uint32{boolean: oidBool, integer: oidInt8, numeric: oidNumeric, single: oidFloat4,
	double: oidFloat8, text: oidText, padded: oidBpchar, date: oidDate, clock: oidTime, timestamp: oidTimestamp,
	timestamptz: oidTimestamptz, interval: oidInterval, uuid: oidUUID}

func (c class) String() string {
	switch c {
	case integer:
		return "integer"
	case null:
		return "unknown"
	case enum:
		return "enum"
	case other:
		return "its type"
	}
	return typeNames[natural[c]]
}

// number reports whether values of the class can be added.
func (c class) number() bool { return c >= integer && c <= double }

// moment reports whether values of the class are points of time with a date.
func (c class) moment() bool { return c == date || c == timestamp || c == timestamptz }

// Type is a type with its modifier, -1 for none.
type Type struct {
	OID uint32
	Mod int32
}

func plain(oid uint32) Type { return Type{oid, -1} }

// sql is the type's name, with schema and modifier.
func (t Type) sql() string {
	name := `pg_catalog."` + typeNames[t.OID] + `"`
	if p, s, ok := t.decimal(); ok {
		return name + "(" + itoa(p) + "," + itoa(s) + ")"
	}
	if n, ok := t.length(); ok {
		return name + "(" + itoa(n) + ")"
	}
	return name
}

// decimal gives precision and scale of numeric(p,s).
func (t Type) decimal() (p, s int, ok bool) {
	if t.OID != oidNumeric || t.Mod < 4 {
		return 0, 0, false
	}
	m := t.Mod - 4
	s = int(m & 0x7ff)
	if s > 1023 { // eleven bits, signed
		s -= 2048
	}
	return int(m >> 16 & 0xffff), s, true
}

// length gives the characters of varchar(n) and char(n), and the digits of a second of time(n) and its like.
func (t Type) length() (int, bool) {
	switch t.OID {
	case oidVarchar, oidBpchar:
		return int(t.Mod) - 4, t.Mod >= 4
	case oidTime, oidTimestamp, oidTimestamptz:
		return int(t.Mod), t.Mod >= 0
	}
	return 0, false
}

// parseType reads the type of a parser.Cast: pg_catalog."name" with modifiers, and [] for an array.
func parseType(sql string) (Type, bool) {
	sql, array := strings.CutSuffix(sql, "[]")
	name, mods, _ := strings.Cut(strings.TrimPrefix(sql, `pg_catalog."`), `"`)

	t := plain(typeOIDs[name])
	if array {
		for a, e := range elements {
			if e == t.OID {
				return plain(a), true
			}
		}
		return t, false
	}

	if mods == "" {
		return t, true
	}

	var n []int
	for _, m := range strings.Split(strings.Trim(mods, "()"), ",") {
		v, ok := atoi(m)
		if !ok {
			return t, false
		}
		n = append(n, v)
	}

	// Modifiers are packed as PostgreSQL packs them.
	switch {
	case t.OID == oidNumeric && len(n) == 1:
		n = append(n, 0)
		fallthrough
	case t.OID == oidNumeric && len(n) == 2 && n[0] >= 1 && n[0] <= 1000 && n[1] >= -1000 && n[1] <= 1000:
		t.Mod = int32(n[0]<<16|n[1]&0x7ff) + 4
	case (t.OID == oidVarchar || t.OID == oidBpchar) && len(n) == 1 && n[0] >= 1 && n[0] <= 10485760:
		t.Mod = int32(n[0]) + 4
	case (t.OID == oidTime || t.OID == oidTimestamp || t.OID == oidTimestamptz) && len(n) == 1 && n[0] >= 0 &&
		n[0] <= 6:
		t.Mod = int32(n[0])
	default:
		return t, false
	}
	return t, n[0] <= math.MaxInt32
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil
}
