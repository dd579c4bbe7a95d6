package row

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"fugu/parser"
	"fugu/test/patient"
)

// edges are values at which operations begin and cease to fail, by column.
var edges = map[string]string{
	"i2": "0 1 -1 2 32767 -32768 181 182",
	"i4": "0 1 -1 2 -2 100 32767 32768 -32769 46340 46341 65536 2147483647 -2147483648 1000000 -1000000 1000001 " +
		"2000000",
	"j4": "0 1 -1 3 -7 2147483647 -2147483648 46341 400000",
	"i8": "0 1 -1 2147483647 2147483648 -2147483649 3037000499 3037000500 9223372036854775807 -9223372036854775808 " +
		"32768",
	"n": "0 1 -1 0.5 1.5 -0.5 32767.4999 32767.5 -32768.5 -32768.50001 2147483647.4999 2147483647.5 -2147483648.5 " +
		"9223372036854775807.4999 9223372036854775807.5 -9223372036854775808.5 999.994 999.995 -999.995 99.5 1e15 " +
		"1e-5 123456789.123456789 1e38 3.4028235677e38 3.4028236e38 1e-46 1e-300 1e-330 1e308 1.8e308 1e400 " +
		"-1e130000 NaN Infinity -Infinity 1e-16000",
	"m": "0 1 -1 0.01 99999999.99 -99999999.99 999.99 999.995 NaN",
	"f8": "0 -0 1 -1 0.5 1.5 2.5 -0.5 32767.499999 32767.5 -32768.5 -32768.500001 2147483647.4999998 2147483647.5 " +
		"-2147483648.5 -2147483648.5000005 9223372036854774784 9223372036854775808 -9223372036854775808 " +
		"-9223372036854777856 709.782712893384 709.7827128933841 -745.1332191019411 -745.1332191019412 -708.4 -740 " +
		"1e150 1e-150 1e100 1e-100 1.5e200 1e-200 1e308 -1.7976931348623157e308 5e-324 -5e-324 " +
		"2.2250738585072014e-308 3.4028234663852886e38 3.4028235677973362e38 3.4028235677973366e38 1e39 1.4e-45 " +
		"7e-46 1e-60 NaN Infinity -Infinity 253402300799.5 253402300800 -62135596800 -62135596801.5",
	"f4": "0 -0 1 -1 0.5 1.5 3.4028235e38 -3.4028235e38 1.4e-45 1e-38 1e30 1e-30 32767.5 2147483647 2147483520 NaN " +
		"Infinity -Infinity",
	"s": "|0|1|-1|+7| 8 |2147483647|2147483648|-2147483649|9223372036854775808|1.5|1e3|1e400|.|-|0x1F|1_000|NaN|inf|" +
		"t|TRUE|yes|of|2|true |abc|2000-02-29|1900-02-29|2100-02-29|2023-02-29|2024-02-29|2023-04-31|2023-04-30|" +
		"2023-12-31|2023-13-01|2023-00-10|2023-01-00|0000-01-01|0001-01-01|9999-12-31|10000-01-01|2023-1-1|20230101|" +
		"2023-01-01 12:34|2023-01-01T12:34:56.123456|2023-01-01 24:00:00|2023-01-01 23:59:60|2023-01-01 25:00|" +
		"infinity|now|4000-02-29|0400-02-29|0100-02-29|12:00|23:59:59.999999|00000000-0000-0000-0000-0000000000ff|" +
		"{00000000-0000-0000-0000-0000000000ff}|2023-06-31|2023-09-31|2023-11-31|2023-02-30|2023-02-31|2023-01-32",
	"d": "2020-02-29|0001-01-01|0001-12-31 BC|9999-12-31|10000-01-01|4714-11-24 BC|4714-12-01 BC|5874897-12-31|" +
		"infinity|-infinity|1970-01-01|2000-12-31|294276-12-31|294277-01-01",
	"ts": "2020-02-29 12:34:56.789|0001-01-01|0001-12-31 23:59:59.999999 BC|9999-12-31 23:59:59.999999|10000-01-01|" +
		"4714-11-24 BC|294276-12-31 23:59:59.999999|infinity|-infinity|1970-01-01",
	"tz": "2020-02-29 12:34:56.789+00|0001-01-01 00:00:00+00|9999-12-31 23:59:59.999999+00|10000-01-01 00:00:00+00|" +
		"infinity|-infinity|294276-12-31 23:59:59.999999+00|4714-11-24 00:00:00+00 BC",
	"tm": "00:00|24:00|12:34:56.789|23:59:59.999999",
}

