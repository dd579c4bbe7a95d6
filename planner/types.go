package planner

import "github.com/jackc/pgx/v5/pgtype"

// typeNames are the types that an expression can be grouped by.
var typeNames = map[uint32]string{
	pgtype.BoolOID: "bool", pgtype.TextOID: "text", pgtype.BPCharOID: "bpchar", pgtype.VarcharOID: "varchar",
	pgtype.Int2OID: "int2", pgtype.Int4OID: "int4", pgtype.Int8OID: "int8", pgtype.NumericOID: "numeric",
	pgtype.Float4OID: "float4", pgtype.Float8OID: "float8",
	pgtype.DateOID: "date", pgtype.TimeOID: "time", pgtype.TimestampOID: "timestamp",
	pgtype.TimestamptzOID: "timestamptz",
}

// firstUser is the first OID that PostgreSQL gives to objects of users: of types, only enums come so far.
const firstUser = 16384

var (
	// smallIntegers are int2 and int4, whose sums PostgreSQL makes in int8.
	smallIntegers = []uint32{pgtype.Int2OID, pgtype.Int4OID}
	integers      = []uint32{pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID}

	// numbers are the types that aggregates have, and that percentiles are answered of.
	numbers = append([]uint32{pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID}, integers...)
)
