package twin

import (
	"fmt"
	"strconv"

	"fugu/policy"
)

// Spec is everything that the law of a table's twin depends on. All of it is public.
type Spec struct {
	Rows    int64 // n, of the table; where the policy has a unit, the number of subjects
	Secrets []Secret
	Public  *Public `json:",omitempty"` // nil: nothing is known exactly but Rows
	// share of the rows of its cell that every class has at least, which everybody may know; 0: none is known
	Smallest  float64
	KnownRows int64 // rows of the table that analysts know one by one
	Epsilon   float64
	Delta     float64
}

// Secret is a secret of the table with what the catalog adds to it.
type Secret struct {
	policy.Secret
	Nullable bool           // the predicate of a proportion can be NULL: then NULL is an outcome of its own
	Values   []policy.Value // of a secret Categories: all values of its column, in order
}

// FromPolicy reads what a policy says of one of its tables. Nullable tells of the secrets, by name, whose predicate can
// be NULL: who does not know says true. Public is what the policy's public statistics say of the table, whose SQL is
// not read here.
func FromPolicy(p *policy.Policy, table policy.QualifiedName, public *Public,
	nullable func(secret string) bool) (Spec, error) {
	t, ok := p.Table(table)
	switch {
	case !ok:
		return Spec{}, fmt.Errorf("%s is not a table of the policy", table)
	case t.Answers != policy.FromTwin || t.Twin == nil:
		return Spec{}, fmt.Errorf("table %s has no twin", table)
	case t.Link != nil:
		return Spec{}, fmt.Errorf("table %s goes with %s, whose twin has the law", table, t.Link.To)
	}

	// Secrets of the table alone: those of other roots have twins of their own.
	spec := Spec{Rows: t.Rows, Public: public, Smallest: t.Twin.Smallest, KnownRows: t.Twin.KnownRows,
		Epsilon: float64(p.Privacy.Epsilon), Delta: float64(p.Privacy.Delta)}
	for _, s := range p.Secrets {
		if s.Table != table {
			continue
		}
		secret := Secret{Secret: s}
		if s.Categories != "" {
			values, err := categories(t, s)
			if err != nil {
				return Spec{}, err
			}
			secret.Values = values
		} else {
			secret.Nullable = nullable(s.Name)
		}

		spec.Secrets = append(spec.Secrets, secret)
	}
	return spec, nil
}

// categories lists the values of the column whose proportions are secret.
func categories(t policy.Table, s policy.Secret) ([]policy.Value, error) {
	for _, d := range t.GroupBy {
		if d.Column != s.Categories {
			continue
		}

		values := d.Values
		if d.Range != nil {
			if d.Range.To-d.Range.From >= maxClasses {
				return nil, fmt.Errorf("secret %s has more than %d categories", s.Name, maxClasses)
			}
			for i := d.Range.From; i <= d.Range.To; i++ {
				values = append(values, policy.Value{Text: strconv.FormatInt(i, 10)})
			}
		}

		// A domain that is read from a reference has no values of its own.
		if len(values) == 0 {
			return nil, fmt.Errorf("secret %s: list the values of column %s under group_by; a twin reads no reference",
				s.Name, s.Categories)
		}
		return values, nil
	}
	return nil, fmt.Errorf("secret %s: column %s has no domain under group_by", s.Name, s.Categories)
}
