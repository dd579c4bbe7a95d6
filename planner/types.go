package planner

import (
	"github.com/jackc/pgx/v5/pgtype"
)

// typeNames are the types that an expression can be grouped by.
var typeNames = map[uint32]string{16: "bool", pgtype.Int8OID: "int8", pgtype.Int2OID: "int2", pgtype.Int4OID: "int4", 25: "text", pgtype.Float4OID: "float4", pgtype.Float8OID: "float8",
	1042: "bpchar", 1043: "varchar", 1082: "date", 1083: "time", 1114: "timestamp", 1184: "timestamptz", pgtype.NumericOID: "numeric"}

// firstUser is the first OID that PostgreSQL gives to objects of users: of types, only enums come so far.
const firstUser = 16384

// numbers are the types that percentiles are answered of.
var numbers = []uint32{pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID}

// smallIntegers are int2 and int4, whose sums PostgreSQL makes in int8.
var smallIntegers = []uint32{pgtype.Int2OID, pgtype.Int4OID}
