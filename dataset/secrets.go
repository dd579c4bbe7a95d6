package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/upstream"
)

// maxCategories bounds the values of a column whose proportions are secret over a range: each two of them are a
// direction.
const maxCategories = 32

// secret reads what a policy says of a secret against the table's columns.
func (t *Protected) secret(ctx context.Context, reader *upstream.Reader, sec policy.Secret) (planner.Secret,
	model.Psi, error) {
	out := planner.Secret{Name: sec.Name}
	psi := model.Psi{Name: sec.Name, Distribution: sec.About == policy.AboutDistribution,
		FromReference: t.Config.Drawn == policy.FromReference}

	// A parameter and categories are no predicate, and have no column to be read.
	if sec.Parameter != "" {
		out.Parameter, out.Text = true, "parameter "+sec.Parameter
		psi.Vectors = [][2][]float64{{{1}, {1}}} // the reference's rows, as they are
		return out, psi, nil
	}
	if sec.Categories != "" {
		err := t.categories(sec, &out, &psi)
		return out, psi, err
	}

	property, text := "proportion", sec.Proportion
	if sec.Mean != "" {
		property, text = "mean", sec.Mean
	}
	e, err := parser.ParsePredicate(text, t.Syntax)
	if err != nil {
		return out, psi, fmt.Errorf("%s: %w", property, err)
	}
	out.Text = parser.SQL(e, "", nil)
	if sec.Mean != "" {
		out.Number, err = t.Table.Number(ctx, reader, e)
	} else {
		out.Predicate, err = t.Table.Predicate(ctx, reader, e)
	}
	if err != nil {
		return out, psi, fmt.Errorf("%s: %w", property, err)
	}

	// A secret without a pair would be protected from nothing, and look as if it were.
	for _, s := range sec.Spans {
		span := sensitivity.Span(s)
		if err := span.Check(); err != nil {
			return out, psi, err
		}
		psi.Spans = append(psi.Spans, span)
	}
	if len(psi.Spans) == 0 {
		return out, psi, errors.New("it has no pairs of values to hide")
	}
	return out, psi, nil
}

// categories reads a secret vector of proportions. Categories of which no vector has any rows are no class of the
// model.
func (t *Protected) categories(sec policy.Secret, out *planner.Secret, psi *model.Psi) error {
	domain := t.Table.Domains[sec.Categories]
	out.Column, out.Text = sec.Categories, parser.SQL(parser.Column{Name: sec.Categories}, "", nil)
	if r := sec.Range; r != nil {
		if len(domain) > maxCategories {
			return fmt.Errorf("column %s has %d values; at most %d can have secret proportions over a range: "+
				"list pairs of vectors", sec.Categories, len(domain), maxCategories)
		}
		if k := float64(len(domain)); r.From*k >= 1 || r.To*k <= 1 {
			return fmt.Errorf("column %s has %d values; no two vectors of proportions between %v and %v add up to 1",
				sec.Categories, len(domain), r.From, r.To)
		}
		out.Classes = domain
		psi.Simplex = &model.Simplex{From: r.From, To: r.To, Within: r.Within}
		return nil
	}

	// Classes come in the order in which vectors name them.
	for _, pair := range sec.Vectors {
		for _, vector := range pair {
			for _, share := range vector {
				v := category(share)
				if !slices.Contains(domain, v) {
					return fmt.Errorf("%s is no value of column %s", share.Category, sec.Categories)
				}
				if !slices.Contains(out.Classes, v) {
					out.Classes = append(out.Classes, v)
				}
			}
		}
	}

	for _, pair := range sec.Vectors {
		var vectors [2][]float64
		for i, vector := range pair {
			vectors[i] = make([]float64, len(out.Classes))
			for _, share := range vector {
				vectors[i][slices.Index(out.Classes, category(share))] = share.Proportion
			}
		}
		psi.Vectors = append(psi.Vectors, vectors)
	}
	return nil
}

// category is the value of the column that a vector gives a share.
func category(share policy.Share) planner.Value {
	return planner.Value{Text: share.Category.Text, Null: share.Category.IsNull}
}
