package quote

import (
	"context"

	"fugu/mechanism"
	"fugu/model"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// shaped are the families with what the rows of the reference add to F, where their randomness counts as noise: then
// the certificate has to know how far the law of their sum is from a normal one, and not its covariance alone. A law
// that the policy declares is normal by declaration.
func (r *Request) shaped(ctx context.Context, parts []part, families []sensitivity.Family) ([]sensitivity.Family,
	error) {
	joint := r.Policy.Privacy.Composition == policy.Jointly
	if !mechanism.CountsRows(r.Mechanism) && !joint || len(families) == 0 {
		return families, nil
	}
	var cuts []*model.Moments
	for _, p := range parts {
		if p.model.given {
			return nil, sqlstate.New(sqlstate.ModelUnfit, "mechanism %s counts the randomness of the rows as noise, "+
				"and how far it is from normal given the public statistics of %s is not known", r.Mechanism,
				p.cut.Table).
				WithHint("Set fugu.mechanism to %s.", mechanism.Auto)
		}
		if p.model.moments != nil {
			cuts = append(cuts, p.model.moments)
		}
	}
	if len(cuts) == 0 {
		return families, nil
	}

	// The cuts of a statement that has families are over one table.
	root := parts[0].model.root
	places, err := root.Numbered(ctx, r.Database)
	if err != nil {
		return nil, err
	}
	if places == nil {
		return nil, sqlstate.New(sqlstate.ModelUnfit, "mechanism %s counts the randomness of the rows as noise, and "+
			"the reference of %s has too many rows to tell how far it is from normal", r.Mechanism, root.Table).
			WithHint("Set fugu.mechanism to %s; or the owner of the policy can give a sample of at most 200,000 "+
				"rows as the reference.", mechanism.Auto)
	}
	rows, err := model.ReadRowSums(ctx, r.Database, places, cuts...)
	if err != nil {
		return nil, err
	}
	out := make([]sensitivity.Family, len(families))
	for i, f := range families {
		out[i] = rows.Shape(f)
	}
	return out, nil
}
