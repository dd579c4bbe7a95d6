package pipeline

import (
	"context"
	"strings"

	"fugu/ledger"
	"fugu/parser"
	"fugu/sqlstate"
)

// Record has what the sessions are refused written down; before the first Open. Nobody waits for it: a refusal releases
// nothing.
func (e *Engine) Record(r *ledger.Refusals) { e.refusals = r }

// refused records that a text was not answered, or not even understood.
func (s *session) refused(ctx context.Context, snap *Snapshot, sql string, err error) {
	if s.engine.refusals == nil {
		return
	}
	// What is named here otherwise are parts of the catalog, in which many mistakes are the client's affair.
	if code := refusalCode(ctx, err); strings.HasPrefix(code, "PV") || snap.Names(sql) {
		s.engine.refusals.Add(ledger.Refusal{User: s.user, Dataset: snap.DatasetOf(sql), Code: code,
			Statement: parser.Fingerprint(sql)})
	}
}

// refused records that a binding was not answered.
func (s *statement) refused(ctx context.Context, err error) {
	if s.found != nil {
		s = s.found
	}
	code := refusalCode(ctx, err)
	if s.session.engine.refusals == nil || s.policy == nil && !strings.HasPrefix(code, "PV") {
		return
	}
	r := ledger.Refusal{User: s.session.user, Code: code, Statement: s.fingerprint}
	if s.policy != nil {
		r.Dataset = s.policy.Dataset
	}
	s.session.engine.refusals.Add(r)
}

func refusalCode(ctx context.Context, err error) string {
	code := sqlstate.As(err).Code
	if code == sqlstate.InternalError && ctx.Err() != nil {
		code = sqlstate.QueryCanceled
	}
	return string(code)
}
