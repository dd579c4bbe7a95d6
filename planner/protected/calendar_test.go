package protected_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fugu/parser"
	"fugu/planner/protected"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// The words that date_trunc, EXTRACT and to_char know, and some beside.
var (
	periods = strings.Fields("microseconds second hour day week month quarter year decade century millennium")
	fields  = append(strings.Fields("epoch julian dow isodow doy isoyear timezone"), periods...)
	clock   = strings.Fields("timezone hour second microseconds")
	formats = append(strings.Fields(`YYYY IYYY YY IY MM MON Mon Month DD DDD D ID Day DY WW IW W Q J HH24 MI SS TZ RM CC
		AD YYYY-MM FMMonth "Q"Q`), "IYYY-IW", "DD.MM.YYYY", `"week "W`)
)

var column = parser.Column{Name: "d"}

func word(text string) parser.Expr { return parser.Const{Kind: parser.String, Text: text} }

func call(name string, args ...parser.Expr) parser.Expr { return parser.Func{Name: name, Args: args} }

func cast(e parser.Expr, typ string) parser.Expr {
	return parser.Cast{X: e, Type: `pg_catalog."` + typ + `"`}
}

// questions are all that can be asked of the column in one of its forms.
func questions() []parser.Expr {
	day, utc := cast(column, "date"), call("timezone", word("UTC"), column)
	out := []parser.Expr{column, day, cast(day, "timestamp"), parser.Binary{Op: "=", L: day, R: word("2024-02-29")}}
	for _, moment := range []parser.Expr{column, day, utc} {
		for _, p := range periods {
			out = append(out, call("date_trunc", word(p), moment))
		}
		for _, f := range fields {
			if _, date := moment.(parser.Cast); date && slices.Contains(clock, f) {
				continue // PostgreSQL knows no such field of a date
			}
			out = append(out, call("extract", word(f), moment))
		}
	}
	for _, f := range formats {
		out = append(out, call("to_char", column, word(f)))
	}
	out = append(out, call("date_trunc", word("month"), column, word("UTC")),
		call("date_trunc", word("month"), column, word("Asia/Tokyo")),
		call("date_trunc", word("Day"), call("timezone", word("Asia/Tokyo"), column)),
		call("lower", call("to_char", column, word("Month"))))
	return out
}

// What is said to be the same all through each unit of a calendar is: PostgreSQL finds one value in each unit around
// the year 2000, whatever hour it is. And the questions that calendars are for are answered.
func TestEven(t *testing.T) {
	c := pgcluster.Shared(t)
	reader, err := upstream.OpenReader(c.DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	moments := "pg_catalog.generate_series('1998-12-25 00:00Z'::timestamptz, '2004-01-10', '7 hours')"

	for by, want := range map[string]int{"day": 70, "week": 12, "month": 30, "quarter": 23, "year": 20} {
		calendar := protected.Calendar{By: by}
		var even, checks []string
		for _, e := range questions() {
			if !calendar.Even(e, column, nil) {
				continue
			}
			sql := parser.SQL(e, "t", nil)
			even = append(even, sql)
			checks = append(checks, "pg_catalog.count(DISTINCT ("+sql+")::pg_catalog.text)")
		}
		if len(even) < want {
			t.Errorf("%s: only %d questions are even: %q", by, len(even), even)
		}

		sql := fmt.Sprintf("SELECT %s FROM %s AS t(d) GROUP BY date_trunc('%s', d, 'UTC')",
			strings.Join(checks, ", "), moments, by)
		rows, err := reader.Query(t.Context(), sql, nil, nil)
		if err != nil || len(rows) < 6 {
			t.Fatalf("%s: %d units, %v\n%s", by, len(rows), err, sql)
		}
		wrong := map[int]bool{}
		for _, r := range rows {
			for i, v := range r {
				if v.Text != "1" && !wrong[i] {
					wrong[i] = true
					t.Errorf("%s: %s has %s values in one unit", by, even[i], v.Text)
				}
			}
		}
	}
}

// A parameter is taken for a word that fits as long as it has no value, and for what it is afterwards. What is finer
// than a unit, or shifted against it, is not even.
func TestEvenOfParameters(t *testing.T) {
	month := protected.Calendar{By: "month"}
	asked := call("date_trunc", parser.Param{Number: 1}, column)
	for _, c := range []struct {
		e     parser.Expr
		given map[int]string
		want  bool
	}{
		{asked, nil, true},
		{asked, map[int]string{1: "Quarter"}, true},
		{asked, map[int]string{1: "day"}, false},
		{asked, map[int]string{2: "month"}, false},
		{parser.Column{Name: "other"}, nil, true},
		{parser.Column{Name: "d", Rel: 1}, nil, true},
		{column, nil, false},
		{cast(column, "date"), nil, false},
		{call("date_trunc", word("month"), call("timezone", word("Asia/Tokyo"), column)), nil, false},
		{call("date_trunc", word("month"), cast(column, "text")), nil, false},
		{call("to_char", column, word(`YYYY\MM`)), nil, false},
	} {
		if got := month.Even(c.e, column, c.given); got != c.want {
			t.Errorf("%s with %v: %t, want %t", parser.SQL(c.e, "t", nil), c.given, got, c.want)
		}
	}
}
