package pipeline

import "fugu/planner"

// reference is whom a question asks about references: what is prepared, and then the database.
func (q *question) reference() planner.Querier {
	if q.recorder != nil {
		return q.recorder
	}
	return q.snapshot.Fitted[q.policy].Over(q.database)
}
