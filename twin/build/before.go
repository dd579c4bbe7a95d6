package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// knownBeside is known for a twin that was published beside the protected tables before twins had a place apart.
func (f *family) knownBeside(ctx context.Context, source pgx.Tx, at place, last *Draw) error {
	if !at.apart {
		return nil
	}
	all, err := Twins(ctx, source)
	if err != nil {
		return err
	}
	for i, t := range all {
		if t.Schema == f.root.Schema && t.Table == f.root.Name {
			return known(&all[i], last)
		}
	}
	return nil
}

// published returns the registry's line of the root's twin, nil where there is none. Where twins are in one schema, two
// tables of one name in different schemas cannot both have one.
func (f *family) published(at place, all []Twin) (line *Twin, err error) {
	// In the one schema a name is taken, whichever schema its table is in.
	for _, s := range f.sources {
		for i, t := range all {
			if t.Table == s.Name && t.Schema != s.Schema {
				if at.apart {
					continue
				}
				return nil, fmt.Errorf("a table of the same name has a twin, %s.%s: rename one of the two, or drop "+
					"that twin", t.Schema, t.Table)
			}
			if s == f.root && t.Table == s.Name {
				line = &all[i]
			}
		}
	}

	for i, s := range f.sources {
		if !at.apart && slices.ContainsFunc(f.sources[:i], func(other *source) bool { return other.Name == s.Name }) {
			return nil, fmt.Errorf("two tables are called %s, and twins are in one schema: rename one of the two",
				s.Name)
		}
	}
	return line, nil
}

// standing returns the twins of the family if all are there, as they are to be; who may read them may have changed.
func (f *family) standing(ctx context.Context, at place, k *Keeper, all []Twin, law, shape string) ([]Twin, error) {
	var found []Twin
	for _, s := range f.sources {
		for _, t := range all {
			if t.Schema == s.Schema && t.Table == s.Name && t.Law == law && t.Shape == shape {
				found = append(found, t)
			}
		}
		if there, err := exists(ctx, at.tx, at.name(s.Qualified())); err != nil || !there {
			return nil, err
		}
	}
	if len(found) != len(f.sources) {
		return nil, nil
	}
	return found, f.grant(ctx, at, k.Guests, k.Reader)
}
