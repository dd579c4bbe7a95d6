package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Promise is what is hidden of a table and of all that are linked to it, but for how well, which is in the price: the
// values of secrets that nobody may tell apart. Its JSON is kept in ledgers.
type Promise struct {
	Secrets []Secret `json:"secrets"`

	// Of a twin: from whom, and what everybody may know.
	KnownRows int64   `json:"known_rows,omitempty"`
	Smallest  float64 `json:"smallest,omitempty"`

	// Of noise: the names by which the rows go or have gone, and what no other relation than theirs is called; what the
	// columns of categories can hold, by secret, where their proportions are secret over a range; the network of which
	// parameters are secret; and the statements whose values everybody knows.
	Tables     []QualifiedName    `json:"tables,omitempty"`
	Relations  []string           `json:"relations,omitempty"`
	Categories map[string][]Value `json:"categories,omitempty"`
	Network    json.RawMessage    `json:"network,omitempty"`
	Public     []string           `json:"public,omitzero"` // nil: a version before this one, or of a twin
}

// Gap is a secret of which a promise hides less than another one, and in what; without a name, all of them are.
type Gap struct{ Secret, What string }

// NoisePromise is what answers with noise hide of a table that is linked to no other. domain returns the values of a
// secret's column of categories.
func (p *Policy) NoisePromise(root QualifiedName, domain func(secret string) []Value) *Promise {
	out := &Promise{Tables: p.family(root)}
	for _, s := range p.Secrets {
		if s.Table != root {
			continue
		}

		// Noise hides what is between the ends of a listed pair as well, and vectors have no order.
		s.At, s.PropertyAt, s.Listed = Position{}, Position{}, false
		s.Vectors = slices.Clone(s.Vectors)
		for i, pair := range s.Vectors {
			s.Vectors[i] = [2][]Share{inOrder(pair[0]), inOrder(pair[1])}
		}
		if s.Range != nil {
			if out.Categories == nil {
				out.Categories = map[string][]Value{}
			}
			out.Categories[s.Name] = slices.SortedFunc(slices.Values(domain(s.Name)), Value.compare)
		}
		out.Secrets = append(out.Secrets, s)
	}
	slices.SortFunc(out.Secrets, func(a, b Secret) int { return cmp.Compare(a.Name, b.Name) })

	// By another network a parameter has another quilt, and losses by two quilts do not add up.
	if n, ok := p.Network(root); ok && p.parametric(root) {
		n.Table = QualifiedName{}
		out.Network, _ = json.Marshal(meaningOfNetwork(n)) // numbers, which are finite
	}
	return out
}

// family are a table and all that lead to it by links, in order.
func (p *Policy) family(root QualifiedName) (names []QualifiedName) {
	for _, t := range p.Tables {
		if r, ok := p.root(t); ok && r.Qualified() == root {
			names = append(names, t.Qualified())
		}
	}
	slices.SortFunc(names, QualifiedName.compare)
	return names
}

// Union has the rows go by the names of another promise as well.
func (p *Promise) Union(other *Promise) {
	all := slices.Concat(p.Tables, other.Tables)
	slices.SortFunc(all, QualifiedName.compare)
	p.Tables = slices.Compact(all)
	p.Relations = slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Relations, other.Relations))))
}

// SameNames reports whether rows of two promises go by the same names.
func (p *Promise) SameNames(other *Promise) bool {
	return slices.Equal(p.Tables, other.Tables) && slices.Equal(p.Relations, other.Relations)
}

// Shares reports whether rows of two promises go by one name, or are of one relation.
func (p *Promise) Shares(other *Promise) bool {
	named := func(t QualifiedName) bool { return slices.Contains(other.Tables, t) }
	return slices.ContainsFunc(p.Tables, named) || p.Same(other)
}

// Same reports whether rows of two promises are of one relation, whatever their names.
func (p *Promise) Same(other *Promise) bool {
	return slices.ContainsFunc(p.Relations, func(r string) bool { return slices.Contains(other.Relations, r) })
}

