package policy

import (
	"regexp"
	"slices"

	"fugu/internal/strictyaml"
)

func (p *Policy) fit(v *strictyaml.Value) {
	items, _ := v.List()
	for _, item := range items {
		if s, ok := statement(item); ok {
			p.Fit = append(p.Fit, s)
		}
	}
}

func statement(v *strictyaml.Value) (Statement, bool) {
	text, ok := v.Text()
	if !ok {
		return Statement{}, false
	}
	return Statement{text, v.TextAt}, true
}

// named reads the entries of a section whose keys are names of the writer's choice.
func named(r *strictyaml.Report, v *strictyaml.Value, what string, read func(e strictyaml.Entry)) {
	entries, _ := v.Entries()
	for _, e := range entries {
		if !labelPattern.MatchString(e.Key) {
			r.Add(e.At, "write "+labelRule, "%s cannot be named %q", what, e.Key)
		}
		read(e)
	}
}

func (p *Policy) declared(r *strictyaml.Report, v *strictyaml.Value) {
	named(r, v, "a declared model", func(e strictyaml.Entry) {
		d := Declared{Name: e.Key, At: e.At}
		f := e.Value.Fields(keys["declared.*"]...)
		d.Statement, _ = statement(f.Need("statement", "write the statement whose model this is"))

		// A model of several values names them all, each once.
		labels, _ := f.Get("components").List()
		for _, l := range labels {
			if text, ok := l.Text(); ok && slices.Contains(d.Components, text) {
				l.Bad("list each once", "%s lists %q twice", f.Get("components").Path, text)
			} else if ok {
				d.Components = append(d.Components, text)
			}
		}

		size := max(1, len(labels))
		laws, ok := f.Need("secrets", lawsHint).Entries()
		if ok && len(laws) == 0 {
			f.Get("secrets").Bad(lawsHint, "%s is empty", f.Get("secrets").Path)
		}

		// The laws of all secrets are about the same values, so that they are of one form.
		for _, l := range laws {
			d.Laws = append(d.Laws, p.law(r, l, size))
		}
		checkSameForm(r, d.Laws)
		p.Declared = append(p.Declared, d)
	})
}

var decimalNumber = regexp.MustCompile(`^-?[0-9]{1,30}(\.[0-9]{1,30})?$`)

const publicHint = "write values: {'count(*)': 35222}: the number of each component"

func (p *Policy) public(r *strictyaml.Report, v *strictyaml.Value) {
	named(r, v, "a public statistic", func(e strictyaml.Entry) {
		s := Public{Name: e.Key, At: e.At}
		f := e.Value.Fields(keys["public.*"]...)
		s.Statement, _ = statement(f.Need("statement", "write the statement whose values are known"))

		// A value without digits, NULL say, could not be compared with what is bound to a statement.
		section := f.Need("values", publicHint)
		values, ok := section.Entries()
		if ok && len(values) == 0 {
			section.Bad(publicHint, "%s is empty", section.Path)
		}
		for _, c := range values {
			text, null, ok := c.Value.Scalar()
			if ok && (null || !decimalNumber.MatchString(text)) {
				c.Value.Bad("write a decimal number", "%s: a public value is a number", section.Path)
			} else if ok {
				s.Values = append(s.Values, PublicValue{c.Key, text})
			}
		}

		p.Public = append(p.Public, s)
	})
}
