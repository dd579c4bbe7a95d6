package build

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/channel"
	"fugu/internal/hook"
	"fugu/parser"
	"fugu/policy"
	"fugu/twin/columns"
)

// released is a column with the law that it is shown by, and the use of secret numbers that its draws are.
type released struct {
	columns.Law
	use      string
	outcomes []int // by class of the twin, of the secret that the column hides
	tells    *columns.Distribution
}

// keyOf is a value as it is looked up: NULL is told from every text.
func keyOf(v policy.Value) string {
	if v.IsNull {
		return "null"
	}
	return "is " + v.Text
}

// value is the SQL of what a row r shows in the column, as a text. The draw is by a secret number
// of the row and of what it holds, which is the same for each of its copies and in every build; were the number the
// row's alone, who sees a row before and after its value was corrected could rule out what is true.
func (s released) value(of *source) string {
	column := "r." + parser.QuoteIdent(s.Column)
	own := `pg_catalog.convert_to(CASE WHEN ` + column + ` IS NULL THEN 'null' ELSE 'is ' || ` + column +
		`::pg_catalog.text END, 'UTF8')`
	row := `r."fugu h"`
	if hook.TwinColumnsByPlace {
		row = `pg_catalog.int8send(r."fugu n")`
	}
	random := secretOf(row+` || `+own, s.use, of, s.Column)
	if hook.TwinColumnsByRow {
		random = secretOf(row, "column", of, s.Column)
	}
	if hook.TwinColumnsAnew {
		random = `pg_catalog.uuid_send(pg_catalog.gen_random_uuid())`
	}
	draw := `('x' || pg_catalog.encode(pg_catalog.substr(` + random + `, 1, 6), 'hex'))::bit(48)::int8`

	// The place of a row's value among the keys, which are in the order of their bytes. One that the reference does not
	// have counts as its most frequent one.
	t := s.thresholds()
	keys := `'{` + strings.Join(t.keys, ",") + `}'::bytea[]`
	found := fmt.Sprintf(`pg_catalog.width_bucket(%s, %s)`, own, keys)
	place := fmt.Sprintf(`CASE WHEN (%s)[%s] = %s THEN %s - 1 ELSE %d END`, keys, found, own, found, t.usual)
	if len(s.Channels) > 1 {
		place = fmt.Sprintf(`('{%s}'::int4[])[r."fugu class" + 1] * %d + %s`, integers(s.outcomes), len(s.Values),
			place)
	}

	// The rows of all channels lie one behind the other on the whole numbers, each Whole long.
	entry := fmt.Sprintf(`pg_catalog.width_bucket((%s)::int8 * %d + %s, '{%s}'::int8[])`, place, int64(channel.Whole),
		draw, integers(t.lower))
	return fmt.Sprintf(`(ARRAY[%s]::text[])[('{%s}'::int4[])[%s]]`, strings.Join(t.values, ", "), integers(t.output),
		entry)
}

// thresholds are the channels of a column as SQL looks values up in them.
type thresholds struct {
	keys   []string // of the true values, as literals of bytes in an array, in the order of the bytes
	usual  int      // which of them is the most frequent one's
	values []string // that are shown, as literals
	lower  []int64  // of each entry, the least number that draws it: beyond Whole times its row
	output []int    // of each entry, the place of what is shown among values, from 1
}

// thresholds lays the channels out, outcome by outcome, each with its true values in the order of the keys.
func (s released) thresholds() (t thresholds) {
	order := make([]int, len(s.Values))
	for i, v := range s.Values {
		order[i] = i
		if v.IsNull {
			t.values = append(t.values, "NULL")
		} else {
			t.values = append(t.values, parser.QuoteLiteral(v.Text))
		}
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(keyOf(s.Values[a]), keyOf(s.Values[b])) })
	for place, x := range order {
		t.keys = append(t.keys, fmt.Sprintf(`"\\x%x"`, keyOf(s.Values[x])))
		if x == s.Usual {
			t.usual = place
		}
	}

	// The thresholds of all channels follow one another, so that one number finds the output of any row.
	next := int64(0)
	for _, matrix := range s.Channels {
		for _, x := range order {
			for _, e := range matrix[x] {
				t.lower, t.output = append(t.lower, next), append(t.output, e.Output+1)
				next += int64(e.Weight)
			}
		}
	}
	return t
}

// integers are whole numbers as an array's literal has them.
func integers[N int | int64](numbers []N) string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.FormatInt(int64(n), 10)
	}
	return strings.Join(out, ",")
}

// loosenColumns takes NOT NULL from columns that may show NULL, because rows of the reference have it.
func (s *source) loosenColumns(show []released) {
	for _, r := range show {
		i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == r.Column })
		if slices.ContainsFunc(r.Values, func(v policy.Value) bool { return v.IsNull }) {
			s.columns[i].notNull = false
		}
	}
}

// entry is a probability of a channel in channelsTable.
type entry struct {
	Outcome *string `json:"outcome"` // of the secret that is hidden; nil: whatever it is
	From    *string `json:"from"`    // nil: NULL
	To      *string `json:"to"`
	Weight  uint64  `json:"weight"` // of channel.Whole
}

// promise is what may be known of the column.
func (s released) promise() ShownColumn {
	return ShownColumn{Column: s.Column, Obfuscate: s.Obfuscate, Transport: s.Transport, Rows: s.Rows,
		Radius: s.Radius, Leakage: s.Leakage, Promise: s.Words(), Distribution: s.tells}
}

// entries are the probabilities of the channel. Of an outcome that no class of the twin has they are left out.
func (s released) entries() (out []entry) {
	text := func(v policy.Value) *string {
		if v.IsNull {
			return nil
		}
		return &v.Text
	}

	for outcome, matrix := range s.Channels {
		var of *string
		if s.Transport != nil {
			name := s.Transport.Hide + "=" + [...]string{"true", "false", "null"}[outcome]
			of = &name
		}
		if !slices.Contains(s.outcomes, outcome) {
			continue
		}

		// An entry that is not there has probability 0.
		for x, row := range matrix {
			for _, e := range row {
				out = append(out, entry{of, text(s.Values[x]), text(s.Values[e.Output]), e.Weight})
			}
		}
	}
	return out
}
