package policy

import "fugu/internal/strictyaml"

const linkHint = "write link: {to: schema.table, on: {own_column: its_column}}"

func link(r *strictyaml.Report, v *strictyaml.Value) *Link {
	l := &Link{At: v.At}
	f := v.Fields(keys["tables.*.link"]...)
	if name, ok := valueName(f.Need("to", linkHint), ParseName); ok {
		l.To = name
	}
	on := f.Need("on", linkHint)
	entries, ok := on.Entries()
	if ok && len(entries) == 0 {
		on.Bad(linkHint, "%s is empty", on.Path)
	}
	for _, e := range entries {
		own, okOwn := entryName(r, e, parseColumn)
		to, okTo := valueName(e.Value, parseColumn)
		if okOwn && okTo {
			l.On = append(l.On, LinkKey{own, to})
		}
	}
	return l
}

// links checks that every link leads to a table of the policy and, in the end, to one that is linked to none.
func links(p *Policy, r *strictyaml.Report) {
	for _, t := range p.Tables {
		seen := map[QualifiedName]bool{t.Qualified(): true}

		// The way to the end of the links is gone once for each table, so a circle comes back to one that was seen.
		for at := t; at.Link != nil && at.Link.To.Name != ""; {
			next, ok := p.Table(at.Link.To)
			if !ok {
				if at.Qualified() == t.Qualified() {
					r.Add(t.Link.At, "link to a table of this policy",
						"table %s is linked to %s, which the policy does not protect", t.Qualified(), t.Link.To)
				}
				break
			}
			if seen[next.Qualified()] {
				r.Add(t.Link.At, "let one of them stand for itself", "the links of table %s lead back to it",
					t.Qualified())
				break
			}
			seen[next.Qualified()] = true
			at = next
		}
	}
}
