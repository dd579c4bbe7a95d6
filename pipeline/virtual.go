package pipeline

import (
	"context"
	"strconv"
	"strings"
	"time"

	"fugu/ledger/audit"
	"fugu/planner"
	"fugu/privacy"
	"fugu/wire"
)

// certified are the columns of a secret's certificate: the δ that is reached at the statement's ε, the pair of values that is
// hardest to hide, and the ε that holds if the reference is off by two standard errors. An answer of before certificates has
// none.
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

func pair(p [2]float64) string { return short(p[0]) + " against " + short(p[1]) }

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
		for _, p := range s.snapshot.policies {
			accounts, err := Accounts(ctx, s.session.engine.ledger, p, s.session.user)
			if err != nil {
				return nil, err
			}
			for _, a := range accounts {
				rows = append(rows, []planner.Value{text(a.Dataset), text(a.Scope), text(a.Secret), float(a.Total), float(a.Spent), float(a.Left), float(a.Delta), integer(int64(a.Releases)),
					integer(a.Epoch), integer(a.Period)})
			}
		}
	case "releases":
		for _, p := range s.snapshot.policies {
			answers, err := s.session.engine.ledger.Releases(ctx, p.Dataset, 1000)
			if err != nil {
				return nil, ledgerError(err)
			}
			for _, a := range answers {
				rows = append(rows, []planner.Value{integer(a.ID), text(p.Dataset), text(a.At.UTC().Format(time.RFC3339Nano)), text(a.Mechanism), text(a.Assumption),
					float(float64(a.Requested.Epsilon)), float(float64(a.Requested.Delta)), text(strconv.FormatBool(a.Failed))})
			}
		}
	case "twin":
		return s.twinRows(ctx, b)
	case "policy":
		for _, t := range s.snapshot.tables {
			for i, sec := range t.table.Secrets {
				spans := [][3]planner.Value{}
				switch psi := t.psi[i]; {
				case psi.Simplex != nil:
					spans = append(spans, [3]planner.Value{float(psi.Simplex.From), float(psi.Simplex.To), float(psi.Simplex.Within)})
				case psi.Vectors != nil: // each pair is a vector of proportions
					spans = append(spans, [3]planner.Value{{Null: true}, {Null: true}, {Null: true}})
				}
				for _, s := range t.psi[i].Spans {
					spans = append(spans, [3]planner.Value{float(s.From), float(s.To), float(s.Within)})
				}
				for _, s := range spans {
					rows = append(rows, append([]planner.Value{text(t.policy.Dataset), text(t.table.String()), text(sec.Name), text(sec.Text)}, s[:]...))
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

// virtualTables are the columns of the tables in the schema fugu.
var virtualTables = map[string][]planner.Column{
	"budget": columns("dataset text, scope text, secret text, epsilon_total float8, epsilon_spent float8, epsilon_left float8, delta_total float8, releases int8, epoch int8, period int8"),
	"last_release": columns("statement_id int8, column_name text, group_key text, mechanism text, assumption text, noise_sd float8, lower float8, upper float8, " +
		"epsilon float8, delta float8, secret text, delta_reached float8, binding_pair text, epsilon_estimation float8"),
	"releases": columns("statement_id int8, dataset text, at timestamptz, mechanism text, assumption text, epsilon float8, delta float8, failed bool"),
	"twin":     columns("dataset text, table_name text, built timestamptz, rows int8, sampled int8, class text, told int8, taken int8, count_error float8, epsilon float8, delta float8, assumption text, at_least int8"),
	"policy":   columns("dataset text, table_name text, secret text, proportion text, \"from\" float8, \"to\" float8, \"within\" float8"),
}

func columns(list string) []planner.Column {
	var out []planner.Column
	for _, c := range strings.Split(list, ", ") {
		name, typ, _ := strings.Cut(c, " ")
		out = append(out, planner.Column{Name: strings.Trim(name, `"`), Type: "pg_catalog." + typ})
	}
	return out
}
