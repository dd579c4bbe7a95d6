package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// fingerprint identifies what a policy means for answers: two files have the same one exactly when they differ at most
// in comments, format, order of tables and secrets, budget, epoch and analysts. Stored answers and fitted models carry it.
//
// It hashes JSON of plain structs: field order is fixed by the code, floats are written so that they read back exactly.
func fingerprint(p *Policy) string {
	type domain struct {
		Column        string
		Values        []Value
		FromReference bool
		Range         *IntRange
		Dates         *DateRange `json:",omitempty"`
	}
	type table struct {
		Name, Reference QualifiedName
		Rows            int64
		PlainRows       PlainRows
		GroupBy         []domain
		Drawn           Drawn
		LinkTo          *QualifiedName `json:",omitempty"`
		LinkOn          []LinkKey      `json:",omitempty"`
		Twin            *Twin          `json:",omitempty"` // nil: noise on answers
	}
	type secret struct {
		Name                         string
		Table                        QualifiedName
		About                        About
		Proportion, Mean, Categories string
		Parameter                    string `json:",omitempty"`
		Spans                        []Span
		Listed                       bool `json:",omitempty"` // of a twin, for which it makes a difference
		Vectors                      [][2][]Share
		Range                        *SimplexRange
	}
	type parameter struct {
		Name, Column  string
		Values        []string
		Parents       []int
		Probabilities [][]float64
	}
	type network struct {
		Table       QualifiedName
		Independent []string
		Parameters  []parameter
	}
	type law struct {
		Secret      string
		Values      []float64
		Means       [][]float64
		Covariances [][][]float64
	}
	type declared struct {
		Statement  string
		Components []string
		Laws       []law
	}
	type public struct {
		Statement string
		Values    []PublicValue
	}
	meaning := struct {
		Format         string
		Version        int
		Dataset        string
		Tables         []table
		Secrets        []secret
		Assume         []Assumption
		Epsilon, Delta float64
		Mechanism      string
		Declared       []declared `json:",omitempty"`
		Public         []public   `json:",omitempty"`
		Estimation     float64
		Weights        Weights
		Within         *Within     `json:",omitempty"`
		Composition    Composition `json:",omitempty"`
		Networks       []network   `json:",omitempty"`
		Database       string      `json:",omitempty"`
	}{
		Format: "fugu policy", Version: p.Version, Dataset: p.Dataset, Assume: slices.Sorted(slices.Values(p.Assume)),
		Epsilon: float64(p.Privacy.Epsilon), Delta: float64(p.Privacy.Delta), Mechanism: p.Privacy.Mechanism,
		Estimation: p.Privacy.Estimation, Weights: p.Privacy.Weights, Within: p.Privacy.Within,
		Database: p.Database,
	}
	if p.Privacy.Composition != ByNoise {
		meaning.Composition = p.Privacy.Composition
	}
	for _, t := range p.Tables {
		m := table{Name: t.Qualified(), Reference: t.Reference, Rows: t.Rows, Drawn: t.Drawn, PlainRows: t.PlainRows}
		for _, d := range t.GroupBy {
			m.GroupBy = append(m.GroupBy, domain{d.Column, d.Values, d.FromReference, d.Range, d.Dates})
		}
		if t.Link != nil {
			m.LinkTo, m.LinkOn = &t.Link.To, t.Link.On
		}
		if t.Twin != nil {
			w := *t.Twin
			w.At, w.Drop = Position{}, slices.Sorted(slices.Values(w.Drop))
			m.Twin = &w
		}
		meaning.Tables = append(meaning.Tables, m)
	}
	slices.SortFunc(meaning.Tables, func(a, b table) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	for _, n := range p.Networks {
		m := network{Table: n.Table, Independent: slices.Sorted(slices.Values(n.Independent))}
		for _, q := range n.Parameters {
			m.Parameters = append(m.Parameters, parameter{q.Name, q.Column, q.Values, q.Parents, q.Probabilities})
		}
		meaning.Networks = append(meaning.Networks, m)
	}
	slices.SortFunc(meaning.Networks, func(a, b network) int { return cmp.Compare(a.Table.String(), b.Table.String()) })
	for _, s := range p.Secrets {
		t, _ := p.Table(s.Table)
		listed := s.Listed && t.Answers == FromTwin
		meaning.Secrets = append(meaning.Secrets, secret{s.Name, s.Table, s.About, s.Proportion, s.Mean, s.Categories, s.Parameter, s.Spans, listed, s.Vectors, s.Range})
	}
	slices.SortFunc(meaning.Secrets, func(a, b secret) int { return cmp.Compare(a.Name, b.Name) })

	for _, d := range p.Declared {
		m := declared{Statement: d.Statement.SQL, Components: d.Components}
		for _, l := range d.Laws {
			m.Laws = append(m.Laws, law{l.Secret, l.Values, l.Means, l.Covariances})
		}
		slices.SortFunc(m.Laws, func(a, b law) int { return cmp.Compare(a.Secret, b.Secret) })
		meaning.Declared = append(meaning.Declared, m)
	}
	slices.SortFunc(meaning.Declared, func(a, b declared) int { return cmp.Compare(a.Statement, b.Statement) })
	for _, s := range p.Public {
		m := public{s.Statement.SQL, slices.Clone(s.Values)}
		slices.SortFunc(m.Values, func(a, b PublicValue) int { return cmp.Compare(a.Component, b.Component) })
		meaning.Public = append(meaning.Public, m)
	}
	slices.SortFunc(meaning.Public, func(a, b public) int { return cmp.Compare(a.Statement, b.Statement) })

	text, err := json.Marshal(meaning)
	if err != nil {
		return "" // a NaN or an infinity, which has its finding already
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