// fillEdges makes rows of random edges, of which NULL is one.
func (s *server) fillEdges(t *testing.T, rows int) {
	t.Helper()
	g := rand.New(rand.NewPCG(*seed, 3))
	var sql strings.Builder
	names := []string{"i2", "i4", "j4", "i8", "n", "m", "f8", "f4", "s", "d", "ts", "tz", "tm"}
	for id := range rows {
		values := []string{itoa(id)}
		for _, name := range names {
			list := strings.Fields(edges[name])
			if strings.Contains(edges[name], "|") {
				list = strings.Split(edges[name], "|")
			}
			v := parser.QuoteLiteral(list[(id+g.IntN(2)*g.IntN(len(list)))%len(list)])
			if g.IntN(15) == 0 {
				v = "NULL"
			}
			values = append(values, v)
		}

		fmt.Fprintf(&sql, "INSERT INTO public.y (id, %s) VALUES (%s);", strings.Join(names, ", "),
			strings.Join(values, ", "))
	}
	if _, err := s.Exec(t.Context(), sql.String()).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// edgeTable lists expressions, several a line. Marked is what may be NULL although PostgreSQL has a value, y beyond the
// years 1 to 9999, f for NaN, infinity, the ends of floating point and texts of other forms; and x, where such a NULL
// makes another value of it.
const edgeTable = `
i2 + i2; i4 + j4; i4 - j4; i4 * j4; i8 + 1; i8 * i8; i8 - i4; i2 * i2 * i2; -i4; -i8; -i2; abs(i4); abs(i8); i4 / j4
i4 % j4; i8 / j4; i8 % j4; i8 / -1; i8 % -1; i2 / i2
i8::int4; i8::int2; i4::int2; (i4 * j4)::int4; (i4 * j4)::int8; (i8 * i8)::int8; i4::bool; i4::text; (i4 * j4)::text
(i4 + 1)::int2; (-i4)::int4; abs(i4)::int4; left(s, -i4); (-i2)::int2
n::int2; n::int4; n::int8; m::int4; f8::int2; f8::int4; f8::int8; f4::int2; f4::int4; f4::int8; n::numeric(5,2) f
m::numeric(5,2) f; f8::numeric(5,2) f; n::numeric(3) f; n::numeric(2,4) f; m::numeric(4,1) f
n::float8 f; n::float4 f; m::float8; f8::float4 f; f4::float8; f8::numeric; f4::numeric; i8::float4; i8::float8
n::float8::float4 f
m + m; m * m; m / m; m % m; m - 1; n + n f; n * n f; n / n f; n / m f; n % m f; n - m f; div(n, m) f; mod(i8, i4)
n > f8 f; n = f4 f; f8 = f4; i8 < f8; n BETWEEN f8 AND f4 f
f8 + f8 f; f8 * f8 f; f8 / f8 x; f8 - f4 f; f8 * 2 f; f8 / 3 f; f4 * f4 f; f4 + f4 f; f4 / f4 f; 1 / f8 f
f8 * f8 * f8 f; f8 + 1e306::float8 f; f4 * i4 f
sqrt(f8); sqrt(n) f; sqrt(i4); cbrt(f8); exp(f8) f; exp(m) f; ln(f8); ln(n) f; log(f8); log(n) f; log(2, n) f
log(10.0, m); power(f8, 2) f; power(f8, -1) f; power(f8, 0.5) f; power(n, 2.0) f; power(n, 0.5) f; i4 ^ 2; f8 ^ 3 f
power(m, -2.0) f; power(f8, 8) f; power(f8, 0) f
round(f8); round(n) f; round(m, 1); round(n, 2) f; trunc(n, -1) f; ceil(f8); floor(n) f; sign(n) f; abs(n) f; abs(f8)
abs(f4); -f8; -n f; width_bucket(f8, 0, 100, 10) f; width_bucket(n, 0, 100, 10) f; width_bucket(i4, 0, 100, 10)
s::int2 f; s::int4 f; s::int8 f; s::numeric f; s::numeric(4,1) f; s::float8 f; s::float4 f; s::bool; s::date f
s::timestamp f; s::timestamptz f; s::time f; s::uuid f
d + 1 y; d - 30 y; d + i4 y; d - j4 y; d - d y; d - date '2000-01-01' y; d + i2 y; ts - ts y; ts + interval '1 month' y
d + interval '1 day' y; tz - interval '1000 years' y; ts + interval '1000 years' y; d::timestamp y; d::timestamptz y
ts::date; tz::date; ts::timestamptz; tz::timestamp; ts::time; d + tm y; tm - tm; tm + interval '1 hour'
ts::timestamp(0) y; ts - d y; d - ts y
d < ts; d = tz; ts >= tz; d BETWEEN ts AND tz; extract(year FROM d); extract(epoch FROM d); extract(epoch FROM ts)
extract(dow FROM ts); extract(week FROM d); extract(century FROM tz); extract(julian FROM ts); extract(hour FROM tm)
extract(second FROM tm); date_part('year', d) y; date_part('epoch', ts)
date_trunc('century', ts) y; date_trunc('week', d) y; date_trunc('millennium', tz) y
date_trunc('day', tz, 'Europe/Berlin') y; to_char(d, 'YYYY-MM-DD Dy') y; to_char(ts, 'IYYY-IW HH24:MI') y
ts AT TIME ZONE 'America/New_York' y; tz AT TIME ZONE 'Asia/Kolkata' y; date_bin('15 minutes', ts, '2001-01-01') y
date_bin('7 days', tz, '2001-01-01') y; to_timestamp(f8) y; extract(year FROM ts)::int; (d - d) * i4 y
extract(epoch FROM ts)::int8
left(s, i4); right(s, i4); right(s, j4); substring(s, i4, j4); substring(s, i4); substring(s FROM 2 FOR i2); lpad(s, 5)
split_part(s, '-', -2); replace(s, '', 'x'); strpos(s, ''); s || i8; s || n f; concat(s, n, f8) x; ascii(s)
lower(s); upper(s); initcap(s); concat_ws('-', s, i4); rpad(s, 5, '*'); s LIKE '%1%'; s NOT LIKE '2023-__-%'
s ILIKE '%T%'; s NOT ILIKE 'n%'
nullif(n, f8) f; coalesce(f4, n) f; greatest(f4, n) x; CASE WHEN i4 > 0 THEN n ELSE f4 END f; coalesce(i2, i8 * i8)
greatest(i4 * j4, n) f; least(d, ts) x; nullif(i4 * j4, 0); coalesce(i4 * i4 * i4 * i4, 0)::float8
CASE WHEN i4 > 0 THEN ts ELSE d END y; i4 IN (n, f8) f; (i4 * j4 * i4) % 7; (i8 * i8) / i8; greatest(i8 * i8, 5) % j4
`

// edgeExpression is one of the table, and its mark: "y", "f", "x" or none.
type edgeExpression struct{ source, mark string }

func edgeExpressions() []edgeExpression {
	var out []edgeExpression
	for _, line := range strings.Split(strings.TrimSpace(edgeTable), "\n") {
		for _, item := range strings.Split(line, "; ") {
			e := edgeExpression{source: item}
			for _, mark := range []string{"y", "f", "x"} {
				if source, ok := strings.CutSuffix(item, " "+mark); ok {
					e = edgeExpression{source, mark}
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// Each operation alone, at the values where it begins and ceases to fail: the total form fails nowhere and has
// PostgreSQL's value where that has one, but for what the rules say.
func TestEdges(t *testing.T) {
	patient.Test(t)
	s := connect(t)
	s.fillEdges(t, 300)
	for _, e := range edgeExpressions() {
		s.tryEdges(t, e.source, e.mark)
	}
}

// tiny are values that may have become zero.
var tiny = regexp.MustCompile(`^=-?[0-9.]+e-(1[0-9]{2}|[23][0-9]{2}|4[345])$`)

// tryEdges compares one expression; mark is as in edgeTable.
func (s *server) tryEdges(t *testing.T, e, mark string) {
	t.Helper()
	x, err := parse(e)
	if err != nil {
		t.Errorf("%s: %v", e, err)
		return
	}

	form, err := s.bind(t.Context(), Root{Expr: x})
	if err != nil {
		t.Errorf("%s: %v", e, err)
		return
	}
	r := s.ExecParams(t.Context(), "SELECT t.id::text, ("+form+")::text, public.attempt($1, t.id, 'y') "+
		"FROM public.y AS t ORDER BY t.id", [][]byte{[]byte(e)}, nil, nil, nil).Read()
	if r.Err != nil {
		t.Errorf("%s\nfails: %v\nas %s", e, r.Err, shorten(form))
		return
	}

	values, nulls := 0, 0
	for _, row := range r.Rows {
		want, have := string(row[2]), "NULL"
		if row[1] != nil {
			have = "=" + string(row[1])
		}
		if strings.HasPrefix(want, "ERROR") {
			continue
		}
		if want != "NULL" && !strings.HasSuffix(want, "infinity") { // from version 17 on, where times are subtracted
			values++
		}
		switch {
		case mark == "x":
		case mark != "" && have == "NULL" && strings.HasSuffix(want, "infinity"):
		case mark != "" && have == "NULL" && want != "NULL":
			nulls++
		case mark == "f" && tiny.MatchString(want):
		case !same(have, want):
			t.Errorf("%s\nrow %s: got %s, want %s\nas %s", e, row[0], have, want, shorten(form))
			return
		}
	}

	if values < 5 || nulls > values*3/4 {
		t.Errorf("%s: %d values, of which %d are NULL", e, values, nulls)
	}
}
