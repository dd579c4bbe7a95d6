package policy

import (
	"fugu/internal/strictyaml"
)

func secrets(p *Policy, r *strictyaml.Report, v *strictyaml.Value) {
	entries, ok := v.Entries()
	if ok && len(entries) == 0 {
		v.Bad("name at least one secret: without one nothing is hidden", "secrets is empty")
	}

	covered := map[QualifiedName]bool{}
	known := len(entries) > 0 // whether every secret names a protected table
	for _, e := range entries {
		if !labelPattern.MatchString(e.Key) {
			r.Add(e.At, "write "+labelRule, "a secret cannot be named %q", e.Key)
		}
		s := secret(p, e)
		covered[s.Table] = true
		t, protected := p.Table(s.Table)
		known = known && protected
		if t.Drawn == FromReference && s.About == AboutDistribution {
			r.Add(s.At, "write about: dataset, or leave drawn out",
				"secret %s is about a distribution, but table %s is drawn from its reference, whose proportions are "+
					"known", s.Name, s.Table)
		}
		p.Secrets = append(p.Secrets, s)
	}

	// Whether a table has no secret is known once every secret has a table.
	for _, t := range p.Tables {
		switch {
		case covered[t.Qualified()] && t.Link != nil:
			r.Add(t.At, "give the secret the table that this one is linked to",
				"a secret is about table %s, whose rows belong to those of %s: secrets live there", t.Qualified(),
				t.Link.To)
		case known && !covered[t.Qualified()] && t.Link == nil:
			r.Add(t.At, "add a secret whose table it is, or remove it here",
				"no secret is about table %s, so its aggregates would be exact", t.Qualified())
		}
	}
}

// secret reads a secret: the table, the property of it, and the values or pairs that nobody may tell apart.
func secret(p *Policy, e strictyaml.Entry) Secret {
	s := Secret{Name: e.Key, At: e.At, About: AboutDataset}
	f := e.Value.Fields(keys["secrets.*"]...)

	of := f.Need("table", "name one of the protected tables")
	if name, ok := valueName(of, ParseName); ok {
		s.Table = name
		if _, protected := p.Table(name); !protected {
			of.Bad("name one of the tables under tables:", "%s is not a protected table of this policy", name)
		}
	}

	if about := f.Get("about"); about != nil {
		word, _ := about.Word(words["secrets.*.about"]...)
		s.About = About(word)
	}

	property := propertyOf(f)
	if property == nil {
		f.Need("proportion",
			"write proportion: PREDICATE, for instance income = '>50K', or mean: EXPRESSION, or categories: COLUMN, "+
				"or parameter: NAME")
		spans(f, unit{})
		return s
	}

	// Each property has values of its own kind.
	s.PropertyAt = property.TextAt
	switch property {
	case f.Get("proportion"):
		s.Proportion, _ = property.Text()
		s.Spans, s.Listed = spans(f, proportions), f.Get("pairs") != nil
	case f.Get("mean"):
		s.Mean, _ = property.Text()
		s.Spans, s.Listed = spans(f, unit{}), f.Get("pairs") != nil
	case f.Get("parameter"):
		s.parameter(p, f)
	default:
		column, ok := valueName(property, parseColumn)
		s.Categories = column
		var domain *Domain
		if t, protected := p.Table(s.Table); ok && protected {
			domain = t.domain(column)
			if domain == nil {
				property.Bad("declare its values: group_by: {"+quoteIdent(column)+": [a, b]}",
					"%s: column %s of %s has no public domain", property.Path, quoteIdent(column), s.Table)
			}
		}
		s.Vectors, s.Range = vectors(f, domain)
	}
	return s
}

// propertyOf returns what a secret is about. That is one property, so the first one that is written counts.
func propertyOf(f strictyaml.Fields) *strictyaml.Value {
	property := f.Get("proportion")
	for _, key := range []string{"mean", "categories", "parameter"} {
		v := f.Get(key)
		if v != nil && property != nil {
			v.Bad("keep one of the two; a second secret can have the other",
				"%s: a secret is one property, and has %s already", v.Path, property.Path)
		} else if v != nil {
			property = v
		}
	}
	return property
}
