package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// fingerprint identifies what a policy means for answers: two files have the same one exactly when they differ at most
// in comments, format, order of tables and secrets, budget and analysts. Stored answers and fitted models carry it.
//
// It hashes JSON of plain structs: field order is fixed by the code, floats are written so that they read back exactly.
func fingerprint(p *Policy) string {
	type domain struct {
		Column        string
		Values        []Value
		FromReference bool
		Range         *IntRange
	}
	type table struct {
		Name, Reference QualifiedName
		Rows            int64
		PlainRows       PlainRows
		GroupBy         []domain
		LinkTo          *QualifiedName `json:",omitempty"`
		LinkOn          []LinkKey      `json:",omitempty"`
	}
	type secret struct {
		Name       string
		Table      QualifiedName
		Proportion string
		Spans      []Span
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
	}{
		Format: "fugu policy", Version: p.Version, Dataset: p.Dataset, Assume: slices.Sorted(slices.Values(p.Assume)),
		Epsilon: float64(p.Privacy.Epsilon), Delta: float64(p.Privacy.Delta), Mechanism: p.Privacy.Mechanism,
	}
	for _, t := range p.Tables {
		m := table{Name: t.Qualified(), Reference: t.Reference, Rows: t.Rows, PlainRows: t.PlainRows}
		for _, d := range t.GroupBy {
			m.GroupBy = append(m.GroupBy, domain{d.Column, d.Values, d.FromReference, d.Range})
		}
		if t.Link != nil {
			m.LinkTo, m.LinkOn = &t.Link.To, t.Link.On
		}
		meaning.Tables = append(meaning.Tables, m)
	}
	slices.SortFunc(meaning.Tables, func(a, b table) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	for _, s := range p.Secrets {
		meaning.Secrets = append(meaning.Secrets, secret{s.Name, s.Table, s.Proportion, s.Spans})
	}
	slices.SortFunc(meaning.Secrets, func(a, b secret) int { return cmp.Compare(a.Name, b.Name) })

	text, err := json.Marshal(meaning)
	if err != nil {
		return "" // a NaN or an infinity, which has its finding already
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
