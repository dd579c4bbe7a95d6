package row

import (
	"slices"
	"testing"
)

// The texts that are read without PostgreSQL's help are those that it would have written.
func TestCanonical(t *testing.T) {
	s := connect(t)
	for name, texts := range map[string][]string{
		"int4": {"1", "-5", "+7", "007", "2147483647", "-2147483648"}, "int8": {"9000000000", "0"},
		"numeric": {"1.50", "+2", ".5", "5.", "-0.0", "007.10", "0.000"}, "float8": {"1.5", "0", "100", "0.1", "-3"},
		"bool": {"t", "f", "true", "false"}, "date": {"2020-02-29", "1999-12-31"}, "text": {"a'b\\", "", " x "},
		"varchar":   {"a"},
		"timestamp": {"2020-02-29", "2020-02-29 12:34:56"}, "timestamptz": {"2020-02-29", "2020-02-29 12:34:56",
			"2020-02-29 12:34:56+00"},
	} {
		for _, text := range texts {
			got, ok := canonical(typeOIDs[name], text)
			rows, err := s.Evaluate(t.Context(), "SELECT $1::pg_catalog.text", [][]byte{[]byte(text)},
				[]uint32{typeOIDs[name]})
			if err != nil || !ok || got != rows[0][0].Text {
				t.Errorf("%s %q: %q, %v, and PostgreSQL writes %v, %v", name, text, got, ok, rows, err)
			}
		}
	}

	for name, texts := range map[string][]string{
		"int4": {"2147483648", "1.5", " 1", "0x10", "1_0", ""}, "int2": {"40000"}, "numeric": {"NaN", "1e3", "Infinity",
			"", "."}, "float8": {"1e3", "NaN"},
		"date": {"2023-02-29", "0999-01-01", "infinity", "20200101", "2020-1-1", "12020-01-01"}, "bool": {"y", "TRUE"},
		"name": {"x"}, "bpchar": {"x "}, "text": {"a\x00b", "a\xff"},
		"timestamp": {"2020-02-29T12:00:00", "2020-02-30 00:00:00", "0020-02-29 12:00:00", "2020-02-29 1:02:03",
			"2020-02-29 12:00:00.5"}, "uuid": {"00000000-0000-0000-0000-000000000001"},
	} {
		for _, text := range texts {
			if got, ok := canonical(typeOIDs[name], text); ok {
				t.Errorf("%s %q is read as %q", name, text, got)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	s := connect(t)
	for _, text := range []string{"1e10", "1.5e3", "1.50e1", "1e-3", "12.5e-2", "1e0", "5.", ".5", "0.50", "1E+5",
		"123456789012345678901234567890", "0.10e1", "12e-1", "2147483648", "9223372036854775808"} {
		rows, err := s.Evaluate(t.Context(), "SELECT ("+text+")::pg_catalog.text, pg_catalog.pg_typeof("+text+
			")::pg_catalog.oid::pg_catalog.text", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := numberConstant(text); c.text != rows[0][0].Text || itoa(int(c.typ.OID)) != rows[0][1].Text {
			t.Errorf("%s is %s of type %d, and for PostgreSQL %v", text, c.text, c.typ.OID, rows)
		}
	}
}

// What is read as an array is one for PostgreSQL too, of the same elements.
func TestArrayElements(t *testing.T) {
	s := connect(t)
	v := func(s ...string) (out []Value) {
		for _, x := range s {
			out = append(out, Value{x, x == "<null>"})
			if x == "<null>" {
				out[len(out)-1].Text = ""
			}
		}
		return out
	}
	for text, want := range map[string][]Value{
		`{}`: nil, `{ }`: nil, `{1,2}`: v("1", "2"), `{ 1 , 2 }`: v("1", "2"), `{"a,b","c\"d","","NULL"}`: v("a,b",
			`c"d`, "", "NULL"),
		`{a,NULL,null}`: v("a", "<null>", "<null>"), `{a\,b}`: v("a,b"), `{"x" ,y}`: v("x", "y"), `{a b}`: v("a b"),
	} {
		got, ok := arrayElements(text)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
		rows, err := s.Evaluate(t.Context(), "SELECT pg_catalog.unnest($1::pg_catalog.text[])", [][]byte{[]byte(text)},
			nil)
		if err != nil || !slices.EqualFunc(rows, got, func(r []Value, v Value) bool { return r[0] == v }) {
			t.Errorf("%s: %v, and for PostgreSQL %v, %v", text, got, rows, err)
		}
	}
	for _, text := range []string{``, `1,2`, `{1,2`, `{{1},{2}}`, `{1,}`, `{,1}`, `[0:1]={1,2}`, `{"a}`, `{"a"b}`,
		`{a"b"}`, `{a\`, `{1}2`} {
		if got, ok := arrayElements(text); ok {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func FuzzArrayElements(f *testing.F) {
	for _, s := range []string{`{1,2}`, `{"a,b",NULL,"c\"d"}`, `{a b, "" }`, `{{1}}`, `{\"a}`, `{"a"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := arrayElements(text)
		if ok && len(list) > len(text) {
			t.Errorf("%q has %d elements", text, len(list))
		}
	})
}
