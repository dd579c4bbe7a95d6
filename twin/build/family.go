package build

import (
	"slices"

	"fugu/policy"
)

// family is a table with secrets and the tables whose rows go with its rows, each behind the one that it is linked to.
type family struct {
	root    *source
	sources []*source // the root first
	foreign []foreign // keys between them

	rows string // the SQL of the root's rows with their class and identity, once they are looked at
}

// find returns the family's table of that name.
func (f *family) find(name policy.QualifiedName) *source {
	i := slices.IndexFunc(f.sources, func(s *source) bool { return s.Qualified() == name })
	return f.sources[i]
}

// children are the tables that are linked to s.
func (f *family) children(s *source) (out []*source) {
	for _, c := range f.sources[1:] {
		if c.Link.To == s.Qualified() {
			out = append(out, c)
		}
	}
	return out
}

// foreign is a foreign key of a table of a family that goes along the table's link: its columns follow the fresh keys,
// so that it holds in the twin.
type foreign struct {
	name       string
	own, refs  []string
	more       string // MATCH FULL, ON DELETE CASCADE, DEFERRABLE
	from, onto *source
}
