package row

import "testing"

// Modifiers of types are packed as PostgreSQL packs them: they are what it says of a column of the same type.
func TestModifiersArePackedAsByTheServer(t *testing.T) {
	s := connect(t)
	for sql, written := range map[string]string{
		`pg_catalog."varchar"(7)`: "varchar(7)", `pg_catalog."bpchar"(3)`: "char(3)",
		`pg_catalog."numeric"(5)`: "numeric(5)", `pg_catalog."numeric"(5,2)`: "numeric(5,2)",
		`pg_catalog."numeric"(5,-2)`: "numeric(5,-2)", `pg_catalog."numeric"(1000,1000)`: "numeric(1000,1000)",
		`pg_catalog."time"(0)`: "time(0)", `pg_catalog."timestamp"(3)`: "timestamp(3)",
		`pg_catalog."timestamptz"(6)`: "timestamptz(6)", `pg_catalog."varchar"`: "varchar",
	} {
		read := s.ExecParams(t.Context(), "SELECT NULL::"+written, nil, nil, nil, nil).Read()
		if read.Err != nil {
			t.Fatal(read.Err)
		}
		want := read.FieldDescriptions[0]
		if got, ok := parseType(sql); !ok || got.OID != want.DataTypeOID || got.Mod != want.TypeModifier {
			t.Errorf("%s: %+v, %v, and the server has %d, %d", sql, got, ok, want.DataTypeOID, want.TypeModifier)
		}
	}

	for _, sql := range []string{`pg_catalog."varchar"(0)`, `pg_catalog."varchar"(10485761)`,
		`pg_catalog."varchar"(1,2)`, `pg_catalog."numeric"(0,0)`, `pg_catalog."numeric"(1001,2)`,
		`pg_catalog."timestamp"(7)`, `pg_catalog."time"(-1)`, `pg_catalog."int4"(3)`} {
		if got, ok := parseType(sql); ok {
			t.Errorf("%s is %+v", sql, got)
		}
	}
}
