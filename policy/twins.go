package policy

import (
	"slices"

	"fugu/internal/strictyaml"
)

// leastRows is at_least where a policy does not say it: what statistical offices ask of a cell, and more.
const leastRows = 10

// twin reads how a table is answered, and what of its twin analysts get.
func (t *Table) twin(r *strictyaml.Report, f strictyaml.Fields) {
	t.Answers = ByAnswerNoise
	understood := !f.Misspelt("answers")
	if a := f.Get("answers"); a != nil {
		var word string
		word, understood = a.Word(words["tables.*.answers"]...)
		t.Answers, t.answersSaid = Answers(word), true
	}

	section := f.Get("twin")
	if section == nil {
		return
	}

	// A word that is misspelt is one mistake: whoever writes a section twin is not told what noise needs besides.
	if !understood {
		t.Answers = FromTwin
	}
	w := Twin{Rows: Aggregate, At: section.At}
	g := section.Fields(keys["tables.*.twin"]...)
	if rows := g.Get("rows"); rows != nil {
		word, _ := rows.Word(words["tables.*.twin.rows"]...)
		w.Rows = TwinRows(word)
	}

	w.drop(g.Get("drop"))
	w.least(g.Get("at_least"))
	w.KnownRows, _ = g.Get("known_rows").Int(0, maxRows)
	if unit, ok := valueName(g.Get("unit"), parseColumn); ok {
		w.Unit = unit
	}
	w.IndependentRows, _ = g.Get("independent_rows").Bool()
	if w.IndependentRows && w.Unit != "" {
		g.Get("independent_rows").Bad("keep one of the two",
			"%s: a unit is taken whole, so that nothing is assumed of its rows", g.Get("independent_rows").Path)
	}

	if s := g.Get("smallest"); s != nil {
		x, ok := s.Float()
		if ok && !(x > 0 && x < .5) {
			s.Bad("write for instance 0.01: each class has a hundredth of the rows or more",
				"%s is a share above 0 and below a half, not %v", s.Path, x)
		}
		w.Smallest = x
	}
	w.columns(r, g.Get("columns"))
	t.Twin = &w
}

// least reads how many rows of the sample a group must have to be told. One that suppresses nothing is a mistake, as is
// one where all rows are shown.
func (w *Twin) least(v *strictyaml.Value) {
	if v == nil {
		if w.Rows == Aggregate {
			w.AtLeast = leastRows
		}
		return
	}

	w.AtLeast, _ = v.Int(0, maxRows)
	switch {
	case w.AtLeast < 2 && w.Rows == Aggregate:
		v.Bad("write 2 or more, or rows: shown", "%s lets groups of one row be told, which lists rows", v.Path)
	case w.AtLeast > 0 && w.Rows == ShowRows:
		v.Bad("write rows: aggregates, or leave it out", "%s suppresses nothing where rows are shown", v.Path)
	}
}

func (w *Twin) drop(v *strictyaml.Value) {
	items, _ := v.List()
	for _, item := range items {
		column, ok := valueName(item, parseColumn)
		switch {
		case !ok:
		case slices.Contains(w.Drop, column):
			item.Bad("keep one of the two", "%s lists %s twice", v.Path, quoteIdent(column))
		default:
			w.Drop = append(w.Drop, column)
		}
	}
}

// twins lets linked tables be answered as their root is, and reports what does not go with a twin.
func (p *Policy) twins(r *strictyaml.Report) {
	for i := range p.Tables {
		t := &p.Tables[i]
		root, ok := p.root(*t)

		// Rows that go with others are shown as those are.
		if ok && t.Link != nil {
			if t.answersSaid && t.Answers != root.Answers {
				r.Add(t.At, "write answers: "+string(root.Answers)+" for both, or leave it out at the linked table",
					"table %s has answers: %s, and its rows belong to those of %s, which has "+
						"%s", t.Qualified(), t.Answers, root.Qualified(), root.Answers)
			}
			t.Answers = root.Answers
		}

		if t.Answers != FromTwin {
			if t.Twin != nil {
				r.Add(t.Twin.At, "write answers: twin beside it",
					"table %s has a section twin, and is answered with noise", t.Qualified())
			}
			continue
		}
		if t.Twin == nil {
			t.Twin = &Twin{Rows: Aggregate, AtLeast: leastRows, At: t.At}
		}
		p.twinTable(r, t)
	}
}

