// Package virtual has the rows of Fugu's own tables: fugu.budget, fugu.releases, fugu.last_release, fugu.estimate,
// fugu.noise_law, fugu.policy, fugu.twin and fugu.channel. It charges nothing, and reads no protected row.
package virtual

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"fugu/account"
	"fugu/answer"
	"fugu/dataset"
	"fugu/explain"
	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/twin/told"
)

// Budget are the rows of fugu.budget: what stands of the accounts that apply to a user.
func Budget(ctx context.Context, l ledger.Ledger, policies []*policy.Policy,
	user string) (rows [][]planner.Value, err error) {
	for _, p := range policies {
		balances, err := account.Balances(ctx, l, p, user)
		if err != nil {
			return nil, err
		}
		for _, b := range balances {
			rows = append(rows, []planner.Value{text(b.Dataset), text(b.Scope), text(b.Secret), float(b.Total),
				float(b.Spent), float(b.Left), float(b.Delta), integer(int64(b.Releases)), integer(b.Epoch),
				integer(b.Period)})
		}
	}
	return rows, nil
}

// mostReleases is how many answers of a dataset fugu.releases shows, the newest.
const mostReleases = 1000

// Releases are the rows of fugu.releases. Its epsilon is what was asked for, to which the noise of one answer is made;
// epsilon_charged is what that took, of the secret of which it took most: less where the noise is rounded upwards, and
// more where the answer tells something together with those before it.
func Releases(ctx context.Context, l ledger.Ledger, policies []*policy.Policy) (rows [][]planner.Value, err error) {
	for _, p := range policies {
		answers, err := l.Releases(ctx, p.Dataset, mostReleases)
		if err != nil {
			return nil, account.Error(err)
		}
		for _, a := range answers {
			var most float64
			for _, l := range a.Losses {
				most = max(most, l.EpsilonAt(float64(a.Requested.Delta)))
			}
			rows = append(rows, []planner.Value{integer(a.ID), text(p.Dataset),
				text(a.At.UTC().Format(time.RFC3339Nano)), text(a.Mechanism), text(a.Assumption),
				float(float64(a.Requested.Epsilon)), float(float64(a.Requested.Delta)),
				text(strconv.FormatBool(a.Failed)), float(most)})
		}
	}
	return rows, nil
}

// Policy are the rows of fugu.policy: the secrets of the tables, and which of their values are told apart by nobody.
func Policy(tables []*dataset.Protected) (rows [][]planner.Value) {
	for _, t := range tables {
		if t.Table.Twin {
			rows = append(rows, blurred(t)...)
		}
		for i, secret := range t.Table.Secrets {
			rows = append(rows, secretRows(t, secret.Name, secret.Text, spans(t.Psi[i]))...)
		}
	}
	return rows
}

// blurred are the rows of fugu.policy of the secrets of a table with a twin, which no statement is planned with.
func blurred(t *dataset.Protected) (rows [][]planner.Value) {
	for _, secret := range t.Policy.Secrets {
		if secret.Table != t.Config.Qualified() {
			continue
		}

		// Of a range, within says how far values of a pair are apart.
		null := planner.Value{Null: true}
		values := [][3]planner.Value{}
		for _, s := range secret.Spans {
			values = append(values, [3]planner.Value{float(s.From), float(s.To), float(s.Within)})
		}
		if r := secret.Range; r != nil {
			values = append(values, [3]planner.Value{float(r.From), float(r.To), float(r.Within)})
		}
		if len(values) == 0 { // each pair is a vector of proportions
			values = append(values, [3]planner.Value{null, null, null})
		}

		rows = append(rows, secretRows(t, secret.Name, cmp.Or(secret.Proportion, secret.Categories), values)...)
	}
	return rows
}

// secretRows are the rows of fugu.policy of one secret: what it is about, and its values.
func secretRows(t *dataset.Protected, name, about string, values [][3]planner.Value) (rows [][]planner.Value) {
	for _, v := range values {
		rows = append(rows, append([]planner.Value{text(t.Policy.Dataset), text(t.Table.String()), text(name),
			text(about)}, v[:]...))
	}
	return rows
}

// spans are a secret's values as far as three numbers tell them: from, to, and how far values of a pair are apart.
func spans(psi model.Psi) (out [][3]planner.Value) {
	null := planner.Value{Null: true}
	switch {
	case psi.Simplex != nil:
		out = append(out, [3]planner.Value{float(psi.Simplex.From), float(psi.Simplex.To), float(psi.Simplex.Within)})
	case psi.Vectors != nil: // each pair is a vector of proportions
		out = append(out, [3]planner.Value{null, null, null})
	}
	for _, s := range psi.Spans {
		out = append(out, [3]planner.Value{float(s.From), float(s.To), float(s.Within)})
	}
	return out
}

