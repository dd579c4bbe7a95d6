package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// request is what one binding of a statement asks for, and what noise may cost: all that its model and its noise follow
// from. It knows no session, and nothing of who pays.
type request struct {
	dataset   *dataset.Snapshot
	policy    *policy.Policy
	cuts      []*planner.Bound
	budget    privacy.Budget
	kind      mechanism.Kind
	key       ledger.Key      // tells it from all others
	database  planner.Querier // what ordinary tables and references hold
	reference planner.Querier // who is asked for a model: what is prepared of it, and then the database
	timeout   time.Duration   // of the search for noise; 0: none
}

// boundCuts binds the cuts of a plan to the text forms of their parameters, which value returns by number and type.
func boundCuts(ctx context.Context, p *planner.Plan, db planner.Querier, value func(n int, oid uint32) ([]byte, error)) ([]*planner.Bound, error) {
	for _, z := range p.Zeros {
		if v, err := value(z.Number, p.ParamTypes[z.Number-1]); err != nil {
			return nil, err
		} else if string(v) != "0" {
			return nil, sqlstate.New(sqlstate.NotAnswerable, "OFFSET of a subquery below an aggregate of protected rows has to be 0").
				WithHint("Aggregate all rows.").At(z.Position)
		}
	}
	var out []*planner.Bound
	for _, c := range p.Cuts {
		params := make([][]byte, len(c.Params))
		for i, n := range c.Params {
			v, err := value(n, c.ParamTypes[i])
			if err != nil {
				return nil, err
			}
			params[i] = v
		}
		bound, err := c.Bind(ctx, db, params)
		if err != nil {
			return nil, err
		}
		out = append(out, bound)
	}
	return out, nil
}

// identity is the key of the answer: everything below the cuts, and nothing above them, so that another HAVING or ORDER
// BY over the same F is answered from what is stored.
func (r *request) identity(epoch int64, contents []string) (ledger.Key, error) {
	id := struct {
		Version     int
		Fingerprint string
		Cuts        []dataset.AskedCut
		Contents    []string
		Epsilon     privacy.Epsilon
		Delta       privacy.Delta
		Mechanism   mechanism.Kind
		Epoch       int64 `json:",omitempty"`
		Whole       int   `json:",omitempty"` // values that are constants, and were not always
	}{4, r.policy.Fingerprint, nil, contents, r.budget.Epsilon, r.budget.Delta, r.kind, epoch, 0}
	for _, c := range r.cuts {
		t := r.dataset.Find(c.Table.Schema, c.Table.Name)
		asked := dataset.DescribeCut(c)
		asked.Totals = t.Totals
		id.Cuts, id.Whole = append(id.Cuts, asked), id.Whole+len(constantValues(c))
	}
	text, err := json.Marshal(id)
	if err != nil {
		return "", fmt.Errorf("identifying a statement: %w", err)
	}
	sum := sha256.Sum256(text)
	return ledger.Key(hex.EncodeToString(sum[:])), nil
}

// values is how many values are asked for.
func (r *request) values() int {
	n := 0
	for _, c := range r.cuts {
		n += len(c.Cells) * len(c.Aggregates)
	}
	return n
}

// nominal is the full price of a statement whose losses cannot be computed.
func (r *request) nominal() map[string]privacy.Loss {
	losses := map[string]privacy.Loss{}
	for _, c := range r.cuts {
		for _, sec := range c.Table.Secrets {
			losses[sec.Name] = privacy.Loss{Pure: float64(r.budget.Epsilon)}
		}
	}
	return losses
}
