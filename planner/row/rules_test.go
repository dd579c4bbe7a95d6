package row

import (
	"slices"
	"testing"

	"fugu/parser"
	"fugu/sqlstate"
)

// Every function that the parser reads has a rule, or is another spelling of one that has; and the reverse.
func TestRules(t *testing.T) {
	spellings := []string{"char_length", "character_length", "ceiling", "pow", "substr", "position", "mod", "log10"}
	names := parser.FunctionNames()
	for _, name := range names {
		if _, ok := rules[name]; !ok && !slices.Contains(spellings, name) && name != "like_escape" {
			t.Errorf("no rule for %s", name)
		}
	}
	for name := range rules {
		if c := name[0]; c >= 'a' && c <= 'z' && name != opNegate && !slices.Contains(names, name) {
			t.Errorf("the parser does not read %s", name)
		}
	}
}

// What is refused is refused with a place and with what to write instead.
func TestRefused(t *testing.T) {
	s := connect(t)
	for _, e := range []string{
		"json = '{}'", "json::text = 'x'", "ip < '1.1.1.1'", "lower(e::text) = 'x' AND ip = '::1'", "e < e || 'x'",
		"round(n, i4) > 1", "power(i4, j4) > 1", "power(f8, 9) > 1", "log(n, m) > 1", "log(1, n) > 1",
		"width_bucket(n, 0, m, 10) = 1", "width_bucket(n, 5, 5, 10) = 1", "width_bucket(n, 0, 5, 0) = 1", "s LIKE v",
		`s LIKE 'a\'`, `s LIKE 'a!' ESCAPE '!'`, "substring(s FROM 'a.*') = 'x'", "split_part(s, ',', 0) = 'x'",
		"split_part(s, v, 1) = 'x'",
		"replace(s, v, 'x') = 'x'", "lpad(s, i4) = 'x'", "lpad(s, 100000) = 'x'", "btrim(s, v) = 'x'",
		"date_trunc('fortnight', ts) > '2020-01-01'", "date_trunc(s, ts) > '2020-01-01'",
		"extract(hour FROM d) = 1", "extract(timezone FROM tz) = 1", "date_part(s, d) = 1",
		"to_char(ts, 'TMMonth') = 'x'", "to_char(ts, s) = 'x'", "to_char(n, '999') = 'x'", "to_date(s, 'YYYY') > d",
		"ts + iv > ts", "iv * 2 > iv", "ts + interval '5000 years' > ts", "ts AT TIME ZONE s > ts",
		"ts AT TIME ZONE 'Atlantis/X' > ts", "date_bin('1 month', ts, '2001-01-01') > ts",
		"date_bin('0 days', ts, '2001-01-01') > ts", "replace(s, 'a', '" + string(make30()) + "') = 'x'",
		"s::interval > iv", "u::int4 = 1", "i4 = ANY('{{1}}')", "i4 = 'x'", "i4 = ANY('{x}')",
		"d > 'yesterday morning'", "i4 > 1 / 0", "i4", "b > 3", "d = i4",
	} {
		_, err := s.condition(t.Context(), e)
		checkRefusal(t, e, err)
	}
}

func make30() []byte { return slices.Repeat([]byte("x"), 30) }

func checkRefusal(t *testing.T, source string, err error) {
	t.Helper()
	e := sqlstate.As(err)
	switch {
	case err == nil:
		t.Errorf("%s is taken", source)
	case e.Code == sqlstate.InternalError:
		t.Errorf("%s: %v", source, err)
	case e.Code == sqlstate.NotAnswerable && (e.Position <= len("SELECT count(") || e.Hint == ""):
		t.Errorf("%s: %s at %d, hint %q", source, e.Message, e.Position, e.Hint)
	}
	t.Logf("%s: %s %s at %d (%s)", source, e.Code, e.Message, e.Position, e.Hint)
}
