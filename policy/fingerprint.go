package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// fingerprint identifies what a policy means for answers: two files have the same one exactly when they differ at most
// in comments, format, order of tables and secrets, budget, epoch and analysts. Stored answers and fitted models carry
// it.
//
// It hashes JSON of plain structs: field order is fixed by the code, floats are written so that they read back exactly.
// What is added to them is left out of the JSON where a policy does not say it, so that fingerprints of before stay.
func fingerprint(p *Policy) string {
	text, err := json.Marshal(meaningOf(p))
	if err != nil {
		return "" // a NaN or an infinity, which has its finding already
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// meaning is what a fingerprint is of. Names and order of its fields, and of those of the types below, are stored.
type meaning struct {
	Format         string
	Version        int
	Dataset        string
	Tables         []tableMeaning
	Secrets        []secretMeaning
	Assume         []Assumption
	Epsilon, Delta float64
	Mechanism      string
	Declared       []declaredMeaning `json:",omitempty"`
	Public         []publicMeaning   `json:",omitempty"`
	Estimation     float64
	EstimationOff  float64 `json:",omitempty"`
	Weights        Weights
	Within         *Within          `json:",omitempty"`
	Composition    Composition      `json:",omitempty"`
	Networks       []networkMeaning `json:",omitempty"`
	Database       string           `json:",omitempty"`
}

type tableMeaning struct {
	Name, Reference QualifiedName
	Rows            int64
	PlainRows       PlainRows
	GroupBy         []domainMeaning
	Drawn           Drawn
	LinkTo          *QualifiedName `json:",omitempty"`
	LinkOn          []LinkKey      `json:",omitempty"`
	Twin            *Twin          `json:",omitempty"` // nil: noise on answers
}

type domainMeaning struct {
	Column        string
	Values        []Value
	FromReference bool
	Range         *IntRange
	Dates         *DateRange `json:",omitempty"`
}

type secretMeaning struct {
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

type networkMeaning struct {
	Table       QualifiedName
	Independent []string
	Parameters  []parameterMeaning
}

type parameterMeaning struct {
	Name, Column  string
	Values        []string
	Parents       []int
	Probabilities [][]float64
}

type declaredMeaning struct {
	Statement  string
	Components []string
	Laws       []lawMeaning
}

type lawMeaning struct {
	Secret      string
	Values      []float64
	Means       [][]float64
	Covariances [][][]float64
	Samples     [][][]float64 `json:",omitempty"`
	Weights     [][]int64     `json:",omitempty"`

	Concentrated *Concentrated `json:",omitempty"`
}

type publicMeaning struct {
	Statement string
	Values    []PublicValue
}

// meaningOf says what a policy means: nothing of it depends on the order in which its file lists things.
func meaningOf(p *Policy) meaning {
	m := meaning{
		Format: "fugu policy", Version: p.Version, Dataset: p.Dataset, Database: p.Database,
		Assume:  slices.Sorted(slices.Values(p.Assume)),
		Epsilon: float64(p.Privacy.Epsilon), Delta: float64(p.Privacy.Delta), Mechanism: p.Privacy.Mechanism,
		Estimation: p.Privacy.Estimation.Errors, EstimationOff: float64(p.Privacy.Estimation.Delta),
		Weights: p.Privacy.Weights, Within: p.Privacy.Within,
		Tables:   each(p.Tables, meaningOfTable),
		Networks: each(p.Networks, meaningOfNetwork),
		Secrets:  each(p.Secrets, p.meaningOfSecret),
		Declared: each(p.Declared, meaningOfDeclared),
		Public:   each(p.Public, meaningOfPublic),
	}

	// Policies from before there was this key keep their fingerprints: its default is left out.
	if p.Privacy.Composition != ByNoise {
		m.Composition = p.Privacy.Composition
	}

	slices.SortFunc(m.Tables, func(a, b tableMeaning) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	slices.SortFunc(m.Networks,
		func(a, b networkMeaning) int { return cmp.Compare(a.Table.String(), b.Table.String()) })
	slices.SortFunc(m.Secrets, func(a, b secretMeaning) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Declared, func(a, b declaredMeaning) int { return cmp.Compare(a.Statement, b.Statement) })
	slices.SortFunc(m.Public, func(a, b publicMeaning) int { return cmp.Compare(a.Statement, b.Statement) })
	return m
}

// each returns the meaning of every one; nil of none, which JSON tells from an empty list.
func each[T, M any](of []T, meaning func(T) M) []M {
	var out []M
	for _, x := range of {
		out = append(out, meaning(x))
	}
	return out
}

func meaningOfTable(t Table) tableMeaning {
	m := tableMeaning{
		Name: t.Qualified(), Reference: t.Reference, Rows: t.Rows, Drawn: t.Drawn, PlainRows: t.PlainRows,
		GroupBy: each(t.GroupBy, func(d Domain) domainMeaning {
			return domainMeaning{d.Column, d.Values, d.FromReference, d.Range, d.Dates}
		}),
	}
	if t.Link != nil {
		m.LinkTo, m.LinkOn = &t.Link.To, t.Link.On
	}
	if t.Twin != nil {
		w := *t.Twin
		w.At, w.Drop = Position{}, slices.Sorted(slices.Values(w.Drop))
		w.Columns = slices.SortedFunc(slices.Values(w.Columns),
			func(a, b Column) int { return cmp.Compare(a.Name, b.Name) })
		m.Twin = &w
	}
	return m
}

func meaningOfNetwork(n Network) networkMeaning {
	return networkMeaning{n.Table, slices.Sorted(slices.Values(n.Independent)),
		each(n.Parameters, func(q Parameter) parameterMeaning {
			return parameterMeaning{q.Name, q.Column, q.Values, q.Parents, q.Probabilities}
		})}
}

func (p *Policy) meaningOfSecret(s Secret) secretMeaning {
	t, _ := p.Table(s.Table)
	return secretMeaning{
		Name: s.Name, Table: s.Table, About: s.About,
		Proportion: s.Proportion, Mean: s.Mean, Categories: s.Categories, Parameter: s.Parameter,
		Spans: s.Spans, Listed: s.Listed && t.Answers == FromTwin, Vectors: s.Vectors, Range: s.Range,
	}
}

func meaningOfDeclared(d Declared) declaredMeaning {
	laws := each(d.Laws, func(l Law) lawMeaning {
		return lawMeaning{l.Secret, l.Values, l.Means, l.Covariances, l.Samples, l.Weights, l.Concentrated}
	})
	slices.SortFunc(laws, func(a, b lawMeaning) int { return cmp.Compare(a.Secret, b.Secret) })
	return declaredMeaning{d.Statement.SQL, d.Components, laws}
}

func meaningOfPublic(s Public) publicMeaning {
	values := slices.Clone(s.Values)
	slices.SortFunc(values, func(a, b PublicValue) int { return cmp.Compare(a.Component, b.Component) })
	return publicMeaning{s.Statement.SQL, values}
}
