package pipeline

import (
	"context"
	"strconv"
	"time"

	"fugu/ledger/audit"
	"fugu/planner"
	"fugu/privacy"
	"fugu/quote"
	"fugu/wire"
)

// certified are the columns of a secret's certificate: the δ that is reached at the statement's ε, the pair of values
// that is hardest to hide, and the ε that holds if the reference is off by two standard errors. An answer of before
// certificates has none.
func certified(certificates []audit.Certificate, secret string) []planner.Value {
	null := planner.Value{Null: true}
	for _, c := range certificates {
		if c.Secret != secret {
			continue
		}
		out := []planner.Value{float(c.Delta), null, null}
		if c.Pair != [2]float64{} {
			out[1] = text(pair(c.Pair))
		}
		switch {
		case c.Estimation > 0:
			out[2] = float(c.Estimation)
		case c.Estimation < 0:
			out[2] = text("Infinity")
		}
		return out
	}
	return []planner.Value{null, null, null}
}

func pair(p [2]float64) string { return quote.Short(p[0]) + " against " + quote.Short(p[1]) }

// stated is the δ at which a loss is stated: the statement's, or 0 where the loss needs none.
func stated(l privacy.Loss, b privacy.Budget) float64 {
	if l.Kappa2 == 0 && l.Delta == 0 {
		return 0
	}
	return float64(b.Delta)
}

// virtual returns the arrays of the statement's virtual tables.
func (s *statement) virtual(ctx context.Context, b wire.Binding) ([][]byte, error) {
	var out [][]byte
	for _, v := range s.plan.Virtual {
		rows, err := s.virtualRows(ctx, b, v.Name)
		if err != nil {
			return nil, err
		}
		for i := range v.Columns {
			column := make([]planner.Value, len(rows))
			for j, r := range rows {
				column[j] = r[i]
			}
			out = append(out, planner.Array(column))
		}
	}
	return out, nil
}

func (s *statement) virtualRows(ctx context.Context, b wire.Binding, name string) ([][]planner.Value, error) {
	var rows [][]planner.Value
	switch name {
	case "last_release":
		rows = s.session.last.rows()
	case "budget":
		for _, p := range s.snapshot.Policies {
			accounts, err := Accounts(ctx, s.session.engine.ledger, p, s.session.user)
			if err != nil {
				return nil, err
			}
			for _, a := range accounts {
				rows = append(rows, []planner.Value{text(a.Dataset), text(a.Scope), text(a.Secret), float(a.Total),
					float(a.Spent), float(a.Left), float(a.Delta), integer(int64(a.Releases)),
					integer(a.Epoch), integer(a.Period)})
			}
		}
	case "releases":
		for _, p := range s.snapshot.Policies {
			answers, err := s.session.engine.ledger.Releases(ctx, p.Dataset, 1000)
			if err != nil {
				return nil, ledgerError(err)
			}
			for _, a := range answers {
				rows = append(rows, []planner.Value{integer(a.ID), text(p.Dataset),
					text(a.At.UTC().Format(time.RFC3339Nano)), text(a.Mechanism), text(a.Assumption),
					float(float64(a.Requested.Epsilon)), float(float64(a.Requested.Delta)),
					text(strconv.FormatBool(a.Failed))})
			}
		}
	case "twin":
		return s.twinRows(ctx, b)
	case "policy":
		for _, t := range s.snapshot.Tables {
			for i, sec := range t.Table.Secrets {
				spans := [][3]planner.Value{}
				switch psi := t.Psi[i]; {
				case psi.Simplex != nil:
					spans = append(spans, [3]planner.Value{float(psi.Simplex.From), float(psi.Simplex.To),
						float(psi.Simplex.Within)})
				case psi.Vectors != nil: // each pair is a vector of proportions
					spans = append(spans, [3]planner.Value{{Null: true}, {Null: true}, {Null: true}})
				}
				for _, s := range t.Psi[i].Spans {
					spans = append(spans, [3]planner.Value{float(s.From), float(s.To), float(s.Within)})
				}
				for _, s := range spans {
					rows = append(rows, append([]planner.Value{text(t.Policy.Dataset), text(t.Table.String()),
						text(sec.Name), text(sec.Text)}, s[:]...))
				}
			}
		}
	}
	return rows, nil
}

func text(s string) planner.Value { return planner.Value{Text: s} }

func integer(v int64) planner.Value { return text(strconv.FormatInt(v, 10)) }

// float writes enough digits for people and for comparison; a budget is no place for 17.
func float(v float64) planner.Value { return text(strconv.FormatFloat(v, 'g', 10, 64)) }
