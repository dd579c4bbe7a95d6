package dataset

import (
	"slices"

	"fugu/parser"
	"fugu/policy"
)

// Promise is what answers with noise about a table hide, and about all that are linked to it; it stands for itself.
func (s *Snapshot) Promise(t *Protected) *policy.Promise {
	out := t.promise()

	// The same rows may come to be called otherwise, and others by their names.
	for _, name := range out.Tables {
		if of := s.Find(name.Schema, name.Name); of != nil && of.Relation != "" {
			out.Relations = append(out.Relations, of.Relation)
		}
	}
	slices.Sort(out.Relations)
	out.Public = []string{}
	if t.Public != nil {
		out.Public = slices.Compact(slices.Sorted(slices.Values(t.Public.statements)))
	}
	return out
}

// promise is what the policy alone says of it, and of the values that the secrets' columns have.
func (t *Protected) promise() *policy.Promise {
	return t.Policy.NoisePromise(t.Config.Qualified(), func(secret string) (values []policy.Value) {
		for _, s := range t.Table.Secrets {
			if s.Name != secret {
				continue
			}
			for _, v := range s.Classes {
				values = append(values, policy.Value{Text: v.Text, IsNull: v.Null})
			}
		}
		return values
	})
}

// SameProperty reports whether two secrets are about the same property of the table, however it is written. Of one that
// cannot be read any more, as its columns are gone, only the same words say the same.
func (t *Protected) SameProperty(a, b policy.Secret) bool {
	return t.same(a.Proportion, b.Proportion) && t.same(a.Mean, b.Mean) && a.Categories == b.Categories &&
		a.Parameter == b.Parameter
}

// same reports whether two expressions are written alike once they are read.
func (t *Protected) same(a, b string) bool {
	if a == b || a == "" || b == "" {
		return a == b
	}
	one, err := parser.ParsePredicate(a, t.Syntax)
	if err != nil {
		return false
	}
	other, err := parser.ParsePredicate(b, t.Syntax)
	return err == nil && parser.SQL(one, "", nil) == parser.SQL(other, "", nil)
}
