package policy

import (
	"slices"
	"strings"
	"unicode"

	"fugu/internal/strictyaml"
)

// decode reads as much as there is, for the checks of several policies together; the result is a valid policy only if
// the report stayed empty.
func decode(r *strictyaml.Report, data []byte) *Policy {
	p := &Policy{Source: r.File}
	f := strictyaml.Parse(r, data).Fields(keys[""]...)
	// What the policy is about: tables come before the secrets that speak of them.
	version, _ := f.Need("version", "write version: 1").Int(1, 1)
	p.Version = int(version)
	p.dataset(f.Need("dataset", "name the dataset: the name stands in budgets, notices and the ledger"))
	p.database(f.Get("database"))
	tables(p, r, f.Need("tables", "list the protected tables"), f.Get("declared") != nil)
	p.networks(r, f.Get("networks"))
	secrets(p, r, f.Need("secrets", "say what must stay hidden, for instance a proportion of rows"))

	// How it is kept, from whom, and at which price.
	p.assume(f.Get("assume"))
	p.analysts(f.Get("analysts"))
	mechanism := p.privacy(f.Need("privacy", "write epsilon, delta and budget under privacy:"))
	p.parameters(r, mechanism)

	// What needs all of that: the epoch, statements that are foreseen or declared, and twins.
	p.epoch(f.Get("epoch"))
	p.fit(f.Get("fit"))
	p.declared(r, f.Get("declared"))
	p.public(r, f.Get("public"))
	p.estimates(f.Get("estimates"))
	p.twinned(r, f.Get("assume"))

	// What cannot go together is found when everything has been read.
	p.unaccounted(f.Get("declared"), "declared models")
	p.unaccounted(f.Get("public"), "public statistics")
	p.unestimated(f.Get("public"))
	p.Fingerprint = fingerprint(p)
	return p
}

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
		v.Bad("write the name as the database's catalog has it, or leave the key out for the database of "+
			"upstream.guest",
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

// estimates reads what analysts are computed of their answers. Of twins there are no answers with noise.
func (p *Policy) estimates(v *strictyaml.Value) {
	if v == nil {
		return
	}
	f := v.Fields(keys["estimates"]...)
	prior := f.Need("prior", "write prior: reference, or prior: none for estimates of the answers alone")
	word, ok := prior.Word(words["estimates.prior"]...)
	if !ok {
		return
	}
	p.Estimates = Estimates(word)
	if len(p.Tables) > 0 && !slices.ContainsFunc(p.Tables, func(t Table) bool { return t.Answers == ByAnswerNoise }) {
		v.Bad("leave the section out: what a twin tells has no noise of its own",
			"estimates are made from noisy answers, and every table has a twin")
	}
	if p.Estimates == ReferenceEstimates && len(p.Tables) > 0 && !slices.ContainsFunc(p.Tables,
		func(t Table) bool { return t.Answers == ByAnswerNoise && t.Reference != (QualifiedName{}) }) {
		prior.Bad("write prior: none", "estimates.prior is reference, and no table has one")
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
