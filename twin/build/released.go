package build

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

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
}

// channelsName is the table of the channels of a build that goes on: of a column's number, the outcome of the secret
// that it hides, and a true value, the values that may be shown, each with the least number that draws it.
const channelsName = schema + `."~ channels"`

// layChannels writes that table.
func layChannels(ctx context.Context, db pgx.Tx, show []released) error {
	if len(show) == 0 {
		return nil
	}
	const room = `CREATE UNLOGGED TABLE ` + channelsName + ` (number int4, outcome int4,
		value text COLLATE pg_catalog."C", lower int8[], shown text[], PRIMARY KEY (number, outcome, value))`
	if _, err := db.Exec(ctx, room); err != nil {
		return fmt.Errorf("making room for channels: %w", err)
	}
	for number, s := range show {
		for outcome, matrix := range s.Channels {
			for x, entries := range matrix {
				lower, shown := make([]int64, len(entries)), make([]*string, len(entries))
				next := int64(0)
				for i, e := range entries {
					lower[i] = next
					next += int64(e.Weight)
					if v := s.Values[e.Output]; !v.IsNull {
						shown[i] = &v.Text
					}
				}
				if next != channel.Whole {
					return fmt.Errorf("the weights of column %s add up to %d", parser.QuoteIdent(s.Column), next)
				}
				if _, err := db.Exec(ctx, `INSERT INTO `+channelsName+` VALUES ($1, $2, $3, $4, $5)`,
					number, outcome, told(s.Values[x]), lower, shown); err != nil {
					return fmt.Errorf("writing the channel of column %s: %w", parser.QuoteIdent(s.Column), err)
				}
			}
		}
	}
	_, err := db.Exec(ctx, `ANALYZE `+channelsName)
	return err
}

// told is a value as channels are looked up by it, in which NULL is told from every text.
func told(v policy.Value) string {
	if v.IsNull {
		return "null"
	}
	return "is " + v.Text
}

// value is the SQL of what a row r of the staged table shows in the column, as a text. The draw is by a secret number
// of the row and of what it holds, which is the same for each of its copies and in every build; were the number the
// row's alone, who sees a row before and after its value was corrected could rule out what is true.
func (s released) value(of *source, number int) string {
	column := "r." + parser.QuoteIdent(s.Column)
	own := `CASE WHEN ` + column + ` IS NULL THEN 'null' ELSE 'is ' || ` + column + `::pg_catalog.text END`
	row := `r."fugu h"`
	if hook.TwinColumnsByPlace {
		row = `pg_catalog.int8send(r."fugu n")`
	}
	random := secretOf(row+` || pg_catalog.convert_to(`+own+`, 'UTF8')`, s.use, of, s.Column)
	if hook.TwinColumnsByRow {
		random = secretOf(row, "column", of, s.Column)
	}
	if hook.TwinColumnsAnew {
		random = `pg_catalog.uuid_send(pg_catalog.gen_random_uuid())`
	}
	draw := `('x' || pg_catalog.encode(pg_catalog.substr(` + random + `, 1, 6), 'hex'))::bit(48)::int8`

	// A value that the reference does not have counts as its most frequent one.
	listed := make([]string, len(s.Values))
	for i, v := range s.Values {
		listed[i] = parser.QuoteLiteral(told(v))
	}
	known := `CASE WHEN (` + own + `) COLLATE pg_catalog."C" = ANY (ARRAY[` + strings.Join(listed, ", ") +
		`]) THEN (` + own + `) ELSE ` + listed[s.Usual] + ` END`
	outcomes := make([]string, len(s.outcomes))
	for i, o := range s.outcomes {
		outcomes[i] = strconv.Itoa(o)
	}
	return fmt.Sprintf(`(SELECT c.shown[pg_catalog.width_bucket(%s, c.lower)] FROM %s AS c WHERE c.number = %d
			AND c.outcome = ('{%s}'::int4[])[r."fugu class" + 1]
			AND c.value = (%s) COLLATE pg_catalog."C")`, draw, channelsName, number, strings.Join(outcomes, ","), known)
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
		Radius: s.Radius, Leakage: s.Leakage, Promise: s.Words()}
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
		for x, row := range matrix {
			for _, e := range row {
				out = append(out, entry{of, text(s.Values[x]), text(s.Values[e.Output]), e.Weight})
			}
		}
	}
	return out
}
