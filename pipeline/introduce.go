package pipeline

import (
	"fmt"
	"strings"

	"fugu/dataset"
	"fugu/wire"
)

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