// Twin are the rows of fugu.twin: one for each class of each table, and one of NULLs for a twin that is not built.
func Twin(tables []*dataset.Protected, classes []told.Class) (rows [][]planner.Value) {
	null := planner.Value{Null: true}
	said := func(v string) planner.Value { return planner.Value{Text: v, Null: v == ""} }
	for _, t := range tables {
		if !t.Table.Twin {
			continue
		}
		name, found := t.Table.String(), false
		least := null // rows are shown
		if t.Table.AtLeast > 0 {
			least = integer(t.Table.AtLeast)
		}

		for _, c := range classes {
			if c.Table != name {
				continue
			}
			found = true
			row := []planner.Value{text(t.Policy.Dataset), text(name), said(c.Built), said(c.Rows), said(c.Sampled),
				null, said(c.Told), said(c.Taken), null, said(c.Epsilon), said(c.Delta), said(c.Assumption)}
			if c.Known {
				row[5], row[8] = text(c.Class), float(c.CountError)
			}

			off := null
			if c.ToldError != nil {
				off = float(*c.ToldError)
			}
			rows = append(rows, append(row, least, off))
		}

		// A twin that is not built has a row as well, with what is known of it: its name.
		if !found {
			rows = append(rows, slices.Concat([]planner.Value{text(t.Policy.Dataset), text(name)},
				slices.Repeat([]planner.Value{null}, 10), []planner.Value{least, null}))
		}
	}
	return rows
}

// Channel are the rows of fugu.channel: with what probability a true value is shown as which.
func Channel(chances []told.Chance) (rows [][]planner.Value) {
	said := func(v *string) planner.Value {
		if v == nil {
			return planner.Value{Null: true}
		}
		return text(*v)
	}
	for _, c := range chances {
		// Counts are inverted by these numbers: all of their digits are wanted.
		rows = append(rows, []planner.Value{text(c.Table.Policy.Dataset), text(c.Table.Table.String()), text(c.Column),
			said(c.Outcome), said(c.From), said(c.To), text(strconv.FormatFloat(c.Probability, 'g', -1, 64))})
	}
	return rows
}

// LastRelease are the rows of fugu.last_release. Its epsilon is what the answer was charged of the row's secret, and
// epsilon_asked what fugu.epsilon or the policy asked for: that is called epsilon in fugu.releases. What a loss comes
// to takes longer to compute than everything else about an answer, and few ask.
func LastRelease(l answer.Told) [][]planner.Value {
	epsilon := map[string]float64{}
	// Once for each secret, and not for each value.
	for secret, loss := range l.Answer.Losses {
		epsilon[secret] = loss.EpsilonAt(float64(l.Budget.Delta))
	}

	id := integer(l.Answer.ID)
	if l.Answer.ID == 0 { // all of it is public, and nothing was charged
		id = planner.Value{Null: true}
	}
	var rows [][]planner.Value
	for _, c := range l.Cells {
		mechanism, assumption := l.Answer.Mechanism, l.Answer.Assumption
		if c.Public {
			mechanism, assumption = "public", ""
		}
		sd, lower, upper := c.Shown()
		row := []planner.Value{id, text(c.Column), text(c.GroupKey), text(mechanism), text(assumption),
			text(sd), text(lower), text(upper), float(epsilon[c.Secret]),
			float(stated(l.Answer.Losses[c.Secret], l.Budget)), text(c.Secret)}
		row = append(row, certified(l.Answer.Certificates, c.Secret)...)
		rows = append(rows, append(row, float(float64(l.Budget.Epsilon))))
	}
	return rows
}

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
			out[1] = text(explain.Pair(c.Pair))
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

// stated is the δ at which a loss is stated: the statement's, or 0 where the loss needs none.
func stated(l privacy.Loss, b privacy.Budget) float64 {
	if l.Kappa2 == 0 && l.Delta == 0 {
		return 0
	}
	return float64(b.Delta)
}

func text(s string) planner.Value { return planner.Value{Text: s} }

func integer(v int64) planner.Value { return text(strconv.FormatInt(v, 10)) }

// float writes enough digits for people and for comparison; a budget is no place for 17.
func float(v float64) planner.Value { return text(strconv.FormatFloat(v, 'g', 10, 64)) }
