// Package policy reads policy files: which tables are protected, which properties of them are secret, what the owner
// of the data assumes, and what each answer and all answers together may reveal.
//
// A policy that is returned is complete and consistent in itself; anything unknown, missing or contradictory in a file
// is a Finding with its line and column, and all of them come at once. The package opens no database: whether tables
// and columns exist, and what a predicate means, is for others to check. It does not parse SQL beyond names.
//
// What a policy says is in files in the singular (policy.go, table.go, secret.go, network.go, statement.go,
// privacy.go), which know no YAML. Each section of a file is read in one of the others, most of them named like it;
// decode.go reads them in order.
package policy

import (
	"fmt"
	"slices"

	"fugu/internal/strictyaml"
)

// Finding is one thing that is wrong with a policy file.
type Finding = strictyaml.Finding

// Findings is the error that Load and Parse return: everything that is wrong, one finding a line.
type Findings = strictyaml.Findings

// Misfit is an error about a place in a policy file, such as what a database has to say of what stands there.
type Misfit = strictyaml.Misfit

// Policy is one policy file, decoded and validated.
type Policy struct {
	Version  int
	Dataset  string // the name in budgets, notices and the ledger
	Database string // that holds the tables; empty: that of the guest, until Resolve has named it
	Tables   []Table
	Networks []Network // at most one for a table
	Secrets  []Secret
	Assume   []Assumption
	Privacy  Privacy
	// Estimates are what fugu.estimate makes of answers.
	Estimates Estimates
	Epoch     Epoch
	Analysts  []string    // who may ask; empty: every authenticated user
	Fit       []Statement // what fugu fit prepares beside its own list
	Declared  []Declared
	Public    []Public

	Source      string // the file, as it was named to Load or Parse
	Fingerprint string // hexadecimal SHA-256 of what affects answers: see fingerprint

	datasetAt Position
}

// Assumption is a modelling assumption that the owner of the data may accept.
type Assumption string

// The assumptions.
const (
	// Translation: between the two values of a secret pair the distribution of a statistic shifts and does nothing
	// else.
	Translation Assumption = "translation"
	// Gaussian: the distribution of a statistic is normal.
	Gaussian Assumption = "gaussian"
	// Exchangeable, on which a twin rests: within a class rows are exchangeable, and as many of each class as both
	// values of a pair allow have one joint law under both.
	Exchangeable Assumption = "exchangeable"
)

// Accepts reports whether the owner of the data accepts the assumption.
func (p *Policy) Accepts(a Assumption) bool { return slices.Contains(p.Assume, a) }

// Misfit is an error about what stands at a place in the policy's file, in the words of fmt.Errorf.
func (p *Policy) Misfit(at Position, format string, args ...any) error {
	return &Misfit{File: p.Source, At: at, Err: fmt.Errorf(format, args...)}
}

// MayAsk reports whether the authenticated user may ask about the policy's tables.
func (p *Policy) MayAsk(user string) bool {
	return len(p.Analysts) == 0 || slices.Contains(p.Analysts, user)
}

// Table finds the protected table of that name.
func (p *Policy) Table(name QualifiedName) (Table, bool) {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Qualified() == name })
	if i < 0 {
		return Table{}, false
	}
	return p.Tables[i], true
}

// root follows the links of a table to their end; false where they lead nowhere, which has its finding.
func (p *Policy) root(t Table) (Table, bool) {
	for range p.Tables {
		if t.Link == nil {
			return t, true
		}
		next, ok := p.Table(t.Link.To)
		if !ok {
			return t, false
		}
		t = next
	}
	return t, t.Link == nil
}

// twinRoots are the tables with secrets that have a twin of their own; the tables linked to them go with it.
func (p *Policy) twinRoots() (roots []Table) {
	for _, t := range p.Tables {
		if t.Answers == FromTwin && t.Link == nil {
			roots = append(roots, t)
		}
	}
	return roots
}

// Network finds the network of a table.
func (p *Policy) Network(table QualifiedName) (Network, bool) {
	i := slices.IndexFunc(p.Networks, func(n Network) bool { return n.Table == table })
	if i < 0 {
		return Network{}, false
	}
	return p.Networks[i], true
}

// parametric reports whether a secret of the table is a parameter.
func (p *Policy) parametric(table QualifiedName) bool {
	return slices.ContainsFunc(p.Secrets, func(s Secret) bool { return s.Table == table && s.Parameter != "" })
}
