package told

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"fugu/channel"
	"fugu/dataset"
	"fugu/parser"
	"fugu/upstream"
)

// Chance is the probability with which a true value of a twin's column is shown as a value.
type Chance struct {
	Table       *dataset.Protected
	Column      string
	Outcome     *string // of the secret that the column hides; nil: whatever it is
	From, To    *string // the true value and the shown one; nil: NULL
	Probability float64
}

// Channels asks, as the client may, by which channels columns of the policies' twins are shown. ask runs a statement in
// the client's session.
func Channels(ctx context.Context, reader *upstream.Reader, snap *dataset.Snapshot,
	ask func(context.Context, string) ([][]string, error)) (out []Chance, err error) {
	if there, err := Made(ctx, reader, "fugu columns"); err != nil || !there {
		return nil, err
	}
	rows, err := ask(ctx, `SELECT c.table_schema, c.table_name, c.column_name, x.entry
	  FROM `+parser.TwinColumns+` AS c,
	    LATERAL pg_catalog.jsonb_array_elements(c.channel) WITH ORDINALITY AS x(entry, i)
	  ORDER BY c.table_schema, c.table_name, c.column_name, x.i`)
	if err != nil {
		return nil, err
	}

	// A twin of a policy that is not served any more is no business of this one's.
	for _, r := range rows {
		t := snap.Find(r[0], r[1])
		if t == nil || !t.Table.Twin {
			continue
		}
		var e struct {
			Outcome, From, To *string
			Weight            uint64
		}
		if err := json.Unmarshal([]byte(r[3]), &e); err != nil {
			return nil, fmt.Errorf("reading how column %s of %s is shown: %w", strconv.Quote(r[2]), t.Table, err)
		}
		out = append(out, Chance{t, r[2], e.Outcome, e.From, e.To, float64(e.Weight) / channel.Whole})
	}
	return out, nil
}
