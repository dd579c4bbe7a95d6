package preview

import (
	"errors"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// Free is the error of a statement that twins answer, and nothing else of what is protected: it costs nothing, and has
// no noise to be previewed.
type Free struct {
	Tables []string // whose twins, with their schemas
}

// Error is what a client would be told, in one line.
func (f *Free) Error() string { return f.Unwrap().Error() }

// Unwrap is what a client would be told.
func (f *Free) Unwrap() error {
	return sqlstate.New(sqlstate.NotAnswerable, "there is no noise to preview: twins answer the statement at no "+
		"price, those of %s", strings.Join(f.Tables, ", ")).
		WithHint("EXPLAIN (PRIVACY) of it says how far counts of their rows are off, and fugu_noise_sd(count(*)) in " +
			"it how far those of each group are.")
}

// note adds the twins that a statement reads.
func (f *Free) note(st *parser.Statement) {
	for _, u := range st.TwinsRead() {
		if name := u.Table.String(); !slices.Contains(f.Tables, name) {
			f.Tables = append(f.Tables, name)
		}
	}
}

// Strange reports whether err says that a text asks nothing of what is protected here.
func Strange(err error) bool { return err == errNone }

func isFree(err error) bool {
	_, free := errors.AsType[*Free](err)
	return free
}