// Lacks says of which secrets other hides what p does not hide. same reports whether two secrets of one
// name are about the same property.
func (p *Promise) Lacks(other *Promise, same func(own, other Secret) bool) (gaps []Gap) {
	for _, s := range other.Secrets {
		i := slices.IndexFunc(p.Secrets, func(own Secret) bool { return own.Name == s.Name })
		what := "it is new"
		if i >= 0 {
			what = p.lacks(p.Secrets[i], s, other, same)
		}
		if what != "" {
			gaps = append(gaps, Gap{s.Name, what})
		}
	}
	return append(gaps, p.unknown(other)...)
}

// unknown says of which statements other has the values known to everybody and p has not, or the other way round.
// Noise that was made where nobody knew one is taken off by who knows it now [docs/threat-model.md]; and who was told
// one exactly does not forget it.
func (p *Promise) unknown(other *Promise) (gaps []Gap) {
	if p.Public == nil {
		return nil
	}
	for _, s := range other.Public {
		if !slices.Contains(p.Public, s) {
			gaps = append(gaps, Gap{What: fmt.Sprintf("they hide nothing from who knows the values of %q, which are "+
				"public by now", s)})
		}
	}
	for _, s := range p.Public {
		if !slices.Contains(other.Public, s) {
			gaps = append(gaps, Gap{What: fmt.Sprintf("the values of %q were public, and everybody knows them still",
				s)})
		}
	}
	return gaps
}

// lacks says what a secret of p lacks to hide what one of other does; empty: nothing.
func (p *Promise) lacks(own, s Secret, other *Promise, same func(own, other Secret) bool) string {
	switch {
	case !same(own, s):
		return fmt.Sprintf("it was about %s, and is about %s", own.property(), s.property())
	case !own.Covers(s):
		return fmt.Sprintf("it had %s, and has %s", own.pairs(), s.pairs())
	case !slices.Equal(p.Categories[s.Name], other.Categories[s.Name]):
		return "its column had other values"
	case s.Parameter != "" && !bytes.Equal(p.Network, other.Network):
		return "its network was another"
	}
	return ""
}

// Covers reports whether all that other hides is hidden by what was told under p; of nil nothing is known.
func (p *Promise) Covers(other *Promise, same func(own, other Secret) bool) bool {
	return p != nil && other.KnownRows <= p.KnownRows && other.Smallest >= p.Smallest && len(p.Lacks(other, same)) == 0
}

// ReadPromise reads what a ledger keeps. A field that this version does not know may narrow what was hidden, and is an
// error.
func ReadPromise(text []byte) (*Promise, error) {
	var p Promise
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("a promise that this version does not understand: %w", err)
	}
	return &p, nil
}

// property is what a secret is about, for people.
func (s Secret) property() string {
	kind, text := "parameter", s.Parameter
	switch {
	case s.Proportion != "":
		kind, text = "proportion", s.Proportion
	case s.Mean != "":
		kind, text = "mean", s.Mean
	case s.Categories != "":
		kind, text = "categories", s.Categories
	}
	return fmt.Sprintf("%s %q", kind, strings.TrimSpace(text))
}

// pairs are the values that a secret hides, for people.
func (s Secret) pairs() string {
	var parts []string
	for _, x := range s.Spans {
		parts = append(parts, fmt.Sprintf("values %v to %v within %v", x.From, x.To, x.Within))
	}
	if r := s.Range; r != nil {
		parts = append(parts, fmt.Sprintf("proportions %v to %v within %v", r.From, r.To, r.Within))
	}
	if n := len(s.Vectors); n > 0 {
		parts = append(parts, fmt.Sprintf("%d pairs of vectors", n))
	}
	if s.About == AboutDistribution {
		parts = append(parts, "about: distribution")
	}
	return strings.Join(parts, ", ")
}

// inOrder are the shares of a vector that are not 0, by category.
func inOrder(vector []Share) []Share {
	out := slices.DeleteFunc(slices.Clone(vector), func(s Share) bool { return s.Proportion == 0 })
	slices.SortFunc(out, func(a, b Share) int { return a.Category.compare(b.Category) })
	return out
}

// compare orders values: null first.
func (v Value) compare(other Value) int {
	if v.IsNull != other.IsNull {
		if v.IsNull {
			return -1
		}
		return 1
	}
	return cmp.Compare(v.Text, other.Text)
}

// compare orders names by schema and name.
func (q QualifiedName) compare(other QualifiedName) int {
	return cmp.Or(cmp.Compare(q.Schema, other.Schema), cmp.Compare(q.Name, other.Name))
}
