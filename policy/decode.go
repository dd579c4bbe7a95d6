package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

// decode reads as much as there is, for the checks of several policies together; the result is a valid policy only if
// the report stayed empty.
func decode(r *strictyaml.Report, data []byte) *Policy {
	p := &Policy{Source: r.File}
	f := strictyaml.Parse(r, data).Fields(keys[""]...)
	version, _ := f.Need("version", "write version: 1").Int(1, 1)
	p.Version = int(version)
	p.dataset(f.Need("dataset", "name the dataset: the name stands in budgets, notices and the ledger"))
	p.database(f.Get("database"))
	tables(p, r, f.Need("tables", "list the protected tables"), f.Get("declared") != nil)
	p.networks(r, f.Get("networks"))
	secrets(p, r, f.Need("secrets", "say what must stay hidden, for instance a proportion of rows"))
	p.assume(f.Get("assume"))
	p.analysts(f.Get("analysts"))
	mechanism := p.privacy(f.Need("privacy", "write epsilon, delta and budget under privacy:"))
	p.parameters(r, mechanism)
	p.epoch(f.Get("epoch"))
	p.fit(f.Get("fit"))
	p.declared(r, f.Get("declared"))
	p.public(r, f.Get("public"))
	p.twinned(r, f.Get("assume"))
	p.unaccounted(f.Get("declared"), "declared models")
	p.unaccounted(f.Get("public"), "public statistics")
	p.Fingerprint = fingerprint(p)
	return p
}

var labelPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$`)

const labelRule = "a name of at most 63 letters, digits, _, - and ., not starting with - or ."

func (p *Policy) dataset(v *strictyaml.Value) {
	name, ok := v.Text()
	if !ok {
		return
	}
	if !labelPattern.MatchString(name) {
		v.Bad("write "+labelRule, "dataset cannot be named like this")
		return
	}
	p.Dataset, p.datasetAt = name, v.At
}

// database reads the name as PostgreSQL stores it: it is no SQL, and not folded.
func (p *Policy) database(v *strictyaml.Value) {
	name, ok := v.Text()
	switch {
	case !ok:
	case name == "" || len(name) > maxIdent || strings.ContainsFunc(name, unicode.IsControl):
		v.Bad("write the name as the database's catalog has it, or leave the key out for the database of upstream.guest",
			"the name of a database has 1 to %d bytes, without control characters", maxIdent)
	default:
		p.Database = name
	}
}

func (p *Policy) assume(v *strictyaml.Value) {
	items, _ := v.List()
	for _, item := range items {
		word, ok := item.Word(words["assume"]...)
		switch {
		case !ok:
		case p.Accepts(Assumption(word)):
			item.Bad("keep one of the two", "assume lists %s twice", word)
		default:
			p.Assume = append(p.Assume, Assumption(word))
		}
	}
}

func (p *Policy) analysts(v *strictyaml.Value) {
	items, _ := v.List()
	seen := map[string]bool{}
	for _, item := range items {
		user, ok := item.Text()
		switch {
		case !ok:
		case seen[user]:
			item.Bad("keep one of the two", "analysts lists %s twice", quoteIdent(user))
		default:
			seen[user] = true
			p.Analysts = append(p.Analysts, user)
		}
	}
}

// maxEstimation is the largest number of standard errors that noise can be made to cover.
const maxEstimation = 100

// privacy reads the section and returns its key mechanism.
func (p *Policy) privacy(v *strictyaml.Value) (mechanism *strictyaml.Value) {
	f := v.Fields(keys["privacy"]...)
	p.Privacy.Mechanism = "auto"
	p.Privacy.Budget.Per = PerDataset
	p.Privacy.Weights = SamplingWeights
	p.Privacy.Composition = ByNoise
	if m := f.Get("mechanism"); m != nil {
		p.Privacy.Mechanism, _ = m.Word(words["privacy.mechanism"]...)
	}
	if w := f.Get("weights"); w != nil {
		word, _ := w.Word(words["privacy.weights"]...)
		p.Privacy.Weights = Weights(word)
	}
	if e := f.Get("estimation"); e != nil {
		x, ok := e.Float()
		if ok && !(x >= 0 && x <= maxEstimation) {
			e.Bad("write 2 to cover what a reference of its size misses once in twenty times", "%s is a number of standard errors between 0 and %d, not %v", e.Path, maxEstimation, x)
		}
		p.Privacy.Estimation = x
	}
	statement, okE, okD := spend(f, "per statement")
	p.Privacy.Epsilon, p.Privacy.Delta = statement.Epsilon, statement.Delta
	if slices.Contains(needNormal, p.Privacy.Mechanism) && !p.Accepts(Gaussian) {
		f.Get("mechanism").Bad("write assume: [translation, gaussian], or mechanism: auto", "privacy.mechanism %s counts on normally distributed statistics, which assume does not list", p.Privacy.Mechanism)
	}
	if okD && statement.Delta == 0 && slices.Contains(needDelta, p.Privacy.Mechanism) {
		f.Get("delta").Bad("write a delta above 0, or mechanism: expm-laplace", "privacy.delta is 0, and Gaussian noise needs more")
	}

	b := f.Need("budget", "write budget: {epsilon: ..., delta: ...}: what all statements together may reveal").Fields(keys["privacy.budget"]...)
	if per := b.Get("per"); per != nil {
		word, _ := per.Word(words["privacy.budget.per"]...)
		p.Privacy.Budget.Per = Per(word)
	}
	budget, okBE, okBD := spend(b, "of all statements together")
	p.Privacy.Budget.Epsilon, p.Privacy.Budget.Delta = budget.Epsilon, budget.Delta
	p.Privacy.Budget.Renew = renewal(b.Get("renew"))
	p.shares(b.Get("shares"), statement, budget)
	const hint = "write a budget that pays for at least one statement"
	if okE && okBE && budget.Epsilon < statement.Epsilon {
		b.Get("epsilon").Bad(hint, "privacy.budget.epsilon %v is below privacy.epsilon %v", budget.Epsilon, statement.Epsilon)
	}
	if okD && okBD && budget.Delta < statement.Delta {
		b.Get("delta").Bad(hint, "privacy.budget.delta %v is below privacy.delta %v", budget.Delta, statement.Delta)
	}
	p.twinsPaid(b)
	w, eta, lambda := within(f.Get("model"))
	if p.Privacy.Within = w; w != nil && okE && okD && okBE && okBD {
		w.leaves(statement, budget, eta, lambda)
	}
	p.composition(f.Get("composition"))
	if e := f.Get("error"); e != nil {
		text, _, ok := e.Scalar()
		t, err := privacy.ParseTolerance(text)
		if ok && err != nil {
			e.Bad("write 100% for no more than a fresh answer's error, or 0 to draw every answer afresh", "%s is a number, or a percentage of a fresh answer's error, of at least 0", e.Path)
		}
		p.Privacy.Error = t
	}
	if e := f.Get("max_error"); e != nil {
		text, _, ok := e.Scalar()
		w, err := privacy.ParseWorth(text)
		if ok && err != nil {
			e.Bad("write 50%, say: statements whose noise is more than half of the values expected are refused", "%s is a percentage above 0", e.Path)
		}
		p.Privacy.MaxError = w
	}
	return f.Get("mechanism")
}

// spend reads the keys epsilon and delta of a section.
func spend(f strictyaml.Fields, whose string) (b privacy.Budget, okEpsilon, okDelta bool) {
	e := f.Need("epsilon", fmt.Sprintf("write the epsilon %s", whose))
	if x, ok := e.Float(); ok {
		epsilon, err := privacy.NewEpsilon(x)
		if err != nil {
			e.Bad("", "%s: %v", e.Path, err)
		}
		b.Epsilon, okEpsilon = epsilon, err == nil
	}
	d := f.Need("delta", fmt.Sprintf("write the delta %s", whose))
	if x, ok := d.Float(); ok {
		delta, err := privacy.NewDelta(x)
		if err != nil {
			d.Bad("", "%s: %v", d.Path, err)
		}
		b.Delta, okDelta = delta, err == nil
	}
	return b, okEpsilon, okDelta
}
