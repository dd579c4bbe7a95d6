package answer

import (
	"context"

	"fugu/ledger"
)

// Fail charges a statement that failed on its rows.
func (q *Question) Fail(ctx context.Context, c ledger.Charge, cause error) (ledger.Answer, error) {
	return q.fail(ctx, c, cause)
}