// twinTable reports what a table with a twin cannot have besides.
func (p *Policy) twinTable(r *strictyaml.Report, t *Table) {
	w := t.Twin

	if t.PlainRows == ReferenceRows {
		r.Add(t.At, "leave plain_rows out; twin: {rows: shown} shows the twin's rows",
			"table %s has plain_rows: reference, and a twin, which has rows of its own", t.Qualified())
	}
	if t.Drawn == FromReference {
		r.Add(t.At, "write answers: noise, or leave drawn out",
			"table %s is drawn from a reference that analysts may know: they would know its rows, and a twin hides a "+
				"secret from those who know laws", t.Qualified())
	}

	// What is about rows with a secret stands at the root of the links.
	if t.Link == nil {
		if t.Rows > 0 && w.KnownRows >= t.Rows {
			r.Add(w.At, "write the number of rows that analysts may know, below rows",
				"table %s: known_rows %d is all of its rows", t.Qualified(), w.KnownRows)
		}
		return
	}
	if w.KnownRows > 0 || w.Unit != "" || w.IndependentRows || w.Smallest > 0 {
		r.Add(w.At, "write them at the table at the end of the links",
			"table %s: known_rows, unit, independent_rows and smallest are about rows with a secret, and this "+
				"table's come with those of another", t.Qualified())
	}
}

// twinned reports what the rest of the policy asks of tables with a twin that a twin does not give.
func (p *Policy) twinned(r *strictyaml.Report, assume *strictyaml.Value) {
	roots := p.twinRoots()
	if len(roots) == 0 {
		if p.Accepts(Exchangeable) {
			assume.Bad("write answers: twin at a table, or leave exchangeable out: translation is what noise on "+
				"answers goes by", "assume lists exchangeable, which is about twins, and no table has one")
		}
		return
	}
	if !p.Accepts(Exchangeable) {
		r.Add(roots[0].At, "write assume: [exchangeable], or answers: noise",
			"table %s is answered from a twin, which rests on an assumption that assume does not list: rows of a "+
				"class are exchangeable",
			roots[0].Qualified())
	}
	p.twinSecrets(r)
	p.twinColumns(r)
}

// twinsPaid reports a budget that does not pay for the twin of every table that has one.
func (p *Policy) twinsPaid(budget strictyaml.Fields) {
	n := len(p.twinRoots())
	if n < 2 {
		return // the budget pays for one statement, which is as much
	}
	const hint = "write a budget that pays for every twin"
	if each, all := float64(p.Privacy.Epsilon), float64(p.Privacy.Budget.Epsilon); all > 0 &&
		float64(n)*each > all*(1+rounding) {
		budget.Get("epsilon").Bad(hint,
			"privacy.budget.epsilon %v is below %d times privacy.epsilon %v: %d tables have a twin each, with a "+
				"price of its own", all, n, each, n)
	}
	if each, all := float64(p.Privacy.Delta), float64(p.Privacy.Budget.Delta); float64(n)*each > all*(1+rounding) {
		budget.Get("delta").Bad(hint,
			"privacy.budget.delta %v is below %d times privacy.delta %v: %d tables have a twin each, with a price of "+
				"its own", all, n, each, n)
	}
}

// twinSecrets reports secrets that no twin can hide, and what is said of a twin's table that the law does not count.
func (p *Policy) twinSecrets(r *strictyaml.Report) {
	for _, s := range p.Secrets {
		t, ok := p.Table(s.Table)
		switch {
		case !ok || t.Answers != FromTwin:
		case s.Mean != "":
			r.Add(s.At,
				"make it a proportion, such as the share of rows above a threshold, or write answers: noise at the "+
					"table",
				"secret %s is a mean: a twin hides how many rows are of which class, and a mean has no classes", s.Name)
		case s.Parameter != "":
			r.Add(s.At, "make it a proportion or categories, or write answers: noise at the table",
				"secret %s is a parameter of a network, which a twin does not hide", s.Name)
		}
	}

	// A twin hides how many rows are of which class. It has no use for anything else that is declared of its table.
	for _, n := range p.Networks {
		if t, ok := p.Table(n.Table); ok && t.Answers == FromTwin {
			r.Add(n.At, "leave the network out, or write answers: noise at the table",
				"table %s has a network, whose parameters a twin does not hide", n.Table)
		}
	}

	all := !slices.ContainsFunc(p.Tables, func(t Table) bool { return t.Answers != FromTwin })
	for _, d := range p.Declared {
		if all {
			r.Add(d.At, "leave it out", "declared model %s: a twin needs no model", d.Name)
		}
	}
}
