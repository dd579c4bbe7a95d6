package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/meaning"
	"fugu/wire"
)

// hearing is what a session wants to hear.
type hearing struct {
	level  string // client_min_messages
	silent bool   // by fugu.notices nothing introduces a table
}

// askHearing asks the guest, who has both settings.
func askHearing(ctx context.Context, ask meaning.Ask) (h hearing, err error) {
	rows, err := ask(ctx, `SELECT pg_catalog.current_setting('client_min_messages'),
		coalesce(pg_catalog.current_setting('fugu.notices', true), '')`)
	if err != nil {
		return h, err
	}
	if len(rows) != 1 || len(rows[0]) != 2 {
		return h, fmt.Errorf("reading what the session wants to hear: %d rows", len(rows))
	}
	var set settings
	err = set.set("notices", rows[0][1])
	return hearing{rows[0][0], set.silent}, err
}

// audible are the notices that are heard, by their severity.
func (h hearing) audible(notices []wire.Notice) []wire.Notice {
	return slices.DeleteFunc(notices, func(n wire.Notice) bool {
		return h.level == "error" || h.level == "warning" && !n.Warning
	})
}

// ofNoise tells that answers about a table have noise.
func ofNoise(table string) wire.Notice {
	return wire.Notice{
		Message: fmt.Sprintf("%s is answered with noise: its values are not exact, so that a secret of the whole "+
			"table stays one", table),
		Hint: "SELECT * FROM fugu.last_release says how far each value may be off, and fugu_noise_sd(avg(x)) in a " +
			"statement of avg(x) does so beside it; fugu.budget says what is left."}
}

// ofTwin tells what a twin is.
func ofTwin(t *dataset.Protected) wire.Notice {
	hint := "Ask what you like: nothing is charged."
	if t.Table.AtLeast > 0 {
		hint = fmt.Sprintf("Its rows are not listed, and what fewer than %d rows of the sample have is left "+
			"out, or NULL. Nothing is charged.", t.Table.AtLeast)
	}
	return wire.Notice{
		Message: fmt.Sprintf("%s is answered from its twin: a copy made of a sample of its rows, in which the "+
			"share that is secret is blurred%s", t.Table, drawnColumns(t)),
		Hint: hint + " SELECT * FROM fugu.twin says what the twin is; EXPLAIN (PRIVACY) how far a count may be off."}
}

// drawnColumns says which columns of a twin are drawn row by row; nothing, if none are.
func drawnColumns(t *dataset.Protected) string {
	var names []string
	for _, c := range t.Config.Twin.Columns {
		names = append(names, c.Name)
	}
	if names == nil {
		return ""
	}
	return "; values of " + strings.Join(names, ", ") + " are drawn row by row, and fugu.channel has the chances"
}
