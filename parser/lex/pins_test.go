package lex

import (
	"testing"

	"fugu/sqlstate"
)

// What sets a pinned setting to another value is refused where its name stands; what keeps it, or only looks like it,
// is not.
func TestCheckPins(t *testing.T) {
	for sql, position := range map[string]int{
		"SET client_encoding = 'LATIN1'": 5, "set client_encoding to latin1": 5,
		"SET LOCAL client_encoding = LATIN1":          11,
		"SET SESSION \"client_encoding\" TO 'LATIN1'": 13, "SET NAMES 'LATIN1'": 5, "SET NAMES LATIN1": 5,
		"/* ü */ SET CLIENT_ENCODING='sql_ascii'": 13,
		"SET client_encoding = E'UTF8'":           5,
		"SET client_encoding = U&'UTF8'":          5, "SET client_encoding = 'UT'\n'F7'": 5,
		"SET client_encoding -- x\n = 'LATIN1'": 5,
		"SET standard_conforming_strings = off": 5, "SET standard_conforming_strings TO 0": 5,
		"SET LOCAL standard_conforming_strings = 'f'": 11,
		"SET standard_conforming_strings = 'no'":      5, "SELECT 'ü'; SET client_encoding = 'LATIN1'; SELECT 2": 17,
		"SELECT set_config('client_encoding', 'LATIN1', false)":                                          8,
		"SELECT pg_catalog.set_config ( 'Client_Encoding'::text , 'LATIN1', true)":                       19,
		"SELECT set_config('standard_conforming_strings', $1, false)":                                    8,
		"SELECT set_config(setting_name => 'client_encoding', new_value => 'LATIN1', is_local => false)": 8,
		"SELECT \"set_config\"('client_encoding', 'LATIN1', false)":                                      8,
		"BEGIN; SET standard_conforming_strings = off":                                                   12,
		"SET client_encoding = 'UTF8'; SET client_encoding = 'x'":                                        35,
	} {
		err := CheckPins(sql)
		if err == nil || sqlstate.As(err).Code != sqlstate.FeatureNotSupported || sqlstate.As(err).Fatal ||
			sqlstate.As(err).Position != position {
			t.Errorf("%s: %+v, want an error at %d", sql, err, position)
		}
	}
	for _, sql := range []string{"SELECT 1", "SET client_encoding = 'UTF8'", "SET client_encoding TO 'utf-8'",
		"set names 'UNICODE'", "SET NAMES", "SET NAMES DEFAULT",
		"SET client_encoding TO DEFAULT", "SET SESSION client_encoding = UTF8", "RESET client_encoding",
		"SHOW client_encoding", "SET standard_conforming_strings = on;",
		"SET LOCAL standard_conforming_strings TO 'true'", "SET standard_conforming_strings = 1",
		"SET standard_conforming_strings = t", "SET names.x = 1", "SET client_encoding.x = 1",
		"UPDATE t SET client_encoding = 'LATIN1'", "SELECT 'SET client_encoding = LATIN1'",
		"-- SET client_encoding = 'LATIN1'", "SELECT names FROM t",
		"SELECT set_config('client_encoding', 'UTF8', false)",
		"SELECT set_config('search_path', 'client_encoding', false)", "SELECT set_config(name, 'x', true) FROM names",
		"ALTER ROLE r SET client_encoding = 'LATIN1'", "SET search_path = names",
		"CREATE FUNCTION f() RETURNS int LANGUAGE sql SET client_encoding = 'LATIN1' AS 'SELECT 1'"} {
		if err := CheckPins(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
