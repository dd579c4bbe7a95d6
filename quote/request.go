// Package quote says what an answer would be and cost, before any protected row is read: the model of what is asked
// (model.go, modelled.go and what they call), the noise that hides the secrets in it (draft.go), what it brings into
// the accounts of its dataset (jointly.go, spreads.go), and whether it is worth that (worth.go). It knows no session,
// and nothing of who pays: no share, no standing, no ledger.
package quote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
)

// key tells requests apart.
type key string

// Request is what one binding of a statement asks for, and how much its answer may tell: all that its model and its
// noise follow from. It knows no session, and nothing of who pays.
type Request struct {
	Dataset   *dataset.Snapshot
	Policy    *policy.Policy
	Cuts      []*planner.Bound
	Budget    privacy.Budget
	Mechanism mechanism.Kind
	Key       key             // tells it from all others
	Database  planner.Querier // is asked what ordinary tables and references hold
	Reference planner.Querier // is asked for a model: it answers what is prepared, and asks the database for the rest
	Timeout   time.Duration   // of the search for noise; 0: none

	unbound bool // no total follows from the rows that the reference has
}

// Bind binds the cuts of a plan to the text forms of their parameters, which value returns by number and type.
func Bind(ctx context.Context, p *planner.Plan, db planner.Querier,
	value func(n int, oid uint32) ([]byte, error)) ([]*planner.Bound, error) {
	for _, z := range p.Zeros {
		if v, err := value(z.Number, p.ParamTypes[z.Number-1]); err != nil {
			return nil, err
		} else if string(v) != "0" {
			return nil, sqlstate.New(sqlstate.NotAnswerable, "OFFSET of a subquery below an aggregate of protected "+
				"rows has to be 0").
				WithHint("Aggregate all rows.").At(z.Position)
		}
	}

	// Values go by the numbers that the client gave them; a cut has only those that stand below it.
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

// Identify gives the request its key, for the data of an epoch: everything below the cuts, and nothing above them, so
// that another HAVING or ORDER BY over the same F is answered from what is stored.
func (r *Request) Identify(epoch int64, contents []string) error {
	id := struct {
		Version     int
		Fingerprint string
		Cuts        []dataset.AskedCut
		Contents    []string
		Epsilon     privacy.Epsilon
		Delta       privacy.Delta
		Mechanism   mechanism.Kind
		Epoch       int64 `json:",omitempty"`
		Whole       int   `json:",omitempty"` // values that are constants now, and were not in older versions
	}{4, r.Policy.Fingerprint, nil, contents, r.Budget.Epsilon, r.Budget.Delta, r.Mechanism, epoch, 0}

	// A reference whose classes have other sizes is another one, and gives another model.
	for _, c := range r.Cuts {
		t := r.Dataset.Find(c.Table.Schema, c.Table.Name)
		asked := dataset.DescribeCut(c)
		asked.Totals = t.Totals
		id.Cuts, id.Whole = append(id.Cuts, asked), id.Whole+len(constantValues(c))
	}

	text, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("identifying a statement: %w", err)
	}
	sum := sha256.Sum256(text)
	r.Key = key(hex.EncodeToString(sum[:]))
	return nil
}

// Values returns how many values are asked for.
func (r *Request) Values() int {
	n := 0
	for _, c := range r.Cuts {
		n += len(c.Cells) * len(c.Aggregates)
	}
	return n
}

// Nominal returns the price of a statement whose losses cannot be computed: all of the ε that it may cost.
func (r *Request) Nominal() map[string]privacy.Loss {
	losses := map[string]privacy.Loss{}
	for _, c := range r.Cuts {
		for _, sec := range c.Table.Secrets {
			losses[sec.Name] = privacy.Loss{Pure: float64(r.Budget.Epsilon)}
		}
	}
	return losses
}

// constantValues returns the components whose value follows from the policy and the statement, whatever the tables
// hold. They are no part of F, where a constant would only be one more thing to hide.
func constantValues(c *planner.Bound) map[model.Component]planner.Value {
	out := map[model.Component]planner.Value{}
	for cell := range c.Cells {
		for a := range c.Aggregates {
			if v, ok := c.Constant(cell, a); ok {
				out[model.Component{Cell: cell, Aggregate: a}] = v
			}
		}
	}
	return out
}
