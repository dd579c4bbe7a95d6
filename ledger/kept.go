package ledger

// What twins are made from. A table's twins are drawn in one order for ever, and what one has told is not drawn again:
// without them a second twin would be independent of the first, and the overlap of the two would show the secret. They are
// never compacted.
const (
	Twin     = "twin"             // the mechanism of what a twin has told
	Ordering = "order of drawing" // of the key of a table's order: it tells nothing by itself, and costs nothing
)

// kept are the mechanisms of answers that keep their content, as SQL lists them.
const kept = `('` + Twin + `', '` + Ordering + `')`

// gratis are the mechanisms of answers that cost nothing, as SQL lists them.
const gratis = `('` + Derived + `', '` + Ordering + `')`
