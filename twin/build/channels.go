package build

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/channel"
	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/parser"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin"
	"fugu/twin/columns"
)

// kept is a law that columns were shown by, as the ledger has it: for as long as the policy says the same of the
// column, whatever becomes of the reference.
type kept struct {
	Words string // what the policy says of the column, and of which reference
	Law   columns.Law
}

// released is a column with the law that it is shown by, and the use of secret numbers that its draws are.
type released struct {
	columns.Law
	use      string
	outcomes []int // by class of the twin, of the secret that the column hides
}

// settleColumns has each column shown by the law that it was shown by before, if the policy still says the same of it,
// and keeps the others. Two draws for one value of one row tell more than either, and more than the sum of what each
// tells: so there is one, for ever. Only where the owner declares the rows to be drawn independently, and a key that is
// met again is another row's, are they drawn anew; and by another law, of which the warnings tell.
func (j *job) settleColumns(ctx context.Context, d Draw) (warnings []string, err error) {
	j.released = nil
	table := j.family.root.Qualified()
	for i, c := range j.family.root.Twin.Columns {
		words, err := json.Marshal([]any{c.Obfuscate, c.Transport, j.family.root.Reference})
		if err != nil {
			return nil, err
		}
		law, nth, err := j.books.column(ctx, table, d.Series, kept{string(words), j.laws[i]})
		if err != nil {
			return nil, fmt.Errorf("the law by which column %s is shown: %w", parser.QuoteIdent(c.Name), err)
		}
		if nth > 1 {
			warnings = append(warnings, fmt.Sprintf("column %s of the same rows was shown by another law before: who "+
				"has both twins is told more of a row than either promises", parser.QuoteIdent(c.Name)))
		}
		s := released{Law: law, use: fmt.Sprintf("column by law %d of series %d", nth, d.Series)}
		for _, class := range j.design.Classes {
			outcome := 0
			if c.Transport != nil {
				outcome = class.Outcomes[slices.IndexFunc(j.spec.Secrets,
					func(x twin.Secret) bool { return x.Name == c.Transport.Hide })]
			}
			s.outcomes = append(s.outcomes, outcome)
		}
		j.released = append(j.released, s)
	}
	return warnings, nil
}

// column returns the law that a column of a series of rows is shown by, and the how manieth of them it is: the one that
// is kept under the same words, or the one that is given, which then is.
func (b books) column(ctx context.Context, table policy.QualifiedName, series int, law kept) (columns.Law, int, error) {
	for nth := 1; ; nth++ {
		key := entryKey(ledger.Ordering, table.Schema, table.Name, "column", law.Law.Column, series, nth)
		a, ok, err := b.ledger.Find(ctx, key)
		if err == nil && !ok {
			var text []byte
			if text, err = json.Marshal(law); err != nil {
				return columns.Law{}, 0, err
			}
			// It costs nothing of what hides the table's secrets. Whoever was first stands.
			a, err = b.ledger.Charge(ctx, ledger.Charge{Key: key, Dataset: orders, User: b.user,
				Losses: map[string]privacy.Loss{table.String(): {}},
				Limit:  privacy.Budget{Epsilon: 1}, Requested: privacy.Budget{Epsilon: 1},
				Mechanism: ledger.Ordering, Assumption: "none", Answer: text})
		}
		if err != nil {
			return columns.Law{}, 0, err
		}
		var stands kept
		if err := json.Unmarshal(a.Bytes, &stands); err != nil {
			return columns.Law{}, 0, fmt.Errorf("it is damaged in the ledger: %w", err)
		}
		if stands.Words == law.Words {
			return stands.Law, nth, nil
		}
	}
}

// channelsName is the table of the channels of a build that goes on: of a column's number, the outcome of the secret
// that it hides, and a true value, the values that may be shown, each with the least number that draws it.
const channelsName = schema + `."~ channels"`

// layChannels writes that table.
func (j *job) layChannels(ctx context.Context) error {
	if len(j.released) == 0 {
		return nil
	}
	const room = `CREATE UNLOGGED TABLE ` + channelsName + ` (number int4, outcome int4,
		value text COLLATE pg_catalog."C", lower int8[], shown text[], PRIMARY KEY (number, outcome, value))`
	if _, err := j.tx.Exec(ctx, room); err != nil {
		return fmt.Errorf("making room for channels: %w", err)
	}
	for number, s := range j.released {
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
				if _, err := j.tx.Exec(ctx, `INSERT INTO `+channelsName+` VALUES ($1, $2, $3, $4, $5)`,
					number, outcome, told(s.Values[x]), lower, shown); err != nil {
					return fmt.Errorf("writing the channel of column %s: %w", parser.QuoteIdent(s.Column), err)
				}
			}
		}
	}
	_, err := j.tx.Exec(ctx, `ANALYZE `+channelsName)
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
func (j *job) loosenColumns() {
	root := j.family.root
	for _, s := range j.released {
		i := slices.IndexFunc(root.columns, func(c column) bool { return c.name == s.Column })
		if slices.ContainsFunc(s.Values, func(v policy.Value) bool { return v.IsNull }) {
			root.columns[i].notNull = false
		}
	}
}
